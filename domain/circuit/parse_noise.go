package circuit

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Noise in JSON is this service's own extension. The field noise of a circuit is
//
//	{"channels": [{"channel": "depolarizing", "p": 0.01, "gates": ["cx"], "qubits": [0, 1]}, …],
//	 "readout": [{"matrix": [[0.99, 0.01], [0.03, 0.97]], "qubits": [0]}, …]}
//
// and an entry of gates may be a channel: {"gate": "depolarizing", "targets": [0, 1], "p": 0.01}.

// rawChannel holds the fields that give a channel's strength.
type rawChannel struct {
	p, gamma      *float64
	probabilities []rawTerm    // from products of Pauli matrices to their probability
	kraus         [][][]scalar // rows of each operator
	given         []string     // the fields that are there, in order
}

// takeGamma takes the field gamma, which gates have too, from the others that are given by name.
func (r *rawChannel) takeGamma(named map[string]angle) {
	if gamma, ok := named["gamma"]; ok {
		r.gamma, r.given = &gamma.value, append(r.given, "gamma")
		delete(named, "gamma")
	}
}

type failure func(code Code, format string, args ...any) error

// build makes the channel for one qubit and the one for two; a channel of a fixed size has only one of them.
func (r rawChannel) build(spec channelSpec, fail failure) (one, two *channel, err error) {
	for _, field := range r.given {
		if field != spec.field {
			return nil, nil, fail(CodeUnknownField, "takes %s, not %s", spec.field, field)
		}
	}
	if len(r.given) == 0 {
		return nil, nil, fail(CodeMissingField, "%s is required", spec.field)
	}
	switch spec.field {
	case "p":
		if err := checkProbability("p", *r.p, fail); err != nil {
			return nil, nil, err
		}
	case "gamma":
		if err := checkProbability("gamma", *r.gamma, fail); err != nil {
			return nil, nil, err
		}
		return damping(spec.name, *r.gamma), nil, nil
	case "probabilities":
		return r.pauli(spec.name, fail)
	case "kraus":
		return r.operators(spec.name, fail)
	}
	if spec.name == "depolarizing" {
		return depolarizing(1, *r.p), depolarizing(2, *r.p), nil
	}
	code := map[string]int{"bit_flip": 1, "phase_flip": 2, "bit_phase_flip": 3}[spec.name] // X, Z, Y
	return pauliChannel(spec.name, 1, map[int]float64{code: *r.p}), nil, nil
}

func checkProbability(field string, p float64, fail failure) error {
	if !(p >= 0 && p <= 1) {
		return fail(CodeChannel, "%s must be between 0 and 1, not %g", field, p)
	}
	return nil
}

func (r rawChannel) pauli(name string, fail failure) (one, two *channel, err error) {
	probability := map[int]float64{}
	sum, qubits := 0.0, 0
	for _, term := range r.probabilities {
		n := len(term.label)
		switch {
		case n == 0 || n > 2 || strings.Trim(term.label, "IXYZ") != "":
			return nil, nil, fail(CodeChannel, "probabilities are of one or two of I, X, Y and Z, not of %q", clipText(term.label))
		case qubits != 0 && n != qubits:
			return nil, nil, fail(CodeChannel, "probabilities are of %d letters and of %d", qubits, n)
		case strings.Trim(term.label, "I") == "":
			return nil, nil, fail(CodeChannel, "leave %s out: what the errors leave of 1 is its probability", term.label)
		}
		if err := checkProbability("the probability of "+term.label, term.coefficient, fail); err != nil {
			return nil, nil, err
		}
		qubits = n
		code := 0
		for q := range n { // the first qubit is the rightmost letter
			letter := term.label[n-1-q]
			if letter == 'X' || letter == 'Y' {
				code |= 1 << q
			}
			if letter == 'Z' || letter == 'Y' {
				code |= 1 << (n + q)
			}
		}
		probability[code] = term.coefficient
		sum += term.coefficient
	}
	switch {
	case qubits == 0:
		return nil, nil, fail(CodeChannel, "probabilities names no error")
	case sum > 1+noiseTolerance:
		return nil, nil, fail(CodeChannel, "the probabilities add up to %.10g, which is more than 1", sum)
	case sum > 1:
		for code := range probability {
			probability[code] /= sum
		}
	}
	if c := pauliChannel(name, qubits, probability); qubits == 1 {
		return c, nil, nil
	} else {
		return nil, c, nil
	}
}

