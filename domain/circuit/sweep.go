package circuit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"reckon/domain/circuit/openqasm"
)

// Bounds of a sweep.
const (
	MaxPoints = 1000
	// maxEvaluations bounds the operators, numbers and names of all expressions at all points.
	maxEvaluations = 4_000_000
)

// sweep reads an array of objects from parameters to values.
func (r *reader) sweep() ([]map[string]float64, error) {
	token, err := r.token()
	if err != nil || token == nil {
		return nil, err
	}
	if token != json.Delim('[') {
		return nil, refuse(CodeWrongType, "sweep must be an array of objects, not %s", describe(token))
	}
	points := []map[string]float64{}
	for r.dec.More() {
		if len(points) == MaxPoints {
			return nil, refuse(CodeSweep, "a sweep has at most %d points", MaxPoints)
		}
		if err := r.open(circuitLevel, "each point of sweep"); err != nil {
			return nil, err
		}
		point := map[string]float64{}
		seen := map[string]bool{}
		for r.dec.More() {
			word, err := r.key(seen, circuitLevel, "")
			if err != nil {
				return nil, err
			}
			if point[word], err = r.parameter(word); err != nil {
				return nil, err
			}
		}
		if err := r.close(); err != nil {
			return nil, err
		}
		points = append(points, point)
	}
	return points, r.close()
}

func (r *reader) parameter(word string) (float64, error) {
	token, err := r.token()
	if err != nil {
		return 0, err
	}
	number, ok := token.(json.Number)
	if !ok {
		return 0, refuse(CodeWrongType, "parameter %s must be a number, not %s", clipText(word), describe(token))
	}
	value, err := strconv.ParseFloat(number.String(), 64)
	if err != nil {
		return 0, refuse(CodeAngleRange, "parameter %s: %s is not a finite double", clipText(word), clipText(number.String()))
	}
	return value, nil
}

