package circuit

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// mpsState is a matrix product state: a tensor for each wire, in a row of sites. All tensors but the first are right-canonical, and the
// Schmidt values of every bond are known, so that a gate changes only its own sites and a cut discards the least weight there is
// (Vidal 2003, in the form of Hastings 2009 that divides by no Schmidt value). Tensors are never written to: copies of a state share
// them.
type mpsState struct {
	sites     []mpsSite
	schmidt   [][]float64 // of the bond left of each site
	wireAt    []int       // wire of each site
	siteOf    []int       // site of each wire
	used      []int       // by wire: the gate that last acted on it
	gates     int
	space     *mpsSpace
	need      int64 // bytes of the tensors
	taken     int64 // bytes of the room
	discarded float64
	bound     float64 // on the distance between this state and the exact one
}

// mpsSite is a tensor: the row of its matrix is the bond on the left; the column is the bit, then the bond on the right.
type mpsSite struct{ matrix }

func (s mpsSite) left() int  { return s.rows }
func (s mpsSite) right() int { return s.columns / 2 }

// bit is the part of a row in which the wire has the value.
func (s mpsSite) bit(left, value int) []scalar {
	return s.row(left)[value*s.right() : (value+1)*s.right()]
}

// mpsSpace is what the states of a run share.
type mpsSpace struct {
	room       room
	bond       int // the largest dimension of a bond
	operations int64
	worst      Truncation
}

// Truncation says what a run on matrix product states left out.
type Truncation struct {
	Bond            int     `json:"bond" doc:"Largest dimension of a bond"`
	DiscardedWeight float64 `json:"discarded_weight" doc:"Sum over the cuts of the weight that was discarded, in the history where it is largest"`
	ErrorBound      float64 `json:"error_bound" doc:"Bound on the error of every probability by what was discarded, and on half of that of a Pauli product's expectation value; rounding aside"`
}

// exactCut is the weight that a cut discards: amplitudes of 1e-14 together. Below [invisible] it is rounding dust,
// which every cut of a state without full bonds finds, and is not counted.
const exactCut = 1e-28

// maxMPSQubits bounds the qubits of one gate: their tensors are one for a while.
const maxMPSQubits = 6

// runMPS runs a circuit on matrix product states.
func runMPS(ctx context.Context, c Circuit, rng *random, report *progress, result *Result) error {
	result.Engine, result.EngineReason = "mps-double-v1", c.wideReason()
	if c.method == EngineAuto {
		result.EngineReason += fmt.Sprintf("; more than %d amplitudes are not zero", triedAmplitudes)
	}
	space := &mpsSpace{room: room{total: c.mpsBytes()}, bond: 1}
	err := runWide(ctx, c, space.start(c.qubits), rng, report, result, space.finished)
	space.worst.Bond = space.bond
	result.Truncation = &space.worst
	return err
}

// mpsBytes bounds the tensors of all histories: a narrow circuit without outcomes inside has one state of small bonds.
func (c Circuit) mpsBytes() int64 {
	const narrow = 16
	if c.qubits > narrow || !lowerWide(c).oneHistory() {
		return maxWideBytes
	}
	return 1<<20 + 512<<c.qubits // sites of at most 2^n numbers together twice over, and what one gate needs beside them
}

// start is |0…0⟩.
func (s *mpsSpace) start(wires int) *mpsState {
	state := &mpsState{
		sites: make([]mpsSite, wires), schmidt: make([][]float64, wires), wireAt: allQubits(wires), siteOf: allQubits(wires),
		used: make([]int, wires), space: s,
	}
	for i := range wires {
		state.set(i, matrix{1, 2, []scalar{{1, 0}, {}}})
		state.schmidt[i] = []float64{1}
	}
	_ = state.fit() // bonds of dimension 1 fit any room
	return state
}

func (s *mpsSpace) finished(state wideState) {
	m := state.(*mpsState)
	s.worst.DiscardedWeight = max(s.worst.DiscardedWeight, m.discarded)
	s.worst.ErrorBound = max(s.worst.ErrorBound, m.bound)
}

func (m *mpsState) set(site int, tensor matrix) {
	m.need += 16 * int64(len(tensor.values)-len(m.sites[site].values))
	m.sites[site] = mpsSite{tensor}
	m.space.bond = max(m.space.bond, tensor.rows)
}

