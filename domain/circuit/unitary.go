package circuit

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

// MaxInitializedQubits is the most targets of initialize.
const MaxInitializedQubits = 12

// tolerance bounds the distance of a matrix from unitary, entry by entry of U†U − 1, and of the square of a state's norm from 1.
// What is within is made exact: the nearest unitary matrix, the state divided by its norm.
const tolerance = 1e-8

// gate checks an entry that is no block and no noise, now that the number of qubits is known.
func (g rawGate) gate(index int, c *Circuit) (gate, error) {
	kind := specByName[strings.ToLower(g.name)].kind
	if err := g.refuseNumbers(index, kind); err != nil {
		return gate{}, err
	}
	switch kind {
	case kindUnitary:
		return g.unitary(index, c.qubits)
	case kindInitialize:
		return g.initialize(index, c.qubits)
	}
	values, err := g.values(index, c)
	if err != nil {
		return gate{}, err
	}
	out, err := newGate(index, g.name, g.targets, g.controls, values, nil, c.qubits)
	out.formulas = formulasOf(g.params, len(out.params))
	return out, err
}

// noise checks an entry that is a channel.
func (g rawGate) noise(index int, spec channelSpec, c *Circuit) (gate, error) {
	if err := g.refuseNumbers(index, kindChannel); err != nil {
		return gate{}, err
	}
	for _, a := range g.params {
		if a.field != "" {
			return gate{}, refuseGate(CodeWrongType, index, g.name, "%s must be a number, not a string", a.field)
		}
	}
	values, err := g.values(index, c)
	if err != nil {
		return gate{}, err
	}
	return newChannel(index, spec, g.channel, g.targets, g.controls, values, c.qubits)
}

// refuseNumbers refuses matrices and states of kinds that have none.
func (g rawGate) refuseNumbers(index int, k kind) error {
	switch {
	case g.matrix != nil && k != kindUnitary:
		return refuseGate(CodeUnknownField, index, g.name, "matrix belongs to unitary")
	case g.state != nil && k != kindInitialize:
		return refuseGate(CodeUnknownField, index, g.name, "state belongs to initialize")
	}
	return nil
}

func (g rawGate) unitary(index, qubits int) (gate, error) {
	const name = "unitary"
	dim := len(g.matrix)
	switch n := len(g.targets); {
	case n == 0:
		return gate{}, refuseGate(CodeMissingField, index, name, "target is required")
	case n > 2:
		return gate{}, refuseGate(CodeTargets, index, name, "takes 1 or 2 targets, not %d", n)
	case len(g.params) > 0:
		return gate{}, refuseGate(CodeParameters, index, name, "takes no angle")
	case g.matrix == nil:
		return gate{}, refuseGate(CodeMissingField, index, name, "matrix is required")
	case dim != 1<<n:
		return gate{}, refuseGate(CodeMatrix, index, name, "the matrix on %d target%s has %d rows, not %d", n, plural(n), 1<<n, dim)
	}
	if err := checkQubits(index, name, g.targets, g.controls, qubits); err != nil {
		return gate{}, err
	}
	matrix := make([]scalar, 0, dim*dim)
	for i, row := range g.matrix {
		if len(row) != dim {
			return gate{}, refuseGate(CodeMatrix, index, name, "row %d of the matrix has %d entries, not %d", i, len(row), dim)
		}
		matrix = append(matrix, row...)
	}
	matrix, off := nearestUnitary(matrix, dim)
	if !(off <= tolerance) {
		return gate{}, refuseGate(CodeMatrix, index, name, "the matrix is not unitary: an entry of U†U differs by %.2g from the identity's; at most 1e-8", off)
	}
	return gate{name: controlledName(name, len(g.controls)), kind: kindUnitary, targets: g.targets, controls: g.controls, matrix: matrix}, nil
}

