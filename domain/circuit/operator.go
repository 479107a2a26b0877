package circuit

import "math/bits"

// scalar is a complex number whose arithmetic is spelled out, so that no compiler fuses it.
type scalar struct{ re, im float64 }

func (a scalar) times(b scalar) scalar {
	return scalar{
		re: float64(a.re*b.re) - float64(a.im*b.im),
		im: float64(a.re*b.im) + float64(a.im*b.re),
	}
}

func (a scalar) plus(b scalar) scalar { return scalar{a.re + b.re, a.im + b.im} }

func (a scalar) isZero() bool { return a.re == 0 && a.im == 0 }
func (a scalar) isOne() bool  { return a.re == 1 && a.im == 0 }

// wires is a set of wires: bit w stands for wire w.
type wires uint64

func (w wires) count() int { return bits.OnesCount64(uint64(w)) }

// operator is a unitary in the form the kernels run: for every value of the selectors a small matrix on the targets,
// acting where all controls are 1. A diagonal gate has no targets, only selectors and controls. The bits of a row,
// column or selector index are the wires of the set in ascending order, lowest first.
type operator struct {
	targets, selectors, controls wires
	matrix                       []scalar // [selector][row][column]
}

// Shape bounds of a fused operator: its table has at most 2^maxTableBits entries (8 KiB per vector lane group).
const (
	maxTargets   = 3
	maxTableBits = 6
)

func (o operator) allWires() wires { return o.targets | o.selectors | o.controls }

func (o operator) dim() int { return 1 << o.targets.count() }

func (o operator) entry(selector, row, column int) scalar {
	dim := o.dim()
	return o.matrix[(selector*dim+row)*dim+column]
}

// commutes reports whether two operators commute because each acts diagonally on every wire they share.
func (o operator) commutes(p operator) bool {
	return o.targets&p.allWires() == 0 && p.targets&o.allWires() == 0
}

// deposit spreads the low bits of x over the set, lowest first.
func deposit(x int, set wires) uint64 {
	var out uint64
	for ; set != 0; set &= set - 1 {
		if x&1 != 0 {
			out |= uint64(set & -set)
		}
		x >>= 1
	}
	return out
}

// extract gathers the bits of x at the set, lowest first.
func extract(x uint64, set wires) int {
	out, place := 0, 1
	for ; set != 0; set &= set - 1 {
		if x&uint64(set&-set) != 0 {
			out |= place
		}
		place <<= 1
	}
	return out
}

// expand writes o as a matrix over more targets, for one assignment of the wires outside them.
func (o operator) expand(targets wires, outside uint64, into []scalar) {
	dim := 1 << targets.count()
	clear(into[:dim*dim])
	for column := range dim {
		x := deposit(column, targets) | outside
		if x&uint64(o.controls) != uint64(o.controls) {
			into[column*dim+column] = scalar{1, 0}
			continue
		}
		selector := extract(x, o.selectors)
		ownColumn := extract(x, o.targets)
		for ownRow := range o.dim() {
			y := x&^uint64(o.targets) | deposit(ownRow, o.targets)
			into[extract(y, targets)*dim+column] = o.entry(selector, ownRow, ownColumn)
		}
	}
}

// productShape is the shape of "first, then second" before zeros are looked for.
func productShape(first, second operator) (targets, selectors, controls wires) {
	targets = first.targets | second.targets
	controls = first.controls & second.controls &^ targets
	selectors = (first.allWires() | second.allWires()) &^ targets &^ controls
	return targets, selectors, controls
}

// product is "first, then second" as one operator.
func product(first, second operator) operator {
	targets, selectors, controls := productShape(first, second)
	out := operator{targets: targets, selectors: selectors, controls: controls}
	dim := out.dim()
	size := dim * dim
	out.matrix = make([]scalar, size<<selectors.count())
	a, b := make([]scalar, size), make([]scalar, size)
	for s := range 1 << selectors.count() {
		outside := deposit(s, selectors) | uint64(controls)
		first.expand(targets, outside, a)
		second.expand(targets, outside, b)
		for row := range dim {
			for column := range dim {
				var sum scalar
				for k := range dim {
					if x, y := b[row*dim+k], a[k*dim+column]; !x.isZero() && !y.isZero() {
						sum = sum.plus(x.times(y))
					}
				}
				out.matrix[s*size+row*dim+column] = sum
			}
		}
	}
	return out.simplified()
}

// simplified moves wires to the cheapest role their entries allow: a target acted on diagonally becomes a selector, a
// selector whose 0 half is the identity a control, a selector that changes nothing is dropped.
func (o operator) simplified() operator {
	for t := o.targets; t != 0; t &= t - 1 {
		if wire := t & -t; o.diagonalOn(wire) {
			o = o.reshaped(o.targets&^wire, o.selectors|wire, o.controls)
		}
	}
	for s := o.selectors; s != 0; s &= s - 1 {
		wire := s & -s
		switch {
		case o.identityWithout(wire):
			o = o.reshaped(o.targets, o.selectors&^wire, o.controls|wire)
		case o.indifferentTo(wire):
			o = o.reshaped(o.targets, o.selectors&^wire, o.controls)
		}
	}
	return o
}

func (o operator) diagonalOn(wire wires) bool {
	dim := o.dim()
	place := extract(uint64(wire), o.targets)
	for i, v := range o.matrix {
		row, column := i/dim%dim, i%dim
		if row&place != column&place && !v.isZero() {
			return false
		}
	}
	return true
}

func (o operator) identityWithout(wire wires) bool {
	dim := o.dim()
	place := extract(uint64(wire), o.selectors)
	for i, v := range o.matrix {
		selector, row, column := i/dim/dim, i/dim%dim, i%dim
		if selector&place != 0 {
			continue
		}
		if row == column && !v.isOne() || row != column && !v.isZero() {
			return false
		}
	}
	return true
}

func (o operator) indifferentTo(wire wires) bool {
	size := o.dim() * o.dim()
	place := extract(uint64(wire), o.selectors)
	for i, v := range o.matrix {
		if i/size&place == 0 && v != o.matrix[i+place*size] {
			return false
		}
	}
	return true
}

// reshaped rewrites o in another shape that describes the same action. Wires leaving the selectors take the value 1.
func (o operator) reshaped(targets, selectors, controls wires) operator {
	out := operator{targets: targets, selectors: selectors, controls: controls}
	dim := out.dim()
	out.matrix = make([]scalar, dim*dim<<selectors.count())
	dropped := uint64(o.allWires() &^ targets &^ selectors)
	for s := range 1 << selectors.count() {
		x := deposit(s, selectors) | dropped
		from := extract(x, o.selectors)
		for row := range dim {
			for column := range dim {
				r := extract(deposit(row, targets)|x, o.targets)
				c := extract(deposit(column, targets)|x, o.targets)
				out.matrix[(s*dim+row)*dim+column] = o.entry(from, r, c)
			}
		}
	}
	return out
}

// isReal reports whether every entry has imaginary part zero.
func (o operator) isReal() bool {
	for _, v := range o.matrix {
		if v.im != 0 {
			return false
		}
	}
	return true
}
