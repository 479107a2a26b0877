package circuit

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/bits"
	"runtime"
	"strconv"
	"strings"
	"unsafe"
)

// Engine is a simulator that Run can use.
type Engine string

// The engines that Options.Engine names.
const (
	EngineAuto        Engine = ""            // the choice described in docs/circuits.md, a function of the circuit alone
	EngineStatevector Engine = "statevector" // all 2^n amplitudes; with noise, of one trajectory per shot
	EngineStabilizer  Engine = "stabilizer"  // Clifford gates and Pauli errors only
	EngineDensity     Engine = "density"     // all 4^n entries of the density matrix
	EngineSparse      Engine = "sparse"      // the amplitudes that are not zero
	EngineMPS         Engine = "mps"         // a matrix product state
)

// engines are those that a circuit may ask for.
var engines = []Engine{EngineStatevector, EngineStabilizer, EngineDensity, EngineSparse, EngineMPS}

// wideNames are the methods for any width, as refusals name them.
const wideNames = "sparse or mps"

// wide reports whether a method's states may have any width, as long as they are simple.
func (e Engine) wide() bool { return e == EngineSparse || e == EngineMPS }

// engineNames lists the engines in words.
func engineNames() string {
	var out strings.Builder
	for i, e := range engines {
		switch i {
		case 0:
		case len(engines) - 1:
			out.WriteString(" or ")
		default:
			out.WriteString(", ")
		}
		out.WriteString(strconv.Quote(string(e)))
	}
	return out.String()
}

// DefaultMemoryLimitBytes is Run's memory limit when Options sets none: 26 qubits in double precision.
const DefaultMemoryLimitBytes = 1<<30 + 256<<20

// Options of Run. The zero value runs on all processors within DefaultMemoryLimitBytes.
type Options struct {
	Seed             uint64 // used when the circuit names no seed
	Threads          int    // 0: one per processor
	MemoryLimitBytes int64  // 0: DefaultMemoryLimitBytes; what the estimate leaves of it saves repeating work mid-circuit
	Engine           Engine // EngineAuto: the method that the circuit asks for, or the choice

	// Allocate, when set, gives zeroed memory for large planes, aligned to 64 bytes; free is called before Run returns. Nil:
	// the heap, where what one run leaves stays beside the next until it is collected.
	Allocate func(bytes int) (memory []byte, free func(), err error)

	// NPY, when set, receives the state vector before the final measurements as a file of NumPy's format: one array of complex128,
	// whatever the precision. A circuit that has no such state of its own is refused, and so is a sweep.
	NPY io.Writer

	// Progress, when set, is called with the fraction of work done, from Run's own goroutines, never concurrently, at
	// most a thousand times. It must not block.
	Progress func(fraction float64)
}

// Result of a run; it marshals to the result of a qsim job.
type Result struct {
	Counts        map[string]int     `json:"counts" doc:"How often each key was drawn: a bit string, qubit 0 rightmost; of a program with bits, those, bit 0 of each register rightmost"`
	Shots         int                `json:"shots" doc:"Number of samples drawn"`
	Seed          uint64             `json:"seed" maximum:"9007199254740991" doc:"Seed of the samples, the circuit's or the one drawn: an integer below 2^53"`
	Probabilities map[string]float64 `json:"probabilities,omitempty" doc:"Exact probability of each key above 1e-12; left out above 12 qubits and where histories are too many"`
	Statevector   [][2]float64       `json:"statevector,omitempty" doc:"Real and imaginary part of each amplitude before the final measurement; left out unless asked for"`
	Expectations  []Expectation      `json:"expectations,omitempty" doc:"Of the observables, in their order"`
	Marginals     []Marginal         `json:"marginals,omitempty" doc:"Exact distributions of the marginals asked for, in their order"`
	Depth         int                `json:"depth" doc:"Number of layers, as Qiskit counts them"`
	GateCounts    map[string]int     `json:"gate_counts" doc:"Number of instructions of each name, as Qiskit's count_ops"`
	BitOrder      string             `json:"bit_order" enum:"q0_rightmost" doc:"Order of a key's bits: qubit 0 is the rightmost character; where a program measures into bits, bit 0 of a register is"`
	Engine        string             `json:"engine" example:"statevector-double-v1" doc:"What simulated; its number changes whenever counts may"`
	EngineReason  string             `json:"engine_reason,omitempty" doc:"Why sparse or mps simulated: what the circuit is, or that it was asked for"`
	Amplitudes    int                `json:"amplitudes,omitempty" doc:"Of sparse: the most amplitudes that were not zero at once"`
	Truncation    *Truncation        `json:"truncation,omitempty" doc:"Of mps: what was left out of the state"`
	Trajectories  int                `json:"trajectories,omitempty" doc:"Number of quantum trajectories that noise was simulated by, one per shot; left out where the result is exact"`
	NPY           *StateFile         `json:"npy,omitempty" doc:"When asked for: the file of the whole state vector before the final measurement, which GET /api/jobs/{id}/statevector.npy answers for some time"`
	Omitted       map[string]string  `json:"omitted,omitempty" doc:"Fields that were left out though the page promises them, each with the reason"`
	Warnings      []string           `json:"warnings,omitempty" doc:"What the noise model says of gates or measurements that the circuit does not have, and what of a program was ignored"`
	Memory        []string           `json:"memory,omitempty" doc:"Key of each shot in order, when asked for"`
}

