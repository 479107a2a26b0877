package openqasm

import "slices"

// maxDimensions is the specification's bound.
const maxDimensions = 7

// array is an array, or a part of one: a variable for each element, the last index running fastest.
type array struct {
	kind     valueKind
	width    int
	sizes    []int // of each dimension; none: a single element
	elements []*symbol
	readonly bool
}

func (e *elaborator) declareArray(d *declaration) {
	if len(e.scopes) > 1 {
		fail(CodeMalformed, d.position(), "arrays can only be declared outside blocks and subroutines")
	}
	if d.constant || d.of.rank != nil {
		fail(CodeMalformed, d.position(), "an array is declared with the size of each dimension, and without const")
	}
	a := &array{}
	a.kind, a.width = e.typeOf(*d.of.element)
	a.sizes = e.arraySizes(d.of)
	count := 1
	for _, n := range a.sizes {
		if count *= n; count > maxList {
			fail(CodeTooLarge, d.of.position(), "an array has more than %d elements", maxList)
		}
	}
	e.charge(d.position(), count)
	for range count {
		a.elements = append(a.elements, &symbol{kind: symbolVariable, value: value{kind: a.kind, width: a.width}})
	}
	var values []value
	switch {
	case d.input:
		values = e.inputArray(d, a)
	case d.initial != nil:
		values = e.arrayValues(d.initial, a)
	}
	e.declare(d.position(), d.name, &symbol{kind: symbolArray, array: a})
	for i, v := range values {
		e.setVariable(d.position(), a.elements[i], v)
	}
}

func (e *elaborator) arraySizes(of typeName) (sizes []int) {
	if len(of.sizes) > maxDimensions {
		fail(CodeType, of.position(), "an array has at most %d dimensions, not %d", maxDimensions, len(of.sizes))
	}
	for _, x := range of.sizes {
		sizes = append(sizes, e.size(x, "dimension", maxList))
	}
	return sizes
}

// arrayValues are the values that a list in braces, another array, or arrays joined by ++ give to an array.
func (e *elaborator) arrayValues(x expression, to *array) []value {
	e.step(x.position())
	switch y := x.(type) {
	case *set:
		if len(to.sizes) == 0 || len(y.items) != to.sizes[0] {
			fail(CodeType, x.position(), "%d values in braces do not fit the array, which has the sizes %v", len(y.items), to.sizes)
		}
		var values []value
		row := &array{kind: to.kind, width: to.width, sizes: to.sizes[1:]}
		for _, item := range y.items {
			values = append(values, e.arrayValues(item, row)...)
		}
		return values
	case *concatenation:
		var values []value
		length := 0
		for _, part := range y.parts {
			a := e.arrayOperand(part, to)
			length += a.sizes[0]
			values = append(values, e.readAll(part.position(), a)...)
		}
		if length != to.sizes[0] {
			fail(CodeType, x.position(), "the joined arrays have %d elements, not %d", length, to.sizes[0])
		}
		return values
	}
	if len(to.sizes) == 0 {
		return []value{e.convert(x.position(), e.evaluate(x), to.kind, to.width, false)}
	}
	a := e.arrayOperand(x, to)
	if !slices.Equal(a.sizes, to.sizes) {
		fail(CodeType, x.position(), "an array of the sizes %v is not one of the sizes %v", a.sizes, to.sizes)
	}
	return e.readAll(x.position(), a)
}

// arrayOperand is an array of the same elements, and of the same sizes but the first.
func (e *elaborator) arrayOperand(x expression, like *array) *array {
	a, _, ok := e.tryArray(x)
	switch {
	case !ok || len(a.sizes) == 0:
		fail(CodeType, x.position(), "expected an array of the sizes %v", like.sizes)
	case a.kind != like.kind || a.width != like.width || !slices.Equal(a.sizes[1:], like.sizes[1:]):
		fail(CodeType, x.position(), "an array of %s with the sizes %v is not one of %s with the sizes %v; arrays are not converted",
			typeText(a.kind, a.width), a.sizes, typeText(like.kind, like.width), like.sizes)
	}
	return a
}

