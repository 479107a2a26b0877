package circuit

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Bounds of what a circuit's noise may be.
const (
	MaxNoiseRules    = 100    // entries of noise.channels, and of noise.readout
	MaxKrausCount    = 16     // operators of one channel: as many as two qubits can need
	MaxNoiseChannels = 20_000 // channels of a circuit once every rule has added its own
)

// noiseTolerance bounds the distance of a channel's operators from Σ K†K = 1, entry by entry, and of probabilities from adding up to
// 1. What is within is made exact, so that no circuit loses or gains probability.
const noiseTolerance = 1e-8

// channel is noise on one or two qubits: ρ becomes Σ weight · K ρ K†.
type channel struct {
	name      string
	qubits    int
	operators []krausOperator
	pauli     bool // every operator is a product of Pauli matrices, the first the identity
	diagonal  bool // every operator is diagonal: basis states stay what they are
}

// krausOperator is one way a channel may act.
type krausOperator struct {
	weight float64  // the probability of a product of Pauli matrices; 1 for any other operator
	matrix []scalar // row by row; bit 0 of an index is the first qubit
	gram   []scalar // K†K
	x, z   int      // of a product of Pauli matrices: the qubits with X or Y, and with Z or Y
}

// confusion is the matrix of a measurement's readout errors: entry [is][read] is a probability.
type confusion [2][2]float64

// channelSpec is a name that a channel may have, and the field that says how strong it is.
type channelSpec struct {
	name, field string
}

var channelSpecs = []channelSpec{
	{"depolarizing", "p"}, {"bit_flip", "p"}, {"phase_flip", "p"}, {"bit_phase_flip", "p"}, {"pauli_channel", "probabilities"},
	{"amplitude_damping", "gamma"}, {"phase_damping", "gamma"}, {"kraus", "kraus"},
}

// channelNamed finds a channel by its name in any case.
func channelNamed(written string) (channelSpec, bool) {
	i := slices.IndexFunc(channelSpecs, func(s channelSpec) bool { return s.name == strings.ToLower(written) })
	if i < 0 {
		return channelSpec{}, false
	}
	return channelSpecs[i], true
}

// channelNames lists the channels for refusals.
func channelNames() string {
	var names []string
	for _, s := range channelSpecs {
		names = append(names, s.name)
	}
	return strings.Join(names, ", ")
}

// trivial reports whether the channel changes nothing.
func (c *channel) trivial() bool { return c.pauli && len(c.operators) == 1 }

// pauliChannel applies each product with its probability, and nothing with what is left of 1. The bits of an error are x, then z.
func pauliChannel(name string, qubits int, probability map[int]float64) *channel {
	c := &channel{name: name, qubits: qubits, pauli: true, diagonal: true}
	rest := 1.0
	for code := 1; code < 1<<(2*qubits); code++ {
		rest -= probability[code]
	}
	for code := range 1 << (2 * qubits) {
		p := probability[code]
		if code == 0 {
			p = max(0, rest)
		} else if p == 0 {
			continue
		}
		x, z := code&(1<<qubits-1), code>>qubits
		c.diagonal = c.diagonal && x == 0
		c.operators = append(c.operators, krausOperator{weight: p, matrix: pauliMatrix(qubits, x, z), x: x, z: z})
	}
	return c
}

// pauliMatrix is the product of X on the qubits of x and Z on those of z, with Y = iXZ where they meet.
func pauliMatrix(qubits, x, z int) []scalar {
	dim := 1 << qubits
	out := make([]scalar, dim*dim)
	for column := range dim {
		value := scalar{1, 0}
		for q := range qubits {
			set := column>>q&1 != 0
			switch {
			case x>>q&1 != 0 && z>>q&1 != 0: // Y|0⟩ = i|1⟩, Y|1⟩ = −i|0⟩
				if set {
					value = value.times(scalar{0, -1})
				} else {
					value = value.times(scalar{0, 1})
				}
			case z>>q&1 != 0 && set:
				value = scalar{-value.re, -value.im}
			}
		}
		out[(column^x)*dim+column] = value
	}
	return out
}

// depolarizing applies one of the 4ⁿ−1 Pauli errors, each as likely as the others, with probability p altogether.
func depolarizing(qubits int, p float64) *channel {
	all := 1<<(2*qubits) - 1
	each := map[int]float64{}
	for code := 1; code <= all; code++ {
		each[code] = p / float64(all)
	}
	return pauliChannel("depolarizing", qubits, each)
}

