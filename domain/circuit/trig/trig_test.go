package trig

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestSincosAgreesWithStandardLibrary(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200_000 {
		x := (rng.Float64() - 0.5) * 200
		s, c := Sincos(x)
		ws, wc := math.Sincos(x)
		if math.Abs(s-ws) > 4e-16 || math.Abs(c-wc) > 4e-16 {
			t.Fatalf("Sincos(%v) = %v, %v; want %v, %v", x, s, c, ws, wc)
		}
	}
}

// TestSincosOfHugeAngles checks the reduction against 1300-bit arithmetic.
func TestSincosOfHugeAngles(t *testing.T) {
	const precision = 1400
	// π = 16 arctan(1/5) − 4 arctan(1/239), with 1300 bits.
	arctanInverse := func(n int64) *big.Float {
		one := new(big.Int).Lsh(big.NewInt(1), precision)
		term := new(big.Int).Div(one, big.NewInt(n))
		sum := new(big.Int).Set(term)
		for k, sign := int64(3), -1; term.Sign() != 0; k, sign = k+2, -sign {
			term.Div(term, big.NewInt(n*n))
			part := new(big.Int).Div(term, big.NewInt(k))
			if sign < 0 {
				sum.Sub(sum, part)
			} else {
				sum.Add(sum, part)
			}
		}
		f := new(big.Float).SetPrec(precision).SetInt(sum)
		return f.SetMantExp(f, -precision)
	}
	pi := new(big.Float).SetPrec(precision).Mul(big.NewFloat(16), arctanInverse(5))
	pi.Sub(pi, new(big.Float).SetPrec(precision).Mul(big.NewFloat(4), arctanInverse(239)))
	twoPi := new(big.Float).SetPrec(precision).Mul(pi, big.NewFloat(2))
	rng := rand.New(rand.NewPCG(2, 2))
	for exponent := -1070; exponent < 1023; exponent += 3 {
		x := math.Ldexp(1+rng.Float64(), exponent)
		turns := new(big.Float).SetPrec(precision).Quo(new(big.Float).SetPrec(precision).SetFloat64(x), twoPi)
		whole, _ := turns.Int(nil)
		rest := new(big.Float).SetPrec(precision).Mul(new(big.Float).SetPrec(precision).SetInt(whole), twoPi)
		rest.Sub(new(big.Float).SetPrec(precision).SetFloat64(x), rest)
		r, _ := rest.Float64()
		for _, sign := range []float64{1, -1} {
			s, c := Sincos(sign * x)
			ws, wc := math.Sincos(sign * r)
			if math.Abs(s-ws) > 8e-16 || math.Abs(c-wc) > 8e-16 {
				t.Fatalf("Sincos(%v) = %v, %v; want %v, %v", sign*x, s, c, ws, wc)
			}
		}
	}
}
