package circuit

import (
	"context"
	"math/bits"
)

// tableau is a stabilizer state after Aaronson and Gottesman (2004), one bit column per qubit: bit r of x[q] and z[q] is
// the Pauli of row r on qubit q. Rows 0 to n-1 are stabilizers. When measurements or resets happen mid-circuit, rows
// from 64·half on are the destabilizers.
//
// Signs are symbolic: a random outcome is a new symbol, and signs[0] holds the constant part of every row's sign,
// signs[s] the rows whose sign contains symbol s. The circuit is therefore run once, however many shots there are, and
// every outcome is a sum modulo 2 of symbols.
type tableau struct {
	n     int
	half  int // words of a column that hold stabilizers
	x, z  [][]uint64
	signs [][]uint64
	words int
}

func newTableau(n int, destabilizers bool) *tableau {
	t := &tableau{n: n, half: (n + 63) / 64}
	t.words = t.half
	if destabilizers {
		t.words *= 2
	}
	backing := make([]uint64, (2*n+1)*t.words)
	column := func() []uint64 {
		c := backing[:t.words:t.words]
		backing = backing[t.words:]
		return c
	}
	for q := range n {
		t.x, t.z = append(t.x, column()), append(t.z, column())
		t.z[q][q/64] |= 1 << (q % 64)
		if destabilizers {
			t.x[q][t.half+q/64] |= 1 << (q % 64)
		}
	}
	t.signs = append(t.signs, column())
	return t
}

func (t *tableau) h(a int) {
	x, z, sign := t.x[a], t.z[a], t.signs[0]
	for w := range sign {
		sign[w] ^= x[w] & z[w]
	}
	t.x[a], t.z[a] = z, x
}

// applyS applies S the given number of times.
func (t *tableau) applyS(a int, turns uint64) {
	x, z, sign := t.x[a], t.z[a], t.signs[0]
	for w := range sign {
		switch turns {
		case 1:
			sign[w] ^= x[w] & z[w]
			z[w] ^= x[w]
		case 2:
			sign[w] ^= x[w]
		case 3:
			sign[w] ^= x[w] &^ z[w]
			z[w] ^= x[w]
		}
	}
}

func (t *tableau) rotateX(a int, turns uint64) {
	t.h(a)
	t.applyS(a, turns)
	t.h(a)
}

func (t *tableau) rotateY(a int, turns uint64) {
	t.applyS(a, 3)
	t.rotateX(a, turns)
	t.applyS(a, 1)
}

// applyXWhere applies X to qubit a on condition that the symbol is 1; symbol 0 is the constant 1.
func (t *tableau) applyXWhere(a, symbol int) {
	z, sign := t.z[a], t.signs[symbol]
	for w := range sign {
		sign[w] ^= z[w]
	}
}

// applyZWhere applies Z to qubit a on condition that the symbol is 1.
func (t *tableau) applyZWhere(a, symbol int) {
	x, sign := t.x[a], t.signs[symbol]
	for w := range sign {
		sign[w] ^= x[w]
	}
}

func (t *tableau) cx(c, a int) {
	xc, zc, xa, za, sign := t.x[c], t.z[c], t.x[a], t.z[a], t.signs[0]
	for w := range sign {
		sign[w] ^= xc[w] & za[w] &^ (xa[w] ^ zc[w])
		xa[w] ^= xc[w]
		zc[w] ^= za[w]
	}
}

func (t *tableau) cz(a, b int) {
	xa, za, xb, zb, sign := t.x[a], t.z[a], t.x[b], t.z[b], t.signs[0]
	for w := range sign {
		sign[w] ^= xa[w] & xb[w] & (za[w] ^ zb[w])
		za[w] ^= xb[w]
		zb[w] ^= xa[w]
	}
}

func bit(column []uint64, row int) bool { return column[row/64]>>(row%64)&1 != 0 }

// multiply multiplies row p into every row of the mask, which does not contain p. Exponents of i are counted in two
// bits per row; rows that anticommute with p are destabilizers, whose sign does not matter.
func (t *tableau) multiply(p int, mask []uint64) {
	low, high := make([]uint64, t.words), make([]uint64, t.words)
	for q := range t.n {
		x, z := t.x[q], t.z[q]
		px, pz := bit(x, p), bit(z, p)
		if !px && !pz {
			continue
		}
		for w, m := range mask {
			if m == 0 {
				continue
			}
			var plus, minus uint64
			switch {
			case px && pz:
				plus, minus = z[w]&^x[w], x[w]&^z[w]
			case px:
				plus, minus = x[w]&z[w], z[w]&^x[w]
			default:
				plus, minus = x[w]&^z[w], x[w]&z[w]
			}
			high[w] ^= low[w] & plus
			low[w] ^= plus
			high[w] ^= minus &^ low[w]
			low[w] ^= minus
			if px {
				x[w] ^= m
			}
			if pz {
				z[w] ^= m
			}
		}
	}
	for s, sign := range t.signs {
		if bit(sign, p) {
			xorInto(sign, mask)
		}
		if s == 0 {
			for w, m := range mask {
				sign[w] ^= high[w] & m
			}
		}
	}
}

func xorInto(into, from []uint64) {
	for w, v := range from {
		into[w] ^= v
	}
}

// firstRow is the lowest stabilizer row in the column that is not excluded, or -1.
func (t *tableau) firstRow(column, excluded []uint64) int {
	for w := range t.half {
		if v := column[w] &^ excluded[w]; v != 0 {
			return 64*w + bits.TrailingZeros64(v)
		}
	}
	return -1
}

// parity is a sum modulo 2 of symbols; symbol 0 is the constant 1.
type parity []uint64

