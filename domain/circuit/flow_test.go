package circuit

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/cmplx"
	"slices"
	"strings"
	"testing"
)

// denseMatrix is a gate's matrix on its targets, the first target the lowest bit, after the formulas of the manual and in
// the standard library's complex arithmetic.
func denseMatrix(k kind, params []float64) [][]complex128 {
	e := func(angle float64) complex128 { return cmplx.Exp(complex(0, angle)) }
	half := func(i int) (c, s complex128) {
		return complex(math.Cos(params[i]/2), 0), complex(math.Sin(params[i]/2), 0)
	}
	pauli := func(k kind) [][]complex128 {
		switch k {
		case kindX, kindRX, kindRXX:
			return [][]complex128{{0, 1}, {1, 0}}
		case kindY, kindRY, kindRYY:
			return [][]complex128{{0, -1i}, {1i, 0}}
		}
		return [][]complex128{{1, 0}, {0, -1}}
	}
	rotation := func(p [][]complex128) [][]complex128 { // cos I - i sin P
		c, s := half(0)
		out := make([][]complex128, len(p))
		for i := range p {
			out[i] = make([]complex128, len(p))
			for j := range p {
				out[i][j] = -1i * s * p[i][j]
				if i == j {
					out[i][j] += c
				}
			}
		}
		return out
	}
	diagonal := func(phase complex128) [][]complex128 { return [][]complex128{{1, 0}, {0, phase}} }
	switch k {
	case kindX, kindY, kindZ:
		return pauli(k)
	case kindH:
		return [][]complex128{{math.Sqrt2 / 2, math.Sqrt2 / 2}, {math.Sqrt2 / 2, -math.Sqrt2 / 2}}
	case kindS:
		return diagonal(1i)
	case kindSdg:
		return diagonal(-1i)
	case kindT:
		return diagonal(e(math.Pi / 4))
	case kindTdg:
		return diagonal(e(-math.Pi / 4))
	case kindSX:
		return [][]complex128{{0.5 + 0.5i, 0.5 - 0.5i}, {0.5 - 0.5i, 0.5 + 0.5i}}
	case kindSXdg:
		return [][]complex128{{0.5 - 0.5i, 0.5 + 0.5i}, {0.5 + 0.5i, 0.5 - 0.5i}}
	case kindRX, kindRY, kindRZ:
		return rotation(pauli(k))
	case kindP:
		return diagonal(e(params[0]))
	case kindU:
		c, s := half(0)
		return [][]complex128{{c, -e(params[2]) * s}, {e(params[1]) * s, e(params[1]+params[2]) * c}}
	case kindSwap:
		return [][]complex128{{1, 0, 0, 0}, {0, 0, 1, 0}, {0, 1, 0, 0}, {0, 0, 0, 1}}
	case kindISwap:
		return [][]complex128{{1, 0, 0, 0}, {0, 0, 1i, 0}, {0, 1i, 0, 0}, {0, 0, 0, 1}}
	case kindRXX, kindRYY, kindRZZ:
		p := pauli(k)
		both := make([][]complex128, 4)
		for i := range both {
			both[i] = make([]complex128, 4)
			for j := range both[i] {
				both[i][j] = p[i&1][j&1] * p[i>>1][j>>1]
			}
		}
		return rotation(both)
	}
	return [][]complex128{{1, 0}, {0, 1}}
}

// denseApply multiplies the gate into all amplitudes.
func denseApply(state []complex128, g gate) []complex128 {
	m := denseMatrix(g.kind, g.params)
	out := make([]complex128, len(state))
	for i, a := range state {
		on := true
		for _, c := range g.controls {
			on = on && i>>c&1 == 1
		}
		if !on {
			out[i] += a
			continue
		}
		column, rest := 0, i
		for b, t := range g.targets {
			column |= i >> t & 1 << b
			rest &^= 1 << t
		}
		for row := range m {
			j := rest
			for b, t := range g.targets {
				j |= row >> b & 1 << t
			}
			out[j] += m[row][column] * a
		}
	}
	return out
}

