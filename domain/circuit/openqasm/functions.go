package openqasm

import (
	"math"
	"math/big"
	"math/bits"

	"reckon/domain/circuit/trig"
)

// realFunctions take one real number.
var realFunctions = map[string]func(x float64) float64{
	"sin": func(x float64) float64 { s, _ := trig.Sincos(x); return s },
	"cos": func(x float64) float64 { _, c := trig.Sincos(x); return c },
	"tan": func(x float64) float64 { s, c := trig.Sincos(x); return s / c },
	"arcsin": func(x float64) float64 {
		return atan2(x, math.Sqrt(float64((1-x)*(1+x))))
	},
	"arccos": func(x float64) float64 {
		return atan2(math.Sqrt(float64((1-x)*(1+x))), x)
	},
	"arctan": func(x float64) float64 { return atan2(x, 1) },
	"exp":    exp, "log": log, "ln": log,
	"sqrt": math.Sqrt, "floor": math.Floor, "ceiling": math.Ceil,
}

// functionNames of each version.
var (
	functions3 = []string{"arccos", "arcsin", "arctan", "ceiling", "cos", "exp", "floor", "log", "mod", "popcount", "pow", "rotl", "rotr", "sin", "sizeof", "sqrt", "tan"}
	functions2 = []string{"sin", "cos", "tan", "exp", "ln", "sqrt"}
)

func (e *elaborator) call(c *call) value {
	at := c.position()
	if r := e.findRoutine(c.function); r != nil {
		v := e.callRoutine(at, r, c.arguments)
		if r.returns == nil {
			fail(CodeType, at, "%s returns nothing", clip(c.function))
		}
		return v
	}
	known := functions3
	if e.version == 2 {
		known = functions2
	}
	found, want := false, 1
	for _, f := range known {
		found = found || f == c.function
	}
	if !found {
		fail(CodeUnsupported, at, "there is no function %s%s", clip(c.function), suggestion(c.function, append(e.names(symbolRoutine), known...)))
	}
	if c.function == "sizeof" {
		return e.sizeOf(c)
	}
	if c.function == "mod" || c.function == "pow" || c.function == "rotl" || c.function == "rotr" {
		want = 2
	}
	if len(c.arguments) != want {
		fail(CodeParameters, at, "%s takes %d argument%s, not %d", c.function, want, plural(want), len(c.arguments))
	}
	switch c.function {
	case "mod":
		return e.binaryValue(at, "%", e.evaluate(c.arguments[0]), e.evaluate(c.arguments[1]))
	case "pow":
		return e.binaryValue(at, "**", e.evaluate(c.arguments[0]), e.evaluate(c.arguments[1]))
	case "popcount":
		return e.popcount(at, e.evaluate(c.arguments[0]))
	case "rotl", "rotr":
		return e.rotate(c)
	}
	x := e.knownReal(c.arguments[0], "the argument of "+c.function)
	y := realFunctions[c.function](x)
	if math.IsNaN(y) || math.IsInf(y, 0) {
		fail(CodeAngle, at, "%s(%v) is not a finite number", c.function, x)
	}
	return realValue(y)
}

func (e *elaborator) popcount(at int, v value) value {
	if !v.isRegister() && v.kind != kindUint {
		fail(CodeType, at, "popcount does not take %s", v.describe())
	}
	list := v.pattern(v.effective())
	count := value{kind: kindUint}.pattern(bits.Len(uint(len(list))))
	for _, b := range list {
		one := value{kind: kindUint}.pattern(len(count))
		one[0] = b
		count = e.sum(at, count, one, constant(false))
	}
	sum := value{kind: kindUint, bits: count}
	sum.bits = sum.pattern(machineWidth)
	return sum.folded()
}

// rotate moves bits around: rotl(v, n)[i] is v[i − n].
func (e *elaborator) rotate(c *call) value {
	v := e.evaluate(c.arguments[0])
	if !v.isRegister() && v.kind != kindUint {
		fail(CodeType, c.position(), "%s does not take %s", c.function, v.describe())
	}
	list := v.pattern(v.effective())
	size := int64(len(list))
	distance := e.knownInteger(c.arguments[1]) % size
	if c.function == "rotr" {
		distance = -distance
	}
	out := make([]Ref, size)
	for i := range list {
		out[(int64(i)+distance+size)%size] = list[i]
	}
	v.bits = out
	return v.folded()
}

