package statement

import (
	"reckon/domain/lean/export"
	"reckon/domain/lean/term"
)

// What notation leaves out is determined by syntax alone: no definition is unfolded. Where the type found this way is
// not literally the one that is left out, the notation is not used.

// infer returns the type of an expression whose free variables have the given types, innermost last. The expression must
// be well-typed; of an ill-typed one the result means nothing. ok is false when the steps or nodes run out.
func (s *session) infer(types []exprID, e exprID) (exprID, bool) {
	a := s.arena
	if !a.takeStep() {
		return 0, false
	}
	n := a.nodes[e]
	switch n.kind {
	case term.KindBVar:
		i := len(types) - 1 - int(n.a)
		if i < 0 {
			return 0, false
		}
		return s.lift(types[i], n.a+1)
	case term.KindSort:
		return a.sort(a.succ(levelID(n.a))), true
	case term.KindConst:
		return s.constantType(term.Name(n.a), levelID(n.b))
	case term.KindApp:
		return s.inferApp(types, e)
	case term.KindLam:
		body, ok := s.infer(withType(types, exprID(n.a)), exprID(n.b))
		if !ok {
			return 0, false
		}
		return a.bind(term.KindPi, n.binder, exprID(n.a), body), true
	case term.KindPi:
		from, ok := s.sortOf(types, exprID(n.a))
		if !ok {
			return 0, false
		}
		to, ok := s.sortOf(withType(types, exprID(n.a)), exprID(n.b))
		if !ok {
			return 0, false
		}
		return a.sort(a.simpleIMax(from, to)), true
	case term.KindNat:
		return s.knownConstant("Nat")
	case term.KindStr:
		return s.knownConstant("String")
	}
	return 0, false
}

// withType returns a copy of types with t appended.
func withType(types []exprID, t exprID) []exprID { return append(types[:len(types):len(types)], t) }

// knownConstant is a constant without universe parameters.
func (s *session) knownConstant(dotted string) (exprID, bool) {
	n, ok := s.file.Store.LookupDotted(dotted)
	return s.arena.constant(n, noLevel), ok
}

// inferApp finds the type of an application from the type of its head.
func (s *session) inferApp(types []exprID, e exprID) (exprID, bool) {
	a := s.arena
	head, args := a.spine(e)
	typ, ok := s.infer(types, head)
	if !ok {
		return 0, false
	}
	done := 0 // args[:done] are put into typ
	for i := range args {
		if a.nodes[typ].kind != term.KindPi {
			if typ, ok = s.instantiateBeta(typ, args[done:i]); !ok || a.nodes[typ].kind != term.KindPi {
				return 0, false
			}
			done = i
		}
		typ = exprID(a.nodes[typ].b)
	}
	return s.instantiateBeta(typ, args[done:])
}

// instantiateBeta is instantiate, with the functions at the head of the result applied to their arguments.
func (s *session) instantiateBeta(e exprID, args []exprID) (exprID, bool) {
	e, ok := s.instantiate(e, args)
	for ok && s.arena.takeStep() {
		head, args := s.arena.spine(e)
		count := 0
		for ; count < len(args) && s.arena.nodes[head].kind == term.KindLam; count++ {
			head = exprID(s.arena.nodes[head].b)
		}
		if count == 0 {
			return e, true
		}
		if e, ok = s.instantiate(head, args[:count]); !ok {
			break
		}
		for _, arg := range args[count:] {
			e = s.arena.app(e, arg)
		}
	}
	return 0, false
}

// spine splits an application into its head and arguments.
func (a *arena) spine(e exprID) (head exprID, args []exprID) {
	for a.nodes[e].kind == term.KindApp {
		args = append(args, exprID(a.nodes[e].b))
		e = exprID(a.nodes[e].a)
	}
	for i, j := 0, len(args)-1; i < j; i, j = i+1, j-1 {
		args[i], args[j] = args[j], args[i]
	}
	return e, args
}

// sortOf finds the universe level of a type.
func (s *session) sortOf(types []exprID, typ exprID) (levelID, bool) {
	e, ok := s.infer(types, typ)
	if !ok || s.arena.nodes[e].kind != term.KindSort {
		return 0, false
	}
	return levelID(s.arena.nodes[e].a), true
}

