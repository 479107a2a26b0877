package circuit

import "strconv"

// Precision of the state vector's amplitudes.
type Precision string

// The two precisions. Double is the default.
const (
	Double Precision = "double"
	Single Precision = "single"
)

// Bounds that no caller can raise.
const (
	MaxQubits         = 30   // state vector: 16 GiB of amplitudes in double precision
	MaxCliffordQubits = 1000 // stabilizer tableau
	MaxSeed           = 1<<53 - 1
	DefaultShots      = 1024
)

// Limits bound what Parse accepts. A zero field takes the default of [DefaultLimits], except CliffordQubits.
type Limits struct {
	Qubits         int // most qubits of any circuit; at most MaxQubits
	CliffordQubits int // most qubits of a circuit with Clifford gates only; 0: the same as Qubits
	Gates          int // most entries of gates
	Shots          int // most shots
	Bytes          int // most bytes of circuit text
}

// DefaultLimits are the bounds of the interface for the free plan's 20 qubits.
func DefaultLimits() Limits {
	return Limits{Qubits: 20, Gates: 10_000, Shots: 100_000, Bytes: 4 << 20}
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits()
	if l.Qubits <= 0 {
		l.Qubits = d.Qubits
	}
	if l.Gates <= 0 {
		l.Gates = d.Gates
	}
	if l.Shots <= 0 {
		l.Shots = d.Shots
	}
	if l.Bytes <= 0 {
		l.Bytes = d.Bytes
	}
	l.Qubits = min(l.Qubits, MaxQubits)
	l.CliffordQubits = max(min(l.CliffordQubits, MaxCliffordQubits), l.Qubits)
	return l
}

// Circuit is a circuit that can be run as it stands. Only Parse and ParseOpenQASM make one.
type Circuit struct {
	qubits      int
	shots       int
	seed        uint64
	hasSeed     bool
	statevector bool
	precision   Precision
	method      Engine // asked for; EngineAuto: chosen
	gates       []gate
	slots       int                 // classical bits: one per qubit for JSON, the declared bits for OpenQASM
	phase       float64             // global phase in radians, of OpenQASM's gphase and U
	registers   []classicalRegister // in order of declaration, covering the first slots; nil for JSON
	ignored     []string            // what of an OpenQASM program was ignored
	observables []observable
	marginals   [][]int              // qubits whose distributions are wanted
	memory      bool                 // the key of each shot is wanted
	npy         bool                 // the whole state vector is wanted as a file
	points      []map[string]float64 // of a sweep: the values of the parameters
	noise       *noiseModel          // nil: none but the channels among the gates
}

// gate is one checked instruction.
type gate struct {
	name     string // canonical name, as refusals have it
	kind     kind
	targets  []int
	controls []int
	params   []float64  // radians
	formulas []*formula // of the params that depend on parameters, nil for the others; nil when none does
	matrix   []scalar   // unitary: row by row; initialize: the amplitudes. The first target is the lowest bit of an index
	slots    []int      // measure: the classical bit each target is written to; assign: the bits written, lowest first
	flow     *flow      // if, while, assign
	channel  *channel   // channel: on the targets together, or on each when it is for one qubit
	// selection numbers the switch statement that an if is a case of; the cases follow each other and count as one. 0: of none.
	selection int
}

// Qubits is the width of the circuit.
func (c Circuit) Qubits() int { return c.qubits }

// Gates is the number of instructions outside blocks, measurements, resets and barriers included.
func (c Circuit) Gates() int { return len(c.gates) }

// Shots is the number of samples Run draws.
func (c Circuit) Shots() int { return c.shots }

// Seed is the seed the circuit names, and whether it names one.
func (c Circuit) Seed() (uint64, bool) { return c.seed, c.hasSeed }

// Precision is the precision of the amplitudes.
func (c Circuit) Precision() Precision { return c.precision }

