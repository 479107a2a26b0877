package kernel

import (
	"math/big"
	"math/bits"
)

// Arithmetic on large natural numbers, in pieces: math/big cannot be stopped once it has begun, and takes seconds for
// numbers of maxNatBits. No piece handed to it takes longer than about half a second, most take milliseconds, and the
// deadline is looked at before each. Zero bits at the low end are taken off first: powers of two cost nothing.

const (
	// blockWords is the size, in words, up to which math/big multiplies: about 10 ms.
	blockWords = 1 << 13
	// divideWords is the size, in words, of a digit of a long division: about 10 ms by a divisor of that size.
	divideWords = 1 << 14
	// gcdWords is the size, in words, up to which math/big finds a greatest common divisor: about 70 ms.
	gcdWords = 1 << 12
	// wordBits is the size of a word of math/big, in bits.
	wordBits = bits.UintSize
)

// arithmetic computes with large numbers. It calls countWork with the number of words before each part of a computation;
// countWork may panic to end it.
type arithmetic struct{ countWork func(words int) }

func wordCount(x *big.Int) int { return len(x.Bits()) }

// mul is x·y.
func (a arithmetic) mul(x, y *big.Int) *big.Int {
	if wordCount(x) <= blockWords && wordCount(y) <= blockWords {
		return a.mulBlock(x, y)
	}
	x, zerosX := splitPowerOfTwo(x)
	y, zerosY := splitPowerOfTwo(y)
	r := a.karatsuba(x, y)
	a.countWork(wordCount(r))
	return r.Lsh(r, zerosX+zerosY)
}

func (a arithmetic) mulBlock(x, y *big.Int) *big.Int {
	a.countWork(1 + wordCount(x)*wordCount(y)>>4)
	return new(big.Int).Mul(x, y)
}

// splitPowerOfTwo splits off the factors of two.
func splitPowerOfTwo(x *big.Int) (*big.Int, uint) {
	zeros := x.TrailingZeroBits()
	if zeros < wordBits {
		return x, 0
	}
	return new(big.Int).Rsh(x, zeros), zeros
}

// karatsuba multiplies by three products of half the size (Karatsuba and Ofman, 1962).
func (a arithmetic) karatsuba(x, y *big.Int) *big.Int {
	if wordCount(x) < wordCount(y) {
		x, y = y, x
	}
	if wordCount(x) <= blockWords || wordCount(y) == 0 {
		return a.mulBlock(x, y)
	}
	half := (wordCount(x) + 1) / 2
	x1, x0 := splitWords(x, half)
	if wordCount(y) <= half {
		high := a.karatsuba(x1, y)
		high.Lsh(high, uint(half)*wordBits)
		return high.Add(high, a.karatsuba(x0, y))
	}
	y1, y0 := splitWords(y, half)
	high, low := a.karatsuba(x1, y1), a.karatsuba(x0, y0)
	middle := a.karatsuba(new(big.Int).Add(x0, x1), new(big.Int).Add(y0, y1))
	a.countWork(4 * wordCount(x))
	middle.Sub(middle, high).Sub(middle, low)
	r := high.Lsh(high, uint(half)*wordBits)
	r.Add(r, middle)
	r.Lsh(r, uint(half)*wordBits)
	return r.Add(r, low)
}

// splitWords is x = high·2^(wordBits·count) + low. Both share the words of x.
func splitWords(x *big.Int, count int) (high, low *big.Int) {
	w := x.Bits()
	if len(w) <= count {
		return new(big.Int), x
	}
	return new(big.Int).SetBits(w[count:]), new(big.Int).SetBits(w[:count:count])
}

// pow is x^n. The caller has checked that the result has at most maxNatBits bits.
func (a arithmetic) pow(x *big.Int, n uint64) *big.Int {
	if n == 0 {
		return big.NewInt(1)
	}
	if x.BitLen() <= 1 {
		return x
	}
	zeros := x.TrailingZeroBits()
	base := new(big.Int).Rsh(x, zeros)
	r := big.NewInt(1)
	if base.BitLen() > 1 {
		for i := bits.Len64(n) - 1; i >= 0; i-- {
			r = a.mul(r, r)
			if n>>i&1 == 1 {
				r = a.mul(r, base)
			}
		}
	}
	a.countWork(wordCount(r) + int(uint64(zeros)*n/wordBits))
	return new(big.Int).Lsh(r, uint(uint64(zeros)*n))
}