// fit takes the room of the tensors, or refuses.
func (m *mpsState) fit() error {
	if !m.space.room.take(m.need - m.taken) {
		return m.space.refuse(m.space.bond)
	}
	m.taken = m.need
	return nil
}

func (s *mpsSpace) refuse(bond int) *Refusal {
	return refuse(CodeMemory, "the matrix product state reached a bond of dimension %d, which %d MiB do not hold: the circuit is too entangled for mps",
		bond, s.room.total>>20)
}

func (m *mpsState) size() int { return int(m.need / 16) }

func (m *mpsState) release() {
	m.space.room.give(m.taken)
	m.taken = 0
}

func (m *mpsState) clone() (wideState, error) {
	copied := *m
	copied.sites, copied.schmidt = slices.Clone(m.sites), slices.Clone(m.schmidt)
	copied.wireAt, copied.siteOf, copied.used = slices.Clone(m.wireAt), slices.Clone(m.siteOf), slices.Clone(m.used)
	copied.taken = 0
	return &copied, copied.fit()
}

func (m *mpsState) apply(ctx context.Context, op *wideOperator) error {
	wires := op.wires()
	m.gates++
	switch len(wires) {
	case 0:
		return m.applyAt(ctx, op, 0, m.wireAt[:1])
	case 1:
		return m.applyAt(ctx, op, m.siteOf[wires[0]], wires)
	}
	first, err := m.gather(ctx, wires)
	if err != nil {
		return err
	}
	return m.applyAt(ctx, op, first, wires)
}

// gather moves wires until they stand side by side, and tells the first site. Of two the one used later moves: it is likely to meet the
// neighbours of the other next.
func (m *mpsState) gather(ctx context.Context, wires []int) (first int, err error) {
	sorted := slices.SortedFunc(slices.Values(wires), func(a, b int) int { return cmp.Compare(m.siteOf[a], m.siteOf[b]) })
	anchor := len(sorted) / 2
	if len(sorted) == 2 && m.used[sorted[0]] < m.used[sorted[1]] {
		anchor = 0
	}
	at := m.siteOf[sorted[anchor]]
	for i := anchor - 1; i >= 0 && err == nil; i-- {
		err = m.move(ctx, sorted[i], at-(anchor-i))
	}
	for i := anchor + 1; i < len(sorted) && err == nil; i++ {
		err = m.move(ctx, sorted[i], at+(i-anchor))
	}
	for _, w := range wires {
		m.used[w] = m.gates
	}
	return at - anchor, err
}

// swapSites is the operator that exchanges two sites.
var swapSites = permutation(0, 2, 1, 3)

func (m *mpsState) move(ctx context.Context, wire, to int) error {
	for m.siteOf[wire] != to {
		site := m.siteOf[wire]
		if to < site {
			site--
		}
		a, b := m.wireAt[site], m.wireAt[site+1]
		if err := m.applyAt(ctx, &wideOperator{targets: []int{a, b}, matrix: swapSites}, site, []int{a, b}); err != nil {
			return err
		}
		m.wireAt[site], m.wireAt[site+1] = b, a
		m.siteOf[a], m.siteOf[b] = site+1, site
	}
	return nil
}

// applyAt applies an operator to neighbouring sites: their tensors become one, which is cut again from the right.
func (m *mpsState) applyAt(ctx context.Context, op *wideOperator, first int, wires []int) error {
	last := first + len(wires) - 1
	size := int64(m.sites[first].left()) * int64(m.sites[last].right()) << len(wires)
	if m.space.room.used+4*16*size > m.space.room.total {
		return m.space.refuse(m.sites[first].left() << (len(wires) / 2))
	}
	whole := m.sites[first].matrix
	for site := first + 1; site <= last; site++ {
		next := m.sites[site]
		product, err := matrix{len(whole.values) / next.left(), next.left(), whole.values}.times(ctx, next.matrix)
		if err != nil {
			return err
		}
		whole = product
	}
	whole = matrix{m.sites[first].left(), len(whole.values) / m.sites[first].left(), whole.values}
	if len(wires) == 1 {
		whole.values = slices.Clone(whole.values)
	}
	bit := func(wire int) int { return 1 << (last - m.siteOf[wire]) }
	whole.transform(op, bit, len(wires))
	return m.cut(ctx, first, last, whole)
}

