package slips

import (
	"regexp"
	"slices"
	"strings"
)

// foreign looks at operators and brackets that other languages use otherwise.
func (f *finder) foreign(i int) {
	switch {
	case f.isOperator(i, "'") && f.isOperator(i-1, "}") && f.pair[i-1] >= 0:
		start := f.words[f.pair[i-1]].Start
		f.slips = append(f.slips, slip{code: Matrix, start: start, end: f.words[i].End, why: "' is the derivative of a function.",
			edits: []edit{insert(start, "Transpose["), f.replace(i, "]")}})
	case f.isOperator(i, "&") && f.endsOperand(i-1) && !f.endsPure(i) && f.operandEnd(i+1) >= 0:
		f.add(i, slip{code: OperatorWord, start: f.words[i].Start, end: f.words[i].End, edits: []edit{f.replace(i, "&&")}, why: "& ends a function of #."})
	case f.isOperator(i, ":") && f.isNumber(i-1) && f.isNumber(i+1):
		f.colonRange(i)
	case f.isOperator(i, "..") && f.isNumber(i-1) && f.isNumber(i+1):
		f.slips = append(f.slips, slip{code: List, start: f.words[i-1].Start, end: f.words[i+1].End, why: ".. repeats a pattern.", edits: []edit{
			insert(f.words[i-1].Start, "Range["), f.replace(i, ", "), insert(f.words[i+1].End, "]"),
		}})
	}
}

// endsPure tells whether the & at word i ends a function: a slot stands before it in the same bracket.
func (f *finder) endsPure(i int) bool {
	for j := i - 1; j >= 0; j-- {
		if f.pair[j] > i { // the bracket around
			break
		}
		if f.isAtom(j) && f.text[f.words[j].Start] == '#' {
			return true
		}
	}
	return f.isOperator(i+1, "[", "/@", "@", "@@", "/;") || !f.endsOperand(i-1)
}

// matrixRows: {1 2 3}, [1 2; 3 4], {1; 2; 3}: rows of numbers with nothing but blanks between them. {x; 2} may be a compound expression.
func (f *finder) matrixRows(i int) bool {
	if !f.isOperator(i, "[", "{") || f.pair[i] < i+3 || f.isOperator(i, "[") && f.endsOperand(i-1) {
		return false
	}
	end := f.pair[i]
	rows := [][]string{nil}
	separated := false
	for j := i + 1; j < end; j++ {
		last := len(rows) - 1
		switch {
		case f.isNumber(j):
			rows[last] = append(rows[last], f.source(j, j))
		case f.isOperator(j, "-") && j+1 < end && f.isNumber(j+1) && f.adjacent(j+1) && (!f.adjacent(j) || !f.isNumber(j-1)):
			j++
			rows[last] = append(rows[last], f.source(j-1, j))
		case f.isOperator(j, ";") && len(rows[last]) > 0:
			rows, separated = append(rows, nil), true
		case f.isOperator(i, "[") && f.isOperator(j, ",") && f.isNumber(j-1):
		default:
			return false
		}
	}
	if len(rows) > 1 && len(rows[len(rows)-1]) == 0 {
		rows = rows[:len(rows)-1]
	}
	if !separated && len(rows[0]) < 2 || slices.ContainsFunc(rows, func(row []string) bool { return len(row) != len(rows[0]) }) || !separated && f.hasComma(i) {
		return false
	}
	texts := make([]string, len(rows))
	for k, row := range rows {
		texts[k] = "{" + strings.Join(row, ", ") + "}"
	}
	replacement := texts[0]
	if separated {
		replacement = "{" + strings.Join(texts, ", ") + "}"
	}
	f.slips = append(f.slips, slip{code: List, start: f.words[i].Start, end: f.words[end].End, why: "The elements of a list are parted by commas; its rows are lists.",
		edits: []edit{{start: f.words[i].Start, end: f.words[end].End, text: replacement}}})
	return true
}

// colonRange: 1:10, 1:2:10.
func (f *finder) colonRange(i int) {
	if f.isOperator(i-2, ":") {
		return
	}
	last, replacement := i+1, "Range["+f.source(i-1, i-1)+", "+f.source(i+1, i+1)+"]"
	if f.isOperator(i+2, ":") && f.isNumber(i+3) {
		last = i + 3
		replacement = "Range[" + f.source(i-1, i-1) + ", " + f.source(last, last) + ", " + f.source(i+1, i+1) + "]"
	}
	f.slips = append(f.slips, slip{code: List, start: f.words[i-1].Start, end: f.words[last].End, why: "Numbers in a row are made by Range.",
		edits: []edit{{start: f.words[i-1].Start, end: f.words[last].End, text: replacement}}})
}