// Run simulates the circuit. The result is a function of the circuit, its shots and the seed; threads, processor and
// memory limit never change it. A context that ends stops the run within 50 ms with its error. A circuit whose estimate
// exceeds the memory limit is refused before anything is allocated.
func Run(ctx context.Context, c Circuit, options Options) (Result, error) {
	if c.qubits == 0 {
		return Result{}, refuse(CodeMissingField, "the circuit is empty: make one with Parse")
	}
	if len(c.points) > 0 {
		return Result{}, refuse(CodeSweep, "the circuit has parameters: run its sweep")
	}
	depth, gateCounts, warnings := c.Depth(), c.GateCounts(), c.warnings()
	c = c.noisy()
	c.method = cmp.Or(options.Engine, c.method)
	engine, err := c.engine(EngineAuto)
	if err != nil {
		return Result{}, err
	}
	limit := options.MemoryLimitBytes
	if limit <= 0 {
		limit = DefaultMemoryLimitBytes
	}
	threads := options.Threads
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	cost := c.cost(engine, threads)
	if err := firstError(cost.Check(), c.checkShotMemory()); err != nil {
		return Result{}, err
	}
	need := cost.MemoryBytes
	if need > limit {
		return Result{}, refuseMemory(need, limit)
	}
	if options.NPY != nil {
		if err := c.checkOneState(engine); err != nil {
			return Result{}, err
		}
	}
	result := Result{
		Shots: c.shots, Seed: options.Seed, Depth: depth, GateCounts: gateCounts, BitOrder: "q0_rightmost", Warnings: warnings,
	}
	if c.hasSeed {
		result.Seed = c.seed
	}
	report := &progress{report: options.Progress}
	memory := &arena{allocate: options.Allocate}
	defer memory.release()
	rng := newRandom(result.Seed)
	switch {
	case engine == EngineStabilizer:
		result.Engine = "stabilizer-v1"
		if c.hasChannels() || c.misreads() {
			result.Engine = "stabilizer-v2"
		}
		err = runStabilizer(ctx, c, rng, report, &result)
	case engine == EngineSparse:
		empty := result
		if err = runSparse(ctx, c, rng, report, &result); c.triesSparse() && outgrown(err) {
			result = empty
			err = runMPS(ctx, c, newRandom(result.Seed), report, &result)
		}
	case engine == EngineMPS:
		err = runMPS(ctx, c, rng, report, &result)
	default:
		name, run32, run64, wires := "statevector", runStatevector[float32], runStatevector[float64], c.qubits
		switch {
		case engine == EngineDensity:
			name, run32, run64, wires = "density", runDensity[float32], runDensity[float64], 2*c.qubits
		case c.hasChannels():
			name = "trajectories"
		}
		result.Engine = fmt.Sprintf("%s-%s-v1", name, c.precision)
		if c.precision == Single {
			err = run32(ctx, c, engineSetup[float32]{geometryOf(wires, 4), bestKernels32(), threads, fuse, limit - need, memory, options.NPY}, rng, report, &result)
		} else {
			err = run64(ctx, c, engineSetup[float64]{geometryOf(wires, 8), bestKernels64(), threads, fuse, limit - need, memory, options.NPY}, rng, report, &result)
		}
	}
	if err != nil {
		return Result{}, err
	}
	if c.npy && options.NPY == nil {
		result.Omit("npy", "there is nowhere to write it to; reckon qsim takes --npy FILE")
	}
	if c.memory {
		result.Memory = shotMemory(result.Counts, c.shots, result.Seed)
	}
	return result, nil
}

func refuseMemory(need, limit int64) *Refusal {
	return refuse(CodeMemory, "the circuit needs %d MiB of memory; %d MiB are allowed", (need+1<<20-1)>>20, limit>>20)
}