func (r rawChannel) operators(name string, fail failure) (one, two *channel, err error) {
	if len(r.kraus) == 0 {
		return nil, nil, fail(CodeChannel, "kraus lists no operator")
	}
	dim := len(r.kraus[0])
	var operators [][]scalar
	for i, rows := range r.kraus {
		square := len(rows) == dim && (dim == 2 || dim == 4) && !slices.ContainsFunc(rows, func(row []scalar) bool { return len(row) != dim })
		if !square {
			return nil, nil, fail(CodeChannel, "operator %d of kraus is not a matrix of 2 × 2 or 4 × 4 numbers like the first", i)
		}
		operators = append(operators, slices.Concat(rows...))
	}
	c, off := krausChannel(name, dim/2, operators)
	if !(off <= noiseTolerance) {
		return nil, nil, fail(CodeChannel, "the operators are not complete: an entry of ΣK†K differs by %.2g from the identity's; at most 1e-8", off)
	}
	if dim == 2 {
		return c, nil, nil
	}
	return nil, c, nil
}

// channelField reads a field of a channel.
func (r *reader) channelField(index int, name, key string, into *rawChannel) error {
	var err error
	present := true
	switch key {
	case "p":
		into.p, err = r.probability(index, name, key)
		present = into.p != nil
	case "probabilities":
		into.probabilities, present, err = r.pauliProbabilities(index, name)
	case "kraus":
		into.kraus, present, err = r.kraus(index, name)
	}
	if present {
		into.given = append(into.given, key)
	}
	return err
}

// probability reads a number; nil for null.
func (r *reader) probability(index int, name, what string) (*float64, error) {
	token, err := r.token()
	if err != nil || token == nil {
		return nil, err
	}
	number, ok := token.(json.Number)
	if !ok {
		return nil, refuseGate(CodeWrongType, index, name, "%s must be a number, not %s", what, describe(token))
	}
	value, err := strconv.ParseFloat(number.String(), 64)
	if err != nil {
		return nil, refuseGate(CodeChannel, index, name, "%s %s is not a finite double", what, clipText(number.String()))
	}
	return &value, nil
}

func (r *reader) pauliProbabilities(index int, name string) (terms []rawTerm, present bool, err error) {
	token, err := r.token()
	if err != nil || token == nil {
		return nil, false, err
	}
	if token != json.Delim('{') {
		return nil, false, refuseGate(CodeWrongType, index, name, "probabilities must be an object, not %s", describe(token))
	}
	const most = 16
	seen := map[string]bool{}
	for r.dec.More() {
		label, err := r.key(seen, index, name)
		if err != nil {
			return nil, false, err
		}
		if len(terms) == most {
			return nil, false, refuseGate(CodeChannel, index, name, "probabilities lists more than %d errors", most)
		}
		p, err := r.probability(index, name, "the probability of "+clipText(label))
		if err != nil {
			return nil, false, err
		}
		if p == nil {
			return nil, false, refuseGate(CodeWrongType, index, name, "the probability of %s must be a number, not null", clipText(label))
		}
		terms = append(terms, rawTerm{label, *p})
	}
	return terms, true, r.close()
}

// kraus reads an array of matrices.
func (r *reader) kraus(index int, name string) (operators [][][]scalar, present bool, err error) {
	present, err = r.array(index, name, "kraus must be an array of matrices", true, MaxKrausCount, func() error {
		rows, err := r.matrix(index, name, "an operator of kraus", CodeChannel)
		if err == nil && rows == nil {
			return refuseGate(CodeWrongType, index, name, "each operator of kraus must be an array of rows, not null")
		}
		operators = append(operators, rows)
		return err
	})
	return operators, present, err
}

