package circuit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"reckon/domain/circuit/openqasm"
)

// Parse reads the JSON circuit object of a qsim job (interface section 2.8; docs/circuits.md lists every field).
// A null field counts as absent. Errors are *Refusal. Time and memory are linear in len(data).
func Parse(data []byte, limits Limits) (Circuit, error) {
	limits = limits.withDefaults()
	if len(data) > limits.Bytes {
		return Circuit{}, refuse(CodeTooLarge, "the circuit has %d bytes; at most %d are read", len(data), limits.Bytes)
	}
	if !utf8.Valid(data) {
		return Circuit{}, refuse(CodeMalformed, "the circuit is not UTF-8 text")
	}
	r := newReader(data, "the circuit", limits)
	c, err := r.circuit()
	if err != nil {
		return Circuit{}, err
	}
	return c, r.end()
}

// reader walks the JSON tokens. Going by token, not through reflection, keeps field names exact, sees repeated fields
// and gives every refusal its gate.
type reader struct {
	dec     *json.Decoder
	what    string // is read, for refusals: "the circuit"
	limits  Limits
	entries int // of gates, those inside blocks included
	nesting int // blocks that are open
}

func newReader(text []byte, what string, limits Limits) reader {
	r := reader{dec: json.NewDecoder(bytes.NewReader(text)), what: what, limits: limits}
	r.dec.UseNumber()
	return r
}

// end refuses text after what was read.
func (r *reader) end() error {
	if _, err := r.dec.Token(); !errors.Is(err, io.EOF) {
		return refuse(CodeMalformed, "text follows %s", r.what)
	}
	return nil
}

// rawGate is a gate's fields before the number of qubits is known.
type rawGate struct {
	name              string
	targets, controls []int
	params            []angle
	matrix            [][]scalar // of unitary
	state             []scalar   // of initialize
	flow              *rawFlow   // if and while
	channel           rawChannel
}

