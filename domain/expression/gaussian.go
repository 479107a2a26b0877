package expression

import (
	"math/big"
	"strings"
)

// Bounds on the complex integers that are computed: users write no larger ones, and multiplication is not linear.
const (
	maxGaussianArgs   = 16
	maxGaussianDigits = 40
)

// gaussian is a complex integer.
type gaussian struct{ re, im *big.Int }

// gaussianCall works out a sum or product of nothing but complex integers, one of them not real. Real ones are left as
// written: 1+1 stays a sum.
func gaussianCall(e *Expr) (*Expr, bool) {
	sum := e.IsCall("Plus")
	if !sum && !e.IsCall("Times") || len(e.Args) < 2 || len(e.Args) > maxGaussianArgs {
		return nil, false
	}
	total := gaussian{new(big.Int), new(big.Int)}
	if !sum {
		total.re.SetInt64(1)
	}
	complexParts := false
	for _, arg := range e.Args {
		value, ok := gaussianOf(arg)
		if !ok {
			return nil, false
		}
		complexParts = complexParts || value.im.Sign() != 0
		if sum {
			total = gaussian{total.re.Add(total.re, value.re), total.im.Add(total.im, value.im)}
		} else {
			total = total.times(value)
		}
	}
	if !complexParts {
		return nil, false
	}
	return total.expr(), true
}

func (g gaussian) times(h gaussian) gaussian {
	re := new(big.Int).Mul(g.re, h.re)
	im := new(big.Int).Mul(g.re, h.im)
	re.Sub(re, new(big.Int).Mul(g.im, h.im))
	im.Add(im, new(big.Int).Mul(g.im, h.re))
	return gaussian{re, im}
}

// expr writes a complex integer as the canonical tree that gaussianOf reads.
func (g gaussian) expr() *Expr {
	re := &Expr{Kind: Integer, Text: g.re.String()}
	if g.im.Sign() == 0 {
		return re
	}
	factors := []*Expr{}
	if g.im.Sign() < 0 {
		factors = append(factors, Int(-1))
	}
	if magnitude := new(big.Int).Abs(g.im).String(); magnitude != "1" {
		factors = append(factors, &Expr{Kind: Integer, Text: magnitude})
	}
	imaginary := Sym("I")
	if len(factors) > 0 {
		imaginary = NewCall("Times", append(factors, imaginary)...)
	}
	if g.re.Sign() == 0 {
		return imaginary
	}
	return NewCall("Plus", re, imaginary)
}

// gaussianOf reads a complex integer in canonical form: 2, I, 3 I, -I, -3 I, 2 + 3 I.
func gaussianOf(e *Expr) (gaussian, bool) {
	switch {
	case e.IsSymbol("I"):
		return gaussian{new(big.Int), big.NewInt(1)}, true
	case e.Kind == Integer:
		value, ok := smallInteger(e)
		return gaussian{value, new(big.Int)}, ok
	case e.IsCall("Times") && (len(e.Args) == 2 || len(e.Args) == 3) && e.Args[len(e.Args)-1].IsSymbol("I"):
		im := big.NewInt(1)
		for _, factor := range e.Args[:len(e.Args)-1] {
			value, ok := smallInteger(factor)
			if !ok {
				return gaussian{}, false
			}
			im.Mul(im, value)
		}
		return gaussian{new(big.Int), im}, true
	case e.IsCall("Plus") && len(e.Args) == 2:
		re, ok := smallInteger(e.Args[0])
		imaginary, imOK := gaussianOf(e.Args[1])
		return gaussian{re, imaginary.im}, ok && imOK && imaginary.re.Sign() == 0
	}
	return gaussian{}, false
}

func smallInteger(e *Expr) (*big.Int, bool) {
	if e.Kind != Integer || len(strings.TrimPrefix(e.Text, "-")) > maxGaussianDigits {
		return nil, false
	}
	return new(big.Int).SetString(e.Text, 10)
}