// engine chooses by the circuit alone: the tableau for Clifford circuits too wide for probabilities to be listed.
func (c Circuit) engine(asked Engine) (Engine, error) {
	index, reason := c.notClifford()
	clifford := reason == ""
	switch asked = cmp.Or(asked, c.method); asked {
	case EngineAuto:
		noisy := c.hasChannels()
		switch {
		case (noisy || c.misreadsInside()) && c.notDensity() == "":
			return EngineDensity, nil
		case clifford && !c.npy && (noisy || c.qubits > MaxProbabilityQubits):
			return EngineStabilizer, nil
		case c.qubits > MaxQubits:
			return c.engine(EngineSparse)
		}
		return EngineStatevector, nil
	case EngineSparse, EngineMPS:
		index, reason := c.notWide()
		if asked == EngineMPS {
			index, reason = c.notMPS()
		}
		if reason != "" {
			return "", refuseGate(CodeEngine, index, c.gates[index].name, "%s, which the %s engine does not simulate: %s", reason, asked, c.insteadOfWide(index))
		}
		return asked, nil
	case EngineDensity:
		if reason := c.notDensity(); reason != "" {
			return "", refuse(CodeEngine, "the density-matrix engine cannot run the circuit: %s; leave the method out, or name statevector, which simulates noise by one trajectory a shot", reason)
		}
		return EngineDensity, nil
	case EngineStatevector:
		if c.qubits > MaxQubits {
			return "", refuse(CodeEngine, "the state-vector engine runs at most %d qubits, not %d; leave the method out, or name %s", MaxQubits, c.qubits, wideNames)
		}
		return EngineStatevector, nil
	case EngineStabilizer:
		if !clifford {
			return "", refuseGate(CodeEngine, index, c.gates[index].name, "%s; the stabilizer engine runs Clifford gates and Pauli errors only: leave the method out, or name statevector (up to %d qubits)%s",
				reason, MaxQubits, c.orWide())
		}
		return EngineStabilizer, nil
	}
	return "", refuse(CodeEngine, "engine must be %s, not %q", engineNames(), clipText(string(asked)))
}

// misreadsInside reports whether an outcome inside the circuit may be misread: the density matrix follows two histories of it, shots
// four. A circuit without a state vector is none of these.
func (c Circuit) misreadsInside() bool {
	return c.misreads() && c.qubits <= MaxDensityQubits && !lower(c).oneHistory()
}

// notClifford says what the tableau cannot run, and which instruction that is first; reason is empty when it can run all of them.
func (c Circuit) notClifford() (index int, reason string) {
	for i, g := range c.gates {
		switch {
		case g.flow != nil:
			return i, "depends on classical bits"
		case g.kind == kindChannel && !g.isClifford():
			return i, "is noise that is not made of Pauli errors"
		case !g.isClifford():
			return i, "is not a Clifford gate"
		}
	}
	return 0, ""
}

// notWide says what the methods for any width cannot run, and which instruction that is first; reason is empty when they can run all of
// them.
func (c Circuit) notWide() (index int, reason string) {
	for i := range c.gates {
		forEach(c.gates[i:i+1], func(g *gate) {
			if g.kind == kindChannel && !g.channel.trivial() {
				index, reason = i, "is noise, or holds noise"
			}
		})
		if reason != "" {
			return index, reason
		}
	}
	return 0, ""
}

// orWide names the methods for any width where they run the circuit.
func (c Circuit) orWide() string {
	if _, why := c.notWide(); why != "" {
		return ""
	}
	return ", " + wideNames
}

// insteadOfWide says what to do where a method for any width cannot run an instruction.
func (c Circuit) insteadOfWide(index int) string {
	_, noise := c.notWide()
	switch {
	case noise != "":
		return fmt.Sprintf("it keeps one pure state. Leave the method out; beyond %d qubits noise goes with Clifford gates, as Pauli errors, and readout errors with any gates", MaxQubits)
	case c.gates[index].kind == kindInitialize:
		return fmt.Sprintf("prepare the state by gates on at most %d qubits, or name the method sparse", maxMPSQubits)
	}
	return fmt.Sprintf("write it as gates on at most %d qubits (an mcx as ccx gates with spare qubits), or name the method sparse", maxMPSQubits)
}

// wideReason says why a method for any width runs the circuit.
func (c Circuit) wideReason() string {
	if c.method != EngineAuto {
		return "asked for"
	}
	return fmt.Sprintf("more than %d qubits, and not Clifford gates alone", MaxQubits)
}