// damping is amplitude damping, |1⟩ falls to |0⟩ with probability gamma, or phase damping, the coherence of the two shrinks by
// √(1−gamma) (Nielsen and Chuang, section 8.3).
func damping(name string, gamma float64) *channel {
	keep, lose := scalar{math.Sqrt(1 - gamma), 0}, scalar{math.Sqrt(gamma), 0}
	operators := [][]scalar{{{1, 0}, {}, {}, keep}, {{}, {}, {}, lose}}
	if name == "amplitude_damping" {
		operators[1] = []scalar{{}, lose, {}, {}}
	}
	if gamma == 0 {
		return pauliChannel(name, 1, nil)
	}
	c, _ := krausChannel(name, 1, operators)
	return c
}

// krausChannel makes Σ K†K exactly 1 by one step of Newton's method, K(3 − Σ K†K)/2, which turns an error of 1e-8 into one of
// 1e-16. off is the error before: the largest part of an entry.
func krausChannel(name string, qubits int, operators [][]scalar) (c *channel, off float64) {
	dim := 1 << qubits
	sum := make([]scalar, dim*dim)
	for _, k := range operators {
		for i, v := range gram(k, dim) {
			sum[i] = sum[i].plus(v)
		}
	}
	middle := make([]scalar, dim*dim)
	for i, v := range sum {
		middle[i] = scalar{-v.re / 2, -v.im / 2}
		if i%(dim+1) == 0 {
			v.re--
			middle[i].re += 1.5
		}
		for _, part := range [2]float64{v.re, v.im} {
			if !(math.Abs(part) <= off) {
				off = math.Abs(part)
			}
		}
		if math.IsNaN(off) {
			return nil, math.Inf(1)
		}
	}
	c = &channel{name: name, qubits: qubits, diagonal: true}
	for _, k := range operators {
		exact := multiplied(k, middle, dim)
		for i, v := range exact {
			c.diagonal = c.diagonal && (i%(dim+1) == 0 || v.isZero())
		}
		c.operators = append(c.operators, krausOperator{weight: 1, matrix: exact, gram: gram(exact, dim)})
	}
	return c, off
}

// gram is K†K.
func gram(k []scalar, dim int) []scalar {
	dagger := make([]scalar, dim*dim)
	for row := range dim {
		for column := range dim {
			v := k[row*dim+column]
			dagger[column*dim+row] = scalar{v.re, -v.im}
		}
	}
	return multiplied(dagger, k, dim)
}

func multiplied(a, b []scalar, dim int) []scalar {
	out := make([]scalar, dim*dim)
	for row := range dim {
		for column := range dim {
			for k := range dim {
				if x, y := a[row*dim+k], b[k*dim+column]; !x.isZero() && !y.isZero() {
					out[row*dim+column] = out[row*dim+column].plus(x.times(y))
				}
			}
		}
	}
	return out
}

// superoperator is the channel as a matrix on the entries of ρ: the bits of an index are the row's, then the column's.
func (c *channel) superoperator() []scalar {
	dim := 1 << c.qubits
	out := make([]scalar, dim*dim*dim*dim)
	for _, k := range c.operators {
		for row := range dim {
			for from := range dim {
				left := k.matrix[row*dim+from]
				left = scalar{float64(left.re * k.weight), float64(left.im * k.weight)}
				if left.isZero() {
					continue
				}
				for column := range dim {
					for fromColumn := range dim {
						right := k.matrix[column*dim+fromColumn]
						at := (row+dim*column)*dim*dim + from + dim*fromColumn
						out[at] = out[at].plus(left.times(scalar{right.re, -right.im}))
					}
				}
			}
		}
	}
	return out
}

// noiseModel is noise that goes with gates and measurements.
type noiseModel struct {
	rules   []noiseRule
	readout []*confusion // of each qubit; nil where it is read as it is
	entries [][]int      // qubits of each entry of readout

	warningBytes int64 // bounds what warnings says
}

// noiseRule is a channel that accompanies gates.
type noiseRule struct {
	spec   channelSpec
	gates  map[string]bool // names as gate_counts has them; nil: every unitary gate
	qubits []bool          // which; nil: all
	one    *channel        // for one qubit
	two    *channel        // for two qubits together
}

// fits reports whether a rule speaks of a gate at all, whatever its qubits.
func (r noiseRule) fits(g gate) bool {
	if g.flow != nil || g.kind == kindBarrier || g.kind == kindChannel {
		return false
	}
	if r.gates == nil {
		return g.kind.isUnitary() && (r.one != nil || len(g.targets)+len(g.controls) == 2)
	}
	return r.gates[g.countedName()]
}

