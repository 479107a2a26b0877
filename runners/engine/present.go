package engine

import (
	"bytes"
	"cmp"
	"fmt"
	"math/big"
	"regexp"
	"strings"

	"reckon/domain/expression"
	"reckon/domain/slips"
	"reckon/runners/engine/svg"
)

// present turns what the engine said into what people and programs read. It changes notation only, never the answer.
func present(outcome *Outcome, code string, answer reply) {
	outcome.AnswerFullForm = plainQuotes(answer.FullForm)
	outcome.PlotOmitted = answer.PlotOmitted
	outcome.InputForm = answer.Result
	if answer.InputForm != nil {
		outcome.InputForm = *answer.InputForm
	}
	outcome.Result = precisionAsDigits(outcome.InputForm)
	if answer.Shown != nil {
		outcome.Result = onOneLine(plainQuotes(*answer.Shown))
	}
	outcome.Stdout = withoutMessages(answer)
	asked := readExchange(code, outcome.InputForm, answer.Messages)
	outcome.Messages = append(counted(answer), machineWarnings(asked)...)
	if slips.Sentence(code) {
		outcome.Messages = append(outcome.Messages, "Words are read as names of variables, and names beside each other are multiplied: sentences are not understood. Write for example Integrate[x^2, x] or Solve[x^2 == 4, x].")
	}
	if answer.SVG != "" {
		if mayJump(asked.inputs) {
			answer.SVG = svg.BreakJumps(answer.SVG)
		}
		if clean, err := svg.Clean([]byte(answer.SVG)); err == nil {
			outcome.SVG = clean
		} else {
			outcome.PlotOmitted = true
		}
	}
	if why := missingPictures(*outcome); why != "" {
		outcome.Messages = append(outcome.Messages, why)
	}
	outcome.Unevaluated = unevaluated(asked)
	if why := cmp.Or(endless(asked, answer.Line > 0), stopped(asked)); why != "" {
		outcome.Unevaluated, outcome.Messages = true, append(outcome.Messages, why)
	}
	if why := forgotten(asked, answer.Line > 0); why != "" {
		outcome.Messages = append(outcome.Messages, why)
	}
	if why := mayEndEarly(code); why != "" {
		outcome.Messages = append(outcome.Messages, why)
	}
	if why := outOfReach(asked, answer); why != "" {
		outcome.Unevaluated, outcome.Messages = true, append(outcome.Messages, why)
	}
}

// forgotten says of a text that is only x = 5 outside of a session what becomes of x.
func forgotten(asked exchange, inSession bool) string {
	if inSession || len(asked.inputs) != 1 || !asked.inputs[0].IsCall("Set") || asked.inputs[0].Args[0].Kind != expression.Symbol {
		return ""
	}
	name := asked.inputs[0].Args[0].Text
	return name + " has this value in this evaluation only; a session keeps it. An equation is written with ==."
}

var picture = regexp.MustCompile(`-(?:Graphics|Graphics3D|Image)-`)

// missingPictures says why an answer that stands for pictures does not show all of them: the engine draws where a drawing function is
// evaluated, the last one of a text, and keeps no picture in a value.
func missingPictures(outcome Outcome) string {
	pictures := len(picture.FindAllString(stringLiteral.ReplaceAllString(outcome.InputForm, `""`), -1))
	switch {
	case outcome.PlotOmitted || pictures == 0:
		return ""
	case len(outcome.SVG) == 0:
		return "A picture is drawn where its function is evaluated, and is not kept in variables and lines: evaluate the function again to see it."
	case !bytes.Contains(outcome.SVG, []byte("<g")) && !bytes.Contains(outcome.SVG, []byte("<p")) && bytes.Count(outcome.SVG, []byte("<")) <= 2:
		return "The picture is empty: what was to be drawn has no numbers in its range."
	case pictures > 1:
		return fmt.Sprintf("%d pictures were made and the last one is shown: draw them in evaluations of their own, or together with Show or a list in one Plot.", pictures)
	}
	return ""
}

// onOneLine writes a number that the engine draws over two lines in one: 1.2345 × 10 with a 4 above it becomes 1.2345 × 10^4. Any
// other text is returned as it is.
func onOneLine(text string) string {
	lines := strings.Split(text, "\n")
	if len(lines) != 2 || !strings.Contains(lines[1], "×") {
		return text
	}
	above, base := []rune(lines[0]), []rune(lines[1])
	for len(base) < len(above) {
		base = append(base, ' ')
	}
	return strings.TrimRight(flatten(append(base, ' '), append(above, ' '), nil), " ")
}

// counted are the messages, one line each, with how often each came.
func counted(answer reply) []string {
	lines := make([]string, len(answer.Messages))
	for i, message := range answer.Messages {
		lines[i] = oneLine(message)
		if times := answer.timesOf(i); times > 1 {
			lines[i] = fmt.Sprintf("%s (%d times)", lines[i], times)
		}
	}
	return lines
}

// timesOf is how often a message came.
func (r reply) timesOf(i int) int {
	if i < len(r.Times) {
		return r.Times[i]
	}
	return 1
}

// plainQuotes undoes the engine's escaping of the quotes (and of nothing else) in FullForm text.
func plainQuotes(text string) string { return strings.ReplaceAll(text, `\"`, `"`) }

// withoutMessages removes the engine's echo of its messages from what the expression printed.
func withoutMessages(answer reply) string {
	stdout := answer.Stdout
	for i, message := range answer.Messages {
		stdout = strings.Replace(stdout, "\n"+message+"\n", "", answer.timesOf(i))
	}
	return stdout
}

// token is a string literal or a number with precision (digits`p.), anywhere in InputForm.
var precise = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|([0-9]+\\.?[0-9]*)`([0-9]+(?:\\.[0-9]*)?)(\\*\\^-?[0-9]+)?")

// precisionAsDigits shows 3.1415926535897932384…`30. with 30 digits and without the mark, as OutputForm would.
func precisionAsDigits(text string) string {
	if !strings.Contains(text, "`") {
		return text
	}
	return precise.ReplaceAllStringFunc(text, func(match string) string {
		part := precise.FindStringSubmatch(match)
		if part[1] == "" {
			return match
		}
		return toDigits(part[1], part[2]) + part[3]
	})
}

// toDigits rounds decimal notation to a number of significant digits, half to even on the decimal value.
func toDigits(number, precision string) string {
	digits, _, err := big.ParseFloat(precision, 10, 64, big.ToNearestEven)
	if err != nil || len(number) > 100_000 {
		return number
	}
	want, _ := digits.Int64()
	whole, fraction, _ := strings.Cut(number, ".")
	all := strings.TrimLeft(whole+fraction, "0")
	if want < 1 || int64(len(all)) <= want {
		return number
	}
	drop := len(all) - int(want)
	value, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok {
		return number
	}
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(drop)), nil)
	quotient, rest := new(big.Int).QuoRem(value, unit, new(big.Int))
	if twice := rest.Lsh(rest, 1).Cmp(unit); twice > 0 || twice == 0 && quotient.Bit(0) == 1 {
		quotient.Add(quotient, big.NewInt(1))
	}
	places := len(fraction) - drop // decimal places that are left; negative: zeros before the point
	if places <= 0 {
		return quotient.String() + strings.Repeat("0", -places) + "."
	}
	text := quotient.String()
	if missing := places + 1 - len(text); missing > 0 {
		text = strings.Repeat("0", missing) + text
	}
	return text[:len(text)-places] + "." + text[len(text)-places:]
}