func (p parity) toggled(symbol int) parity {
	for len(p) <= symbol/64 {
		p = append(p, 0)
	}
	p[symbol/64] ^= 1 << (symbol % 64)
	return p
}

// forEach calls visit for every symbol in ascending order.
func (p parity) forEach(visit func(symbol int)) {
	for w, v := range p {
		for ; v != 0; v &= v - 1 {
			visit(64*w + bits.TrailingZeros64(v))
		}
	}
}

// measure returns the outcome of a qubit; it needs destabilizers.
func (t *tableau) measure(q int) parity {
	none := make([]uint64, t.words)
	if p := t.firstRow(t.x[q], none); p >= 0 {
		return t.measureRandom(q, p)
	}
	return t.measureDetermined(q)
}

// measureRandom replaces stabilizer p, which anticommutes with Z on q, by Z on q with a fresh sign.
func (t *tableau) measureRandom(q, p int) parity {
	mask := append([]uint64(nil), t.x[q]...)
	partner := 64*t.half + p
	mask[p/64] &^= 1 << (p % 64)
	mask[partner/64] &^= 1 << (partner % 64)
	t.multiply(p, mask)
	stabilizer, destabilizer := uint64(1)<<(p%64), uint64(1)<<(partner%64)
	for c := range t.n {
		for _, column := range [2][]uint64{t.x[c], t.z[c]} {
			column[partner/64] &^= destabilizer
			if bit(column, p) {
				column[partner/64] |= destabilizer
			}
			column[p/64] &^= stabilizer
		}
	}
	t.z[q][p/64] |= stabilizer
	for _, sign := range t.signs {
		sign[p/64] &^= stabilizer
	}
	fresh := make([]uint64, t.words)
	fresh[p/64] = stabilizer
	t.signs = append(t.signs, fresh)
	return parity(nil).toggled(len(t.signs) - 1)
}

// measureDetermined finds the sign of Z on q as the product of the stabilizers whose destabilizer anticommutes with it.
func (t *tableau) measureDetermined(q int) parity {
	rows := t.x[q][t.half:]
	// The product of Hermitian rows i^{x·z} X^x Z^z in ascending order: moving every Z past the later X's.
	exponent := 0
	for c := range t.n {
		x, z := t.x[c], t.z[c]
		above := uint64(0) // all ones when an odd number of Z's came before this word
		for w, rows := range rows {
			xs, zs := x[w]&rows, z[w]&rows
			exponent += bits.OnesCount64(xs & zs)
			before := prefixParity(zs) ^ zs ^ above
			exponent += 2 * bits.OnesCount64(before&xs)
			if bits.OnesCount64(zs)%2 != 0 {
				above = ^above
			}
		}
	}
	var out parity
	if exponent%4 != 0 {
		out = out.toggled(0)
	}
	for s, sign := range t.signs {
		odd := 0
		for w, rows := range rows {
			odd ^= bits.OnesCount64(sign[w]&rows) & 1
		}
		if odd != 0 {
			out = out.toggled(s)
		}
	}
	return out
}

// prefixParity sets bit i to the parity of bits 0 to i.
func prefixParity(v uint64) uint64 {
	for shift := 1; shift < 64; shift *= 2 {
		v ^= v << shift
	}
	return v
}

// measureAll returns the outcome of measuring every qubit as parities of the symbols so far and of a new symbol for each
// random outcome. It destroys the tableau.
func (t *tableau) measureAll(ctx context.Context) ([]parity, error) {
	// Clear the X part of all rows but the pivots: the rest constrain the Z outcomes.
	pivots := make([]uint64, t.words)
	for w := t.half; w < t.words; w++ {
		pivots[w] = ^uint64(0) // destabilizers take no part
	}
	for q := range t.n {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		p := t.firstRow(t.x[q], pivots)
		if p < 0 {
			continue
		}
		pivots[p/64] |= 1 << (p % 64)
		if mask, any := without(t.x[q], pivots); any {
			t.multiply(p, mask)
		}
	}
	// Gauss and Jordan on the Z part of the constraints; a column without pivot is a free bit.
	row := make([]int, t.n)
	used := append([]uint64(nil), pivots...)
	for q := range t.n {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		p := t.firstRow(t.z[q], used)
		row[q] = p
		if p < 0 {
			continue
		}
		used[p/64] |= 1 << (p % 64)
		pivots[p/64] |= 1 << (p % 64)
		mask, any := without(t.z[q], pivots)
		pivots[p/64] &^= 1 << (p % 64)
		if !any {
			continue
		}
		for _, columns := range [2][][]uint64{t.z, t.signs} {
			for _, column := range columns {
				if bit(column, p) {
					xorInto(column, mask)
				}
			}
		}
	}
	outcomes := make([]parity, t.n)
	fixed := len(t.signs)
	for q, p := range row {
		if p < 0 {
			outcomes[q] = outcomes[q].toggled(fixed)
			for other, r := range row {
				if r >= 0 && bit(t.z[q], r) {
					outcomes[other] = outcomes[other].toggled(fixed)
				}
			}
			fixed++
		}
	}
	for q, p := range row {
		for s, sign := range t.signs {
			if p >= 0 && bit(sign, p) {
				outcomes[q] = outcomes[q].toggled(s)
			}
		}
	}
	return outcomes, nil
}

// without is the column with the excluded rows cleared; any is true when a row remains.
func without(column, excluded []uint64) (mask []uint64, any bool) {
	mask = make([]uint64, len(column))
	for w := range column {
		mask[w] = column[w] &^ excluded[w]
		any = any || mask[w] != 0
	}
	return mask, any
}
