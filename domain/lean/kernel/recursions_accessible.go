package kernel

import "reckon/domain/lean/term"

// Well-founded recursion is the recursor of an accessibility predicate: an inductive proposition with one constructor
// intro x h for the index x, where h is a proof. Of R x p with such a recursor R the claim is R x p = S v for every proof
// p, where x is v or a structure of v and numbers that stay the same. It is proved by induction on v: whatever p is, it
// equals intro x h for some h, because a proof of the proposition for x comes from the constructor and all proofs of a
// proposition are equal; so R x p reduces like R x (intro x h) with h a free variable. The equation is true whether or
// not the kernel can see it by reducing the proof at hand.

// accessibleCall is the recursion, and what is proved of it.
type accessibleCall struct {
	index  term.Expr // with the variable v in its place
	v      term.Expr
	proven bool
}

// accessible takes a call of such a recursor apart: the recursor with all before the index, and the index.
func (s *symbolic) accessible(e term.Expr) (recursor, index term.Expr, ok bool) {
	head, args := s.store.Spine(e, nil)
	n := s.store.Node(head)
	if n.Kind != term.KindConst {
		return 0, 0, false
	}
	k := s.findConstant(term.Name(n.A))
	// One motive: a block of this type alone, so that the parameters of the recursor are those of the type.
	if k == nil || k.Recursor == nil || k.Recursor.NumIndices != 1 || k.Recursor.NumMotives != 1 || len(args) != k.Recursor.MajorIndex()+1 || !s.isAccessibility(k.Recursor.MajorInductive) {
		return 0, 0, false
	}
	first := k.Recursor.FirstIndex()
	return s.store.Apps(head, args[:first]), args[first], true
}

// isAccessibility says whether the constant called n is an inductive predicate with one constructor, whose first field is
// the index.
func (s *symbolic) isAccessibility(n term.Name) bool {
	k := s.findConstant(n)
	if k == nil || k.Inductive == nil || k.Inductive.NumIndices != 1 || len(k.Inductive.Constructors) != 1 {
		return false
	}
	ctor := s.findConstant(k.Inductive.Constructors[0])
	if ctor == nil || ctor.Constructor == nil || ctor.Constructor.NumFields != 2 || ctor.Constructor.NumParams != k.Inductive.NumParams {
		return false
	}
	typ, result := k.Type, ctor.Type
	for range k.Inductive.NumParams + 1 {
		if s.store.Kind(typ) != term.KindPi {
			return false
		}
		typ = term.Expr(s.store.Node(typ).B)
	}
	for range k.Inductive.NumParams + 2 {
		if s.store.Kind(result) != term.KindPi {
			return false
		}
		result = term.Expr(s.store.Node(result).B)
	}
	_, args := s.store.Spine(result, nil)
	return typ == s.store.Sort(term.Zero) && len(args) == k.Inductive.NumParams+1 && args[len(args)-1] == s.store.BVar(1)
}

// interceptAccessible puts S in the place of a well-founded recursion of which the claim is proved.
func (s *symbolic) interceptAccessible(e term.Expr) (term.Expr, bool) {
	recursor, index, ok := s.accessible(e)
	if !ok || s.trivial || s.store.Node(recursor).Locals > s.constantLocals || s.whnf(s.typeOf(e)) != s.nat {
		return 0, false
	}
	v, pattern, ok := s.valueIn(index)
	if !ok {
		return 0, false
	}
	call, met := s.wellFounded[recursor]
	if !met {
		if len(s.wellFounded) >= maxFuelCalls {
			return 0, false
		}
		call = &accessibleCall{v: s.variable()}
		call.index = pattern(call.v)
		s.wellFounded[recursor] = call
		s.proveAccessible(recursor, e, call)
	}
	if !s.defEq(pattern(call.v), call.index) {
		return 0, false
	}
	if s.descending == call { // the hypothesis of induction
		guard, _ := s.guardOutcome(s.spec.guard(call.v))
		ok = guard && s.defEq(v, s.spec.next(call.v))
	} else {
		ok = call.proven
	}
	return s.store.App(s.specFunction, v), ok
}

// valueIn finds the number in an index, and how the index is made of it.
func (s *symbolic) valueIn(index term.Expr) (v term.Expr, pattern func(v term.Expr) term.Expr, ok bool) {
	if s.whnf(s.typeOf(index)) == s.nat {
		return index, func(v term.Expr) term.Expr { return v }, true
	}
	index = s.whnf(index)
	k, _ := s.headConstant(index)
	if k == nil || k.Constructor == nil {
		return 0, nil, false
	}
	head, args := s.store.Spine(index, nil)
	at := -1
	for i, arg := range args {
		switch {
		case s.store.Node(arg).Locals <= s.constantLocals:
		case at < 0 && i >= k.Constructor.NumParams && s.whnf(s.typeOf(arg)) == s.nat:
			at = i
		default:
			return 0, nil, false
		}
	}
	if at < 0 {
		return 0, nil, false
	}
	return args[at], func(v term.Expr) term.Expr {
		own := append([]term.Expr(nil), args...)
		own[at] = v
		return s.store.Apps(head, own)
	}, true
}

// proveAccessible tries to prove the claim about a well-founded recursion, in a run of its own. e is a call of it.
func (s *symbolic) proveAccessible(recursor, e term.Expr, call *accessibleCall) {
	facts, proving, descending := s.facts, s.proving, s.descending
	s.facts, s.proving, s.descending = nil, nil, call
	s.forget()
	if unfolded, ok := s.unfoldAccessible(recursor, e, call.index); ok {
		call.proven = s.holdsInAllCases(unfolded, func(result term.Expr) bool { return s.equalsSpec(result, call.v) })
	}
	s.facts, s.proving, s.descending = facts, proving, descending
	s.forget()
}

// unfoldAccessible is the recursor on intro index h, for a free variable h, by its rule.
func (s *symbolic) unfoldAccessible(recursor, e, index term.Expr) (term.Expr, bool) {
	head, args := s.store.Spine(recursor, nil)
	n := s.store.Node(head)
	k := s.findConstant(term.Name(n.A))
	ctor := s.findConstant(s.findConstant(k.Recursor.MajorInductive).Inductive.Constructors[0])
	if len(k.Recursor.Rules) != 1 || k.Recursor.Rules[0].Constructor != ctor.Name || k.Recursor.Rules[0].NumFields != 2 {
		return 0, false
	}
	// The levels of the predicate are those in the type of the proof at hand.
	_, all := s.store.Spine(e, nil)
	p := s.store.Node(s.store.Head(s.whnf(s.typeOf(all[len(all)-1]))))
	if p.Kind != term.KindConst || term.Name(p.A) != k.Recursor.MajorInductive || len(s.store.LevelsOf(term.Levels(p.B))) != len(ctor.Params) {
		return 0, false
	}
	typ := s.instantiateParams(ctor.Type, ctor, term.Levels(p.B))
	for _, arg := range append(append([]term.Expr(nil), args[:k.Recursor.NumParams]...), index) {
		m := s.store.Node(typ)
		if m.Kind != term.KindPi {
			return 0, false
		}
		typ = s.store.Instantiate(term.Expr(m.B), []term.Expr{arg})
	}
	m := s.store.Node(typ)
	if m.Kind != term.KindPi || !s.isProp(term.Expr(m.A)) {
		return 0, false
	}
	h := s.newLocal(term.Expr(m.A))
	value := s.instantiateParams(k.Recursor.Rules[0].Value, k, term.Levels(n.B))
	return s.beta(value, append(args, index, h)), true
}