// simpleIMax and simpleMax are imax and max, simplified where that is plain to see, as Lean does.
func (a *arena) simpleIMax(x, y levelID) levelID {
	switch {
	case y == zero || x == y || x == zero:
		return y
	case a.levels[y].kind == term.LevelSucc:
		return a.simpleMax(x, y)
	}
	return a.imax(x, y)
}

func (a *arena) simpleMax(x, y levelID) levelID {
	switch {
	case x == y || x == zero:
		return y
	case y == zero:
		return x
	}
	baseX, m := a.offset(x)
	baseY, n := a.offset(y)
	if baseX == baseY {
		if m >= n {
			return x
		}
		return y
	}
	return a.max(x, y)
}

// offset splits n successors off a level.
func (a *arena) offset(l levelID) (base levelID, n int) {
	for a.levels[l].kind == term.LevelSucc {
		l = levelID(a.levels[l].a)
		n++
	}
	return l, n
}

// constantType is the declared type of a constant at the given levels.
func (s *session) constantType(n term.Name, levels levelID) (exprID, bool) {
	declared, ok := s.constants[n]
	if !ok {
		handle, found := s.file.WrittenType(n)
		if found {
			m := &importer{file: s.file, arena: s.arena, exprs: map[uint32]exprID{}, levels: map[term.Level]levelID{}, nodesLeft: maxTypeNodes}
			declared.typ, declared.ok = m.expr(handle)
		}
		s.constants[n] = declared
	}
	params, items := s.params[n], s.arena.items(levels)
	if !declared.ok || len(params) != len(items) {
		return 0, false
	}
	if len(items) == 0 {
		return declared.typ, true
	}
	table := make(map[term.Name]levelID, len(params))
	for i, p := range params {
		table[p] = items[i]
	}
	sub := &levelSubstitution{session: s, params: table, exprs: map[exprID]exprID{}, levels: map[levelID]levelID{}}
	return sub.expr(declared.typ)
}

// maxTypeNodes is the size, in nodes, of the largest constant's type that inference imports.
const maxTypeNodes = 4096

// constantType is the imported type of a constant, if it could be imported.
type constantType struct {
	typ exprID
	ok  bool
}

// levelSubstitution puts levels in the place of universe parameters.
type levelSubstitution struct {
	session *session
	params  map[term.Name]levelID
	exprs   map[exprID]exprID
	levels  map[levelID]levelID
}

func (m *levelSubstitution) expr(e exprID) (exprID, bool) {
	a := m.session.arena
	n := a.nodes[e]
	if !n.hasParams {
		return e, true
	}
	if out, ok := m.exprs[e]; ok {
		return out, true
	}
	if !a.takeStep() {
		return 0, false
	}
	var out exprID
	var ok bool
	switch n.kind {
	case term.KindSort:
		out, ok = a.sort(m.level(levelID(n.a))), true
	case term.KindConst:
		out, ok = a.constant(term.Name(n.a), m.level(levelID(n.b))), true
	default:
		out, ok = a.rebuild(n, func(part exprID, _ uint32) (exprID, bool) { return m.expr(part) })
	}
	m.exprs[e] = out
	return out, ok
}

func (m *levelSubstitution) level(l levelID) levelID {
	a := m.session.arena
	n := a.levels[l]
	if !n.hasParams {
		return l
	}
	if out, ok := m.levels[l]; ok {
		return out
	}
	var out levelID
	switch n.kind {
	case term.LevelParam:
		value, ok := m.params[term.Name(n.a)]
		if !ok {
			value = l
		}
		out = value
	case term.LevelSucc:
		out = a.succ(m.level(levelID(n.a)))
	case term.LevelMax:
		out = a.simpleMax(m.level(levelID(n.a)), m.level(levelID(n.b)))
	case term.LevelIMax:
		out = a.simpleIMax(m.level(levelID(n.a)), m.level(levelID(n.b)))
	default:
		out = a.pair(n.kind, m.level(levelID(n.a)), m.level(levelID(n.b)))
	}
	m.levels[l] = out
	return out
}

