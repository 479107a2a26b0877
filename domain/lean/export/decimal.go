package export

import "math/big"

// decimalBlock is the number of digits left to math/big, which takes time quadratic in their count.
const decimalBlock = 1 << 11

// decimal reads a number from its digits, halving until they are few: so that it costs a few multiplications of numbers
// of that size (Knuth, The Art of Computer Programming, 4.4).
func decimal(digits string) (*big.Int, bool) {
	p := powersOfTen{}
	return p.read(digits)
}

// powersOfTen holds 10^(decimalBlock·2^i).
type powersOfTen []*big.Int

func (p *powersOfTen) read(digits string) (*big.Int, bool) {
	if len(digits) <= decimalBlock {
		return new(big.Int).SetString(digits, 10)
	}
	low, level := decimalBlock, 0
	for 2*low < len(digits) {
		low, level = 2*low, level+1
	}
	high, ok := p.read(digits[:len(digits)-low])
	if !ok {
		return nil, false
	}
	rest, ok := p.read(digits[len(digits)-low:])
	if !ok {
		return nil, false
	}
	high.Mul(high, p.power(level))
	return high.Add(high, rest), true
}

func (p *powersOfTen) power(level int) *big.Int {
	for len(*p) <= level {
		var next *big.Int
		if n := len(*p); n == 0 {
			next = new(big.Int).Exp(big.NewInt(10), big.NewInt(decimalBlock), nil)
		} else {
			next = new(big.Int).Mul((*p)[n-1], (*p)[n-1])
		}
		*p = append(*p, next)
	}
	return (*p)[level]
}