// array reads an array of at most so many elements; present is false for null, which may stand where optional.
func (r *reader) array(index int, name, what string, optional bool, most int, element func() error) (present bool, err error) {
	token, err := r.token()
	if err != nil || token == nil && optional {
		return false, err
	}
	if token != json.Delim('[') {
		return false, refuseGate(CodeWrongType, index, name, "%s, not %s", what, describe(token))
	}
	for count := 0; r.dec.More(); count++ {
		if count == most {
			return false, refuseGate(CodeChannel, index, name, "%s, and of no more than %d elements", what, most)
		}
		if err := element(); err != nil {
			return false, err
		}
	}
	return true, r.close()
}

// rawNoise is a noise model before the circuit is known.
type rawNoise struct {
	rules   []rawRule
	readout []rawReadout
}

type rawRule struct {
	name    string
	channel rawChannel
	gates   []string
	qubits  []int
}

type rawReadout struct {
	qubits []int
	matrix confusion
}

// noise reads the field noise; nil for null.
func (r *reader) noise() (*rawNoise, error) {
	token, err := r.token()
	if err != nil || token == nil {
		return nil, err
	}
	if token != json.Delim('{') {
		return nil, refuse(CodeWrongType, "noise must be an object, not %s", describe(token))
	}
	out := &rawNoise{}
	seen := map[string]bool{}
	for r.dec.More() {
		key, err := r.key(seen, circuitLevel, "")
		if err != nil {
			return nil, err
		}
		switch key {
		case "channels":
			_, err = r.array(0, "", "channels must be an array of objects", true, MaxNoiseRules, func() error {
				rule, err := r.noiseRule()
				out.rules = append(out.rules, rule)
				return atRule("channel", len(out.rules)-1, rule.name, err)
			})
		case "readout":
			_, err = r.array(0, "", "readout must be an array of objects", true, MaxCliffordQubits, func() error {
				readout, err := r.readout()
				out.readout = append(out.readout, readout)
				return atRule("readout", len(out.readout)-1, "", err)
			})
		default:
			err = r.unknownField(circuitLevel, "", key)
		}
		if err != nil {
			return nil, inNoise("noise", err)
		}
	}
	return out, r.close()
}

// atRule says which entry of the noise a refusal is about.
func atRule(what string, index int, name string, err error) error {
	place := fmt.Sprintf("noise %s %d", what, index)
	if name != "" {
		place += " (" + clipText(name) + ")"
	}
	return inNoise(place, err)
}

// inNoise turns a refusal of an entry of gates, which the readers of fields give, into one of the noise.
func inNoise(place string, err error) error {
	var inner *Refusal
	if !errors.As(err, &inner) || inner.Code == CodeMalformed || strings.HasPrefix(inner.Message, "noise ") {
		return err
	}
	message := inner.Message
	if inner.Gate != circuitLevel {
		message = strings.TrimSpace(inner.reason)
	}
	return &Refusal{Code: inner.Code, Message: place + ": " + message, Gate: circuitLevel}
}

func (r *reader) noiseRule() (rule rawRule, err error) {
	if err := r.open(circuitLevel, "each entry of channels"); err != nil {
		return rule, err
	}
	named := false
	seen := map[string]bool{}
	for r.dec.More() {
		key, err := r.key(seen, circuitLevel, "")
		if err != nil {
			return rule, err
		}
		switch key {
		case "channel":
			rule.name, named, err = r.gateName(0)
		case "gates":
			var present bool
			rule.gates = nil
			present, err = r.array(0, "", "gates must be an array of names", true, len(specByName), func() error {
				name, there, err := r.gateName(0)
				if err == nil && !there {
					return refuse(CodeWrongType, "gates must be an array of names, not of null")
				}
				rule.gates = append(rule.gates, name)
				return err
			})
			if err == nil && present && rule.gates == nil {
				err = refuse(CodeChannel, "gates names no gate; leave it out for all")
			}
		case "qubits":
			rule.qubits, _, err = r.qubits(0, "", key)
		case "gamma":
			if rule.channel.gamma, err = r.probability(0, "", key); rule.channel.gamma != nil {
				rule.channel.given = append(rule.channel.given, key)
			}
		case "p", "probabilities", "kraus":
			err = r.channelField(0, "", key, &rule.channel)
		default:
			if _, known := channelNamed(rule.name); named && !known {
				return rule, unknownChannel(rule.name)
			}
			err = r.unknownField(circuitLevel, "", key)
		}
		if err != nil {
			return rule, err
		}
	}
	if err := r.close(); err != nil {
		return rule, err
	}
	if !named {
		return rule, refuse(CodeMissingField, "channel is required: one of %s", channelNames())
	}
	return rule, nil
}

