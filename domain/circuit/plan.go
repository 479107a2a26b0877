package circuit

import (
	"context"
	"math/bits"
	"slices"
)

// float is an amplitude's component: float64 for double precision, float32 for single.
type float interface{ float32 | float64 }

// Geometry of the state. The kernels work on vectors of 64 bytes; the lowest laneBits of an index count within one, and
// no kernel mixes lanes, so operators on a lane's wire wait for that wire to be exchanged with another. All of it is
// the same on every processor: it decides the order of rounding.
const (
	vectorBytes = 64
	minBits     = 8  // smaller states are padded with qubits that stay |0⟩
	blockBytes  = 18 // log2 of the bytes of one plane of a block: both planes stay in a core's second-level cache
	runBytes    = 9  // log2 of the shortest contiguous run gathered into a block
)

type geometry struct {
	stateBits int // qubits, padding included
	laneBits  int
	blockBits int
	runBits   int // positions below this are in every block
}

func geometryOf(wireCount, sizeOfFloat int) geometry {
	log := bits.TrailingZeros(uint(sizeOfFloat))
	g := geometry{
		stateBits: max(wireCount, minBits),
		laneBits:  bits.TrailingZeros(vectorBytes) - log,
		runBits:   runBytes - log,
	}
	g.blockBits = min(blockBytes-log, g.stateBits)
	return g
}

// plan is a segment's operators arranged into sweeps over memory.
type plan[F float] struct {
	geometry geometry
	sweeps   []sweep[F]
}

// sweep visits every block once. A block is the set of amplitudes that agree on the outer positions; its index spells
// their values. It is gathered into contiguous memory, all steps are applied, and it is written back.
type sweep[F float] struct {
	active  []int  // memory position of each bit of a block's local index, ascending
	outer   wires  // the other positions
	zero    uint64 // bits of the block index whose wire is still |0⟩: blocks with such a bit set hold only zeros
	steps   []step[F]
	weight  int64 // work per block, for progress
	inPlace bool
}

// step is one kernel call on a block.
type step[F float] struct {
	exchange bool // swap lane bit `lane` with local bit `with`; otherwise an operator
	lane     int
	with     int

	targets       int
	real          bool
	free          uint64 // vector-index bits that run over all values
	controls      uint64 // vector-index bits that are set
	selectors     uint64 // vector-index bits that choose the table entry
	offsets       [1 << maxTargets]uint64
	outerControls uint64 // bits of the block index that must be set
	outerSelect   uint64 // bits of the block index that choose the part of the table
	tableStride   int    // entries of F between two parts
	table         []F    // [outer][selector][row][column][re, im][lane]
}

// layout maps wires to positions of the state index.
type layout []int

// planner arranges the segments of one program; the layout and the set of touched wires carry over between them.
type planner[F float] struct {
	geometry geometry
	layout   layout
	touched  wires // wires that have left |0⟩
}

func newPlanner[F float](wireCount int, geo geometry, first []operator) *planner[F] {
	return &planner[F]{geometry: geo, layout: initialLayout(wireCount, geo, first)}
}

// planProgram plans every segment in order; layouts are those after each segment.
func planProgram[F float](ctx context.Context, p program, geo geometry) (plans []plan[F], layouts []layout, err error) {
	planner := newPlanner[F](p.wires, geo, p.segments[0].operators)
	for _, segment := range p.segments {
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		planner.touched |= segment.moves // a round finds touched what earlier rounds have touched
		plan := planner.plan(segment.operators)
		if segment.restores >= 0 {
			plan.sweeps = append(plan.sweeps, planner.restore(layouts[segment.restores])...)
		}
		plans, layouts = append(plans, plan), append(layouts, slices.Clone(planner.layout))
	}
	return plans, layouts, nil
}

// initialLayout gives the lanes to padding and to the wires targeted last: the state starts as |0…0⟩, so any layout is
// free. The padding's wires are numbered after the circuit's.
func initialLayout(wireCount int, geo geometry, operators []operator) layout {
	first := make([]int, wireCount)
	for w := range first {
		first[w] = len(operators)
	}
	for i := len(operators) - 1; i >= 0; i-- {
		for t := operators[i].targets; t != 0; t &= t - 1 {
			first[extractWire(t)] = i
		}
	}
	order := make([]int, wireCount)
	for w := range order {
		order[w] = w
	}
	slices.SortStableFunc(order, func(a, b int) int { return first[b] - first[a] })
	out := make(layout, geo.stateBits)
	for i, w := range order {
		out[w] = i + geo.stateBits - wireCount
	}
	for w := wireCount; w < geo.stateBits; w++ {
		out[w] = w - wireCount
	}
	return out
}

