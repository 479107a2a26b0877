package tidy

import "math/big"

// number is a complex number with rational parts.
type number struct{ re, im *big.Rat }

var (
	zero      = number{new(big.Rat), new(big.Rat)}
	one       = real(1, 1)
	minusOne  = real(-1, 1)
	imaginary = number{new(big.Rat), big.NewRat(1, 1)}
)

func real(p, q int64) number { return number{big.NewRat(p, q), new(big.Rat)} }

func (n number) isZero() bool    { return n.re.Sign() == 0 && n.im.Sign() == 0 }
func (n number) isReal() bool    { return n.im.Sign() == 0 }
func (n number) is(v int64) bool { return n.isReal() && n.re.Cmp(big.NewRat(v, 1)) == 0 }

// isWhole reports whether n is a whole number, and which, where it fits.
func (n number) isWhole() (int64, bool) {
	if !n.isReal() || !n.re.IsInt() || !n.re.Num().IsInt64() {
		return 0, false
	}
	return n.re.Num().Int64(), true
}

func (n number) plus(m number) number {
	return number{new(big.Rat).Add(n.re, m.re), new(big.Rat).Add(n.im, m.im)}
}

func (n number) times(m number) number {
	if n.isReal() && m.isReal() {
		return number{new(big.Rat).Mul(n.re, m.re), new(big.Rat)}
	}
	re := new(big.Rat).Mul(n.re, m.re)
	re.Sub(re, new(big.Rat).Mul(n.im, m.im))
	im := new(big.Rat).Mul(n.re, m.im)
	return number{re, im.Add(im, new(big.Rat).Mul(n.im, m.re))}
}

// inverse is 1/n; n is not zero.
func (n number) inverse() number {
	size := new(big.Rat).Mul(n.re, n.re)
	size.Add(size, new(big.Rat).Mul(n.im, n.im))
	return number{new(big.Rat).Quo(n.re, size), new(big.Rat).Neg(new(big.Rat).Quo(n.im, size))}
}

// maxBits bounds the numbers that powers make: larger ones stay powers.
const maxBits = 4096

// power is n^k where that is a number of at most maxBits; 0 has no negative powers.
func (n number) power(k int64) (number, bool) {
	size := int64(max(n.re.Num().BitLen(), n.re.Denom().BitLen(), n.im.Num().BitLen(), n.im.Denom().BitLen()))
	if k > maxBits || k < -maxBits || size*max(k, -k) > maxBits && !n.is(1) && !n.is(-1) {
		return n, false
	}
	if k < 0 {
		if n.isZero() {
			return n, false
		}
		n, k = n.inverse(), -k
	}
	result := one
	for ; k > 0; k >>= 1 {
		if k&1 == 1 {
			result = result.times(n)
		}
		n = n.times(n)
	}
	return result, true
}

// less orders numbers by their real, then by their imaginary parts.
func (n number) less(m number) bool {
	if c := n.re.Cmp(m.re); c != 0 {
		return c < 0
	}
	return n.im.Cmp(m.im) < 0
}

func (n number) String() string { return n.re.RatString() + "," + n.im.RatString() }

// radical writes the square root of a positive whole number as outside*Sqrt[inside], as far as small divisors show it.
func radical(n *big.Int) (outside, inside *big.Int) {
	const largest = 1000
	outside, inside = big.NewInt(1), new(big.Int).Set(n)
	if root := new(big.Int).Sqrt(n); new(big.Int).Mul(root, root).Cmp(n) == 0 {
		return root, big.NewInt(1)
	}
	rest, square, quotient := new(big.Int), new(big.Int), new(big.Int)
	for d := int64(2); d <= largest; d++ {
		divisor := big.NewInt(d)
		square.Mul(divisor, divisor)
		if square.Cmp(inside) > 0 {
			break
		}
		for quotient.QuoRem(inside, square, rest); rest.Sign() == 0; quotient.QuoRem(inside, square, rest) {
			inside.Set(quotient)
			outside.Mul(outside, divisor)
		}
	}
	return outside, inside
}
