package reference

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"reckon/domain/expression"
)

// Answer is the answer of evaluating an example's input.
type Answer struct {
	Result    string   // as people read it
	InputForm string   // reads back as the answer
	Stdout    string   // what was printed
	Messages  []string // Symbol::tag: text
	SVG       []byte   // the picture; empty: none
	Job       string   // of a job its result, JSON; then nothing else
}

// Compare tells whether an answer is right, and where it is not, how it differs. A value that is not the same expression may be equal all the
// same: the checker can be asked (Right.Question).
func Compare(right Right, answer Answer) (same bool, difference string) {
	switch right.Way {
	case ByPlot:
		if !drawsSomething(answer.SVG) {
			return false, "no picture came: " + shown(answer)
		}
		return true, ""
	case ByJob:
		same, shown := compareJob(right, answer.Job)
		if !same {
			return false, "the result has " + shown
		}
		return true, ""
	case ByText:
		if answer.Result == right.Text || answer.Result == "Null" && strings.TrimSuffix(answer.Stdout, "\n") == right.Text {
			return true, ""
		}
		return false, fmt.Sprintf("the text is %q", shown(answer))
	case ByMessage:
		name, _, _ := strings.Cut(right.Text, " ")
		if !slices.ContainsFunc(answer.Messages, func(m string) bool { return strings.HasPrefix(m, name+":") }) {
			return false, fmt.Sprintf("no message %s came, but %q", name, answer.Messages)
		}
		if right.Value == nil {
			return true, ""
		}
	}
	got, err := expression.Parse(answer.InputForm)
	if err != nil {
		return false, "the answer cannot be read: " + shown(answer)
	}
	if sameValue(right, got) {
		return true, ""
	}
	return false, "the answer is " + shown(answer)
}

// shown is an answer in readable form.
func shown(a Answer) string {
	switch {
	case a.Result == "Null" && a.Stdout != "":
		return strings.TrimSuffix(a.Stdout, "\n")
	case a.InputForm != "":
		return a.InputForm
	}
	return a.Result
}

// sameValue compares normal forms, numbers within the tolerance.
func sameValue(right Right, got *expression.Expr) bool {
	want, got := normal(right.Value), normal(got)
	if !right.AnyOrder {
		return close(want, got, right.Tolerance)
	}
	if !got.IsCall("List") || len(got.Args) != len(want.Args) {
		return false
	}
	left := slices.Clone(got.Args)
	for _, element := range want.Args {
		i := slices.IndexFunc(left, func(one *expression.Expr) bool { return close(element, one, right.Tolerance) })
		if i < 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
	}
	return true
}

// close tells whether two normal forms are the same, numbers within a relative tolerance of the right one (absolute, where that is zero).
// Without a tolerance an exact number is never the same as an inexact one.
func close(want, got *expression.Expr, tolerance *big.Rat) bool {
	wantRe, wantIm, isNumber := complexNumber(want)
	gotRe, gotIm, isNumberToo := complexNumber(got)
	switch {
	case isNumber && isNumberToo && tolerance != nil:
		return withinOf(wantRe, wantIm, gotRe, gotIm, tolerance)
	case isNumber && isNumberToo:
		return isInexact(want) == isInexact(got) && wantRe.Cmp(gotRe) == 0 && wantIm.Cmp(gotIm) == 0
	case want.Kind != got.Kind || want.Text != got.Text || len(want.Args) != len(got.Args):
		return false
	case want.Kind != expression.Call:
		return true
	case !close(want.Head, got.Head, nil):
		return false
	}
	for i := range want.Args {
		if !close(want.Args[i], got.Args[i], tolerance) {
			return false
		}
	}
	return true
}

// withinOf tells whether |got - want| is at most tolerance·|want|, or tolerance where want is zero; without roots.
func withinOf(wantRe, wantIm, gotRe, gotIm, tolerance *big.Rat) bool {
	squares := func(a, b *big.Rat) *big.Rat {
		return new(big.Rat).Add(new(big.Rat).Mul(a, a), new(big.Rat).Mul(b, b))
	}
	limit := new(big.Rat).Mul(tolerance, tolerance)
	if size := squares(wantRe, wantIm); size.Sign() > 0 {
		limit.Mul(limit, size)
	}
	return squares(new(big.Rat).Sub(wantRe, gotRe), new(big.Rat).Sub(wantIm, gotIm)).Cmp(limit) <= 0
}

// isInexact tells whether an inexact number stands in e.
func isInexact(e *expression.Expr) bool {
	found := false
	e.Walk(func(n *expression.Expr) bool {
		found = found || n.Kind == expression.Real
		return !found
	})
	return found
}

// orderless are the operators whose operands have no order.
var orderless = map[string]bool{"Plus": true, "Times": true, "And": true, "Or": true, "Xor": true}