// channels are those that a rule adds to a gate it fits, or the reason why it cannot.
func (r noiseRule) channels(g gate) (list []gate, reason string) {
	qubits := append(slices.Clone(g.controls), g.targets...)
	noisy := func(q int) bool { return r.qubits == nil || r.qubits[q] }
	joint := r.two != nil && g.kind.isUnitary() && len(qubits) > 1
	switch {
	case joint && len(qubits) > 2:
		return nil, r.spec.name + " is for gates of one or two qubits; name those it goes with in gates"
	case r.one == nil && !joint:
		return nil, "the channel is one on two qubits"
	case joint && noisy(qubits[0]) && noisy(qubits[1]):
		return []gate{{name: r.spec.name, kind: kindChannel, targets: qubits, channel: r.two}}, ""
	case joint:
		return nil, ""
	}
	qubits = slices.DeleteFunc(qubits, func(q int) bool { return !noisy(q) })
	if len(qubits) == 0 {
		return nil, ""
	}
	return []gate{{name: r.spec.name, kind: kindChannel, targets: qubits, channel: r.one}}, ""
}

// warnings names what a model says of gates or measurements that the circuit does not have: a model may be made for a device, and be
// right; or it names gates that the program's definitions are not made of.
func (c Circuit) warnings() (list []string) {
	list = slices.Clone(c.ignored)
	if c.noise == nil {
		return list
	}
	met := make([]map[string]bool, len(c.noise.rules)) // names of gates that an entry found
	acted := make([]bool, len(met))
	measured := make([]bool, c.qubits)
	forEach(c.measured(), func(g *gate) {
		if g.kind == kindMeasure {
			for _, q := range g.targets {
				measured[q] = true
			}
		}
		for i, r := range c.noise.rules {
			if !r.fits(*g) {
				continue
			}
			if met[i] == nil {
				met[i] = map[string]bool{}
			}
			met[i][g.countedName()] = true
			channels, _ := r.channels(*g)
			acted[i] = acted[i] || len(channels) > 0
		}
	})
	for i, r := range c.noise.rules {
		var absent []string
		for _, word := range slices.Sorted(maps.Keys(r.gates)) {
			if !met[i][word] {
				absent = append(absent, word)
			}
		}
		about := fmt.Sprintf("noise channel %d (%s)", i, r.spec.name)
		switch {
		case len(absent) > 0:
			list = append(list, fmt.Sprintf("%s goes with %s, which the circuit does not have once its definitions are expanded; gate_counts has the names of its gates",
				about, strings.Join(absent, ", ")))
		case !acted[i]:
			list = append(list, about+" meets no gate of the circuit on its qubits")
		}
	}
	for i, qubits := range c.noise.entries {
		if !slices.ContainsFunc(qubits, func(q int) bool { return measured[q] }) {
			list = append(list, fmt.Sprintf("noise readout %d: none of its qubits is measured", i))
		}
	}
	return list
}

// countedName is the name that gate_counts has of a gate.
func (g gate) countedName() string { return cmp.Or(countedNames[g.name], g.name) }

// check refuses rules that do not go with the circuit's gates, too many channels, and channels that a circuit as wide as this
// cannot have.
func (m *noiseModel) check(c Circuit, limits Limits) error {
	count := 0
	var wrong error
	_, reason := c.notClifford()
	clifford := reason == ""
	forEach(c.measured(), func(g *gate) {
		for i, r := range m.rules {
			if wrong != nil || !r.fits(*g) {
				continue
			}
			list, unfit := r.channels(*g)
			if unfit != "" {
				wrong = refuse(CodeChannel, "noise channel %d (%s) cannot go with %s: %s", i, r.spec.name, g.name, unfit)
			}
			for _, n := range list {
				if count += len(n.targets); count > MaxNoiseChannels {
					wrong = refuse(CodeTooManyGates, "the noise adds more than %d channels to the circuit's gates", MaxNoiseChannels)
				} else if c.qubits > limits.Qubits && !clifford {
					wrong = refuse(CodeQubitsRange, "noise channel %d (%s) stands beside gates that are not Clifford; a circuit with both has at most %d qubits, not %d: %s",
						i, r.spec.name, limits.Qubits, c.qubits, wideNoise)
				} else if c.qubits > limits.Qubits && !n.channel.pauli {
					wrong = refuse(CodeQubitsRange, "noise channel %d (%s) is not made of Pauli errors; a circuit with it has at most %d qubits, not %d: %s",
						i, r.spec.name, limits.Qubits, c.qubits, wideNoise)
				}
			}
		}
	})
	if wrong != nil {
		return wrong
	}
	if c.hasFlow() {
		c.noise = m
		if n := steps(c.noisy().gates); n > MaxSteps {
			return refuse(CodeTooManySteps, "with its noise and every round of its loops the circuit has %d instructions; at most %d are run", n, MaxSteps)
		}
	}
	return nil
}