// transform multiplies by an operator: a column is the bits of the sites, the first the highest, then the bond on the right.
func (m matrix) transform(op *wideOperator, bit func(wire int) int, sites int) {
	right := m.columns >> sites
	offsets := func(list []int) (out []int, mask int) { // of every value of the wires
		out = []int{0}
		for _, w := range list {
			for _, o := range out {
				out = append(out, o|bit(w))
			}
			mask |= bit(w)
		}
		return out, mask
	}
	targets, targetMask := offsets(op.targets)
	selectors, selectorMask := offsets(op.selectors)
	_, controlMask := offsets(op.controls)
	dim := op.dim()
	before := make([]scalar, dim)
	for base := range 1 << sites {
		if base&targetMask != 0 || base&controlMask != controlMask {
			continue
		}
		block := op.matrix[slices.Index(selectors, base&selectorMask)*dim*dim:][:dim*dim]
		for i := range m.rows {
			row := m.row(i)
			for r := range right {
				for column, o := range targets {
					before[column] = row[(base|o)*right+r]
				}
				for at, o := range targets {
					var sum scalar
					for column, a := range before {
						if f := block[at*dim+column]; !f.isZero() {
							sum = sum.plus(f.times(a))
						}
					}
					row[(base|o)*right+r] = sum
				}
			}
		}
	}
}

// cut makes a tensor for each site of one for all, from the right, and keeps the canonical form.
func (m *mpsState) cut(ctx context.Context, first, last int, whole matrix) error {
	left := whole.rows
	for site := last; site > first; site-- {
		right := m.sites[last].right()
		if site < last {
			right = m.sites[site+1].left()
		}
		rows := len(whole.values) / (2 * right)
		whole = matrix{rows, 2 * right, whole.values}
		weighted := newMatrix(rows, 2*right)
		for i := range rows {
			for j, v := range whole.row(i) {
				f := m.schmidt[first][i*left/rows]
				weighted.values[i*2*right+j] = scalar{float64(v.re * f), float64(v.im * f)}
			}
		}
		parts, norm, err := m.parts(ctx, weighted, exactCut)
		if err != nil {
			return err
		}
		if whole, err = whole.times(ctx, parts.right.adjoint()); err != nil {
			return err
		}
		whole.scale(1 / norm)
		m.set(site, parts.right)
		m.schmidt[site] = parts.values
	}
	m.set(first, matrix{left, len(whole.values) / left, whole.values})
	return m.fit()
}

func (m matrix) scale(by float64) {
	for i, v := range m.values {
		m.values[i] = scalar{float64(v.re * by), float64(v.im * by)}
	}
}

// parts decomposes a matrix and discards what may be discarded.
func (m *mpsState) parts(ctx context.Context, of matrix, tolerance float64) (schmidt, float64, error) {
	smaller := int64(min(of.rows, of.columns))
	m.space.operations += int64(len(of.values)) * smaller * 8
	if m.space.operations > MaxOperations {
		return schmidt{}, 0, Cost{Operations: m.space.operations}.Check()
	}
	parts, err := decompose(ctx, of)
	if err != nil {
		return schmidt{}, 0, err
	}
	norm, discarded := parts.truncated(tolerance)
	if discarded > invisible {
		m.discarded += discarded
		m.bound += math.Sqrt(discarded) // the sine of the angle between the state and what is kept of it
	}
	return parts, norm, nil
}

func (m *mpsState) weights(wire int) (zero, one float64) {
	site := m.siteOf[wire]
	for l, f := range m.schmidt[site] {
		zero += float64(float64(f*f) * squareNorm(m.sites[site].bit(l, 0)))
		one += float64(float64(f*f) * squareNorm(m.sites[site].bit(l, 1)))
	}
	return zero, one
}