// rebuild makes a compound expression anew from what change makes of its parts; under tells how many binders of n are
// around the part.
func (a *arena) rebuild(n node, change func(part exprID, under uint32) (exprID, bool)) (exprID, bool) {
	part := func(handle, under uint32) (exprID, bool) { return change(exprID(handle), under) }
	switch n.kind {
	case term.KindApp:
		f, ok := part(n.a, 0)
		if !ok {
			return 0, false
		}
		x, ok := part(n.b, 0)
		if !ok {
			return 0, false
		}
		return a.app(f, x), true
	case term.KindLam, term.KindPi:
		typ, ok := part(n.a, 0)
		if !ok {
			return 0, false
		}
		body, ok := part(n.b, 1)
		if !ok {
			return 0, false
		}
		return a.bind(n.kind, n.binder, typ, body), true
	case term.KindLet:
		typ, ok := part(n.a, 0)
		if !ok {
			return 0, false
		}
		value, ok := part(n.b, 0)
		if !ok {
			return 0, false
		}
		body, ok := part(n.c, 1)
		if !ok {
			return 0, false
		}
		return a.let(typ, value, body), true
	case term.KindProj:
		e, ok := part(n.c, 0)
		if !ok {
			return 0, false
		}
		return a.proj(term.Name(n.a), n.b, e), true
	}
	return 0, false
}

// lift adds by to the free variables of an expression.
func (s *session) lift(e exprID, by uint32) (exprID, bool) {
	if by == 0 {
		return e, true
	}
	return s.substitute(e, func(i, under uint32) (exprID, bool) { return s.arena.bvar(i + by), true })
}

// instantiate puts args, given outermost first, in the place of the innermost free variables.
func (s *session) instantiate(e exprID, args []exprID) (exprID, bool) {
	count := uint32(len(args))
	if count == 0 {
		return e, true
	}
	return s.substitute(e, func(i, under uint32) (exprID, bool) {
		if i -= under; i < count {
			return s.lift(args[count-1-i], under)
		}
		return s.arena.bvar(i + under - count), true
	})
}

// substitute replaces the free variables of an expression; replace gets the index and how many binders of e are
// around it, which are counted in the index.
func (s *session) substitute(e exprID, replace func(i, under uint32) (exprID, bool)) (exprID, bool) {
	type place struct {
		e     exprID
		under uint32
	}
	memo := map[place]exprID{}
	var walk func(e exprID, under uint32) (exprID, bool)
	walk = func(e exprID, under uint32) (exprID, bool) {
		a := s.arena
		n := a.nodes[e]
		if n.loose <= under {
			return e, true
		}
		if !a.takeStep() {
			return 0, false
		}
		if n.kind == term.KindBVar {
			return replace(n.a, under)
		}
		if out, ok := memo[place{e, under}]; ok {
			return out, true
		}
		out, ok := a.rebuild(n, func(part exprID, more uint32) (exprID, bool) { return walk(part, under+more) })
		memo[place{e, under}] = out
		return out, ok
	}
	return walk(e, 0)
}

// atSortOf is @c.{u} A for a type A of Sort u.
func (s *session) atSortOf(constant term.Name, types []exprID, typ exprID) (exprID, bool) {
	u, ok := s.sortOf(types, typ)
	if !ok {
		return 0, false
	}
	a := s.arena
	return a.app(a.constant(constant, a.list([]levelID{u})), typ), true
}

// headStructure is the constant at the head of the type of e.
func (s *session) headStructure(types []exprID, e exprID) (term.Name, bool) {
	typ, ok := s.infer(types, e)
	if !ok {
		return 0, false
	}
	head, _ := s.arena.spine(typ)
	n := s.arena.nodes[head]
	return term.Name(n.a), n.kind == term.KindConst
}

// hasImplicit says whether a constant takes an argument that Lean would fill in. Of an undeclared one it says yes.
func (s *session) hasImplicit(n term.Name) bool {
	handle, ok := s.file.WrittenType(n)
	if !ok {
		return true
	}
	for w := s.file.Written(handle); w.Kind == term.KindPi; w = s.file.Written(w.B) {
		if w.Binder != export.Default {
			return true
		}
	}
	return false
}