// nearestUnitary is U(3 − U†U)/2, one step of Newton and Schulz towards the unitary factor of U's polar decomposition
// (Higham, Functions of Matrices, 2008, section 8.3): an error of 1e-8 becomes one of 1e-16, and a matrix without error stays as
// it is. off is the largest part of an entry of U†U − 1.
func nearestUnitary(u []scalar, dim int) (nearest []scalar, off float64) {
	middle := make([]scalar, dim*dim)
	for i := range dim {
		for j := range dim {
			var sum scalar
			for k := range dim {
				a := u[k*dim+i]
				sum = sum.plus(scalar{a.re, -a.im}.times(u[k*dim+j]))
			}
			middle[i*dim+j] = scalar{-sum.re / 2, -sum.im / 2}
			if i == j {
				sum.re--
				middle[i*dim+j].re += 1.5
			}
			off = worse(off, worse(math.Abs(sum.re), math.Abs(sum.im)))
		}
	}
	nearest = make([]scalar, dim*dim)
	for i := range dim {
		for j := range dim {
			for k := range dim {
				if x, y := u[i*dim+k], middle[k*dim+j]; !x.isZero() && !y.isZero() {
					nearest[i*dim+j] = nearest[i*dim+j].plus(x.times(y))
				}
			}
		}
	}
	return nearest, off
}

// worse is the larger number; anything beside one that is not a number is infinite.
func worse(a, b float64) float64 {
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.Inf(1)
	}
	return max(a, b)
}

func (g rawGate) initialize(index, qubits int) (gate, error) {
	const name = "initialize"
	switch n := len(g.targets); {
	case n == 0:
		return gate{}, refuseGate(CodeMissingField, index, name, "target is required")
	case n > MaxInitializedQubits:
		return gate{}, refuseGate(CodeTargets, index, name, "takes at most %d targets, not %d; prepare a larger state by gates, or as the product of several initialize", MaxInitializedQubits, n)
	case len(g.controls) > 0:
		return gate{}, refuseGate(CodeControls, index, name, "takes no control: it begins with a reset")
	case len(g.params) > 0:
		return gate{}, refuseGate(CodeParameters, index, name, "takes no angle")
	case g.state == nil:
		return gate{}, refuseGate(CodeMissingField, index, name, "state is required: the amplitudes as [re, im], the first target the lowest bit of an index")
	case len(g.state) != 1<<n:
		return gate{}, refuseGate(CodeState, index, name, "the state of %d target%s has %d amplitudes, not %d", n, plural(n), 1<<n, len(g.state))
	}
	if err := checkQubits(index, name, g.targets, nil, qubits); err != nil {
		return gate{}, err
	}
	square := squareNorm(g.state)
	if !(math.Abs(square-1) <= tolerance) {
		return gate{}, refuseGate(CodeState, index, name, "the state is not normalised: its squares add up to %.10g, not to 1 within 1e-8", square)
	}
	state := slices.Clone(g.state)
	if norm := math.Sqrt(square); norm != 1 {
		for i, a := range state {
			state[i] = scalar{a.re / norm, a.im / norm}
		}
	}
	return gate{name: name, kind: kindInitialize, targets: g.targets, matrix: state}, nil
}

func squareNorm(state []scalar) float64 {
	sum := 0.0
	for _, a := range state {
		sum += float64(a.re*a.re) + float64(a.im*a.im)
	}
	return sum
}

// inWireOrder rewrites a matrix on targets, the first the lowest bit of an index, so that the bits are wires in ascending order.
func inWireOrder(matrix []scalar, targets []int, wire []int) []scalar {
	dim := 1 << len(targets)
	order := wireOrder(targets, wire)
	out := make([]scalar, dim*dim)
	for row := range dim {
		for column := range dim {
			out[row*dim+column] = matrix[order[row]*dim+order[column]]
		}
	}
	return out
}

// wireOrder tells the index in the order of the targets for each index in ascending order of their wires.
func wireOrder(targets []int, wire []int) []int {
	var all wires
	for _, q := range targets {
		all |= 1 << wire[q]
	}
	order := make([]int, 1<<len(targets))
	for i := range order {
		x := deposit(i, all)
		for bit, q := range targets {
			order[i] |= int(x>>wire[q]&1) << bit
		}
	}
	return order
}

// initialize resets the targets and rotates each, from the highest wire down, by an angle that those above it select
// (Möttönen and others, Transformation of quantum states using uniformly controlled rotations, 2004); the lowest one gets the
// phases with it.
func (l *lowering) initialize(g gate) []instruction {
	list := l.resets(g.targets)
	order := wireOrder(g.targets, l.wire)
	state := make([]scalar, len(order))
	for i, at := range order {
		state[i] = g.matrix[at]
	}
	var above, all wires
	for _, q := range g.targets {
		all |= 1 << l.wire[q]
	}
	l.moved |= all
	for place := len(g.targets) - 1; place >= 0; place-- {
		target := wires(deposit(1<<place, all))
		op := operator{targets: target, selectors: above, matrix: make([]scalar, 0, 4<<above.count())}
		for from := 0; from < len(state); from += 2 << place {
			op.matrix = append(op.matrix, rotationTo(state[from:from+1<<place], state[from+1<<place:from+2<<place])...)
		}
		list = append(list, instruction{operator: op.simplified(), unitary: true})
		above |= target
	}
	return list
}