func (r *reader) circuit() (Circuit, error) {
	if err := r.open(circuitLevel, "the circuit"); err != nil {
		return Circuit{}, err
	}
	c := Circuit{shots: DefaultShots, precision: Double}
	var gates []rawGate
	var qubits, shots, seed *integer
	var program *string
	var inputs openqasm.Inputs
	var observables [][]rawTerm
	var points []map[string]float64
	var marginals [][]integer
	var noise *rawNoise
	hasGates := false
	seen := map[string]bool{}
	for r.dec.More() {
		key, err := r.key(seen, circuitLevel, "")
		if err != nil {
			return Circuit{}, err
		}
		switch key {
		case "qubits":
			qubits, err = r.integer(circuitLevel, "", key)
		case "shots":
			shots, err = r.integer(circuitLevel, "", key)
		case "seed":
			seed, err = r.integer(circuitLevel, "", key)
		case "statevector":
			c.statevector, err = r.boolean(key)
		case "memory":
			c.memory, err = r.boolean(key)
		case "npy":
			c.npy, err = r.boolean(key)
		case "precision":
			c.precision, err = r.precision()
		case "method":
			c.method, err = r.method()
		case "observables":
			observables, err = r.observables()
		case "marginals":
			marginals, err = r.marginals()
		case "sweep":
			points, err = r.sweep()
		case "noise":
			noise, err = r.noise()
		case "gates":
			gates, hasGates, err = r.gates(key)
		case "openqasm":
			program, err = r.program(key)
		case "inputs":
			inputs, err = r.inputs()
		default:
			err = r.unknownField(circuitLevel, "", key)
		}
		if err != nil {
			return Circuit{}, err
		}
	}
	if err := r.close(); err != nil {
		return Circuit{}, err
	}
	switch {
	case seen["openqasm"] && seen["gates"]:
		return Circuit{}, refuse(CodeDuplicateField, "gates and openqasm say the same thing; give one")
	case program == nil && inputs != nil:
		return Circuit{}, refuse(CodeUnknownField, "inputs gives values to an OpenQASM program; those of gates are given by sweep")
	case program == nil && qubits == nil:
		return Circuit{}, refuse(CodeMissingField, "qubits is required")
	case program == nil && !hasGates:
		return Circuit{}, refuse(CodeMissingField, "gates is required")
	}
	if qubits != nil {
		if qubits.value < 1 || qubits.value > int64(r.limits.CliffordQubits) {
			return Circuit{}, refuse(CodeQubitsRange, "qubits must be between 1 and %d, not %s", r.limits.CliffordQubits, qubits.text)
		}
		c.qubits = int(qubits.value)
		c.slots = c.qubits
	}
	if shots != nil {
		if err := checkShots(*shots, r.limits); err != nil {
			return Circuit{}, err
		}
		c.shots = int(shots.value)
	}
	if seed != nil {
		if seed.value < 0 || seed.value > MaxSeed {
			return Circuit{}, refuse(CodeSeedRange, "seed must be between 0 and %d (exact in every JSON reader), not %s", int64(MaxSeed), seed.text)
		}
		c.seed, c.hasSeed = uint64(seed.value), true
	}
	var err error
	if program != nil {
		if c, err = c.withProgram(*program, inputs, r.limits); err == nil {
			c.observables, err = c.checkObservables(observables)
		}
		if err == nil {
			c.marginals, err = c.checkMarginals(marginals)
		}
		if err == nil && points != nil {
			err = refuse(CodeSweep, "a program has no parameters for sweep to give values to: give its inputs a value in inputs, in a job for each point, or send the circuit as gates")
		}
		if err := firstError(err, c.checkShotMemory()); err != nil {
			return Circuit{}, err
		}
		return c.completed(noise, r.limits)
	}
	c.points = points
	if c.gates, err = c.build(gates); err != nil {
		return Circuit{}, err
	}
	if err := c.complete(r.limits); err != nil {
		return Circuit{}, err
	}
	if err := c.checkSweep(r.limits); err != nil {
		return Circuit{}, err
	}
	if c.observables, err = c.checkObservables(observables); err != nil {
		return Circuit{}, err
	}
	if c.marginals, err = c.checkMarginals(marginals); err != nil {
		return Circuit{}, err
	}
	if err := firstError(c.checkMeasured(), c.checkShotMemory()); err != nil {
		return Circuit{}, err
	}
	return c.completed(noise, r.limits)
}

// completed adds the noise and checks what can only be checked with it.
func (c Circuit) completed(noise *rawNoise, limits Limits) (Circuit, error) {
	c, err := c.withNoise(noise, limits)
	if err == nil && c.npy {
		err = c.checkNPY(limits)
	}
	return c, firstError(err, c.checkMethod())
}