// quoRem is x/y and x mod y for y > 0: long division with large digits.
func (a arithmetic) quoRem(x, y *big.Int) (quotient, remainder *big.Int) {
	if wordCount(x) <= 2*divideWords || wordCount(x) < wordCount(y) {
		a.countWork(1 + max(0, wordCount(x)-wordCount(y)+1)*wordCount(y)>>3)
		return new(big.Int).QuoRem(x, y, new(big.Int))
	}
	if zeros := y.TrailingZeroBits(); zeros >= wordBits { // x/(m·2^k) = (x/2^k)/m, and the low bits are of the remainder
		a.countWork(wordCount(x))
		q, r := a.quoRem(new(big.Int).Rsh(x, zeros), new(big.Int).Rsh(y, zeros))
		low := new(big.Int).And(x, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), zeros), big.NewInt(1)))
		return q, low.Or(low, r.Lsh(r, zeros))
	}
	digits := (wordCount(x) + divideWords - 1) / divideWords
	out := make([]big.Word, digits*divideWords)
	r := new(big.Int)
	for i := digits - 1; i >= 0; i-- {
		a.countWork(divideWords + divideWords*wordCount(y)>>5)
		all := x.Bits()
		from, to := i*divideWords, min(len(all), (i+1)*divideWords)
		digit := new(big.Int).SetBits(all[from:to:to])
		r.Lsh(r, divideWords*wordBits).Or(r, digit)
		q := new(big.Int)
		q.QuoRem(r, y, r) // the remainder before was less than y, so q is one digit
		copy(out[from:], q.Bits())
	}
	return new(big.Int).SetBits(out), r
}

// gcd is the greatest common divisor: Lehmer's algorithm (Knuth, The Art of Computer Programming, 4.5.2, algorithm L).
func (a arithmetic) gcd(x, y *big.Int) *big.Int {
	if x.Cmp(y) < 0 {
		x, y = y, x
	}
	for wordCount(y) > 0 {
		if wordCount(x) <= gcdWords {
			a.countWork(1 + wordCount(x)*wordCount(y)>>3)
			return new(big.Int).GCD(nil, nil, x, y)
		}
		m, ok := lehmer(x, y)
		if !ok {
			_, r := a.quoRem(x, y)
			x, y = y, r
			continue
		}
		a.countWork(4 * wordCount(x))
		x, y = linearCombination(m[0], x, m[1], y), linearCombination(m[2], x, m[3], y)
	}
	return x
}

// lehmer follows Euclid's algorithm on the first bits of x ≥ y as far as they tell its quotients. The steps taken are
// the matrix m: (x, y) becomes (m₀x+m₁y, m₂x+m₃y). It fails when not even the first quotient is certain.
func lehmer(x, y *big.Int) (m [4]int64, ok bool) {
	const leading = 62
	shift := uint(x.BitLen() - leading)
	xh := new(big.Int).Rsh(x, shift).Int64()
	yh := new(big.Int).Rsh(y, shift).Int64()
	m = [4]int64{1, 0, 0, 1}
	for yh+m[2] != 0 && yh+m[3] != 0 {
		q := (xh + m[0]) / (yh + m[2])
		if q != (xh+m[1])/(yh+m[3]) {
			break
		}
		m[0], m[2] = m[2], m[0]-q*m[2]
		m[1], m[3] = m[3], m[1]-q*m[3]
		xh, yh = yh, xh-q*yh
	}
	return m, m[1] != 0
}

func linearCombination(p int64, x *big.Int, q int64, y *big.Int) *big.Int {
	r := new(big.Int).Mul(big.NewInt(p), x)
	return r.Add(r, new(big.Int).Mul(big.NewInt(q), y))
}
