package circuit

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Classical control in JSON is this service's own extension. An entry of gates is then one of
//
//	{"if": CONDITION, "then": [entries], "else": [entries]}
//	{"while": CONDITION, "do": [entries], "rounds": 100}
//
// and a condition is one of
//
//	{"measured": 0, "equals": 1}         the last outcome of qubit 0; equals may be left out
//	{"measured": [0, 1], "equals": 2}    the outcomes as a number, the first qubit its lowest bit
//	{"not": CONDITION}, {"all": [CONDITION, …]}, {"any": […]}, {"odd": […]}
type rawFlow struct {
	kind            kind
	condition       *expression
	then, otherwise []rawGate
	rounds          int
}

// flowFields are the fields of classical control; the first of an entry says what it is.
var flowFields = map[string]bool{"if": true, "then": true, "else": true, "while": true, "do": true, "rounds": true}

// flowField reads one field of classical control into the entry.
func (r *reader) flowField(index int, g *rawGate, key string) (err error) {
	if g.flow == nil {
		g.flow = &rawFlow{rounds: -1}
	}
	f := g.flow
	switch key {
	case "if", "while":
		if f.condition != nil {
			return refuseGate(CodeDuplicateField, index, "", "an entry has if or while, not both")
		}
		g.name, f.kind = "if", kindIf
		if key == "while" {
			g.name, f.kind = "while", kindWhile
		}
		f.condition, err = r.condition(index, g.name, 0)
	case "then", "do":
		f.then, err = r.inner(index, key)
	case "else":
		f.otherwise, err = r.inner(index, key)
	case "rounds":
		var rounds *integer
		if rounds, err = r.integer(index, g.name, key); rounds != nil && err == nil {
			if rounds.value < 1 || rounds.value > MaxRounds {
				return refuseGate(CodeRounds, index, g.name, "rounds must be between 1 and %d, not %s", MaxRounds, rounds.text)
			}
			f.rounds = int(rounds.value)
		}
	}
	return err
}

// checkFlow refuses an entry of classical control whose fields do not go together.
func (g rawGate) checkFlow(index int, seen map[string]bool) error {
	block := map[kind][]string{kindIf: {"if", "then", "else"}, kindWhile: {"while", "do", "rounds"}}[g.flow.kind]
	if block == nil {
		return refuseGate(CodeMissingField, index, "", "if or while is required beside then, else, do and rounds")
	}
	for _, required := range block[:2] {
		if !seen[required] {
			return refuseGate(CodeMissingField, index, g.name, "%s is required", required)
		}
	}
	for key := range seen {
		if key != block[0] && key != block[1] && key != block[2] {
			return refuseGate(CodeUnknownField, index, g.name, "takes %s, %s and %s only", block[0], block[1], block[2])
		}
	}
	return nil
}

// inner reads the entries of a block.
func (r *reader) inner(index int, key string) ([]rawGate, error) {
	if r.nesting == MaxNesting {
		return nil, refuseGate(CodeCondition, index, "", "blocks are nested deeper than %d", MaxNesting)
	}
	r.nesting++
	list, present, err := r.gates(key)
	r.nesting--
	if err == nil && !present && key != "else" {
		return nil, refuseGate(CodeMissingField, index, "", "%s is required; it may be empty", key)
	}
	return list, insideBlock(err, index, key)
}

// insideBlock says which block of which entry a refusal is about.
func insideBlock(err error, index int, block string) error {
	var inner *Refusal
	if !errors.As(err, &inner) {
		return err
	}
	located := *inner
	located.Gate = index
	located.Message = fmt.Sprintf("gate %d, %s: %s", index, block, inner.Message)
	return &located
}

// maxConditionNesting bounds not, all, any and odd inside each other.
const maxConditionNesting = 16