// dictionary: {"a": 1}. The text must have such pairs alone in its outermost braces.
func (f *finder) dictionary(i int) {
	if !f.isOperator(i, "{") || f.pair[i] < i+4 || !f.isOperator(i+2, ":") {
		return
	}
	edits := []edit{f.replace(i, "<|"), f.replace(f.pair[i], "|>")}
	for j := i + 1; j < f.pair[i]; j++ {
		if f.pair[j] > j {
			j = f.pair[j]
			continue
		}
		if f.isOperator(j, ":") {
			if !f.isAtom(j-1) || !f.isOperator(j-2, "{", ",") {
				return
			}
			edits = append(edits, edit{start: f.words[j-1].End, end: f.words[j].End, text: " ->"})
		}
	}
	f.slips = append(f.slips, slip{code: List, start: f.words[i].Start, end: f.words[f.pair[i]].End, edits: edits, why: "Keys and values are written <|key -> value|>."})
}

// functional are functions of which an argument is a function.
var functional = wordSet(`Select SelectFirst Map MapIndexed MapThread Apply Scan SortBy GroupBy CountsBy GatherBy SplitBy Nest NestList NestWhile NestWhileList Fold FoldList
	FixedPoint FixedPointList Array AllTrue AnyTrue NoneTrue TakeWhile LengthWhile MaximalBy MinimalBy DeleteDuplicatesBy KeySelect KeyMap Discard`)

// withoutEnd: Select[Range[10], # > 5], a function without its &. The word i is the function that takes it.
func (f *finder) withoutEnd(i int) {
	open := i + 1
	if !f.isName(i) || !functional[f.words[i].Name] || !f.isOperator(open, "[") || f.pair[open] < 0 {
		return
	}
	from := open + 1
	for _, comma := range append(f.commas(open), f.pair[open]) {
		slot, whole := false, true
		for j := from; j < comma; j++ {
			slot = slot || f.isAtom(j) && f.text[f.words[j].Start] == '#'
			whole = whole && !f.isOperator(j, "&") && f.words[j].Name != "Function"
		}
		if slot && whole {
			f.add(i, slip{code: Definition, start: f.words[from].Start, end: f.words[comma-1].End, why: "A function of # ends with &.", edits: []edit{insert(f.words[comma-1].End, " &")}})
		}
		from = comma + 1
	}
}

// limitPoint: Limit[f, x = 0], Limit[f, x == 0].
func (f *finder) limitPoint(i int) {
	open := i + 1
	if functionFor(f.words[i].Name) != "Limit" || !f.isOperator(open, "[", "(") || f.pair[open] < 0 {
		return
	}
	if commas := f.commas(open); len(commas) == 1 && f.isName(commas[0]+1) && f.isOperator(commas[0]+2, "=", "==") {
		equals := commas[0] + 2
		f.slips = append(f.slips, slip{code: Iterator, start: f.words[equals-1].Start, end: f.words[equals].End, why: "The point of a limit is written x -> a.", edits: []edit{f.replace(equals, "->")}})
	}
}

var (
	comment      = regexp.MustCompile(`(?m)\s*(?:#|//|--)\s+\pL[\pL\pN ,.']*$`)
	blockComment = regexp.MustCompile(`/\*[^*]*\*/`)
)

// comments: 1 + 1 # comment, 1 + 1 /* comment */. One word after # or // may be a slot or a function, and is one where it is known.
func comments(text string) []Suggestion {
	if strings.ContainsAny(text, `"&`) {
		return nil
	}
	rest := blockComment.ReplaceAllString(text, "")
	rest = comment.ReplaceAllStringFunc(rest, func(match string) string {
		words := strings.Fields(strings.TrimLeft(strings.TrimSpace(match), "#/- "))
		if functionFor(words[0]) != "" || len(words) == 1 && strings.Contains(match, "//") && words[0] != "comment" {
			return match
		}
		return ""
	})
	if rest == text || strings.TrimSpace(rest) == "" {
		return nil
	}
	return whole(text, rest, Character, "Comments stand between (* and *).")
}
