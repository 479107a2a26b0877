package openqasm

import (
	"math"

	"reckon/domain/circuit/trig"
)

// number is a complex number whose arithmetic is spelled out, so that no compiler fuses it (docs/adr/0013).
type number struct{ re, im float64 }

func (a number) times(b number) number {
	return number{float64(a.re*b.re) - float64(a.im*b.im), float64(a.re*b.im) + float64(a.im*b.re)}
}
func (a number) plus(b number) number    { return number{a.re + b.re, a.im + b.im} }
func (a number) minus(b number) number   { return number{a.re - b.re, a.im - b.im} }
func (a number) conjugate() number       { return number{a.re, -a.im} }
func (a number) scaled(k float64) number { return number{float64(a.re * k), float64(a.im * k)} }
func (a number) square() float64         { return float64(a.re*a.re) + float64(a.im*a.im) }
func (a number) size() float64           { return math.Sqrt(a.square()) }
func (a number) angle() float64          { return atan2(a.im, a.re) }

func turn(angle float64) number {
	s, c := trig.Sincos(angle)
	return number{c, s}
}

// matrix is square, row by row. Bit i of a row or column is qubit i of the gate.
type matrix [][]number

func identity(size int) matrix {
	m := make(matrix, size)
	for i := range m {
		m[i] = make([]number, size)
		m[i][i] = number{1, 0}
	}
	return m
}

func (m matrix) times(b matrix) matrix {
	out := make(matrix, len(m))
	for i := range m {
		out[i] = make([]number, len(m))
		for j := range m {
			var sum number
			for k := range m {
				sum = sum.plus(m[i][k].times(b[k][j]))
			}
			out[i][j] = sum
		}
	}
	return out
}

func (m matrix) adjoint() matrix {
	out := identity(len(m))
	for i := range m {
		for j := range m {
			out[i][j] = m[j][i].conjugate()
		}
	}
	return out
}

// oneQubit is the matrix of a primitive of one qubit; docs/circuits.md has the conventions.
func oneQubit(name string, params []float64) [2][2]number {
	const half = math.Sqrt2 / 2
	diagonal := func(last number) [2][2]number { return [2][2]number{{{1, 0}, {}}, {{}, last}} }
	switch name {
	case "x":
		return [2][2]number{{{}, {1, 0}}, {{1, 0}, {}}}
	case "y":
		return [2][2]number{{{}, {0, -1}}, {{0, 1}, {}}}
	case "z":
		return diagonal(number{-1, 0})
	case "h":
		return [2][2]number{{{half, 0}, {half, 0}}, {{half, 0}, {-half, 0}}}
	case "s":
		return diagonal(number{0, 1})
	case "sdg":
		return diagonal(number{0, -1})
	case "t":
		return diagonal(number{half, half})
	case "tdg":
		return diagonal(number{half, -half})
	case "sx":
		return [2][2]number{{{0.5, 0.5}, {0.5, -0.5}}, {{0.5, -0.5}, {0.5, 0.5}}}
	case "sxdg":
		return [2][2]number{{{0.5, -0.5}, {0.5, 0.5}}, {{0.5, 0.5}, {0.5, -0.5}}}
	case "p":
		return diagonal(turn(params[0]))
	case "rz":
		return [2][2]number{{turn(-params[0] / 2), {}}, {{}, turn(params[0] / 2)}}
	case "rx":
		s, c := trig.Sincos(params[0] / 2)
		return [2][2]number{{{c, 0}, {0, -s}}, {{0, -s}, {c, 0}}}
	case "ry":
		s, c := trig.Sincos(params[0] / 2)
		return [2][2]number{{{c, 0}, {-s, 0}}, {{s, 0}, {c, 0}}}
	case "u":
		s, c := trig.Sincos(params[0] / 2)
		phi, lambda := turn(params[1]), turn(params[2])
		return [2][2]number{{{c, 0}, lambda.scaled(-s)}, {phi.scaled(s), phi.times(lambda).scaled(c)}}
	}
	return diagonal(number{1, 0}) // id
}