func (r *reader) readout() (out rawReadout, err error) {
	if err := r.open(circuitLevel, "each entry of readout"); err != nil {
		return out, err
	}
	given := false
	seen := map[string]bool{}
	for r.dec.More() {
		key, err := r.key(seen, circuitLevel, "")
		if err != nil {
			return out, err
		}
		switch key {
		case "qubits":
			out.qubits, _, err = r.qubits(0, "", key)
		case "matrix":
			given, err = r.confusion(&out.matrix)
		default:
			err = r.unknownField(circuitLevel, "", key)
		}
		if err != nil {
			return out, err
		}
	}
	if err := r.close(); err != nil {
		return out, err
	}
	if !given {
		return out, refuse(CodeMissingField, "matrix is required: [[P(0|0), P(1|0)], [P(0|1), P(1|1)]]")
	}
	return out, nil
}

// confusion reads a matrix of probabilities whose rows add up to 1.
func (r *reader) confusion(into *confusion) (given bool, err error) {
	const what = "matrix must be [[P(0|0), P(1|0)], [P(0|1), P(1|1)]]"
	row, column := 0, 0
	given, err = r.array(0, "", what, true, 2, func() error {
		column = 0
		_, err := r.array(0, "", what, false, 2, func() error {
			p, err := r.probability(0, "", "a probability of matrix")
			if err == nil && (p == nil || !(*p >= 0 && *p <= 1)) {
				return refuse(CodeChannel, "%s, each between 0 and 1", what)
			}
			if err == nil {
				into[row][column] = *p
			}
			column++
			return err
		})
		row++
		if err == nil && column != 2 {
			return refuse(CodeChannel, what)
		}
		return err
	})
	if err != nil || !given {
		return given, err
	}
	if row != 2 {
		return true, refuse(CodeChannel, what)
	}
	for i := range into {
		sum := into[i][0] + into[i][1]
		if math.Abs(sum-1) > noiseTolerance {
			return true, refuse(CodeChannel, "row %d of matrix adds up to %.10g, not to 1 within 1e-8", i, sum)
		}
		into[i][1] /= sum
		into[i][0] = 1 - into[i][1]
	}
	return true, nil
}

// WithNoise returns the circuit with the noise of a JSON object, as the field noise has it, under the same limits as Parse.
func (c Circuit) WithNoise(text []byte, limits Limits) (Circuit, error) {
	limits = limits.withDefaults()
	if len(text) > limits.Bytes {
		return Circuit{}, refuse(CodeTooLarge, "the noise has %d bytes; at most %d are read", len(text), limits.Bytes)
	}
	r := newReader(text, "the noise", limits)
	raw, err := r.noise()
	if err := firstError(err, r.end()); err != nil {
		return Circuit{}, err
	}
	return c.withNoise(raw, limits)
}