// history is one sequence of outcomes in a simulation that keeps them all.
type history struct {
	state []complex128 // not normalised: its norm is the history's probability
	bits  []int
}

func (h history) norm() float64 {
	sum := 0.0
	for _, a := range h.state {
		sum += real(a)*real(a) + imag(a)*imag(a)
	}
	return sum
}

// measured splits a history by the value of a qubit.
func (h history) measured(q int) (out [2]history) {
	for value := range 2 {
		state := make([]complex128, len(h.state))
		for i, a := range h.state {
			if i>>q&1 == value {
				state[i] = a
			}
		}
		out[value] = history{state, slices.Clone(h.bits)}
	}
	return out
}

// enumerate follows every history through a list of instructions.
func enumerate(t *testing.T, list []gate, histories []history) []history {
	t.Helper()
	for _, g := range list {
		var next []history
		for _, h := range histories {
			if h.norm() < 1e-16 {
				continue
			}
			value := func() uint64 {
				return g.flow.condition.evaluate(func(s int) uint64 { return uint64(h.bits[s]) })
			}
			switch g.kind {
			case kindBarrier:
				next = append(next, h)
			case kindMeasure, kindReset:
				split := []history{h}
				for i, q := range g.targets {
					var after []history
					for _, h := range split {
						for value, h := range h.measured(q) {
							if g.kind == kindMeasure {
								h.bits[g.slots[i]] = value
							} else if value == 1 {
								h.state = denseApply(h.state, gate{kind: kindX, targets: []int{q}})
							}
							after = append(after, h)
						}
					}
					split = after
				}
				next = append(next, split...)
			case kindAssign:
				v := value()
				h.bits = slices.Clone(h.bits)
				for i, s := range g.slots {
					h.bits[s] = int(v >> i & 1)
				}
				next = append(next, h)
			case kindIf:
				block := g.flow.otherwise
				if value() != 0 {
					block = g.flow.then
				}
				next = append(next, enumerate(t, block, []history{h})...)
			case kindWhile:
				open := []history{h}
				for range g.flow.rounds + 1 {
					var again []history
					for _, h := range open {
						switch {
						case h.norm() < 1e-16:
						case g.flow.condition.evaluate(func(s int) uint64 { return uint64(h.bits[s]) }) == 0:
							next = append(next, h)
						default:
							again = append(again, enumerate(t, g.flow.then, []history{h})...)
						}
					}
					open = again
				}
				for _, h := range open {
					if h.norm() > 1e-14 {
						t.Fatalf("a loop of the reference runs past its rounds with probability %g", h.norm())
					}
				}
			default:
				h.state = denseApply(h.state, g)
				next = append(next, h)
			}
		}
		histories = next
	}
	return histories
}

// enumerated is the exact distribution of the keys of a circuit in which every slot is shown.
func enumerated(t *testing.T, c Circuit) map[string]float64 {
	t.Helper()
	start := history{make([]complex128, 1<<c.qubits), make([]int, c.slots)}
	start.state[0] = 1
	out := map[string]float64{}
	for _, h := range enumerate(t, c.gates, []history{start}) {
		key := make([]byte, c.slots)
		for s, v := range h.bits {
			key[c.slots-1-s] = byte('0' + v)
		}
		out[string(key)] += h.norm()
	}
	return out
}

func bitsOf(slots ...int) expression   { return expression{op: exprBits, slots: slots} }
func constant(value uint64) expression { return expression{op: exprConstant, value: value} }
func both(op expressionOp, a, b expression) expression {
	return expression{op: op, args: []expression{a, b}}
}

func not(a expression) expression { return expression{op: exprNot, args: []expression{a}} }

// randomCondition reads a few slots.
func randomCondition(rng *random, slots int) expression {
	slot := func() int { return int(rng.uint64() % uint64(slots)) }
	switch rng.uint64() % 4 {
	case 0:
		return bitsOf(slot())
	case 1:
		return not(bitsOf(slot(), slot()))
	case 2:
		op := expressionOp(uint64(exprEqual) + rng.uint64()%6)
		return both(op, bitsOf(slot(), slot()), constant(rng.uint64()%4))
	}
	op := expressionOp(uint64(exprAnd) + rng.uint64()%5)
	return both(op, randomCondition(rng, slots), randomCondition(rng, slots))
}