func (r *reader) condition(index int, name string, depth int) (*expression, error) {
	if depth > maxConditionNesting {
		return nil, refuseGate(CodeCondition, index, name, "the condition is nested deeper than %d", maxConditionNesting)
	}
	if err := r.open(index, "a condition"); err != nil {
		return nil, err
	}
	var out *expression
	var equals *integer
	var slots []int
	what := ""
	seen := map[string]bool{}
	for r.dec.More() {
		key, err := r.key(seen, index, name)
		if err != nil {
			return nil, err
		}
		if key != "equals" && what != "" {
			return nil, refuseGate(CodeCondition, index, name, "a condition has one of measured, not, all, any and odd, not %s and %s", what, clipText(key))
		}
		switch key {
		case "measured":
			slots, _, err = r.qubits(index, name, key)
			what = key
		case "equals":
			equals, err = r.integer(index, name, key)
		case "not":
			out, err = r.condition(index, name, depth+1)
			if err == nil {
				out = &expression{op: exprNot, args: []expression{*out}}
			}
			what = key
		case "all", "any", "odd":
			out, err = r.conditions(index, name, key, depth+1)
			what = key
		default:
			err = r.unknownField(index, name, key)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := r.close(); err != nil {
		return nil, err
	}
	switch {
	case what == "":
		return nil, refuseGate(CodeMissingField, index, name, "a condition needs one of measured, not, all, any and odd")
	case what != "measured" && seen["equals"]:
		return nil, refuseGate(CodeCondition, index, name, "equals goes with measured, not with %s", what)
	case what != "measured":
		return out, nil
	}
	return outcome(index, name, slots, equals)
}

// outcome is the condition that measured qubits spell a number.
func outcome(index int, name string, qubits []int, equals *integer) (*expression, error) {
	if len(qubits) == 0 || len(qubits) > maxConditions {
		return nil, refuseGate(CodeCondition, index, name, "measured lists 1 to %d qubits, not %d", maxConditions, len(qubits))
	}
	for i, q := range qubits {
		if slices.Contains(qubits[:i], q) {
			return nil, refuseGate(CodeRepeatedQubit, index, name, "qubit %d is named twice", q)
		}
	}
	if equals == nil {
		if len(qubits) > 1 {
			return nil, refuseGate(CodeMissingField, index, name, "equals is required when several qubits are listed")
		}
		equals = &integer{1, "1"}
	}
	if equals.value < 0 || equals.value >= 1<<len(qubits) {
		return nil, refuseGate(CodeCondition, index, name, "equals must be between 0 and %d for %d measured qubits, not %s",
			int64(1)<<len(qubits)-1, len(qubits), equals.text)
	}
	read := expression{op: exprBits, slots: qubits}
	return &expression{op: exprEqual, args: []expression{read, {op: exprConstant, value: uint64(equals.value)}}}, nil
}

// conditions reads an array and joins it: all and any are as they say, odd holds when an odd number of them does.
func (r *reader) conditions(index int, name, key string, depth int) (*expression, error) {
	token, err := r.token()
	if err != nil {
		return nil, err
	}
	if token != json.Delim('[') {
		return nil, refuseGate(CodeWrongType, index, name, "%s must be an array of conditions, not %s", key, describe(token))
	}
	op := map[string]expressionOp{"all": exprAnd, "any": exprOr, "odd": exprXor}[key]
	var out *expression
	for count := 0; r.dec.More(); count++ {
		next, err := r.condition(index, name, depth)
		switch {
		case err != nil:
			return nil, err
		case count == maxConditions:
			return nil, refuseGate(CodeCondition, index, name, "%s lists more than %d conditions", key, maxConditions)
		case out == nil:
			out = next
		default:
			out = &expression{op: op, args: []expression{*out, *next}}
		}
	}
	if out == nil {
		return nil, refuseGate(CodeCondition, index, name, "%s lists no condition", key)
	}
	return out, r.close()
}

// maxConditions bounds the measured qubits of one number, and one array of conditions.
const maxConditions = 62

// build checks entries now that the number of qubits is known.
func (c *Circuit) build(list []rawGate) ([]gate, error) {
	out := make([]gate, len(list))
	for i, raw := range list {
		var err error
		spec, isChannel := channelNamed(raw.name)
		switch {
		case raw.flow != nil:
			out[i], err = c.buildFlow(i, raw)
		case isChannel:
			out[i], err = raw.noise(i, spec, c)
		case len(raw.channel.given) > 0 && specByName[strings.ToLower(raw.name)].name != "":
			err = refuseGate(CodeUnknownField, i, raw.name, "%s belongs to noise", raw.channel.given[0])
		default:
			out[i], err = raw.gate(i, c)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c *Circuit) buildFlow(index int, raw rawGate) (gate, error) {
	f := raw.flow
	if err := c.checkCondition(index, raw.name, *f.condition); err != nil {
		return gate{}, err
	}
	blocks := map[kind][2]string{kindIf: {"then", "else"}, kindWhile: {"do", ""}}[f.kind]
	then, err := c.build(f.then)
	if err != nil {
		return gate{}, insideBlock(err, index, blocks[0])
	}
	otherwise, err := c.build(f.otherwise)
	if err != nil {
		return gate{}, insideBlock(err, index, blocks[1])
	}
	if f.kind == kindIf {
		return newIf(index, *f.condition, then, otherwise)
	}
	if f.rounds < 0 {
		f.rounds = defaultRounds
	}
	return newWhile(index, *f.condition, f.rounds, then)
}

// defaultRounds bounds a while of JSON that names no bound.
const defaultRounds = 100

// checkCondition refuses qubits that the circuit does not have.
func (c *Circuit) checkCondition(index int, name string, condition expression) error {
	var wrong error
	condition.forEachSlot(func(slot int) {
		if slot < 0 || slot >= c.qubits {
			wrong = refuseGate(CodeQubitRange, index, name, "measured %d is not a qubit of this circuit (0 to %d)", slot, c.qubits-1)
		}
	})
	return firstError(wrong, condition.check(index, name))
}

// checkMeasured refuses conditions on qubits that nothing measures: they would never change.
func (c *Circuit) checkMeasured() error {
	measured := make([]bool, c.slots)
	forEach(c.gates, func(g *gate) {
		for _, s := range g.slots {
			measured[s] = true
		}
	})
	for i := range c.gates {
		never := -1
		forEach(c.gates[i:i+1], func(g *gate) {
			if g.flow != nil {
				g.flow.condition.forEachSlot(func(s int) {
					if !measured[s] {
						never = s
					}
				})
			}
		})
		if never >= 0 {
			return refuseGate(CodeCondition, i, c.gates[i].name, "the condition reads qubit %d, which nothing measures", never)
		}
	}
	return nil
}