// act multiplies the matrix from the left by a one-qubit operation with controls.
func (m matrix) act(op Operation) {
	gate := oneQubit(op.Gate, op.Params)
	target, controls := 1<<op.Targets[0], 0
	for _, c := range op.Controls {
		controls |= 1 << c
	}
	for row := range m {
		if row&target != 0 || row&controls != controls {
			continue
		}
		for column := range m {
			a, b := m[row][column], m[row|target][column]
			m[row][column] = gate[0][0].times(a).plus(gate[0][1].times(b))
			m[row|target][column] = gate[1][0].times(a).plus(gate[1][1].times(b))
		}
	}
}

// diagonalize writes a unitary matrix as v·diag(phases)·v†. Its Hermitian and anti-Hermitian parts commute; Jacobi
// rotations diagonalize a mixture of them. Two different eigenvalues can coincide in one mixture but not in all, so the
// best of several is taken; ok tells whether it is exact to rounding.
func (m matrix) diagonalize() (v matrix, phases []float64, ok bool) {
	best := math.Inf(1)
	for _, mixture := range [...]float64{0.5, 1.1, 1.9, 2.6} {
		s, c := trig.Sincos(mixture)
		dagger := m.adjoint()
		hermitian := identity(len(m))
		for i := range m {
			for j := range m { // c·(m + m†)/2 + s·(m − m†)/2i
				real, imaginary := m[i][j].plus(dagger[i][j]).scaled(0.5), m[i][j].minus(dagger[i][j]).times(number{0, -0.5})
				hermitian[i][j] = real.scaled(c).plus(imaginary.scaled(s))
			}
		}
		vectors := hermitian.jacobi()
		d := vectors.adjoint().times(m).times(vectors)
		if off := d.offDiagonal(); off < best {
			best, v, phases = off, vectors, make([]float64, len(m))
			for i := range d {
				phases[i] = d[i][i].angle()
			}
		}
	}
	return v, phases, best < 1e-12
}

func (m matrix) offDiagonal() float64 {
	sum := 0.0
	for i := range m {
		for j := range m {
			if i != j {
				sum += m[i][j].square()
			}
		}
	}
	return math.Sqrt(sum)
}

// jacobi diagonalizes a Hermitian matrix in place and returns its eigenvectors as columns (Golub and Van Loan, 8.5).
func (m matrix) jacobi() matrix {
	v := identity(len(m))
	for sweep := 0; sweep < 60 && m.offDiagonal() > 1e-17; sweep++ {
		for p := range m {
			for q := p + 1; q < len(m); q++ {
				m.rotate(v, p, q)
			}
		}
	}
	return v
}

// rotate makes entry (p, q) zero.
func (m matrix) rotate(v matrix, p, q int) {
	size := m[p][q].size()
	if size < 1e-30 { // far below rounding; and a smaller size would have lost digits to underflow
		return
	}
	phase := m[p][q].scaled(1 / size)
	theta := (m[q][q].re - m[p][p].re) / (2 * size)
	t := 1 / (math.Abs(theta) + math.Sqrt(float64(theta*theta)+1))
	if theta < 0 {
		t = -t
	}
	c := 1 / math.Sqrt(float64(t*t)+1)
	s := float64(t * c)
	for k := range m { // columns p and q of m and v
		for _, a := range []matrix{m, v} {
			x, y := a[k][p], a[k][q].times(phase.conjugate())
			a[k][p], a[k][q] = x.scaled(c).minus(y.scaled(s)), x.scaled(s).plus(y.scaled(c))
		}
	}
	for k := range m { // rows
		x, y := m[p][k], m[q][k].times(phase)
		m[p][k], m[q][k] = x.scaled(c).minus(y.scaled(s)), x.scaled(s).plus(y.scaled(c))
	}
}