// collapse projects one site, and brings the sites that it is entangled with back to the canonical form: bonds of dimension 1 end them.
func (m *mpsState) collapse(ctx context.Context, wire, value int, scale float64, clearBit bool) error {
	site := m.siteOf[wire]
	before := m.sites[site]
	after := mpsSite{newMatrix(before.rows, before.columns)}
	kept := value
	if clearBit {
		kept = 0
	}
	for l := range before.left() {
		copy(after.bit(l, kept), before.bit(l, value))
	}
	after.scale(scale)
	m.set(site, after.matrix)
	first, last := site, site
	for m.sites[first].left() > 1 {
		first--
	}
	for m.sites[last].right() > 1 {
		last++
	}
	for site := first; site < last; site++ { // left-canonical up to the last
		here := m.sites[site]
		tall := matrix{2 * here.left(), here.right(), here.values}
		parts, norm, err := m.parts(ctx, tall.adjoint(), vanished)
		if err != nil {
			return err
		}
		rest, err := parts.right.times(ctx, tall)
		if err != nil {
			return err
		}
		rest.scale(1 / norm)
		next, err := rest.times(ctx, m.sites[site+1].matrix)
		if err != nil {
			return err
		}
		isometry := parts.right.adjoint()
		m.set(site, matrix{here.left(), 2 * isometry.columns, isometry.values})
		m.set(site+1, next)
	}
	for site := last; site > first; site-- { // right-canonical back to the first
		here := m.sites[site].matrix
		parts, norm, err := m.parts(ctx, here, exactCut)
		if err != nil {
			return err
		}
		rest, err := here.times(ctx, parts.right.adjoint())
		if err != nil {
			return err
		}
		rest.scale(1 / norm)
		to := m.sites[site-1]
		joined, err := matrix{2 * to.left(), to.right(), to.values}.times(ctx, rest)
		if err != nil {
			return err
		}
		m.set(site, parts.right)
		m.schmidt[site] = parts.values
		m.set(site-1, matrix{to.left(), 2 * joined.columns, joined.values})
	}
	whole := m.sites[first].matrix
	whole = matrix{whole.rows, whole.columns, slices.Clone(whole.values)}
	whole.scale(1 / math.Sqrt(squareNorm(whole.values)))
	m.set(first, whole)
	return m.fit()
}

// sample walks the sites from the left: given the bits so far, a row of numbers tells the next one. Shots that agree so far share it.
func (m *mpsState) sample(ctx context.Context, shots int, rng *random, found func(bit func(wire int) byte, times int)) error {
	bits := make([]byte, len(m.sites))
	rows := make([][2][]scalar, len(m.sites)) // after each site, for both values of its bit
	for site, s := range m.sites {
		rows[site] = [2][]scalar{make([]scalar, s.right()), make([]scalar, s.right())}
	}
	var walk func(site, shots int, so []scalar) error
	walk = func(site, shots int, so []scalar) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if site == len(m.sites) {
			found(func(wire int) byte { return bits[wire] }, shots)
			return nil
		}
		next := rows[site]
		weights := m.extend(site, so, next)
		var probability [maxOutcomes]float64
		sum := weights[0] + weights[1]
		probability[0], probability[1] = weights[0]/sum, weights[1]/sum
		for value, n := range splitShots(rng, shots, probability) {
			if n == 0 {
				continue
			}
			bits[m.wireAt[site]] = byte(value)
			row := matrix{1, len(next[value]), next[value]}
			row.scale(1 / math.Sqrt(weights[value]))
			if err := walk(site+1, n, row.values); err != nil {
				return err
			}
		}
		return nil
	}
	return walk(0, shots, []scalar{{1, 0}})
}

// extend multiplies a row by a site's tensor, for both values of its bit.
func (m *mpsState) extend(site int, row []scalar, next [2][]scalar) (weights [2]float64) {
	here := m.sites[site]
	for value := range next {
		clear(next[value])
		for l, a := range row {
			for r, b := range here.bit(l, value) {
				next[value][r] = next[value][r].plus(a.times(b))
			}
		}
		weights[value] = squareNorm(next[value])
	}
	return weights
}

// environment is what lies left of a site, contracted with its conjugate: the Schmidt values' squares.
func (m *mpsState) environment(site int) matrix {
	values := m.schmidt[site]
	e := newMatrix(len(values), len(values))
	for i, v := range values {
		e.row(i)[i] = scalar{float64(v * v), 0}
	}
	return e
}