// flowProgram is a random list of instructions with blocks inside blocks.
func flowProgram(b *builder, rng *random, depth, slots int) []gate {
	must := func(g gate, err error) gate {
		if err != nil {
			b.t.Fatal(err)
		}
		return g
	}
	n := uint64(b.circuit.qubits)
	block := func(count int, names []string) []gate {
		inner := build(b.t, b.circuit.qubits).random(rng, count, names, false)
		return inner.circuit.gates
	}
	measure := func() gate {
		return gate{name: "measure", kind: kindMeasure, targets: []int{int(rng.uint64() % n)}, slots: []int{int(rng.uint64() % uint64(slots))}}
	}
	list := block(int(rng.uint64()%5), unitaryNames)
	for range 3 {
		switch choice := rng.uint64() % 8; {
		case choice < 3:
			list = append(list, measure())
		case choice == 3:
			list = append(list, gate{name: "reset", kind: kindReset, targets: []int{int(rng.uint64() % n)}})
		case choice == 4:
			list = append(list, must(newAssign(0, []int{int(rng.uint64() % uint64(slots)), int(rng.uint64() % uint64(slots))}, randomCondition(rng, slots))))
		case depth == 0:
		case choice == 5: // flip a bit in the body, so that the loop ends
			s := int(rng.uint64() % uint64(slots))
			body := append(flowProgram(b, rng, depth-1, slots), must(newAssign(0, []int{s}, constant(0))))
			list = append(list, must(newWhile(0, bitsOf(s), 3, body)))
		default:
			var otherwise []gate
			if rng.uint64()%2 == 0 {
				otherwise = flowProgram(b, rng, depth-1, slots)
			}
			list = append(list, must(newIf(0, randomCondition(rng, slots), flowProgram(b, rng, depth-1, slots), otherwise)))
		}
		list = append(list, block(int(rng.uint64()%4), unitaryNames)...)
	}
	return list
}

