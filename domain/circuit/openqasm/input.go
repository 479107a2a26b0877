package openqasm

import (
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// maxExponent bounds the exponent of a number that stands for an integer.
const maxExponent = 400

// givenInput is the value that came with the program for a declaration.
func (e *elaborator) givenInput(d *declaration) any {
	if len(e.scopes) > 1 {
		fail(CodeMalformed, d.position(), "inputs can only be declared outside blocks")
	}
	given, ok := e.given[d.name]
	if !ok {
		fail(CodeMissing, d.position(), `the input %s has no value; give it beside the program: "inputs": {%q: VALUE}`, clip(d.name), clip(d.name))
	}
	e.declaredInputs[d.name] = true
	return given
}

// checkInputs refuses values that the program does not declare.
func (e *elaborator) checkInputs() {
	for _, word := range slices.Sorted(maps.Keys(e.given)) {
		if !e.declaredInputs[word] {
			fail(CodeMalformed, 0, "inputs gives a value to %s, and the program declares no such input%s", clip(word), suggestion(word, slices.Sorted(maps.Keys(e.declaredInputs))))
		}
	}
}

// inputValue gives a value the type that the program declares.
func (e *elaborator) inputValue(at int, word string, given any, kind valueKind, width int) value {
	var v value
	switch given := given.(type) {
	case bool:
		v = boolValue(given)
	case string:
		v = bitsLiteral(token{kind: tokenString, text: given, at: at})
	case Number:
		v = numberValue(at, string(given))
	default:
		fail(CodeType, at, "the input %s is a single value, not an array", clip(word))
	}
	if kind == kindBool && v.literal && (v.number == 0 || v.number == 1) {
		v = boolValue(v.number == 1)
	}
	return e.convert(at, v, kind, width, false)
}

// numberValue is a decimal number: 2.0 and 1e3 are integers.
func numberValue(at int, text string) value {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		fail(CodeAngle, at, "the input %s is too large; the largest is about 1.8e308", clip(text))
	}
	_, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	if n, err := strconv.Atoi(exponent); exponent == "" || err == nil && n < maxExponent && n > -maxExponent {
		if exact, ok := new(big.Rat).SetString(text); ok && exact.IsInt() && exact.Num().IsInt64() {
			return intValue(exact.Num().Int64())
		}
	}
	return realValue(x)
}

// inputArray are the elements of an array whose rows are lists.
func (e *elaborator) inputArray(d *declaration, a *array) []value {
	var values []value
	var rows func(given any, sizes []int)
	rows = func(given any, sizes []int) {
		if len(sizes) == 0 {
			values = append(values, e.inputValue(d.position(), d.name, given, a.kind, a.width))
			return
		}
		list, ok := given.([]any)
		if !ok || len(list) != sizes[0] {
			fail(CodeType, d.position(), "the input %s is an array of the sizes %v, and its value is not", clip(d.name), a.sizes)
		}
		for _, item := range list {
			rows(item, sizes[1:])
		}
	}
	rows(e.givenInput(d), a.sizes)
	return values
}
