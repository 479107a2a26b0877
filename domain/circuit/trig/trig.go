// Package trig computes sines and cosines with the same bits on every processor. It serves the simulator and the reader
// of OpenQASM, whose results must not depend on the machine (docs/adr/0013).
package trig

import (
	"math"
	"math/bits"
)

// twoOverPi holds the first 1280 binary digits of 2/π after the point, most significant word first. They come from
// Machin's formula in integer arithmetic; reduction of the largest double needs 1024 + 53 + 128 of them.
var twoOverPi = [20]uint64{
	0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
	0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
	0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
	0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
	0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d,
}

// Sincos returns sin x and cos x for every finite x, within 2 ulp, with the same bits on every processor: the standard
// library uses assembly on some of them, and compilers may fuse products and sums unless converted explicitly.
func Sincos(x float64) (sin, cos float64) {
	quadrant, r := Reduce(x)
	s, c := sinSeries(r), cosSeries(r)
	switch quadrant {
	case 1:
		return c, -s
	case 2:
		return -s, -c
	case 3:
		return -c, s
	}
	return s, c
}

// Reduce writes x = (4k + quadrant)·π/2 + r with |r| ≤ π/4, by multiplying x with 2/π in fixed point, keeping the
// digits that matter (Payne and Hanek 1983).
func Reduce(x float64) (quadrant uint64, r float64) {
	if math.Abs(x) <= math.Pi/4 {
		return 0, x
	}
	raw := math.Float64bits(x)
	mantissa := raw&(1<<52-1) | 1<<52
	exponent := int(raw>>52&0x7ff) - 1075 // x = mantissa · 2^exponent
	// Digits of 2/π from weight 2^(-exponent+2) down: those above contribute multiples of 4 quadrants. With them as a
	// 192-bit fraction of 8 quadrants the product with the mantissa wraps correctly.
	w0, w1, w2 := digits(exponent-3), digits(exponent-3+64), digits(exponent-3+128)
	h2, _ := bits.Mul64(mantissa, w2)
	h1, l1 := bits.Mul64(mantissa, w1)
	l0 := mantissa * w0
	mid, carry := bits.Add64(l1, h2, 0)
	top, _ := bits.Add64(l0, h1, carry)
	// top:mid is the fraction of 8 quadrants; round to the nearest quadrant.
	quadrant = (top + 1<<60) >> 61
	top -= quadrant << 61
	negative := int64(top) < 0
	if negative {
		var borrow uint64
		mid, borrow = bits.Sub64(0, mid, 0)
		top, _ = bits.Sub64(0, top, borrow)
	}
	shift := bits.LeadingZeros64(top)
	if top == 0 {
		shift = 64 + bits.LeadingZeros64(mid)
		top, mid = mid, 0
	}
	top = top<<(shift%64) | mid>>1>>(63-shift%64)
	r = float64(math.Ldexp(float64(top>>11), 11-64-shift+3)) * (math.Pi / 2)
	quadrant &= 3
	if negative {
		r = -r
	}
	if x < 0 {
		quadrant, r = -quadrant&3, -r
	}
	return quadrant, r
}

// digits returns 64 binary digits of 2/π starting at the given one (0 is the first after the point; before it all are 0).
func digits(from int) uint64 {
	word := func(i int) uint64 {
		if i < 0 || i >= len(twoOverPi) {
			return 0
		}
		return twoOverPi[i]
	}
	i, offset := from>>6, uint(from&63)
	return word(i)<<offset | word(i+1)>>1>>(63-offset)
}

// sinSeries and cosSeries are the Taylor polynomials; on |x| ≤ π/4 the first omitted term is below 1e-19.
func sinSeries(x float64) float64 {
	z := float64(x * x)
	p := 0.0
	for _, c := range sinCoefficients {
		p = float64(p*z) + c
	}
	return x + float64(float64(x*z)*p)
}

func cosSeries(x float64) float64 {
	z := float64(x * x)
	p := 0.0
	for _, c := range cosCoefficients {
		p = float64(p*z) + c
	}
	return 1 - (float64(z*0.5) - float64(float64(z*z)*p))
}

// Highest order first: -1/3! … and 1/4! …, written as quotients of exact integers.
var (
	sinCoefficients = [...]float64{
		1.0 / 355687428096000,
		-1.0 / 1307674368000,
		1.0 / 6227020800,
		-1.0 / 39916800,
		1.0 / 362880,
		-1.0 / 5040,
		1.0 / 120,
		-1.0 / 6,
	}
	cosCoefficients = [...]float64{
		1.0 / 20922789888000,
		-1.0 / 87178291200,
		1.0 / 479001600,
		-1.0 / 3628800,
		1.0 / 40320,
		-1.0 / 720,
		1.0 / 24,
	}
)