// TestClassicalControl compares random programs with following every history in dense arithmetic, over one block and over
// many, with memory for the histories that wait and without.
func TestClassicalControl(t *testing.T) {
	rng := newRandom(31)
	conditional := 0
	for round := range 180 {
		n, slots := 2+round%4, 1+round%3
		if round%3 == 0 {
			n = 8 // wires on the lanes, and blocks that hold only zeros
		}
		b := build(t, n)
		b.circuit.slots, b.circuit.registers = slots, []classicalRegister{{"c", 0, slots}}
		b.circuit.gates = flowProgram(b, rng, 2, slots)
		b.circuit.gates = append(b.circuit.gates, gate{name: "measure", kind: kindMeasure, targets: []int{0}, slots: []int{slots - 1}})
		if err := b.circuit.complete(DefaultLimits()); err != nil {
			t.Fatal(err)
		}
		if b.circuit.hasFlow() {
			conditional++
		}
		compareWithHistories(t, b.circuit)
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
	if conditional < 120 {
		t.Errorf("only %d programs have classical control", conditional)
	}
}

func compareWithHistories(t *testing.T, c Circuit) {
	t.Helper()
	want := enumerated(t, c)
	got := mustRun(t, c, Options{})
	if got.Probabilities == nil {
		t.Fatalf("no probabilities: %v", got.Omitted)
	}
	compareDistributions(t, got.Probabilities, want, 1e-11)
	if p := chiSquareP(got.Counts, want); p < 1e-6 {
		t.Errorf("counts do not follow the probabilities: p = %g", p)
	}
	geo := small(c.qubits)
	geo.stateBits = max(geo.stateBits, 9)
	blocked := engineSetup[float64]{geo, bestKernels64(), 2, fuse, 0, nil, nil}
	without := runWith(t, c, blocked)
	compareDistributions(t, without.Probabilities, want, 1e-11)
	blocked.spare = 2 * 16 << blocked.geometry.stateBits
	sameResult(t, without, runWith(t, c, blocked))
}

// TestWhatABlockMayHaveDone: a block that may have run keeps what follows from being simplified.
func TestWhatABlockMayHaveDone(t *testing.T) {
	measure := func(q, slot int) gate {
		return gate{name: "measure", kind: kindMeasure, targets: []int{q}, slots: []int{slot}}
	}
	must := func(g gate, err error) gate {
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	gates := func(names ...string) []gate {
		b := build(t, 9)
		for i, name := range names {
			b.add(name, []int{i}, nil)
		}
		return b.circuit.gates
	}
	var everyQubit []gate
	for q := range 9 {
		everyQubit = append(everyQubit, build(t, 9).add("ry", []int{q}, nil, 0.3+float64(q)).circuit.gates...)
	}
	clear0, clear1 := must(newAssign(0, []int{0}, constant(0))), must(newAssign(0, []int{1}, constant(0)))
	countTwo := []gate{must(newAssign(0, []int{1}, bitsOf(0))), must(newAssign(0, []int{0}, constant(1)))}
	for name, list := range map[string][]gate{
		"overwrites a measured bit": append(gates("x", "h"), measure(0, 0), measure(1, 1), must(newIf(0, bitsOf(1), []gate{clear0}, nil))),
		"reads a measured bit":      append(gates("h", "h"), measure(0, 0), must(newIf(0, bitsOf(0), gates("id", "x"), nil)), measure(1, 1), measure(0, 0)),
		"moves a qubit to reset": append(gates("h"), measure(0, 0), must(newIf(0, bitsOf(0), gates("id", "x"), nil)),
			gate{name: "reset", kind: kindReset, targets: []int{1}}, measure(1, 1)),
		"disturbs a measured qubit": append(gates("h", "x"), measure(1, 1), measure(0, 0), must(newIf(0, bitsOf(0), gates("id", "x"), nil)), measure(1, 0)),
		"moves qubits in a round before": append(append([]gate{}, must(newWhile(0, not(bitsOf(1)), 5, append(countTwo, everyQubit...)))),
			clear0, clear1, measure(0, 0), measure(8, 1)),
	} {
		t.Run(name, func(t *testing.T) {
			b := build(t, 9)
			b.circuit.slots, b.circuit.registers, b.circuit.gates = 2, []classicalRegister{{"c", 0, 2}}, list
			compareWithHistories(t, b.circuit)
		})
	}
}

// TestLayoutsAreRestored turns random layouts into each other.
func TestLayoutsAreRestored(t *testing.T) {
	rng := newRandom(32)
	for range 300 {
		from, wanted := layout(permute(rng, 9)), layout(permute(rng, 9))
		got := slices.Clone(from)
		p := &planner[float64]{layout: got}
		for _, e := range exchangesTo(from, wanted, 3) {
			if e.lane >= 3 || e.with < 3 {
				t.Fatalf("exchange %+v has not one lane", e)
			}
			p.swapPositions(e.lane, e.with)
		}
		if !slices.Equal(got, wanted) {
			t.Fatalf("%v becomes %v, want %v", from, got, wanted)
		}
	}
}

// TestRegistersMakeTheKey: every declared bit shows, in both engines.
func TestRegistersMakeTheKey(t *testing.T) {
	for _, n := range []int{3, 20} {
		b := build(t, n).add("x", []int{0}, nil)
		b.circuit.slots = 6
		b.circuit.registers = []classicalRegister{{"a", 0, 2}, {"b", 2, 1}, {"c", 3, 3}}
		for q, slot := range map[int]int{0: 3, 1: 4} {
			b.circuit.gates = append(b.circuit.gates, gate{name: "measure", kind: kindMeasure, targets: []int{q}, slots: []int{slot}})
		}
		if got := mustRun(t, b.circuit, Options{}).Counts; !maps.Equal(got, map[string]int{"001 0 00": 1000}) {
			t.Errorf("%d qubits: %v", n, got)
		}
	}
}

// TestLoopsAreBounded covers each bound.
func TestLoopsAreBounded(t *testing.T) {
	refusedFor := func(err error, code Code) {
		t.Helper()
		var refusal *Refusal
		if !errors.As(err, &refusal) || refusal.Code != code {
			t.Errorf("%v, want %s", err, code)
		}
	}
	loop := func(rounds int, body []gate) gate {
		g, err := newWhile(0, not(bitsOf(0)), rounds, body)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	b := build(t, 1)
	h, m := build(t, 1).add("h", []int{0}, nil).circuit.gates[0], gate{name: "measure", kind: kindMeasure, targets: []int{0}, slots: []int{0}}
	b.circuit.gates = []gate{loop(200, []gate{h, m})}
	got := mustRun(t, b.circuit, Options{})
	if got.Counts["1"] != 1000 || math.Abs(got.Probabilities["1"]-1) > 1e-12 {
		t.Errorf("repeat until success gives %v, %v", got.Counts, got.Probabilities)
	}
	b.circuit.gates = []gate{loop(3, []gate{h, m})}
	_, err := Run(t.Context(), b.circuit, Options{})
	refusedFor(err, CodeRounds)
	_, err = newWhile(0, constant(1), MaxRounds+1, nil)
	refusedFor(err, CodeRounds)
	nested := []gate{h}
	for range 3 {
		nested = []gate{loop(MaxRounds, nested)}
	}
	b.circuit.gates = nested
	refusedFor(b.circuit.complete(DefaultLimits()), CodeTooManySteps)
	deep := []gate{h}
	for level := range MaxNesting {
		g, err := newIf(0, constant(1), deep, nil)
		if err != nil {
			t.Fatal(level, err)
		}
		deep = []gate{g}
	}
	_, err = newIf(0, constant(1), nil, deep)
	refusedFor(err, CodeCondition)
	_, err = newIf(0, bitsOf(make([]int, 65)...), nil, nil)
	refusedFor(err, CodeCondition)
	_, err = newIf(0, expression{op: exprAnd}, nil, nil)
	refusedFor(err, CodeCondition)
	wide := build(t, 25)
	wide.circuit.gates = []gate{loop(3, []gate{h, m})}
	refusedFor(wide.circuit.complete(Limits{CliffordQubits: 100}.withDefaults()), CodeQubitsRange)
}

// TestControlledTwoQubitGates: a control on any unitary gate, in dense arithmetic.
func TestControlledTwoQubitGates(t *testing.T) {
	rng := newRandom(33)
	for _, name := range []string{"swap", "iswap", "rxx", "ryy", "rzz", "rx", "u"} {
		for controls := range 4 {
			spec := specByName[name]
			b := build(t, 6).random(rng, 20, unitaryNames, false)
			params := make([]float64, spec.params)
			for i := range params {
				params[i] = rng.float64() * 5
			}
			order := permute(rng, 6)
			b.add(name, order[:spec.targets], order[spec.targets:spec.targets+controls], params...)
			b.add("cswap", order[:2], order[2:3])
			want := make([]complex128, 1<<6)
			want[0] = 1
			for _, g := range b.circuit.gates {
				want = denseApply(want, g)
			}
			dense := make([][2]float64, len(want))
			for i, a := range want {
				dense[i] = [2]float64{real(a), imag(a)}
			}
			closeStates(t, mustRun(t, b.circuit, Options{}).Statevector, dense, 1e-12)
			if counts := b.circuit.GateCounts(); controls == 1 && counts[fmt.Sprint("c", name)] == 0 {
				t.Errorf("%s with a control is counted as %v", name, counts)
			}
		}
	}
}

// TestHistoriesWithoutShotsEnd: a qubit measured again and again has more histories than anyone can follow; those that no
// shot takes are given up, and the counts are the same as those of fewer measurements would be.
func TestHistoriesWithoutShotsEnd(t *testing.T) {
	for _, events := range []int{8, 60, 300} {
		b := build(t, 1)
		for range events {
			b.add("h", []int{0}, nil).add("measure", []int{0}, nil)
		}
		got := mustRun(t, b.circuit, Options{})
		if p := chiSquareP(got.Counts, map[string]float64{"0": 0.5, "1": 0.5}); p < 1e-6 {
			t.Errorf("%d events: counts %v", events, got.Counts)
		}
		if listed := got.Probabilities != nil; listed != (events == 8) || listed == (got.Omitted["probabilities"] != "") {
			t.Errorf("%d events: probabilities %v, omitted %v", events, got.Probabilities, got.Omitted)
		}
		b.circuit.shots = 1
		mustRun(t, b.circuit, Options{})
	}
}

// TestTeleportation sends a qubit's state over a Bell pair with measured corrections, written as a user would.
func TestTeleportation(t *testing.T) {
	const theta, phi = 1.1, 0.7
	text := fmt.Sprintf(`{"qubits":3,"shots":20000,"seed":5,"gates":[
		{"gate":"u","target":0,"params":[%v,%v,0]},
		{"gate":"h","target":1},{"gate":"cx","control":1,"target":2},
		{"gate":"cx","control":0,"target":1},{"gate":"h","target":0},
		{"gate":"measure","targets":[0,1]},
		{"if":{"measured":1},"then":[{"gate":"x","target":2}]},
		{"if":{"measured":0,"equals":1},"then":[{"gate":"z","target":2}]},
		{"gate":"u","target":2,"params":[%v,0,%v]},{"gate":"measure","target":2}]}`, theta, phi, -theta, -phi)
	c, err := Parse([]byte(text), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	got := mustRun(t, c, Options{})
	compareDistributions(t, got.Probabilities, map[string]float64{"000": 0.25, "001": 0.25, "010": 0.25, "011": 0.25}, 1e-12)
	if got.GateCounts["if_else"] != 2 || got.GateCounts["measure"] != 3 || got.Depth != 8 {
		t.Errorf("%v, depth %d", got.GateCounts, got.Depth)
	}
}

// TestRefusalsCallAnIfIf: gate_counts has Qiskit's names, refusals the page's.
func TestRefusalsCallAnIfIf(t *testing.T) {
	_, err := Parse([]byte(`{"qubits":2,"gates":[{"if":{"measured":0},"then":[]}]}`), Limits{})
	if err == nil || !strings.HasPrefix(err.Error(), "gate 0 (if): ") {
		t.Error(err)
	}
}

// TestConditionsOfJSON runs every form of condition on every value of three measured qubits.
func TestConditionsOfJSON(t *testing.T) {
	for condition, holds := range map[string]func(a, b, c int) bool{
		`{"measured":0}`:                                         func(a, _, _ int) bool { return a == 1 },
		`{"measured":1,"equals":0}`:                              func(_, b, _ int) bool { return b == 0 },
		`{"measured":[2,0],"equals":2}`:                          func(a, _, c int) bool { return c == 0 && a == 1 },
		`{"not":{"measured":[0,1,2],"equals":5}}`:                func(a, b, c int) bool { return a+2*b+4*c != 5 },
		`{"all":[{"measured":0},{"measured":1},{"measured":2}]}`: func(a, b, c int) bool { return a+b+c == 3 },
		`{"any":[{"measured":0},{"measured":2}]}`:                func(a, _, c int) bool { return a+c > 0 },
		`{"odd":[{"measured":0},{"measured":1},{"measured":2}]}`: func(a, b, c int) bool { return (a+b+c)%2 == 1 },
	} {
		for value := range 8 {
			a, b, c := value&1, value>>1&1, value>>2
			text := fmt.Sprintf(`{"qubits":4,"shots":10,"seed":1,"gates":[{"gate":"rx","target":0,"angle":%v},{"gate":"rx","target":1,"angle":%v},
				{"gate":"rx","target":2,"angle":%v},{"gate":"measure","targets":[0,1,2]},{"if":%s,"then":[{"gate":"x","target":3}],
				"else":[{"gate":"id","target":3}]},{"gate":"measure","target":3}]}`, math.Pi*float64(a), math.Pi*float64(b), math.Pi*float64(c), condition)
			circuit, err := Parse([]byte(text), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf("0%d%d%d", c, b, a)
			if holds(a, b, c) {
				want = "1" + want[1:]
			}
			if got := mustRun(t, circuit, Options{}).Counts; got[want] != 10 {
				t.Errorf("%s of %d: %v, want %s", condition, value, got, want)
			}
		}
	}
}
