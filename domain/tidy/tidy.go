package tidy

import (
	"math/big"
	"slices"
	"strings"

	"reckon/domain/expression"
)

// maxNodes bounds what is tidied: a larger formula is returned as it is.
const maxNodes = 20_000

// Formula is e, tidied. A tree of more than 20,000 nodes comes back as it is.
func Formula(e *expression.Expr) *expression.Expr {
	nodes := 0
	e.Walk(func(*expression.Expr) bool { nodes++; return nodes <= maxNodes })
	if nodes > maxNodes {
		return e
	}
	return render(read(e))
}

// sum is a formula: the sum of its terms, of which no two have the same factors and none is zero, in order.
type sum []term

// term is coefficient*factors, of which no two have the same base, in order.
type term struct {
	coefficient number
	factors     []factor
	key         string // of the factors
}

// factor is base^exponent.
type factor struct {
	base     base
	exponent sum
}

// kind of a base, in the order in which factors stand.
type kind uint8

const (
	decimal kind = iota
	whole        // a positive whole number
	symbol       // a name
	formula      // a sum that is no single base
	call         // a function or structure, or an atom that is none of the above
)

type base struct {
	kind  kind
	atom  *expression.Expr // of a whole number, a symbol, and an atom
	head  *expression.Expr // of a call
	parts []sum            // the arguments of a call; the one formula
	key   string
}

func constant(n number) sum {
	if n.isZero() {
		return nil
	}
	return sum{{coefficient: n}}
}

// isConstant reports whether s is a number.
func (s sum) isConstant() (number, bool) {
	switch {
	case len(s) == 0:
		return zero, true
	case len(s) == 1 && len(s[0].factors) == 0:
		return s[0].coefficient, true
	}
	return number{}, false
}

func (s sum) key() string {
	keys := make([]string, len(s))
	for i, t := range s {
		keys[i] = t.coefficient.String() + "*" + t.key
	}
	return "(" + strings.Join(keys, "+") + ")"
}

func keyOf(factors []factor) string {
	var b strings.Builder
	for _, f := range factors {
		b.WriteString(f.base.key + "^" + f.exponent.key() + ";")
	}
	return b.String()
}

// single is base^1.
func single(b base) sum {
	factors := []factor{{b, constant(one)}}
	return sum{{one, factors, keyOf(factors)}}
}

// read makes a sum of a tree.
func read(e *expression.Expr) sum {
	switch e.Kind {
	case expression.Integer:
		n, ok := new(big.Rat).SetString(e.Text)
		if !ok {
			return single(atom(call, e))
		}
		return constant(number{n, new(big.Rat)})
	case expression.Symbol:
		if e.Text == "I" {
			return constant(imaginary)
		}
		return single(atom(symbol, e))
	case expression.Call:
		return readCall(e)
	case expression.Real:
		return single(atom(decimal, e))
	}
	return single(atom(call, e))
}

func atom(k kind, e *expression.Expr) base {
	return base{kind: k, atom: e, key: string('0'+rune(k)) + e.FullForm()}
}

func readCall(e *expression.Expr) sum {
	parts := make([]sum, len(e.Args))
	for i, arg := range e.Args {
		parts[i] = read(arg)
	}
	switch name := e.HeadName(); {
	case name == "Plus":
		return add(parts...)
	case name == "Times":
		return multiply(parts...)
	case name == "Subtract" && len(parts) == 2:
		return add(parts[0], multiply(constant(minusOne), parts[1]))
	case name == "Minus" && len(parts) == 1:
		return multiply(constant(minusOne), parts[0])
	case name == "Power" && len(parts) == 2:
		return power(parts[0], parts[1])
	case (name == "Rational" || name == "Divide") && len(parts) == 2:
		return multiply(parts[0], power(parts[1], constant(minusOne)))
	case name == "Sqrt" && len(parts) == 1:
		return power(parts[0], constant(real(1, 2)))
	case name == "Exp" && len(parts) == 1:
		return power(single(atom(symbol, expression.Sym("E"))), parts[0])
	case len(parts) == 1 && (odd[name] || even[name]) && isNegative(parts[0]):
		mirrored := function(e.Head, []sum{multiply(constant(minusOne), parts[0])})
		if even[name] {
			return mirrored
		}
		return multiply(constant(minusOne), mirrored)
	}
	return function(e.Head, parts)
}

// Functions with f(-x) = -f(x), and with f(-x) = f(x), for all complex x.
var (
	odd  = set("Sin Tan Cot Csc Sinh Tanh Coth Csch ArcSin ArcTan ArcCsc ArcSinh ArcTanh ArcCsch Erf Erfi SinIntegral SinhIntegral FresnelS FresnelC")
	even = set("Cos Sec Cosh Sech Abs")
)

