package circuit

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// matrix holds complex numbers row by row.
type matrix struct {
	rows, columns int
	values        []scalar
}

func newMatrix(rows, columns int) matrix {
	return matrix{rows, columns, make([]scalar, rows*columns)}
}

func (m matrix) row(i int) []scalar { return m.values[i*m.columns : (i+1)*m.columns] }

// times multiplies matrices, every sum in the order of its index.
func (m matrix) times(ctx context.Context, o matrix) (matrix, error) {
	out := newMatrix(m.rows, o.columns)
	for i := range m.rows {
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		to := out.row(i)
		for k, a := range m.row(i) {
			if a.isZero() {
				continue
			}
			for j, b := range o.row(k) {
				to[j] = to[j].plus(a.times(b))
			}
		}
	}
	return out, nil
}

// adjoint is the conjugate transpose.
func (m matrix) adjoint() matrix {
	out := newMatrix(m.columns, m.rows)
	for i := range m.rows {
		for j, v := range m.row(i) {
			out.values[j*m.rows+i] = scalar{v.re, -v.im}
		}
	}
	return out
}

func (a scalar) conjugate() scalar { return scalar{a.re, -a.im} }

// inner is Σ aₖ·conj(bₖ).
func inner(a, b []scalar) (sum scalar) {
	for k := range a {
		sum = sum.plus(a[k].times(b[k].conjugate()))
	}
	return sum
}

// schmidt is what a matrix M = U·S·V† says of its rows' space: singular values in descending order, and V† row by row.
type schmidt struct {
	values []float64
	right  matrix
}

// decompose finds singular values and right singular vectors: a triangular factor by Householder reflections where there are more rows
// than columns, then rotations of pairs of rows until all are orthogonal (one-sided Jacobi; Demmel and Veselić 1992 on its accuracy).
func decompose(ctx context.Context, m matrix) (schmidt, error) {
	work := matrix{m.rows, m.columns, slices.Clone(m.values)}
	if m.rows > m.columns {
		if err := work.triangular(ctx); err != nil {
			return schmidt{}, err
		}
		work.rows, work.values = m.columns, work.values[:m.columns*m.columns]
	}
	if err := work.orthogonalRows(ctx); err != nil {
		return schmidt{}, err
	}
	norms := make([]float64, work.rows)
	order := make([]int, work.rows)
	for i := range order {
		norms[i], order[i] = math.Sqrt(squareNorm(work.row(i))), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(norms[b], norms[a]) })
	out := schmidt{right: newMatrix(work.rows, work.columns)}
	for to, from := range order {
		out.values = append(out.values, norms[from])
		for j, v := range work.row(from) {
			if norms[from] > 0 {
				out.right.row(to)[j] = scalar{v.re / norms[from], v.im / norms[from]}
			}
		}
	}
	return out, nil
}

// triangular makes the rows below the diagonal zero, from the left, by unitary reflections.
func (m matrix) triangular(ctx context.Context) error {
	sums := make([]scalar, m.columns)
	for at := range m.columns {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		below := 0.0 // of the column, its first entry left out
		for i := at + 1; i < m.rows; i++ {
			below += square(m.row(i)[at])
		}
		if below == 0 {
			continue
		}
		first := m.row(at)[at]
		size, norm := math.Sqrt(square(first)), math.Sqrt(square(first)+below)
		image := scalar{-norm, 0} // what the first entry becomes
		if size > 0 {
			image = scalar{-float64(norm * (first.re / size)), -float64(norm * (first.im / size))}
		}
		// The reflection is 1 - 2vv†/v†v; v is the column with another first entry.
		v := scalar{first.re - image.re, first.im - image.im}
		factor := 2 / (square(v) + below)
		clear(sums)
		entry := func(i int) scalar {
			if i == at {
				return v
			}
			return m.row(i)[at]
		}
		for i := at; i < m.rows; i++ {
			c := entry(i).conjugate()
			for j := at + 1; j < m.columns; j++ {
				sums[j] = sums[j].plus(c.times(m.row(i)[j]))
			}
		}
		for i := at; i < m.rows; i++ {
			e := entry(i)
			f := scalar{-float64(e.re * factor), -float64(e.im * factor)}
			for j := at + 1; j < m.columns; j++ {
				m.row(i)[j] = m.row(i)[j].plus(f.times(sums[j]))
			}
		}
		m.row(at)[at] = image
		for i := at + 1; i < m.rows; i++ {
			m.row(i)[at] = scalar{}
		}
	}
	return nil
}

const (
	// orthogonal is the cosine below which two rows of one number are; of n numbers, √n times it: a rounding error of their product.
	orthogonal = 1e-15
	// maxRotations bounds the passes over all pairs; ten are many.
	maxRotations = 60
	// vanished is the part of the whole squared norm below which a row is rounding dust, and what it is orthogonal to does not matter.
	vanished = 1e-32
)

// orthogonalRows rotates pairs of rows into each other until all are orthogonal, which changes M†M nowhere.
func (m matrix) orthogonalRows(ctx context.Context) error {
	dust := float64(squareNorm(m.values) * vanished)
	for range maxRotations {
		rotated := false
		for i := range m.rows {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			for j := i + 1; j < m.rows; j++ {
				rotated = m.rotate(m.row(i), m.row(j), dust) || rotated
			}
		}
		if !rotated {
			break
		}
	}
	return nil
}

// rotate makes two rows orthogonal, and reports whether they were not.
func (m matrix) rotate(a, b []scalar, dust float64) bool {
	first, second := squareNorm(a), squareNorm(b)
	if first <= dust || second <= dust {
		return false
	}
	product := inner(a, b)
	size := math.Sqrt(square(product))
	if size <= float64(orthogonal*math.Sqrt(float64(float64(first*second)*float64(len(a))))) {
		return false
	}
	turn := scalar{product.re / size, product.im / size} // of b, so that the product is real
	half := (second - first) / (2 * size)
	t := 1 / (math.Abs(half) + math.Sqrt(1+float64(half*half)))
	if half < 0 {
		t = -t
	}
	c := 1 / math.Sqrt(1+float64(t*t))
	s := float64(c * t)
	for k := range a {
		x, y := a[k], turn.times(b[k])
		a[k] = scalar{float64(c*x.re) - float64(s*y.re), float64(c*x.im) - float64(s*y.im)}
		b[k] = scalar{float64(s*x.re) + float64(c*y.re), float64(s*x.im) + float64(c*y.im)}
	}
	return true
}

// truncated keeps the largest singular values, so that the others have at most the tolerated part of all squares, normalises them, and
// tells the part that was left out.
func (s *schmidt) truncated(tolerance float64) (norm, discarded float64) {
	total := 0.0
	for i := len(s.values) - 1; i >= 0; i-- {
		total += float64(s.values[i] * s.values[i])
	}
	dropped, kept := 0.0, len(s.values)
	for kept > 1 {
		next := dropped + float64(s.values[kept-1]*s.values[kept-1])
		if next > float64(tolerance*total) {
			break
		}
		dropped, kept = next, kept-1
	}
	norm = math.Sqrt(total - dropped)
	s.values = s.values[:kept]
	s.right.rows, s.right.values = kept, s.right.values[:kept*s.right.columns]
	for i := range s.values {
		s.values[i] /= norm
	}
	if total > 0 {
		discarded = dropped / total
	}
	return norm, discarded
}