// checkSweep checks that every point gives each parameter of the circuit a value, that every angle has one at every point, and
// that the circuit can be run there.
func (c *Circuit) checkSweep(limits Limits) error {
	if c.points == nil {
		return nil
	}
	if len(c.points) == 0 {
		return refuse(CodeSweep, "sweep has no point")
	}
	names, size := c.parameters()
	if evaluations := size * int64(len(c.points)); evaluations > maxEvaluations {
		return refuse(CodeSweep, "the angles of all points have %d operators, numbers and names together; at most %d are computed", evaluations, maxEvaluations)
	}
	for i, point := range c.points {
		for _, word := range slices.Sorted(maps.Keys(point)) {
			switch {
			case !openqasm.IsParameter(word):
				return refuse(CodeSweep, "point %d of sweep: %q is not the name of a parameter", i, clipText(word))
			case !slices.Contains(names, word):
				return refuse(CodeSweep, "point %d of sweep: no angle depends on %s", i, clipText(word))
			}
		}
		for _, word := range names {
			if _, given := point[word]; !given {
				return refuse(CodeSweep, "point %d of sweep: %s has no value", i, clipText(word))
			}
		}
		bound, err := c.point(i)
		if err == nil {
			err = atPoint(checkWidth(bound, limits), i)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// parameters lists the names that angles use, in alphabetical order, and the size of all expressions.
func (c Circuit) parameters() (names []string, size int64) {
	forEach(c.gates, func(g *gate) {
		for _, f := range g.formulas {
			if f != nil {
				names = append(names, f.Names()...)
				size += int64(f.Size())
			}
		}
	})
	slices.Sort(names)
	return slices.Compact(names), size
}

// Points is the number of points of the circuit's sweep; 0 when it has none.
func (c Circuit) Points() int { return len(c.points) }

// point is the circuit at one point of its sweep, with the sweep's seed.
func (c Circuit) point(i int) (Circuit, error) {
	var err error
	c.gates, err = bind(c.gates, openqasm.NewValues(c.points[i]))
	if err != nil {
		return Circuit{}, atPoint(err, i)
	}
	c.points = nil
	return c, nil
}

// atPoint says at which point of a sweep a refusal is.
func atPoint(err error, i int) error {
	var r *Refusal
	if !errors.As(err, &r) {
		return err
	}
	located := *r
	located.Message = fmt.Sprintf("point %d of sweep: %s", i, r.Message)
	return &located
}

// bind replaces formulas by their values. Entries inside blocks are refused under the entry that holds the block.
func bind(list []gate, values openqasm.Values) ([]gate, error) {
	out := slices.Clone(list)
	for i := range out {
		g := &out[i]
		if g.formulas != nil {
			g.params = slices.Clone(g.params)
		}
		for k, f := range g.formulas {
			if f == nil {
				continue
			}
			var err error
			if g.params[k], err = f.At(values); err != nil {
				return nil, refuseFormula(i, g.name, "angle", f.String(), err)
			}
		}
		g.formulas = nil
		if g.flow == nil {
			continue
		}
		flow := *g.flow
		var err error
		if flow.then, err = bind(flow.then, values); err == nil {
			flow.otherwise, err = bind(flow.otherwise, values)
		}
		if err != nil {
			return nil, insideBlock(err, i, "block")
		}
		g.flow = &flow
	}
	return out, nil
}

// SweepResult is the result of a qsim job. For a circuit without a sweep it is its Result alone; for one with a sweep the Result
// is about all points: no counts, the shots of all points together, the sweep's seed.
type SweepResult struct {
	Result
	Points []PointResult `json:"points,omitempty" doc:"Of a sweep (docs/circuits.md): the result at each point, in order. What is beside it is about all points: counts is empty, shots is their sum"`
}

// PointResult is the result at one point of a sweep: what the circuit gives with these values in place of its parameters and
// this seed.
type PointResult struct {
	Parameters map[string]float64 `json:"parameters" doc:"Values of the parameters"`
	Result
}

// PointSeed is the seed of a point of a sweep, counted from 0: the highest 53 bits of SplitMix64's output number i+1 from the
// sweep's seed.
func PointSeed(seed uint64, i int) uint64 {
	rng := newRandom(seed)
	for range i {
		rng.uint64()
	}
	return rng.uint64() >> 11
}

// RunSweep simulates the circuit at every point of its sweep, or once when it has none.
func RunSweep(ctx context.Context, c Circuit, options Options) (SweepResult, error) {
	if c.Points() == 0 {
		result, err := Run(ctx, c, options)
		return SweepResult{Result: result}, err
	}
	out := SweepResult{Result: Result{
		Counts: map[string]int{}, Seed: options.Seed, Depth: c.Depth(), GateCounts: c.GateCounts(), BitOrder: "q0_rightmost", Warnings: c.warnings(),
	}}
	if c.hasSeed {
		out.Seed = c.seed
	}
	cost := Estimate(c)
	if err := cost.Check(); err != nil {
		return SweepResult{}, err
	}
	if options.NPY != nil {
		return SweepResult{}, c.checkNPY(DefaultLimits())
	}
	if options.MemoryLimitBytes <= 0 {
		options.MemoryLimitBytes = DefaultMemoryLimitBytes
	}
	if cost.MemoryBytes > options.MemoryLimitBytes {
		return SweepResult{}, refuseMemory(cost.MemoryBytes, options.MemoryLimitBytes)
	}
	options.MemoryLimitBytes -= cost.keptBytes
	engines := map[string]bool{}
	report := options.Progress
	for i, parameters := range c.points {
		bound, err := c.point(i)
		if err != nil {
			return SweepResult{}, err
		}
		bound.seed, bound.hasSeed = PointSeed(out.Seed, i), true
		if report != nil {
			options.Progress = func(fraction float64) { report((float64(i) + fraction) / float64(len(c.points))) }
		}
		result, err := Run(ctx, bound, options)
		if err != nil {
			return SweepResult{}, atPoint(err, i)
		}
		result.Warnings = nil // those of all points
		out.Points = append(out.Points, PointResult{parameters, result})
		out.Shots += result.Shots
		engines[result.Engine] = true
	}
	out.Engine = strings.Join(slices.Sorted(maps.Keys(engines)), ", ")
	return out, nil
}

// JSON is the result as encoding/json writes it, as Result.JSON.
func (r SweepResult) JSON() (string, error) { return textOf(r.WriteJSON) }

// WriteJSON writes the result as Result.WriteJSON does. Each point of a sweep is one line when there is an indent.
func (r SweepResult) WriteJSON(w io.Writer, indent string) error {
	if len(r.Points) == 0 {
		return r.Result.WriteJSON(w, indent)
	}
	var head bytes.Buffer
	if err := r.Result.WriteJSON(&head, indent); err != nil {
		return err
	}
	line := ""
	if indent != "" {
		line = "\n" + indent
	}
	if err := write(w, append(beforeBrace(head.Bytes()), ","+line+`"points":[`...)); err != nil {
		return err
	}
	for i, p := range r.Points {
		parameters, err := json.Marshal(p.Parameters)
		if err != nil {
			return err
		}
		before := line + `{"parameters":`
		if i > 0 {
			before = "," + before
		}
		if err := firstError(write(w, append([]byte(before), parameters...)), p.WriteJSON(&insideObject{w: w}, "")); err != nil {
			return err
		}
	}
	end := "]}"
	if indent != "" {
		end = "]\n}"
	}
	return write(w, []byte(end))
}

// insideObject writes a comma in place of the brace that opens an object.
type insideObject struct {
	w     io.Writer
	begun bool
}

func (o *insideObject) Write(data []byte) (int, error) {
	if !o.begun && len(data) > 0 {
		data = append([]byte{','}, data[1:]...)
		o.begun = true
	}
	return o.w.Write(data)
}

// sweepCost bounds all points, by one at angles without symmetry on the engine that runs such, and by one on the tableau, where points
// may be Clifford.
func (c Circuit) sweepCost(threads int) Cost {
	c = c.noisy()
	engines := []Engine{EngineStabilizer}
	if engine, err := c.engine(EngineAuto); err == nil {
		engines = append(engines, engine)
		if c.qubits <= MaxQubits && c.method == EngineAuto && !c.hasChannels() && engine != EngineStatevector { // a point may be simpler than angles without symmetry
			engines = append(engines, EngineStatevector)
		}
	}
	n := uint64(len(c.points))
	var total Cost
	for _, engine := range engines {
		one := c.cost(engine, threads)
		kept := int64(saturatingMultiply(uint64(one.keptBytes), 2*(n-1)))
		total.MemoryBytes = max(total.MemoryBytes, one.MemoryBytes+kept)
		total.SpareBytes = max(total.SpareBytes, one.SpareBytes)
		total.keptBytes = max(total.keptBytes, kept)
		total.ResultBytes = max(total.ResultBytes, int64(saturatingMultiply(uint64(one.ResultBytes)+64*uint64(len(c.points[0])), n)))
		total.Operations = max(total.Operations, int64(saturatingMultiply(uint64(one.Operations), n)))
	}
	return total
}