// engineSetup configures one run of the state-vector engine. Only geometry and fuse affect rounding; Run fixes both.
type engineSetup[F float] struct {
	geometry geometry
	kernels  kernels[F]
	threads  int
	fuse     func([]operator) []operator
	spare    int64 // bytes for states of branches that wait; without them branches are run again
	memory   *arena
	npy      io.Writer // nil: the state is not written
}

func runStatevector[F float](ctx context.Context, c Circuit, how engineSetup[F], rng *random, report *progress, result *Result) error {
	p := lower(c)
	for i := range p.segments {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		p.segments[i].operators = how.fuse(p.segments[i].operators)
	}
	geo := how.geometry
	sim := simulation[F]{
		program: p, machine: newMachine(geo, how.threads, how.kernels, report), histories: newHistories(c, p.outputs, rng, result.Seed), memory: how.memory,
		copies: int(how.spare / (2 * int64(unsafe.Sizeof(F(0))) << geo.stateBits)),
	}
	var err error
	if sim.plans, sim.layouts, err = planProgram[F](ctx, p, geo); err != nil {
		return err
	}
	report.total.Store(workBound(p, sim.plans, c.shots))
	noisy := c.hasChannels()
	if noisy {
		sim.omitted = "noise is simulated by trajectories, one per shot, which give no exact values"
		sim.unfollowed = sim.omitted
		result.Trajectories = c.shots
	} else {
		sim.followAll(c, len(p.outputs), c.mostMisread(p))
	}
	planes, err := newPlanes[F](how.memory, geo.stateBits)
	if err != nil {
		return err
	}
	planes.re[0] = 1
	start := sim.start(planes)
	start.shots = c.shots
	if err := sim.walk(ctx, start); err != nil {
		return err
	}
	sim.into(c, result)
	switch {
	case !c.statevector:
	case c.qubits > MaxStatevectorQubits:
		result.Omit("statevector", fmt.Sprintf("amplitudes are listed up to %d qubits", MaxStatevectorQubits))
	case noisy:
		result.Omit("statevector", "noise leaves no single final state")
	case !p.oneHistory() || p.dephased != 0:
		result.Omit("statevector", noSingleState)
	default:
		result.Statevector = amplitudes(start.state, p.final, sim.layouts[0], phase(c.phase))
	}
	if how.npy != nil {
		return writeNPY(ctx, how.npy, start.state, p.final, sim.layouts[0], phase(c.phase))
	}
	return nil
}

const noSingleState = "measurements, resets or conditions inside the circuit leave no single final state"

// Omit says why the result lacks a field.
func (r *Result) Omit(field, reason string) {
	if r.Omitted == nil {
		r.Omitted = map[string]string{}
	}
	r.Omitted[field] = reason
}

// dust is below what probabilities are listed: only rounding may have made such different from zero.
const dust = 1e-12

func withoutDust(probabilities map[string]float64) map[string]float64 {
	for key, p := range probabilities {
		if p < dust {
			delete(probabilities, key)
		}
	}
	return probabilities
}

// amplitudes lists the state in the order of the circuit's qubits, times a phase: bit q of the index is qubit q.
func amplitudes[F float](s state[F], final []int, positions layout, whole scalar) [][2]float64 {
	out := make([][2]float64, 1<<len(final))
	for i := range out {
		at := memoryIndex(i, final, positions)
		a := scalar{float64(s.re[at]), float64(s.im[at])}
		if !whole.isOne() {
			a = a.times(whole)
		}
		out[i] = [2]float64{a.re + 0, a.im + 0} // + 0 turns -0 into 0
	}
	return out
}

// workBound bounds the weights that running a program can add up to.
func workBound[F float](p program, plans []plan[F], shots int) int64 {
	var sum uint64
	for i, plan := range plans {
		var once uint64
		for _, s := range plan.sweeps {
			once += uint64(s.weight) << (s.outer.count() - bits.OnesCount64(s.zero))
		}
		sum = saturatingAdd(sum, saturatingMultiply(once, uint64(p.segments[i].times)))
	}
	return int64(saturatingMultiply(sum, uint64(p.branchBound(shots))))
}

// branchBound is the most histories that shots can take.
func (p program) branchBound(shots int) int64 {
	var sum uint64
	for _, s := range p.segments {
		sum = saturatingAdd(sum, saturatingMultiply(uint64(s.event.branchBits()), uint64(s.times)))
	}
	if sum >= uint64(bits.Len(uint(shots))) {
		return int64(shots)
	}
	return min(int64(shots), 1<<sum)
}