func (l layout) positions(w wires) wires {
	var out wires
	for ; w != 0; w &= w - 1 {
		out |= 1 << l[extractWire(w)]
	}
	return out
}

// plan arranges operators, which must already be fused.
func (p *planner[F]) plan(operators []operator) plan[F] {
	out := plan[F]{geometry: p.geometry}
	for len(operators) > 0 {
		chosen, rest, active := p.chooseOperators(operators)
		out.sweeps = append(out.sweeps, p.sweep(chosen, active))
		operators = rest
	}
	return out
}

// chooseOperators selects the operators of the next sweep, in order. It skips an operator whose targets do not fit in the
// block any more, or that does not commute with a skipped one; rest holds the skipped ones.
func (p *planner[F]) chooseOperators(operators []operator) (chosen, rest []operator, active wires) {
	active = 1<<p.geometry.runBits - 1
	if p.geometry.blockBits == p.geometry.stateBits {
		return operators, nil, 1<<p.geometry.stateBits - 1
	}
	var blockedTargets, blocked wires
	for _, op := range operators {
		fits := (active | p.layout.positions(op.targets)).count() <= p.geometry.blockBits
		if fits && op.targets&blocked == 0 && op.allWires()&blockedTargets == 0 {
			active |= p.layout.positions(op.targets)
			chosen = append(chosen, op)
			continue
		}
		blockedTargets |= op.targets
		blocked |= op.allWires()
		rest = append(rest, op)
	}
	return chosen, rest, p.filled(active)
}

// filled adds positions from the lowest until the block is full.
func (p *planner[F]) filled(active wires) wires {
	for position := 0; active.count() < p.geometry.blockBits; position++ {
		active |= 1 << position
	}
	return active
}

func (p *planner[F]) sweep(operators []operator, active wires) sweep[F] {
	s := p.emptySweep(active)
	for i, op := range operators {
		p.touched |= op.targets
		for t := op.targets; t != 0; t &= t - 1 {
			wire := extractWire(t)
			if lane := p.layout[wire]; lane < p.geometry.laneBits {
				p.exchange(&s, exchange{lane, p.positionToEvict(operators[i:], active)})
			}
		}
		s.steps = append(s.steps, p.step(op, active, s.outer))
	}
	s.weigh(p.geometry)
	return s
}

// emptySweep is a sweep without steps over the layout as it is now.
func (p *planner[F]) emptySweep(active wires) sweep[F] {
	geo := p.geometry
	s := sweep[F]{outer: (1<<geo.stateBits - 1) &^ active, inPlace: geo.blockBits == geo.stateBits}
	for a := active; a != 0; a &= a - 1 {
		s.active = append(s.active, extractWire(a))
	}
	untouched := wires(1<<geo.stateBits-1) &^ p.layout.positions(p.touched)
	s.zero = uint64(extract(uint64(untouched), s.outer))
	return s
}

// exchange adds the step and records that two wires have changed places.
func (p *planner[F]) exchange(s *sweep[F], e exchange) {
	var active wires
	for _, position := range s.active {
		active |= 1 << position
	}
	s.steps = append(s.steps, step[F]{exchange: true, lane: e.lane, with: (active & (1<<e.with - 1)).count()})
	p.swapPositions(e.lane, e.with)
}

func (s *sweep[F]) weigh(geo geometry) {
	for _, st := range s.steps {
		s.weight += st.weight(geo)
	}
	s.weight += 1 << geo.blockBits
}

// positionToEvict is the active position outside the lanes whose wire is the last to be a target of the coming operators.
func (p *planner[F]) positionToEvict(operators []operator, active wires) int {
	candidates := active &^ (1<<p.geometry.laneBits - 1)
	for _, op := range operators {
		left := candidates &^ p.layout.positions(op.targets)
		if left == 0 {
			break
		}
		candidates = left
	}
	return extractWire(candidates)
}

// swapPositions records that the wires at two positions have changed places.
func (p *planner[F]) swapPositions(a, b int) {
	for wire, position := range p.layout {
		switch position {
		case a:
			p.layout[wire] = b
		case b:
			p.layout[wire] = a
		}
	}
}

// exchange is a lane and a position above the lanes that change places.
type exchange struct{ lane, with int }

// restore brings every wire back to where the layout has it.
func (p *planner[F]) restore(wanted layout) []sweep[F] {
	geo := p.geometry
	pending := exchangesTo(p.layout, wanted, geo.laneBits)
	var sweeps []sweep[F]
	for len(pending) > 0 {
		active := wires(1<<geo.runBits - 1)
		fit := 0
		for fit < len(pending) && (active|1<<pending[fit].with).count() <= geo.blockBits {
			active |= 1 << pending[fit].with
			fit++
		}
		s := p.emptySweep(p.filled(active))
		for _, e := range pending[:fit] {
			p.exchange(&s, e)
		}
		s.weigh(geo)
		sweeps, pending = append(sweeps, s), pending[fit:]
	}
	return sweeps
}