// WithSeed returns the circuit with another seed; seeds above MaxSeed are refused.
func (c Circuit) WithSeed(seed uint64) (Circuit, error) {
	if seed > MaxSeed {
		return Circuit{}, refuse(CodeSeedRange, "seed must be between 0 and %d", uint64(MaxSeed))
	}
	c.seed, c.hasSeed = seed, true
	return c, nil
}

// WithShots returns the circuit with another number of shots, under the same limits as Parse.
func (c Circuit) WithShots(shots int, limits Limits) (Circuit, error) {
	if err := checkShots(integer{int64(shots), strconv.Itoa(shots)}, limits.withDefaults()); err != nil {
		return Circuit{}, err
	}
	c.shots = shots
	return c, nil
}

// WithPrecision returns the circuit with another precision.
func (c Circuit) WithPrecision(p Precision) (Circuit, error) {
	if p != Double && p != Single {
		return Circuit{}, refuse(CodePrecision, "precision must be %q or %q, not %q", Double, Single, clipText(string(p)))
	}
	c.precision = p
	return c, nil
}

// Depth is the length of the longest path of instructions, counted as Qiskit's QuantumCircuit.depth does: measurements
// and resets count one, barriers count nothing but align the qubits they span, and an if or while counts one over all
// qubits and bits it uses, and so does a switch. An assignment counts nothing; what reads its bits comes after what they
// were computed from.
func (c Circuit) Depth() int {
	qubitLevel := make([]int, c.qubits)
	slotLevel := make([]int, c.slots)
	depth := 0
	for i, g := range c.gates {
		level := 0
		each := func(visit func(level *int)) {
			for _, g := range c.gates[i : i+c.cases(i)] {
				g.touches(func(q int) { visit(&qubitLevel[q]) }, func(s int) { visit(&slotLevel[s]) })
			}
		}
		switch {
		case c.continuesSwitch(i):
			continue
		case g.kind == kindAssign:
			g.flow.condition.forEachSlot(func(s int) { level = max(level, slotLevel[s]) })
			for _, s := range g.slots {
				slotLevel[s] = max(level, slotLevel[s])
			}
			continue
		}
		if g.each() {
			// One instruction per target: measuring two qubits in one entry is two parallel measurements.
			for i, q := range g.targets {
				level := qubitLevel[q]
				if g.kind == kindMeasure {
					level = max(level, slotLevel[g.slots[i]])
					slotLevel[g.slots[i]] = level + 1
				}
				qubitLevel[q] = level + 1
				depth = max(depth, level+1)
			}
			continue
		}
		each(func(l *int) { level = max(level, *l) })
		if g.kind != kindBarrier {
			level++
		}
		each(func(l *int) { *l = level })
		depth = max(depth, level)
	}
	return depth
}

// GateCounts is the number of instructions by canonical name (aliases resolved, an added control written as a "c"
// prefix, three or more as "mc"), as Qiskit's count_ops: measuring or resetting several qubits counts one for each, and
// what is inside an if or while is not counted; neither are assignments.
func (c Circuit) GateCounts() map[string]int {
	counts := make(map[string]int)
	for i, g := range c.gates {
		switch {
		case g.each():
			counts[g.name] += len(g.targets)
		case g.kind != kindAssign && !c.continuesSwitch(i):
			counts[g.countedName()]++
		}
	}
	return counts
}

// each reports whether an instruction on several qubits is one on each of them.
func (g gate) each() bool {
	return g.kind == kindMeasure || g.kind == kindReset || g.kind == kindChannel && g.channel.qubits == 1
}

// continuesSwitch reports whether an instruction is a case of the same switch as the one before it.
func (c Circuit) continuesSwitch(i int) bool {
	return i > 0 && c.gates[i].selection > 0 && c.gates[i].selection == c.gates[i-1].selection
}

// cases is the number of instructions from i on that count as one.
func (c Circuit) cases(i int) int {
	n := 1
	for i+n < len(c.gates) && c.continuesSwitch(i+n) {
		n++
	}
	return n
}
