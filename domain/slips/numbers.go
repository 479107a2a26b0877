package slips

import (
	"regexp"
	"strings"
)

const (
	whyBase  = "Digits of another base stand after the base and ^^."
	whyMarks = "Numbers have no marks between their digits."
)

var (
	// based are whole numbers with the prefixes of other languages for their base: 0b101, 0o17, 0X1F, 0xFF_FF.
	based = regexp.MustCompile(`^0(?:([bB])([01]+(?:_[01]+)*)|([oO])([0-7]+(?:_[0-7]+)*)|[xX]([0-9a-fA-F]+(?:_[0-9a-fA-F]+)*))`)
	// marked are numbers with marks between their digits, in groups of three where the mark is not an underscore: 1_000_000.5, 1'000'000, 1.000.000.
	marked = regexp.MustCompile(`^(?:[0-9]+(?:_[0-9]+)+|[0-9]{1,3}(?:'[0-9]{3})+|[0-9]{1,3}(?:\.[0-9]{3}){2,})`)
	// decimals match the decimals that may follow the marks.
	decimals = regexp.MustCompile(`^\.[0-9]*(?:_[0-9]+)*`)
	digits   = strings.NewReplacer("_", "", "'", "", ".", "")
)

// literal: numbers as other languages and countries write them, 0b101 and 1_000. The language reads products of a number and a name or a
// pattern, which are 0 for most of them, so that no value of a name makes them what was meant.
func (f *finder) literal(i int) bool {
	start := f.words[i].Start
	if i > 0 && f.adjacent(i) && (f.isName(i-1) || f.isOperator(i-1, "_")) {
		return false
	}
	rest := f.text[start:]
	length, number, why := 0, "", whyBase
	if part := based.FindStringSubmatch(rest); part != nil {
		length = len(part[0])
		switch {
		case part[1] != "":
			number = "2^^" + digits.Replace(part[2])
		case part[3] != "":
			number = "8^^" + digits.Replace(part[4])
		default:
			number = "16^^" + strings.ToLower(digits.Replace(part[5]))
		}
	} else if whole := marked.FindString(rest); whole != "" {
		length, number, why = len(whole), digits.Replace(whole), whyMarks
		if fraction := decimals.FindString(rest[length:]); fraction != "" && !strings.HasPrefix(rest[length:], "..") {
			length += len(fraction)
			number += strings.ReplaceAll(fraction, "_", "")
		}
	}
	last := i
	for last+1 < len(f.words) && f.words[last+1].Start < start+length {
		last++
	}
	if length == 0 || f.words[last].End != start+length {
		return false // more is written against it, which may mean anything
	}
	f.slips = append(f.slips, slip{code: Number, start: start, end: start + length, why: why, edits: []edit{{start: start, end: start + length, text: number}}})
	return true
}

const whyNumber = "Powers of ten are written with *^."

var exponent = regexp.MustCompile(`^[eE][0-9]+$`)

// number: 1e10, 1.5e-5.
func (f *finder) number(i int) {
	next := i + 1
	if !f.isName(next) || !f.adjacent(next) || f.bound[f.words[next].Name] {
		return
	}
	switch name := f.words[next].Name; {
	case exponent.MatchString(name):
		f.add(next, slip{code: Number, start: f.words[i].Start, end: f.words[next].End, why: whyNumber, edits: []edit{f.replace(next, "*^"+name[1:])}})
	case (name == "e" || name == "E") && f.isOperator(next+1, "-", "+") && f.adjacent(next+1) && f.isNumber(next+2) && f.adjacent(next+2):
		sign := strings.TrimPrefix(f.source(next+1, next+1), "+")
		f.add(next, slip{code: Number, start: f.words[i].Start, end: f.words[next+2].End, why: whyNumber,
			edits: []edit{{start: f.words[next].Start, end: f.words[next+2].Start, text: "*^" + sign}}})
	}
}

var thousands = regexp.MustCompile(`^[0-9]{3}$`)

// groups: 1,000 and 1 000 000 where a number stands alone, and 2 3/4.
func (f *finder) groups(i int) {
	if f.isOperator(i-1, ",") && f.adjacent(i) || f.isNumber(i-1) {
		return
	}
	text, j := f.source(i, i), i
	if len(text) > 3 || strings.Contains(text, ".") {
		return
	}
	for _, comma := range []bool{true, false} {
		j = i
		for {
			next := j + 1
			if comma {
				if !f.isOperator(next, ",") || !f.adjacent(next) || !f.adjacent(next+1) {
					break
				}
				next++
			}
			if !f.isNumber(next) || !thousands.MatchString(f.source(next, next)) || comma != f.adjacent(next) {
				break
			}
			j = next
		}
		if j > i {
			break
		}
	}
	plain := f.isOperator(i+1, ",")
	if j > i && (!plain && strings.HasPrefix(f.source(i+1, i+1), "0") || plain && !f.inBrackets(i)) {
		digits := strings.NewReplacer(",", "", " ", "").Replace(f.source(i, j))
		f.add(i, slip{code: Number, start: f.words[i].Start, end: f.words[j].End, why: whyMarks,
			edits: []edit{{start: f.words[i].Start, end: f.words[j].End, text: digits}}})
		return
	}
	if f.isNumber(i+1) && !f.adjacent(i+1) && f.isOperator(i+2, "/") && f.isNumber(i+3) && !f.endsOperand(i-1) &&
		len(f.source(i+1, i+1)) <= len(f.source(i+3, i+3)) && f.endsTerm(i+4) {
		f.add(i, slip{code: Number, start: f.words[i].Start, end: f.words[i+3].End, why: "Numbers beside each other multiply.",
			edits: []edit{insert(f.words[i].Start, "("), {start: f.words[i].End, end: f.words[i+1].Start, text: " + "}, insert(f.words[i+3].End, ")")}})
	}
}