// noisy is the circuit with the channels of its noise model written out: after the gates they go with, and before measurements.
// The readout errors stay in the model.
func (c Circuit) noisy() Circuit {
	if c.noise == nil || len(c.noise.rules) == 0 {
		return c
	}
	c.gates = c.noise.among(c.measured())
	c.noise = &noiseModel{readout: c.noise.readout, warningBytes: c.noise.warningBytes}
	return c
}

func (m *noiseModel) among(list []gate) []gate {
	out := make([]gate, 0, len(list))
	for _, g := range list {
		var with []gate
		for _, r := range m.rules {
			if r.fits(g) {
				channels, _ := r.channels(g)
				with = append(with, channels...)
			}
		}
		if g.flow != nil {
			inner := *g.flow
			inner.then, inner.otherwise = m.among(inner.then), m.among(inner.otherwise)
			g.flow = &inner
		}
		if g.kind == kindMeasure {
			out = append(append(out, with...), g)
		} else {
			out = append(append(out, g), with...)
		}
	}
	return out
}

// measured are the gates, with the measurements at the end that a circuit which records nothing does not write.
func (c Circuit) measured() []gate {
	recorded := false
	forEach(c.gates, func(g *gate) { recorded = recorded || g.kind == kindMeasure || g.flow != nil })
	if recorded {
		return c.gates
	}
	return append(slices.Clone(c.gates), gate{name: "measure", kind: kindMeasure, targets: allQubits(c.qubits), slots: allQubits(c.qubits)})
}

// hasChannels reports whether noise acts on the state of the circuit, its model written out.
func (c Circuit) hasChannels() (found bool) {
	forEach(c.gates, func(g *gate) { found = found || g.kind == kindChannel && !g.channel.trivial() })
	return found
}

// misreads reports whether what a measurement finds may be read as something else, which changes no state.
func (c Circuit) misreads() bool {
	return c.noise != nil && slices.ContainsFunc(c.noise.readout, func(m *confusion) bool { return m != nil })
}

// readoutOf is the readout error of a qubit, or nil.
func (c Circuit) readoutOf(qubit int) *confusion {
	if c.noise == nil || c.noise.readout == nil {
		return nil
	}
	return c.noise.readout[qubit]
}

// newChannel checks a channel that stands among the gates.
func newChannel(index int, spec channelSpec, raw rawChannel, targets, controls []int, params []float64, qubits int) (gate, error) {
	fail := func(code Code, format string, args ...any) error {
		return refuseGate(code, index, spec.name, format, args...)
	}
	switch {
	case len(targets) == 0:
		return gate{}, fail(CodeMissingField, "target is required")
	case len(controls) > 0:
		return gate{}, fail(CodeControls, "noise takes no control")
	case len(params) > 0:
		return gate{}, fail(CodeParameters, "noise takes no angle")
	}
	if err := checkQubits(index, spec.name, targets, nil, qubits); err != nil {
		return gate{}, err
	}
	one, two, err := raw.build(spec, fail)
	if err != nil {
		return gate{}, err
	}
	chosen := one
	switch {
	case two != nil && len(targets) == 2:
		chosen = two
	case two != nil && one != nil && len(targets) > 2:
		return gate{}, fail(CodeTargets, "takes 1 or 2 targets, not %d", len(targets))
	case one == nil:
		return gate{}, fail(CodeTargets, "this channel takes 2 targets, not %d", len(targets))
	}
	return gate{name: spec.name, kind: kindChannel, targets: targets, channel: chosen}, nil
}

// channels are the instructions of a channel: one, or one for each target.
func (l *lowering) channels(g gate) (list []instruction) {
	if g.channel.trivial() {
		return nil
	}
	for from := 0; from < len(g.targets); from += g.channel.qubits {
		e := event{kind: eventChannel, slot: noSlot, channel: g.channel}
		for _, q := range g.targets[from : from+g.channel.qubits] {
			e.wires = append(e.wires, l.wire[q])
		}
		l.moved |= e.disturbs()
		list = append(list, instruction{event: e})
	}
	return list
}

// noisyWires are the wires of a channel; none of another event.
func (e event) noisyWires() (out wires) {
	for _, w := range e.wires {
		out |= 1 << w
	}
	return out
}

// disturbs are the wires whose basis states a channel may change.
func (e event) disturbs() wires {
	if e.kind != eventChannel || e.channel.diagonal {
		return 0
	}
	return e.noisyWires()
}

// channelBytes bounds the tables of the circuit's channels, each counted once.
func (c Circuit) channelBytes() (sum int64) {
	seen := map[*channel]bool{}
	forEach(c.gates, func(g *gate) {
		if g.kind == kindChannel && !seen[g.channel] {
			seen[g.channel] = true
			sum += int64(len(g.channel.operators)) * (128 + 3*16<<(2*g.channel.qubits))
		}
	})
	return sum
}