func set(names string) map[string]bool {
	all := map[string]bool{}
	for _, name := range strings.Fields(names) {
		all[name] = true
	}
	return all
}

// isNegative reports whether s is one term with a negative coefficient.
func isNegative(s sum) bool { return len(s) == 1 && s[0].coefficient.less(zero) }

func function(head *expression.Expr, parts []sum) sum {
	keys := make([]string, len(parts))
	for i, p := range parts {
		keys[i] = p.key()
	}
	return single(base{kind: call, head: head, parts: parts, key: string('0'+rune(call)) + head.FullForm() + "[" + strings.Join(keys, ",") + "]"})
}

// add adds, and collects the terms that have the same factors.
func add(sums ...sum) sum {
	at := map[string]int{}
	var all sum
	for _, s := range sums {
		for _, t := range s {
			i, known := at[t.key]
			if !known {
				at[t.key] = len(all)
				all = append(all, t)
				continue
			}
			all[i].coefficient = all[i].coefficient.plus(t.coefficient)
		}
	}
	all = slices.DeleteFunc(all, func(t term) bool { return t.coefficient.isZero() })
	slices.SortStableFunc(all, compareTerms)
	return all
}

// multiply multiplies numbers into sums, and terms; a product of two sums stays one.
func multiply(sums ...sum) sum {
	result := constant(one)
	for _, s := range sums {
		result = multiplyTwo(result, s)
	}
	return result
}

func multiplyTwo(a, b sum) sum {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	if _, is := b.isConstant(); is {
		a, b = b, a
	}
	if n, is := a.isConstant(); is {
		scaled := make(sum, len(b))
		for i, t := range b {
			scaled[i] = term{t.coefficient.times(n), t.factors, t.key}
		}
		return scaled
	}
	return sum{multiplyTerms(asTerm(a), asTerm(b))}
}

// asTerm is s as one term: a sum of several is a factor.
func asTerm(s sum) term {
	if len(s) == 1 {
		return s[0]
	}
	factors := []factor{{baseOf(s), constant(one)}}
	return term{one, factors, keyOf(factors)}
}

// baseOf is s as the base of a power.
func baseOf(s sum) base {
	if len(s) == 1 && s[0].coefficient.is(1) && len(s[0].factors) == 1 {
		if e, is := s[0].factors[0].exponent.isConstant(); is && e.is(1) {
			return s[0].factors[0].base
		}
	}
	return base{kind: formula, parts: []sum{s}, key: string('0'+rune(formula)) + s.key()}
}

func multiplyTerms(a, b term) term {
	coefficient := a.coefficient.times(b.coefficient)
	factors := slices.Clone(a.factors)
	for _, f := range b.factors {
		i := slices.IndexFunc(factors, func(g factor) bool { return g.base.key == f.base.key })
		if i < 0 {
			factors = append(factors, f)
			continue
		}
		exponent := add(factors[i].exponent, f.exponent)
		factors = slices.Delete(factors, i, i+1)
		raised := asTerm(powerOfBase(f.base, exponent))
		coefficient = coefficient.times(raised.coefficient)
		factors = append(factors, raised.factors...)
	}
	slices.SortStableFunc(factors, compareFactors)
	return term{coefficient, factors, keyOf(factors)}
}

// powerOfBase is base^exponent.
func powerOfBase(b base, exponent sum) sum {
	e, isNumber := exponent.isConstant()
	switch {
	case isNumber && e.isZero():
		return constant(one)
	case b.kind == whole:
		n, _ := new(big.Rat).SetString(b.atom.Text)
		return powerOfNumber(number{n, new(big.Rat)}, exponent)
	case isNumber && e.is(1) && b.kind == formula:
		return b.parts[0]
	}
	factors := []factor{{b, exponent}}
	return sum{{one, factors, keyOf(factors)}}
}

func power(b, exponent sum) sum {
	if n, is := b.isConstant(); is && !n.isZero() {
		return powerOfNumber(n, exponent)
	}
	if len(b) == 0 {
		return function(expression.Sym("Power"), []sum{b, exponent})
	}
	e, isNumber := exponent.isConstant()
	if k, is := e.wholeOf(isNumber); is && len(b) == 1 {
		n, fits := b[0].coefficient.power(k)
		if !fits {
			return powerOfBase(baseOf(b), exponent)
		}
		raised := constant(n)
		for _, f := range b[0].factors {
			raised = multiplyTwo(raised, powerOfBase(f.base, multiplyTwo(f.exponent, exponent)))
		}
		return raised
	}
	if isE(b) {
		return exponential(exponent)
	}
	if len(b) == 1 && b[0].coefficient.isReal() && b[0].coefficient.re.Sign() > 0 && !b[0].coefficient.is(1) {
		rest := sum{{one, b[0].factors, b[0].key}}
		return multiplyTwo(powerOfNumber(b[0].coefficient, exponent), power(rest, exponent))
	}
	return powerOfBase(baseOf(b), exponent)
}