// checkMethod refuses a method that cannot run the circuit, at any point of its sweep.
func (c Circuit) checkMethod() error {
	if c.method == EngineAuto {
		return nil
	}
	if len(c.points) == 0 {
		_, err := c.noisy().engine(EngineAuto)
		return err
	}
	for i := range c.points {
		bound, err := c.point(i)
		if err == nil {
			err = atPoint(bound.checkMethod(), i)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// program reads an OpenQASM program: the text that could stand in a file.
func (r *reader) program(key string) (*string, error) {
	token, err := r.token()
	if err != nil || token == nil {
		return nil, err
	}
	text, ok := token.(string)
	if !ok {
		return nil, refuse(CodeWrongType, "%s must be a string, not %s", key, describe(token))
	}
	return &text, nil
}

// inputs reads the values of a program's inputs: an object from name to number, truth value, string of bits or array.
func (r *reader) inputs() (openqasm.Inputs, error) {
	token, err := r.token()
	if err != nil || token == nil {
		return nil, err
	}
	if token != json.Delim('{') {
		return nil, refuse(CodeWrongType, "inputs must be an object from names to values, not %s", describe(token))
	}
	inputs := openqasm.Inputs{}
	seen := map[string]bool{}
	for r.dec.More() {
		word, err := r.key(seen, circuitLevel, "")
		if err != nil {
			return nil, err
		}
		if inputs[word], err = r.inputValue(word, 0); err != nil {
			return nil, err
		}
	}
	return inputs, r.close()
}

// inputValue reads a value, at most as deep as an array has dimensions.
func (r *reader) inputValue(word string, depth int) (any, error) {
	const dimensions = 7
	token, err := r.token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case bool, string:
		return token, nil
	case json.Number:
		return openqasm.Number(token), nil
	case json.Delim:
		if token != '[' || depth == dimensions {
			break
		}
		list := []any{}
		for r.dec.More() {
			item, err := r.inputValue(word, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		return list, r.close()
	}
	return nil, refuse(CodeWrongType, "the input %s must be a number, a truth value, a string of bits, or an array of up to %d dimensions", clipText(word), dimensions)
}

// withProgram takes what is to run from an OpenQASM program. The field qubits may be left out; it cannot differ.
func (c Circuit) withProgram(text string, inputs openqasm.Inputs, limits Limits) (Circuit, error) {
	program, err := parseOpenQASM([]byte(text), inputs, limits, c.method)
	if err != nil {
		return Circuit{}, err
	}
	if c.qubits != 0 && c.qubits != program.qubits {
		return Circuit{}, refuse(CodeQubitsRange, "qubits is %d, but the program has %d", c.qubits, program.qubits)
	}
	c.qubits, c.slots, c.registers = program.qubits, program.slots, program.registers
	c.gates, c.phase, c.ignored = program.gates, program.phase, program.ignored
	return c, nil
}

// checkWidth refuses circuits wider than the state vector allowed that no method runs: the tableau takes Clifford gates, and the methods
// for any width take circuits beyond every state vector, and others when they are asked for by name.
func checkWidth(c Circuit, limits Limits) error {
	if names, _ := c.parameters(); c.qubits <= limits.Qubits || len(names) > 0 { // checkSweep checks every point
		return nil
	}
	clifford, reason := c.notClifford()
	if reason == "" && (c.method == EngineAuto || c.method == EngineStabilizer) {
		return nil
	}
	index, why := c.notWide()
	if c.method == EngineMPS {
		index, why = c.notMPS()
	}
	switch wide := c.method.wide() || c.method == EngineAuto && c.qubits > MaxQubits; {
	case wide && why == "":
		return nil
	case wide && (c.method != EngineAuto || reason == "" || c.gates[clifford].kind != kindChannel):
		return refuseGate(CodeQubitsRange, index, c.gates[index].name, "%s; a circuit with such instructions has at most %d qubits, not %d: %s",
			why, limits.Qubits, c.qubits, c.insteadOfWide(index))
	case reason == "":
		return refuse(CodeQubitsRange, "the method %s runs at most %d qubits, not %d; leave the method out", c.method, limits.Qubits, c.qubits)
	case why != "":
		return refuseGate(CodeQubitsRange, clifford, c.gates[clifford].name, "%s; a circuit with such instructions has at most %d qubits, not %d: %s",
			reason, limits.Qubits, c.qubits, wideNoise)
	}
	return refuseGate(CodeQubitsRange, clifford, c.gates[clifford].name, "%s; a circuit with such instructions has at most %d qubits, not %d, unless its method is %s",
		reason, limits.Qubits, c.qubits, wideNames)
}

// wideNoise says how a circuit is noisy beyond every state vector.
const wideNoise = "give the noise as Pauli errors (depolarizing, bit_flip, pauli_channel) and every gate as a Clifford gate, or use fewer qubits"

func checkShots(shots integer, limits Limits) error {
	if shots.value < 1 || shots.value > int64(limits.Shots) {
		return refuse(CodeShotsRange, "shots must be between 1 and %d, not %s", limits.Shots, shots.text)
	}
	return nil
}

// gates reads an array of entries; present is false for null.
func (r *reader) gates(key string) (list []rawGate, present bool, err error) {
	token, err := r.token()
	if err != nil {
		return nil, false, err
	}
	if token == nil {
		return nil, false, nil
	}
	if token != json.Delim('[') {
		return nil, false, refuse(CodeWrongType, "%s must be an array of objects, not %s", key, describe(token))
	}
	var gates []rawGate
	for r.dec.More() {
		if r.entries++; r.entries > r.limits.Gates {
			return nil, false, refuse(CodeTooManyGates, "the circuit has more than %d gates", r.limits.Gates)
		}
		g, err := r.gate(len(gates))
		if err != nil {
			return nil, false, err
		}
		gates = append(gates, g)
	}
	return gates, true, r.close()
}

func (r *reader) gate(index int) (rawGate, error) {
	if err := r.open(index, "each entry of gates"); err != nil {
		return rawGate{}, err
	}
	var g rawGate
	named := false
	angles := map[string]angle{} // theta, phi, lambda and gamma when written by name
	given := map[string]string{}
	seen := map[string]bool{}
	for r.dec.More() {
		key, err := r.key(seen, index, g.name)
		if err != nil {
			return rawGate{}, err
		}
		var present bool // whether a field that may be null is there
		switch key {
		case "gate":
			g.name, named, err = r.gateName(index)
		case "target", "targets":
			g.targets, present, err = r.qubits(index, g.name, key)
			err = firstError(err, refuseDuplicate(given, "target", key, present, index, g.name))
		case "control", "controls":
			g.controls, present, err = r.qubits(index, g.name, key)
			err = firstError(err, refuseDuplicate(given, "control", key, present, index, g.name))
		case "angle", "rotation":
			var one *angle
			one, err = r.angle(index, g.name, key)
			if one != nil {
				g.params = []angle{*one}
			}
			err = firstError(err, refuseDuplicate(given, "angle", key, one != nil, index, g.name))
		case "params", "angles":
			var params []angle
			params, err = r.angles(index, g.name, key)
			if params != nil {
				g.params = params
			}
			err = firstError(err, refuseDuplicate(given, "angle", key, params != nil, index, g.name))
		case "p", "probabilities", "kraus":
			err = r.channelField(index, g.name, key, &g.channel)
		case "theta", "phi", "lambda", "gamma":
			var one *angle
			if one, err = r.angle(index, g.name, key); one != nil {
				angles[key] = *one
			}
		case "matrix":
			g.matrix, err = r.matrix(index, g.name, "matrix", CodeMatrix)
		case "state":
			g.state, err = r.amplitudes(index, g.name, key, 1<<MaxInitializedQubits)
		default:
			if flowFields[key] {
				err = r.flowField(index, &g, key)
			} else {
				err = r.unknownField(index, g.name, key)
			}
		}
		if err != nil {
			return rawGate{}, err
		}
	}
	if err := r.close(); err != nil {
		return rawGate{}, err
	}
	if g.flow != nil {
		return g, g.checkFlow(index, seen)
	}
	if !named {
		return rawGate{}, refuseGate(CodeMissingField, index, "", "gate is required")
	}
	if _, isChannel := channelNamed(g.name); isChannel {
		if angles["gamma"].field != "" {
			return rawGate{}, refuseGate(CodeWrongType, index, g.name, "gamma must be a number, not a string")
		}
		g.channel.takeGamma(angles)
	}
	return g, g.takeNamedAngles(index, angles, given["angle"])
}

// takeNamedAngles moves theta, phi, lambda and gamma, when written as fields of their own, into params.
func (g *rawGate) takeNamedAngles(index int, angles map[string]angle, other string) error {
	if len(angles) == 0 {
		return nil
	}
	names := specByName[strings.ToLower(g.name)].angleNames()
	for _, name := range slices.Sorted(maps.Keys(angles)) {
		switch {
		case other != "":
			return refuseGate(CodeDuplicateField, index, g.name, "%s and %s say the same thing; give one", name, other)
		case len(names) == 0:
			return refuseGate(CodeUnknownField, index, g.name, "theta, phi, lambda and gamma belong to u and its relatives; use angle")
		case !slices.Contains(names, name):
			return refuseGate(CodeUnknownField, index, g.name, "takes %s, not %s", strings.Join(names, ", "), name)
		}
	}
	g.params = nil
	for _, name := range names {
		angle, ok := angles[name]
		if !ok {
			return refuseGate(CodeMissingField, index, g.name, "%s is required", name)
		}
		g.params = append(g.params, angle)
	}
	return nil
}

// refuseDuplicate refuses a field together with its alias.
func refuseDuplicate(given map[string]string, meaning, key string, present bool, index int, name string) error {
	if !present {
		return nil
	}
	if other, ok := given[meaning]; ok {
		return refuseGate(CodeDuplicateField, index, name, "%s and %s say the same thing; give one", other, key)
	}
	given[meaning] = key
	return nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// unknownField refuses a field. Of an unknown gate the gate is refused: its fields are its own.
func (r *reader) unknownField(index int, name, key string) error {
	_, isGate := specByName[strings.ToLower(name)]
	if _, isChannel := channelNamed(name); index != circuitLevel && name != "" && !isGate && !isChannel {
		return unknownGate(index, name)
	}
	code, message := CodeUnknownField, "unknown field "+strconv.Quote(clipText(key))
	if isNoise(key) {
		code, message = CodeNoise, "unknown field "+strconv.Quote(clipText(key))+"; noise is a channel among the gates, or the circuit's field noise"
	}
	if index == circuitLevel {
		return refuse(code, "%s", message)
	}
	return refuseGate(code, index, name, "%s", message)
}

func (r *reader) gateName(index int) (string, bool, error) {
	token, err := r.token()
	if err != nil || token == nil {
		return "", false, err
	}
	name, ok := token.(string)
	if !ok {
		return "", false, refuseGate(CodeWrongType, index, "", "gate must be a string, not %s", describe(token))
	}
	return name, true, nil
}

// qubits reads one index or an array of them. An empty array is present but names nothing.
func (r *reader) qubits(index int, name, key string) ([]int, bool, error) {
	token, err := r.token()
	if err != nil || token == nil {
		return nil, false, err
	}
	if token != json.Delim('[') {
		q, err := r.qubit(token, index, name, key)
		return []int{q}, true, err
	}
	qubits := []int{}
	for r.dec.More() {
		token, err := r.token()
		if err != nil {
			return nil, false, err
		}
		q, err := r.qubit(token, index, name, key)
		if err != nil {
			return nil, false, err
		}
		if len(qubits) >= r.limits.CliffordQubits {
			return nil, false, refuseGate(CodeRepeatedQubit, index, name, "%s lists more qubits than a circuit can have", key)
		}
		qubits = append(qubits, q)
	}
	return qubits, true, r.close()
}

// qubit reads an index; whether the circuit has that qubit is checked once its width is known.
func (r *reader) qubit(token json.Token, index int, name, key string) (int, error) {
	q, err := toInteger(token, index, name, key)
	if err != nil {
		return 0, err
	}
	if q.value < math.MinInt32 || q.value > math.MaxInt32 { // an int, on every machine
		return 0, refuseGate(CodeQubitRange, index, name, "%s %s is not a qubit of any circuit (0 to %d)", key, q.text, r.limits.CliffordQubits-1)
	}
	return int(q.value), nil
}

func (r *reader) precision() (Precision, error) {
	token, err := r.token()
	if err != nil {
		return "", err
	}
	switch token {
	case nil, string(Double):
		return Double, nil
	case string(Single):
		return Single, nil
	}
	if s, ok := token.(string); ok {
		return "", refuse(CodePrecision, "precision must be %q or %q, not %q", Double, Single, clipText(s))
	}
	return "", refuse(CodeWrongType, "precision must be a string, not %s", describe(token))
}

// method reads the name of an engine; null leaves the choice.
func (r *reader) method() (Engine, error) {
	token, err := r.token()
	if err != nil || token == nil {
		return EngineAuto, err
	}
	text, ok := token.(string)
	if !ok {
		return "", refuse(CodeWrongType, "method must be a string, not %s", describe(token))
	}
	if !slices.Contains(engines, Engine(text)) {
		return "", refuse(CodeEngine, "method must be %s, not %q", engineNames(), clipText(text))
	}
	return Engine(text), nil
}

func (r *reader) boolean(key string) (bool, error) {
	token, err := r.token()
	if err != nil || token == nil {
		return false, err
	}
	b, ok := token.(bool)
	if !ok {
		return false, refuse(CodeWrongType, "%s must be true or false, not %s", key, describe(token))
	}
	return b, nil
}

// integer is a whole number and how it was written; the value of one beyond 64 bits is the nearest that fits.
type integer struct {
	value int64
	text  string
}

func (r *reader) integer(index int, name, key string) (*integer, error) {
	token, err := r.token()
	if err != nil || token == nil {
		return nil, err
	}
	v, err := toInteger(token, index, name, key)
	return &v, err
}

func toInteger(token json.Token, index int, name, key string) (integer, error) {
	number, ok := token.(json.Number)
	if ok {
		v, err := strconv.ParseInt(plainInteger(number.String()), 10, 64)
		if err == nil || errors.Is(err, strconv.ErrRange) { // out of range is refused by the field's own range
			return integer{v, clipText(number.String())}, nil
		}
	}
	what := describe(token)
	if ok {
		what = clipText(number.String())
	}
	if index == circuitLevel {
		return integer{}, refuse(CodeWrongType, "%s must be an integer, not %s", key, what)
	}
	return integer{}, refuseGate(CodeWrongType, index, name, "%s must be an integer, not %s", key, what)
}

// plainInteger writes an integer without fraction and exponent: 2.0 and 1e3 are integers (RFC 8259, section 6), as in every body
// of the API. What is none, or is longer than any field allows, is returned as it is.
func plainInteger(number string) string {
	const most = 40 // digits, and exponent
	_, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	if power, err := strconv.Atoi(cmp.Or(exponent, "0")); err != nil || len(number) > most || power > most || power < -most {
		return number
	}
	if exact, ok := new(big.Rat).SetString(number); ok && exact.IsInt() {
		return exact.Num().String()
	}
	return number
}

// key reads a field name and refuses one seen before.
func (r *reader) key(seen map[string]bool, index int, name string) (string, error) {
	token, err := r.token()
	if err != nil {
		return "", err
	}
	key, _ := token.(string) // the decoder allows only strings here
	if seen[key] {
		if index == circuitLevel {
			return "", refuse(CodeDuplicateField, "%s is given twice", clipText(key))
		}
		return "", refuseGate(CodeDuplicateField, index, name, "%s is given twice", clipText(key))
	}
	seen[key] = true
	return key, nil
}

func (r *reader) open(index int, what string) error {
	token, err := r.token()
	if err != nil {
		return err
	}
	if token == json.Delim('{') {
		return nil
	}
	if index == circuitLevel {
		return refuse(CodeWrongType, "%s must be an object, not %s", what, describe(token))
	}
	return refuseGate(CodeWrongType, index, "", "%s must be an object, not %s", what, describe(token))
}

// close reads the end of an array or object.
func (r *reader) close() error {
	_, err := r.token()
	return err
}

func (r *reader) token() (json.Token, error) {
	token, err := r.dec.Token()
	if err != nil {
		return nil, refuse(CodeMalformed, "not well-formed JSON near byte %d of %s", r.dec.InputOffset(), r.what)
	}
	return token, nil
}

func describe(token json.Token) string {
	switch t := token.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case json.Number:
		return "a number"
	case bool:
		return "true or false"
	case json.Delim:
		if t == '[' {
			return "an array"
		}
		return "an object"
	}
	return "another type"
}