// through carries an environment through a site whose bit is read as one value in the state and as another in its conjugate.
func (m *mpsState) through(ctx context.Context, e matrix, site, ket, bra int) (matrix, error) {
	here := m.sites[site]
	part := func(value int) matrix {
		out := newMatrix(here.left(), here.right())
		for l := range here.left() {
			copy(out.row(l), here.bit(l, value))
		}
		return out
	}
	half, err := e.times(ctx, part(ket))
	if err != nil {
		return half, err
	}
	return part(bra).adjoint().times(ctx, half)
}

func (m matrix) trace() (sum scalar) {
	for i := range m.rows {
		sum = sum.plus(m.row(i)[i])
	}
	return sum
}

func (m matrix) add(o matrix, factor scalar) {
	for i, v := range o.values {
		m.values[i] = m.values[i].plus(v.times(factor))
	}
}

func (m *mpsState) expectation(ctx context.Context, x, z []int, _ int) (float64, error) {
	flips, signs := make([]bool, len(m.sites)), make([]bool, len(m.sites))
	first, last := len(m.sites), -1
	for i, list := range [2][]int{x, z} {
		for _, w := range list {
			site := m.siteOf[w]
			[2][]bool{flips, signs}[i][site] = true
			first, last = min(first, site), max(last, site)
		}
	}
	if last < 0 {
		return 1, nil
	}
	e := m.environment(first)
	for site := first; site <= last; site++ {
		next := newMatrix(m.sites[site].right(), m.sites[site].right())
		for ket := range 2 {
			bra, factor := ket, scalar{1, 0}
			if flips[site] {
				bra = 1 - ket
			}
			switch {
			case signs[site] && flips[site]: // Y takes 0 to i·1, and 1 to -i·0
				factor = scalar{0, float64(1 - 2*ket)}
			case signs[site] && ket == 1:
				factor = scalar{-1, 0}
			}
			part, err := m.through(ctx, e, site, ket, bra)
			if err != nil {
				return 0, err
			}
			next.add(part, factor)
		}
		e = next
	}
	return e.trace().re, nil
}

func (m *mpsState) marginal(ctx context.Context, wires []int) ([]float64, error) {
	out := make([]float64, 1<<len(wires))
	if len(wires) == 0 {
		out[0] = 1
		return out, nil
	}
	place := make([]int, len(m.sites)) // of a site's bit in an index, from 1; 0: summed over
	first, last := len(m.sites), -1
	for i, w := range wires {
		site := m.siteOf[w]
		place[site] = i + 1
		first, last = min(first, site), max(last, site)
	}
	var walk func(site, index int, e matrix) error
	walk = func(site, index int, e matrix) error {
		if site > last {
			out[index] = max(0, e.trace().re)
			return nil
		}
		zero, err := m.through(ctx, e, site, 0, 0)
		if err != nil {
			return err
		}
		one, err := m.through(ctx, e, site, 1, 1)
		if err != nil {
			return err
		}
		if place[site] == 0 {
			zero.add(one, scalar{1, 0})
			return walk(site+1, index, zero)
		}
		for value, part := range [2]matrix{zero, one} {
			if part.trace().re < negligible*negligible {
				continue // so are all that begin like this
			}
			if err := walk(site+1, index|value<<(place[site]-1), part); err != nil {
				return err
			}
		}
		return nil
	}
	return out, walk(first, 0, m.environment(first))
}

func (m *mpsState) amplitude(bit func(wire int) byte) scalar {
	row := []scalar{{1, 0}}
	for site := range m.sites {
		next := [2][]scalar{make([]scalar, m.sites[site].right()), make([]scalar, m.sites[site].right())}
		m.extend(site, row, next)
		row = next[bit(m.wireAt[site])]
	}
	return row[0]
}

// notMPS says what matrix product states cannot run, and which instruction that is first; reason is empty when they can run all of them.
func (c Circuit) notMPS() (index int, reason string) {
	if index, reason := c.notWide(); reason != "" {
		return index, reason
	}
	for i := range c.gates {
		wide := false
		forEach(c.gates[i:i+1], func(g *gate) {
			wide = wide || (g.kind.isUnitary() || g.kind == kindInitialize) && len(g.targets)+len(g.controls) > maxMPSQubits
		})
		if wide {
			return i, fmt.Sprintf("acts on more than %d qubits at once, or holds a gate that does", maxMPSQubits)
		}
	}
	return 0, ""
}