// withNoise checks a noise model against the circuit it is for.
func (c Circuit) withNoise(raw *rawNoise, limits Limits) (Circuit, error) {
	c.noise = nil
	if raw == nil {
		return c, nil
	}
	m := &noiseModel{}
	for i, rule := range raw.rules {
		built, err := rule.build(c.qubits)
		if err != nil {
			return Circuit{}, atRule("channel", i, rule.name, err)
		}
		m.rules = append(m.rules, built)
	}
	for i, entry := range raw.readout {
		if m.readout == nil {
			m.readout = make([]*confusion, c.qubits)
		}
		qubits := entry.qubits
		if qubits == nil {
			qubits = allQubits(c.qubits)
		}
		if err := checkNoisyQubits(qubits, c.qubits); err != nil {
			return Circuit{}, atRule("readout", i, "", err)
		}
		m.entries = append(m.entries, qubits)
		for _, q := range qubits {
			if m.readout[q] != nil {
				return Circuit{}, atRule("readout", i, "", refuse(CodeDuplicateField, "qubit %d has a matrix already", q))
			}
			m.readout[q] = &entry.matrix
		}
	}
	m.warningBytes = int64(1024*len(m.rules) + 64*len(m.entries))
	if err := m.check(c, limits); err != nil {
		return Circuit{}, err
	}
	for q, matrix := range m.readout {
		if matrix != nil && *matrix == (confusion{{1, 0}, {0, 1}}) {
			m.readout[q] = nil
		}
	}
	c.noise = m
	return c, nil
}

func checkNoisyQubits(list []int, qubits int) error {
	seen := make([]bool, qubits)
	for _, q := range list {
		switch {
		case q < 0 || q >= qubits:
			return refuse(CodeQubitRange, "qubit %d is not one of this circuit (0 to %d)", q, qubits-1)
		case seen[q]:
			return refuse(CodeRepeatedQubit, "qubit %d is named twice", q)
		}
		seen[q] = true
	}
	if len(list) == 0 {
		return refuse(CodeChannel, "qubits names no qubit; leave it out for all")
	}
	return nil
}

func (r rawRule) build(qubits int) (noiseRule, error) {
	spec, ok := channelNamed(r.name)
	if !ok {
		return noiseRule{}, unknownChannel(r.name)
	}
	out := noiseRule{spec: spec}
	if r.qubits != nil {
		if err := checkNoisyQubits(r.qubits, qubits); err != nil {
			return noiseRule{}, err
		}
		out.qubits = make([]bool, qubits)
		for _, q := range r.qubits {
			out.qubits[q] = true
		}
	}
	if r.gates != nil {
		out.gates = map[string]bool{}
	}
	for _, written := range r.gates {
		name, err := noisyGateName(written)
		if err != nil {
			return noiseRule{}, err
		}
		out.gates[name] = true
	}
	var err error
	out.one, out.two, err = r.channel.build(spec, func(code Code, format string, args ...any) error { return refuse(code, format, args...) })
	return out, err
}

func unknownChannel(written string) error {
	code := CodeChannel
	if isNoise(written) {
		code = CodeNoise
	}
	return refuse(code, "%s is not a channel that is simulated; %s", clipText(written), insteadOf(written))
}

// noisyGateName is the name that a gate, also one with added controls, is counted under.
func noisyGateName(written string) (string, error) {
	lower := strings.ToLower(written)
	if spec, ok := specByName[lower]; ok {
		switch {
		case spec.kind == kindBarrier:
			return "", refuse(CodeChannel, "a barrier does nothing that could go wrong; noise of waiting qubits goes with id")
		case countedNames[spec.name] != "":
			return countedNames[spec.name], nil
		}
		return spec.name, nil
	}
	if _, isChannel := channelNamed(lower); isChannel {
		return "", refuse(CodeChannel, "%s is a channel, which takes no noise: put what follows it among the gates", lower)
	}
	switch lower {
	case "if_else", "while_loop", "for_loop", "switch_case", "if", "while", "for", "switch", "box":
		return "", refuse(CodeChannel, "%s is no gate: noise goes with the gates inside it, whose names it takes", lower)
	case "delay":
		return "", refuse(CodeChannel, "a delay counts as a barrier, which takes no noise; noise of waiting qubits goes with id")
	}
	for _, prefix := range []string{"mc", "cc", "c"} {
		rest, found := strings.CutPrefix(lower, prefix)
		if spec, ok := specByName[rest]; found && ok && spec.controls == 0 && spec.kind.isUnitary() {
			return prefix + spec.name, nil
		}
	}
	return "", refuse(CodeUnknownGate, "unknown gate %s%s", clipText(written), closest(written, gateWords()))
}