// wholeOf is the whole number that a constant exponent is.
func (n number) wholeOf(isNumber bool) (int64, bool) {
	if !isNumber {
		return 0, false
	}
	return n.isWhole()
}

func isE(b sum) bool {
	return len(b) == 1 && b[0].coefficient.is(1) && len(b[0].factors) == 1 && b[0].factors[0].base.atom.IsSymbol("E") && b[0].factors[0].exponent.key() == constant(one).key()
}

// exponential is E^exponent, of which every term c Log[x] becomes x^c.
func exponential(exponent sum) sum {
	result := constant(one)
	var rest sum
	for _, t := range exponent {
		i := slices.IndexFunc(t.factors, func(f factor) bool {
			return f.base.kind == call && f.base.head.IsSymbol("Log") && len(f.base.parts) == 1 && f.exponent.key() == constant(one).key()
		})
		if i < 0 {
			rest = append(rest, t)
			continue
		}
		others := slices.Delete(slices.Clone(t.factors), i, i+1)
		result = multiplyTwo(result, power(t.factors[i].base.parts[0], sum{{t.coefficient, others, keyOf(others)}}))
	}
	return multiplyTwo(result, powerOfBase(atom(symbol, expression.Sym("E")), rest))
}

// powerOfNumber is n^exponent; n is not zero. Whole parts of exponents are worked out, square roots without their square divisors.
func powerOfNumber(n number, exponent sum) sum {
	if n.is(1) {
		return constant(one)
	}
	split := slices.IndexFunc(exponent, func(t term) bool { return len(t.factors) == 0 && t.coefficient.isReal() })
	result, rest := constant(one), exponent
	if split >= 0 {
		wholePart := floor(exponent[split].coefficient.re)
		k := number{new(big.Rat).SetInt(wholePart), new(big.Rat)}
		if small, is := k.isWhole(); is && small != 0 {
			if raised, fits := n.power(small); fits {
				result, rest = constant(raised), add(exponent, constant(k.times(minusOne)))
			}
		}
	}
	if len(rest) == 0 {
		return result
	}
	if n.isReal() && n.re.Sign() > 0 {
		return multiply(result, powerOfWhole(n.re.Num(), rest), powerOfWhole(n.re.Denom(), multiplyTwo(constant(minusOne), rest)))
	}
	if e, is := rest.isConstant(); is && n.isReal() && e.isReal() && e.re.Cmp(big.NewRat(1, 2)) == 0 {
		return multiply(result, constant(imaginary), powerOfNumber(n.times(minusOne), rest))
	}
	b := base{kind: formula, parts: []sum{constant(n)}, key: string('0'+rune(formula)) + constant(n).key()}
	factors := []factor{{b, rest}}
	return multiplyTwo(result, sum{{one, factors, keyOf(factors)}})
}

// floor is the largest whole number that is not greater.
func floor(r *big.Rat) *big.Int { return new(big.Int).Div(r.Num(), r.Denom()) }

// powerOfWhole is n^exponent for a positive whole n; the exponent has no whole part.
func powerOfWhole(n *big.Int, exponent sum) sum {
	if n.Cmp(big.NewInt(1)) == 0 {
		return constant(one)
	}
	outside := constant(one)
	if e, is := exponent.isConstant(); is && e.isReal() && e.re.Denom().Cmp(big.NewInt(2)) == 0 {
		out, in := radical(n)
		if k, whole := e.times(real(2, 1)).isWhole(); whole {
			if raised, fits := (number{new(big.Rat).SetInt(out), new(big.Rat)}).power(k); fits {
				outside, n = constant(raised), in
			}
		}
		if n.Cmp(big.NewInt(1)) == 0 {
			return outside
		}
		if e.re.Sign() < 0 { // 1/Sqrt[n] is Sqrt[n]/n: so that roots of the same number meet
			outside = multiplyTwo(outside, constant(number{new(big.Rat).SetFrac(big.NewInt(1), n), new(big.Rat)}))
			exponent = add(exponent, constant(one))
		}
	}
	b := base{kind: whole, atom: &expression.Expr{Kind: expression.Integer, Text: n.String()}, key: string('0'+rune(whole)) + n.String()}
	factors := []factor{{b, exponent}}
	return multiplyTwo(outside, sum{{one, factors, keyOf(factors)}})
}