// realPower is base^exponent: by repeated multiplication for integers of moderate size, so that squares are exact.
func realPower(at int, base, exponent float64) float64 {
	if exponent == math.Trunc(exponent) && math.Abs(exponent) <= 1024 {
		value := 1.0
		for range int(math.Abs(exponent)) {
			value = float64(value * base)
		}
		if exponent < 0 {
			value = 1 / value
		}
		return value
	}
	switch {
	case base == 0 && exponent > 0:
		return 0
	case base <= 0:
		fail(CodeAngle, at, "%v ** %v is not a real number", base, exponent)
	}
	product := logBig(base)
	out, _ := expBig(product.Mul(product, newFloat(exponent))).Float64()
	return out
}

// exp, log and atan2 are rounded from sums of more than twice the digits of a double: the standard library's differ in
// the last bit between processors.

const precision = 160

func newFloat(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

func exp(x float64) float64 {
	out, _ := expBig(newFloat(x)).Float64()
	return out
}

// expBig is e^x. Where a double cannot hold it, it is larger or smaller than any.
func expBig(x *big.Float) *big.Float {
	const most = 800
	if x.Cmp(newFloat(most)) > 0 {
		x = newFloat(most)
	} else if x.Cmp(newFloat(-most)) < 0 {
		x = newFloat(-most)
	}
	const halvings = 16 // e^x = (e^(x/2^16))^(2^16)
	r := newFloat(0).SetMantExp(x, -halvings)
	sum, term := newFloat(1), newFloat(1)
	for n := 1; n < 40; n++ {
		term.Mul(term, r)
		term.Quo(term, newFloat(float64(n)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

func log(x float64) float64 {
	switch {
	case x < 0 || math.IsNaN(x):
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	}
	out, _ := logBig(x).Float64()
	return out
}

// logBig is 2·artanh((m − 1)/(m + 1)) + k·log 2 for x = m·2^k, for finite x > 0.
func logBig(x float64) *big.Float {
	fraction, exponent := math.Frexp(x)
	if fraction < math.Sqrt2/2 {
		fraction *= 2
		exponent--
	}
	sum := artanh2(newFloat(fraction-1), newFloat(fraction+1))
	logTwo := artanh2(newFloat(1), newFloat(3))
	return sum.Add(sum, logTwo.Mul(logTwo, newFloat(float64(exponent))))
}

// artanh2 is 2·artanh(a/b) for |a/b| ≤ 1/3.
func artanh2(a, b *big.Float) *big.Float {
	z := new(big.Float).SetPrec(precision).Quo(a, b)
	square := new(big.Float).SetPrec(precision).Mul(z, z)
	sum := newFloat(0)
	for n := 101; n > 0; n -= 2 {
		sum.Mul(sum, square)
		sum.Add(sum, new(big.Float).SetPrec(precision).Quo(newFloat(1), newFloat(float64(n))))
	}
	sum.Mul(sum, z)
	return sum.Mul(sum, newFloat(2))
}

// atan2 is the angle of the point (x, y), in (−π, π].
func atan2(y, x float64) float64 {
	if y == 0 {
		if x < 0 {
			return math.Pi
		}
		return 0
	}
	if math.IsNaN(x) || math.IsNaN(y) {
		return math.NaN()
	}
	a, b := math.Abs(y), math.Abs(x)
	steep := a > b
	if steep {
		a, b = b, a
	}
	angle := arctan(a / b) // the quotient of two doubles below 1 loses half an ulp; what follows loses less
	if steep {
		angle = math.Pi/2 - angle
	}
	if x < 0 {
		angle = math.Pi - angle
	}
	return math.Copysign(angle, y)
}

// arctan for 0 ≤ x ≤ 1: halved twice by arctan x = 2·arctan(x/(1 + √(1 + x²))), then its series.
func arctan(x float64) float64 {
	z := newFloat(x)
	for range 2 {
		root := new(big.Float).SetPrec(precision).Mul(z, z)
		root.Sqrt(root.Add(root, newFloat(1)))
		z.Quo(z, root.Add(root, newFloat(1)))
	}
	square := new(big.Float).SetPrec(precision).Mul(z, z)
	sum := newFloat(0)
	for n := 61; n > 0; n -= 2 {
		term := new(big.Float).SetPrec(precision).Quo(newFloat(1), newFloat(float64(n)))
		sum.Sub(term, sum.Mul(sum, square))
	}
	sum.Mul(sum, z)
	out, _ := sum.Float64()
	return 4 * out
}