// exchangesTo turns one layout into another. Every exchange has a lane on one side, so wires above the lanes go through
// lane 0, and two lanes through a position above them.
func exchangesTo(from, wanted layout, laneBits int) []exchange {
	at := make([]int, len(from)) // wire at each position
	for wire, position := range from {
		at[position] = wire
	}
	var out []exchange
	swap := func(lane, with int) {
		at[lane], at[with] = at[with], at[lane]
		out = append(out, exchange{lane, with})
	}
	settle := func(lane int) { // every round puts one wire where it belongs
		for wanted[at[lane]] != lane {
			destination := wanted[at[lane]]
			if destination >= laneBits {
				swap(lane, destination)
				continue
			}
			swap(lane, laneBits)
			swap(destination, laneBits)
			swap(lane, laneBits)
		}
	}
	for lane := range laneBits {
		settle(lane)
	}
	for position := laneBits; position < len(at); position++ {
		if wanted[at[position]] != position {
			swap(0, position)
			settle(0)
		}
	}
	return out
}

// step translates an operator to positions within a block and expands its table over the lanes.
func (p *planner[F]) step(op operator, active, outer wires) step[F] {
	geo := p.geometry
	lanes := wires(1<<geo.laneBits - 1)
	local := func(positions wires) wires { return wires(extract(uint64(positions&active), active)) }
	targets, selectors, controls := p.layout.positions(op.targets), p.layout.positions(op.selectors), p.layout.positions(op.controls)
	inBlock := wires(1<<geo.blockBits - 1)
	st := step[F]{
		targets:       op.targets.count(),
		real:          op.isReal(),
		controls:      uint64(local(controls) >> geo.laneBits),
		selectors:     uint64(local(selectors) >> geo.laneBits),
		outerControls: uint64(extract(uint64(controls), outer)),
		outerSelect:   uint64(extract(uint64(selectors), outer)),
	}
	targetVectors := local(targets) >> geo.laneBits
	st.free = uint64(inBlock>>geo.laneBits&^targetVectors) &^ st.controls
	for i := range 1 << st.targets {
		st.offsets[i] = deposit(i, targetVectors) * vectorBytes
	}
	// The table is indexed by selectors outside the block, then selectors inside, then lanes. Walk positions, and look
	// the value up by wires.
	dim := op.dim()
	entry := 2 * dim * dim << geo.laneBits
	insideBits := bits.OnesCount64(st.selectors)
	st.tableStride = entry << insideBits
	outside := selectors & outer
	inside := selectors & active &^ lanes
	st.table = make([]F, st.tableStride<<outside.count())
	laneControls := controls & lanes
	toWires := func(x uint64) uint64 {
		var w uint64
		for wire, position := range p.layout {
			w |= x >> position & 1 << wire
		}
		return w
	}
	targetOrder := p.targetOrder(op.targets)
	for o := range 1 << outside.count() {
		for s := range 1 << insideBits {
			for lane := range 1 << geo.laneBits {
				x := deposit(o, outside) | deposit(s, inside) | uint64(lane)
				selector := extract(toWires(x), op.selectors)
				for row := range dim {
					for column := range dim {
						value := op.entry(selector, targetOrder[row], targetOrder[column])
						if x&uint64(laneControls) != uint64(laneControls) {
							value = scalar{}
							if row == column {
								value.re = 1
							}
						}
						at := o*st.tableStride + s*entry + (row*dim+column)*2<<geo.laneBits + lane
						st.table[at] = F(value.re)
						st.table[at+1<<geo.laneBits] = F(value.im)
					}
				}
			}
		}
	}
	return st
}

// targetOrder maps a target combination in order of positions to the same combination in order of wires.
func (p *planner[F]) targetOrder(targets wires) [1 << maxTargets]int {
	positions := p.layout.positions(targets)
	var order [1 << maxTargets]int
	for i := range 1 << targets.count() {
		x := deposit(i, positions)
		var w uint64
		for t := targets; t != 0; t &= t - 1 {
			wire := extractWire(t)
			w |= x >> p.layout[wire] & 1 << wire
		}
		order[i] = extract(w, targets)
	}
	return order
}

// groups is the number of target groups one call of the kernel visits.
func (s step[F]) groups() int { return 1 << bits.OnesCount64(s.free) }

// weight is the work of the step on one block in complex multiplications.
func (s step[F]) weight(geo geometry) int64 {
	if s.exchange {
		return 1 << geo.blockBits
	}
	return int64(s.groups()) << (2*s.targets + geo.laneBits)
}