// rotationTo is a unitary matrix whose first column are the norms of two halves of a state, or the halves themselves when each is
// one amplitude, divided by the norm of both.
func rotationTo(zero, one []scalar) []scalar {
	a, b := squareNorm(zero), squareNorm(one)
	norm := math.Sqrt(a + b)
	if norm == 0 {
		return []scalar{{1, 0}, {}, {}, {1, 0}}
	}
	first, second := scalar{math.Sqrt(a) / norm, 0}, scalar{math.Sqrt(b) / norm, 0}
	if len(zero) == 1 {
		first, second = scalar{zero[0].re / norm, zero[0].im / norm}, scalar{one[0].re / norm, one[0].im / norm}
	}
	return []scalar{first, {-second.re, second.im}, second, {first.re, -first.im}}
}

// matrix reads the rows of a matrix, which is refused with code where it has more than 4; nil for null.
func (r *reader) matrix(index int, name, what string, code Code) ([][]scalar, error) {
	const most = 4
	token, err := r.token()
	if err != nil || token == nil {
		return nil, err
	}
	if token != json.Delim('[') {
		return nil, refuseGate(CodeWrongType, index, name, "%s must be an array of rows, not %s", what, describe(token))
	}
	rows := [][]scalar{}
	for r.dec.More() {
		if len(rows) == most {
			return nil, refuseGate(code, index, name, "%s has more than %d rows", what, most)
		}
		row, err := r.amplitudes(index, name, "each row of "+what, most)
		if err != nil {
			return nil, err
		}
		if row == nil {
			return nil, refuseGate(CodeWrongType, index, name, "each row of %s must be an array, not null", what)
		}
		rows = append(rows, row)
	}
	return rows, r.close()
}

// amplitudes reads an array of complex numbers, each [re, im]; nil for null.
func (r *reader) amplitudes(index int, name, what string, most int) ([]scalar, error) {
	token, err := r.token()
	if err != nil || token == nil {
		return nil, err
	}
	if token != json.Delim('[') {
		return nil, refuseGate(CodeWrongType, index, name, "%s must be an array of [re, im], not %s", what, describe(token))
	}
	list := []scalar{}
	for r.dec.More() {
		if len(list) == most {
			return nil, refuseGate(CodeTooLarge, index, name, "%s lists more than %d numbers", what, most)
		}
		var parts [2]float64
		token, err := r.token()
		if err != nil {
			return nil, err
		}
		if token != json.Delim('[') {
			return nil, refuseGate(CodeWrongType, index, name, "%s must be an array of [re, im], not of %s", what, describe(token))
		}
		for i := range parts {
			if parts[i], err = r.part(index, name, what); err != nil {
				return nil, err
			}
		}
		if token, err = r.token(); err != nil {
			return nil, err
		}
		if token != json.Delim(']') {
			return nil, refuseGate(CodeWrongType, index, name, "%s has a number of more than two parts; it must be [re, im]", what)
		}
		list = append(list, scalar{parts[0], parts[1]})
	}
	return list, r.close()
}

// part reads the real or imaginary part of a number.
func (r *reader) part(index int, name, what string) (float64, error) {
	token, err := r.token()
	if err != nil {
		return 0, err
	}
	number, ok := token.(json.Number)
	if !ok {
		if token == json.Delim(']') {
			return 0, refuseGate(CodeWrongType, index, name, "%s has a number of fewer than two parts; it must be [re, im]", what)
		}
		return 0, refuseGate(CodeWrongType, index, name, "%s must hold numbers, not %s", what, describe(token))
	}
	value, err := strconv.ParseFloat(number.String(), 64)
	if err != nil {
		return 0, refuseGate(CodeAngleRange, index, name, "%s is not a finite double: %s", what, clipText(number.String()))
	}
	return value, nil
}
