package openqasm

// An index that a measurement decides selects by cases: what uses it stands once for each element, under the condition that the index is its
// number. An index beyond the register selects nothing, and reads as 0.

// runningItem is such an index.
type runningItem struct {
	of    *indexed
	place int // among the items of of
	value value
}

func (i runningItem) node() expression { return i.of.items[i.place] }

// runningItems are the indexes in an expression "name[…]…" that measurements decide and no case has assumed.
func (e *elaborator) runningItems(x expression) (list []runningItem) {
	of, ok := x.(*indexed)
	if !ok {
		return nil
	}
	list = e.runningItems(of.base)
	for place, item := range of.items {
		if _, known := e.assumed[item]; known || !e.mayRun(item) {
			continue
		}
		before := e.operations
		v := e.evaluate(item)
		e.checkNoEffect(item.position(), before, "inside an index")
		if !v.running() {
			continue
		}
		if v.kind == kindFloat || v.kind == kindAngle {
			fail(CodeType, item.position(), "an index is an integer, not a value of type %s", v.describe())
		}
		v.bits = append([]Ref{}, v.bits...)
		for i, b := range v.bits {
			v.bits[i] = e.snapshot(item.position(), b)
		}
		list = append(list, runningItem{of, place, v})
	}
	return list
}

// mayRun reports whether the value of an expression may depend on a measurement, without computing it.
func (e *elaborator) mayRun(x expression) bool {
	switch x := x.(type) {
	case *name:
		s := e.lookup(x.text)
		return s != nil && (s.kind == symbolBits || s.slots != nil)
	case *unary:
		return e.mayRun(x.x)
	case *binary:
		return e.mayRun(x.x) || e.mayRun(x.y)
	case *cast:
		return e.mayRun(x.x)
	case *call:
		return true
	case *indexed:
		if e.mayRun(x.base) {
			return true
		}
		for _, item := range x.items {
			if e.mayRun(item) {
				return true
			}
		}
		_, _, array := e.tryArray(rootOf(x))
		return array
	}
	return false
}

// cases runs something for every choice of elements, with the condition under which the indexes choose them.
func (e *elaborator) cases(items []runningItem, condition Ref, run func(condition Ref)) {
	if len(items) == 0 {
		run(condition)
		return
	}
	item := items[0]
	at := item.node().position()
	size := e.lengthOf(item)
	for i := range size {
		is := e.equal(at, item.value, intValue(int64(i)))
		if item.value.kind == kindInt {
			is = e.or(at, is, e.equal(at, item.value, intValue(int64(i-size))))
		}
		chosen := e.and(at, condition, is)
		if v, known := chosen.Constant(); known && !v {
			continue
		}
		if e.assumed == nil {
			e.assumed = map[expression]int64{}
		}
		e.assumed[item.node()] = int64(i)
		e.cases(items[1:], chosen, run)
		delete(e.assumed, item.node())
	}
}

// lengthOf is the number of elements that an index chooses from.
func (e *elaborator) lengthOf(item runningItem) int {
	if a, _, ok := e.tryArray(item.of.base); ok && len(a.sizes) > item.place {
		return a.sizes[item.place]
	}
	if qubits, _, ok := e.tryQubits(item.of.base); ok {
		return len(qubits)
	}
	return e.evaluate(item.of.base).effective()
}

// selected is the value of the element that running indexes choose.
func (e *elaborator) selected(x *indexed, items []runningItem) (out value) {
	at := x.position()
	first := true
	e.cases(items, constant(true), func(chosen Ref) {
		v := e.element(x)
		if v.kind == kindFloat {
			if len(v.terms) > 0 {
				fail(CodeUnsupported, at, "a real number that depends on a measurement cannot be chosen by another one")
			}
			out.kind, out.width = v.kind, v.width
			out = out.with(chosen, v.real)
			return
		}
		list := v.pattern(v.effective())
		if first {
			out = value{kind: v.kind, width: v.width, bits: make([]Ref, len(list))}
			for i := range list {
				out.bits[i] = constant(false)
			}
			first = false
		}
		for i, b := range list {
			e.step(at)
			out.bits[i] = e.or(at, out.bits[i], e.and(at, chosen, b))
		}
	})
	return out.folded()
}

// onOperands runs something that acts on qubits: where measurements decide indexes of the operands, by cases.
func (e *elaborator) onOperands(at int, operands []expression, run func()) {
	var items []runningItem
	for _, o := range operands {
		items = append(items, e.runningItems(o)...)
	}
	if len(items) == 0 {
		run()
		return
	}
	e.cases(items, constant(true), func(chosen Ref) { e.where(at, chosen, run) })
}

// where runs something under a condition.
func (e *elaborator) where(at int, condition Ref, run func()) {
	if v, known := condition.Constant(); known && v {
		run()
		return
	}
	if then := e.runningBlock(run); len(then) > 0 {
		e.emit(at, Operation{Kind: If, Formula: Formula{Bits: []Ref{condition}}, Then: then})
	}
}