// normal is e with what may be written in several ways written in one: roots and exponentials as powers, exact numbers in a sum or product as
// one fraction, operands without order in order. It expands and cancels nothing.
func normal(e *expression.Expr) *expression.Expr {
	return normalTree(expression.Canonical(e))
}

func normalTree(e *expression.Expr) *expression.Expr {
	if e.Kind != expression.Call {
		return e
	}
	args := make([]*expression.Expr, len(e.Args))
	for i, arg := range e.Args {
		args[i] = normalTree(arg)
	}
	made := expression.Apply(normalTree(e.Head), args...)
	switch name := made.HeadName(); {
	case name == "Sqrt" && len(args) == 1:
		return normalPower(args[0], expression.Fraction(big.NewRat(1, 2)))
	case name == "Exp" && len(args) == 1:
		return normalPower(expression.Sym("E"), args[0])
	case name == "Power" && len(args) == 2:
		return normalPower(args[0], args[1])
	case name == "Plus", name == "Times":
		made = foldNumbers(made)
	}
	if orderless[made.HeadName()] {
		slices.SortStableFunc(made.Args, func(a, b *expression.Expr) int { return strings.Compare(orderKey(a), orderKey(b)) })
	}
	return made
}

// normalPower writes (1/q)^r as q^(-r), and works out powers of exact numbers.
func normalPower(base, exponent *expression.Expr) *expression.Expr {
	power := expression.NewCall("Power", base, exponent)
	if isInexact(power) {
		return power
	}
	if value, ok := exactNumber(power); ok {
		return expression.Fraction(value)
	}
	of, isNumber := exactNumber(base)
	r, isNumberToo := exactNumber(exponent)
	if isNumber && isNumberToo && !of.IsInt() && of.Num().IsInt64() && of.Num().Int64() == 1 {
		return expression.NewCall("Power", expression.Fraction(new(big.Rat).SetInt(of.Denom())), expression.Fraction(r.Neg(r)))
	}
	return power
}

// foldNumbers makes one of the exact real numbers of a sum or product whose operands are normal.
func foldNumbers(e *expression.Expr) *expression.Expr {
	var exact, rest []*expression.Expr
	for _, arg := range e.Args {
		flat := []*expression.Expr{arg}
		if arg.IsCall(e.Head.Text) {
			flat = arg.Args
		}
		for _, one := range flat {
			if _, ok := exactNumber(one); ok && !isInexact(one) {
				exact = append(exact, one)
			} else {
				rest = append(rest, one)
			}
		}
	}
	value, ok := exactNumber(expression.NewCall(e.Head.Text, exact...))
	if !ok {
		return expression.NewCall(e.Head.Text, append(exact, rest...)...)
	}
	neutral := int64(0)
	if e.IsCall("Times") {
		neutral = 1
	}
	if len(rest) == 0 || value.Cmp(big.NewRat(neutral, 1)) != 0 {
		rest = append(rest, expression.Fraction(value))
	}
	if len(rest) == 1 {
		return rest[0]
	}
	return expression.NewCall(e.Head.Text, rest...)
}

// orderKey orders operands in a way that the digits of numbers do not change.
func orderKey(e *expression.Expr) string {
	if _, _, isNumber := complexNumber(e); isNumber {
		return ""
	}
	return e.Map(func(n *expression.Expr) (*expression.Expr, bool) {
		return expression.Sym("#"), n.Kind == expression.Real
	}).FullForm()
}

// drawsSomething tells whether a picture has a shape in it.
func drawsSomething(svg []byte) bool {
	decoder := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := decoder.Token()
		if err != nil {
			return false
		}
		if start, ok := token.(xml.StartElement); ok {
			switch start.Name.Local {
			case "path", "line", "polyline", "polygon", "circle", "ellipse", "image", "text", "rect":
				return true
			}
		}
	}
}

// Question is an expression whose answer is right exactly where it equals the right value: what the checker is asked where an answer is not
// the same expression. ok is false where there is no such question.
func (r Right) Question() (input *expression.Expr, ok bool) {
	if r.Way != ByValue || r.AnyOrder || r.Tolerance != nil {
		return nil, false
	}
	return expression.NewCall("Simplify", r.Value), true
}

// IsTrivial tells whether an answer is its input as it stands, so that it shows nothing.
func IsTrivial(example Example, answer Answer) bool {
	input, err := expression.Parse(example.Input)
	got, gotErr := expression.Parse(answer.InputForm)
	if err != nil || gotErr != nil || len(answer.Messages) > 0 || len(answer.SVG) > 0 || answer.Stdout != "" {
		return false
	}
	if input.Kind != expression.Call {
		return example.Input == answer.InputForm // 16^^ff is 255, and shows how numbers are written
	}
	return expression.Canonical(input).Equal(expression.Canonical(got))
}
