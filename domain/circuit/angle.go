package circuit

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"

	"reckon/domain/circuit/openqasm"
)

// formula is an angle that depends on parameters.
type formula = openqasm.Angle

// angle is a number of radians, or a formula and any number, at which the gate has its general shape.
type angle struct {
	value   float64
	formula *formula
	field   string // of an angle written as text
}

// generic is an angle at which no gate is simpler than at others.
const generic = 1

func (r *reader) angles(index int, name, key string) ([]angle, error) {
	token, err := r.token()
	if err != nil || token == nil {
		return nil, err
	}
	if token != json.Delim('[') {
		return nil, refuseGate(CodeWrongType, index, name, "%s must be an array of numbers, not %s", key, describe(token))
	}
	list := []angle{}
	for r.dec.More() {
		one, err := r.angle(index, name, key)
		if err != nil {
			return nil, err
		}
		if one == nil {
			return nil, refuseGate(CodeWrongType, index, name, "%s must be an array of numbers, not of null", key)
		}
		if len(list) == 4 { // no gate takes more; the count is refused later, the array stays bounded here
			return nil, refuseGate(CodeParameters, index, name, "%s lists too many angles", key)
		}
		list = append(list, *one)
	}
	return list, r.close()
}

// angle reads a number, or a string with an expression.
func (r *reader) angle(index int, name, key string) (*angle, error) {
	token, err := r.token()
	if err != nil || token == nil {
		return nil, err
	}
	if text, ok := token.(string); ok {
		return r.formula(index, name, key, text)
	}
	number, ok := token.(json.Number)
	if !ok {
		return nil, refuseGate(CodeWrongType, index, name, "%s must be a number in radians or an expression, not %s", key, describe(token))
	}
	value, err := strconv.ParseFloat(number.String(), 64)
	if err != nil || math.IsInf(value, 0) || math.IsNaN(value) {
		return nil, refuseGate(CodeAngleRange, index, name, "%s %s is not a finite double", key, clipText(number.String()))
	}
	return &angle{value: value}, nil
}

// formula reads an expression; one without parameters is a number.
func (r *reader) formula(index int, name, key, text string) (*angle, error) {
	parsed, err := openqasm.ParseAngle(text)
	if err == nil && len(parsed.Names()) > 0 {
		return &angle{generic, parsed, key}, nil
	}
	value := 0.0
	if err == nil {
		value, err = parsed.At(openqasm.NewValues(nil))
	}
	if err != nil {
		return nil, refuseFormula(index, name, key, text, err)
	}
	return &angle{value: value, field: key}, nil
}

// refuseFormula says what is wrong with an expression.
func refuseFormula(index int, name, key, text string, err error) error {
	var e *openqasm.Error
	if !errors.As(err, &e) {
		return err
	}
	return refuseGate(Code(e.Code), index, name, "%s %s: %s (character %d)", key, strconv.Quote(clipText(text)), e.Message, e.Column)
}

// formulasOf are those of the last angles of a gate, which may have one more in front that is not written.
func formulasOf(written []angle, params int) []*formula {
	var out []*formula
	for i, a := range written {
		if a.formula != nil && out == nil {
			out = make([]*formula, params)
		}
		if a.formula != nil {
			out[params-len(written)+i] = a.formula
		}
	}
	return out
}

// values are the angles of an entry; expressions are for circuits with a sweep.
func (g rawGate) values(index int, c *Circuit) ([]float64, error) {
	out := make([]float64, len(g.params))
	for i, a := range g.params {
		if a.field != "" && c.points == nil {
			return nil, refuseGate(CodeWrongType, index, g.name, "%s must be a number in radians, not a string; expressions go with sweep", a.field)
		}
		out[i] = a.value
	}
	return out, nil
}