// readAll are the values of all elements, as they are before any is assigned.
func (e *elaborator) readAll(at int, a *array) []value {
	e.charge(at, len(a.elements))
	values := make([]value, len(a.elements))
	for i, s := range a.elements {
		values[i] = e.read(at, "an element of an array", s)
		for j, b := range values[i].bits {
			values[i].bits[j] = e.snapshot(at, b)
		}
	}
	return values
}

// tryArray reads an array or a part of one, or tells that the expression names something else.
func (e *elaborator) tryArray(x expression) (a *array, word string, ok bool) {
	switch x := x.(type) {
	case *name:
		if s := e.lookup(x.text); s != nil && s.kind == symbolArray {
			return s.array, x.text, true
		}
	case *indexed:
		base, word, ok := e.tryArray(x.base)
		if !ok || len(base.sizes) == 0 { // an index of an element selects its bits
			return nil, "", false
		}
		if len(x.items) > len(base.sizes) {
			fail(CodeType, x.position(), "%s has %d dimensions, not %d", clip(word), len(base.sizes), len(x.items))
		}
		part := *base
		part.sizes, part.elements = e.part(base.sizes, base.elements, x.items)
		return &part, word, true
	}
	return nil, "", false
}

// part selects by an index or a range in each of the first dimensions.
func (e *elaborator) part(sizes []int, elements []*symbol, items []expression) ([]int, []*symbol) {
	if len(items) == 0 {
		return sizes, elements
	}
	stride := len(elements) / sizes[0]
	row := func(i int) ([]int, []*symbol) {
		return e.part(sizes[1:], elements[i*stride:(i+1)*stride], items[1:])
	}
	switch item := items[0].(type) {
	case *set:
		fail(CodeType, item.position(), "an array is indexed by integers and ranges, not by a set")
	case *span:
		var rest []int
		var chosen []*symbol
		places := e.spanPlaces(item, sizes[0])
		for _, i := range places {
			var more []*symbol
			rest, more = row(i)
			chosen = append(chosen, more...)
		}
		return append([]int{len(places)}, rest...), chosen
	}
	return row(e.place1(items[0], sizes[0]))
}

// arrayArgument is the caller's array as a parameter of a subroutine.
func (e *elaborator) arrayArgument(p parameter, x expression) *array {
	given, word, ok := e.tryArray(x)
	if !ok {
		fail(CodeType, x.position(), "%s takes an array", clip(p.name))
	}
	kind, width := e.typeOf(*p.of.element)
	rank, sizes := 0, e.arraySizes(p.of)
	if p.of.rank != nil {
		rank = e.size(p.of.rank, "number of dimensions", maxDimensions)
	}
	switch {
	case given.kind != kind || given.width != width:
		fail(CodeType, x.position(), "%s takes an array of %s, and %s is one of %s", clip(p.name), typeText(kind, width), clip(word), typeText(given.kind, given.width))
	case rank > 0 && rank != len(given.sizes), rank == 0 && !slices.Equal(sizes, given.sizes):
		fail(CodeType, x.position(), "%s has the sizes %v, which %s does not take", clip(word), given.sizes, clip(p.name))
	case given.readonly && !p.of.readonly:
		fail(CodeType, x.position(), "%s is readonly here, and %s is mutable", clip(word), clip(p.name))
	}
	own := *given
	own.readonly = p.of.readonly
	return &own
}

// sizeOf is sizeof(array) or sizeof(array, dimension).
func (e *elaborator) sizeOf(c *call) value {
	if len(c.arguments) != 1 && len(c.arguments) != 2 {
		fail(CodeParameters, c.position(), "sizeof takes an array and, if wanted, a dimension")
	}
	a, _, ok := e.tryArray(c.arguments[0])
	if !ok || len(a.sizes) == 0 {
		fail(CodeType, c.arguments[0].position(), "sizeof takes an array")
	}
	dimension := 0
	if len(c.arguments) == 2 {
		n := e.knownInteger(c.arguments[1])
		if n < 0 || n >= int64(len(a.sizes)) {
			fail(CodeIndex, c.arguments[1].position(), "there is no dimension %d; the array has %d", n, len(a.sizes))
		}
		dimension = int(n)
	}
	return value{kind: kindUint, number: int64(a.sizes[dimension])}
}
