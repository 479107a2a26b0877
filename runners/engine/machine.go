package engine

import (
	"math"
	"strconv"
	"strings"

	"reckon/domain/expression"
)

// machineWarnings say where machine numbers leave nothing to rely on: a result that is infinite or undefined though the
// input asked for a number, and a zero that sums and exponentials left. The engine says neither. Machine numbers have
// 53 bits and end at about 1.8*10^308 (IEEE 754 binary64).
func machineWarnings(x exchange) []string {
	if len(x.messages) > 0 || !x.isRead() {
		return nil
	}
	input, output := x.last(), x.output
	if !isInexact(input) || mentions(input, infinite) {
		return nil
	}
	switch {
	case turnsAway(input):
		return []string{"The argument of a periodic function is a machine number over 10^15: machine numbers have about 16 digits, so that nothing is known of its place in the period and no digit of the result can be relied on. Compute with exact numbers to see."}
	case mentions(output, infinite):
		return []string{"The result holds an infinite or undefined value that machine numbers made: they end at about 1.8*10^308. It need not be infinite: compute with exact numbers to see."}
	case isMachineZero(output) && mentions(input, cancelling):
		return []string{"The result is zero in machine numbers, which have about 16 digits: all digits may have been lost to cancellation or underflow. Compute with exact numbers to see."}
	}
	return nil
}

var (
	infinite   = wordSet(`Infinity ComplexInfinity Indeterminate DirectedInfinity Overflow Limit Residue`)
	inexact    = wordSet(`N NIntegrate NSum NProduct NSolve FindRoot NMinimize NMaximize FindMinimum FindMaximum NDSolve`)
	cancelling = wordSet(`Plus Subtract Exp Power`)
)

// periodic are the functions of an angle.
var periodic = wordSet(`Sin Cos Tan Cot Sec Csc`)

// turnsAway tells whether the argument of a periodic function is a machine number that is larger than its digits reach.
func turnsAway(e *expression.Expr) bool {
	found := false
	e.Walk(func(part *expression.Expr) bool {
		if periodic[part.HeadName()] && len(part.Args) == 1 && isInexact(part.Args[0]) {
			size, known := value(part.Args[0], 0)
			found = found || known && math.Abs(size) > 1e15
		}
		return !found
	})
	return found
}

// value is about what an expression of plain numbers amounts to; false for any other.
func value(e *expression.Expr, depth int) (float64, bool) {
	if depth > 16 {
		return 0, false
	}
	if e.Kind == expression.Integer || e.Kind == expression.Real {
		mantissa, exponent, _ := strings.Cut(e.Text, "*^")
		mantissa, _, _ = strings.Cut(mantissa, "`")
		if exponent != "" {
			mantissa += "e" + exponent
		}
		number, err := strconv.ParseFloat(mantissa, 64)
		return number, err == nil
	}
	name := e.HeadName()
	if name != "Plus" && name != "Times" && name != "Power" || len(e.Args) == 0 || name == "Power" && len(e.Args) != 2 {
		return 0, false
	}
	total, known := value(e.Args[0], depth+1)
	for _, argument := range e.Args[1:] {
		next, is := value(argument, depth+1)
		known = known && is
		switch name {
		case "Plus":
			total += next
		case "Times":
			total *= next
		default:
			total = math.Pow(total, next)
		}
	}
	return total, known
}

// isInexact tells whether the expression has a number with a point or asks for one.
func isInexact(e *expression.Expr) bool {
	found := mentions(e, inexact)
	e.Walk(func(part *expression.Expr) bool {
		found = found || part.Kind == expression.Real
		return !found
	})
	return found
}

// mentions tells whether one of the names stands anywhere in the expression.
func mentions(e *expression.Expr, names map[string]bool) bool {
	found := false
	e.Walk(func(part *expression.Expr) bool {
		found = found || part.Kind == expression.Symbol && names[part.Text] || names[part.HeadName()]
		return !found
	})
	return found
}

// isMachineZero tells whether the whole expression is 0. , as machine numbers write it.
func isMachineZero(e *expression.Expr) bool {
	if e.Kind != expression.Real {
		return false
	}
	for _, c := range e.Text {
		if c != '0' && c != '.' {
			return false
		}
	}
	return true
}
