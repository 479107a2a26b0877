package statement

import (
	"reckon/domain/lean/export"
	"reckon/domain/lean/term"
)

// What notation leaves out is determined by syntax alone: no definition is unfolded. Where the type found this way is
// not literally the one that is left out, the notation is not used.

// infer finds the type of an expression whose free variables have the given types, innermost last. It assumes that
// the expression is well-typed; of another it finds some type or none.
func (s *session) infer(types []id, e id) (id, bool) {
	a := s.arena
	if !a.step() {
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
		return a.sort(a.succ(lid(n.a))), true
	case term.KindConst:
		return s.constantType(term.Name(n.a), lid(n.b))
	case term.KindApp:
		return s.inferApp(types, e)
	case term.KindLam:
		body, ok := s.infer(push(types, id(n.a)), id(n.b))
		if !ok {
			return 0, false
		}
		return a.bind(term.KindPi, n.binder, id(n.a), body), true
	case term.KindPi:
		from, ok := s.sortOf(types, id(n.a))
		if !ok {
			return 0, false
		}
		to, ok := s.sortOf(push(types, id(n.a)), id(n.b))
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

// push returns types with one more, leaving types alone.
func push(types []id, t id) []id { return append(types[:len(types):len(types)], t) }

// knownConstant is a constant without universe parameters.
func (s *session) knownConstant(dotted string) (id, bool) {
	n, ok := s.file.Store.LookupDotted(dotted)
	return s.arena.constant(n, noLevel), ok
}

// inferApp finds the type of an application from the type of its head.
func (s *session) inferApp(types []id, e id) (id, bool) {
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
		typ = id(a.nodes[typ].b)
	}
	return s.instantiateBeta(typ, args[done:])
}

// instantiateBeta is instantiate, with the functions at the head of the result applied to their arguments.
func (s *session) instantiateBeta(e id, args []id) (id, bool) {
	e, ok := s.instantiate(e, args)
	for ok && s.arena.step() {
		head, args := s.arena.spine(e)
		count := 0
		for ; count < len(args) && s.arena.nodes[head].kind == term.KindLam; count++ {
			head = id(s.arena.nodes[head].b)
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
func (a *arena) spine(e id) (head id, args []id) {
	for a.nodes[e].kind == term.KindApp {
		args = append(args, id(a.nodes[e].b))
		e = id(a.nodes[e].a)
	}
	for i, j := 0, len(args)-1; i < j; i, j = i+1, j-1 {
		args[i], args[j] = args[j], args[i]
	}
	return e, args
}

// sortOf finds the universe level of a type.
func (s *session) sortOf(types []id, typ id) (lid, bool) {
	e, ok := s.infer(types, typ)
	if !ok || s.arena.nodes[e].kind != term.KindSort {
		return 0, false
	}
	return lid(s.arena.nodes[e].a), true
}

// simpleIMax and simpleMax are imax and max, simplified where that is plain to see, as Lean does.
func (a *arena) simpleIMax(x, y lid) lid {
	switch {
	case y == zero || x == y || x == zero:
		return y
	case a.levels[y].kind == term.LevelSucc:
		return a.simpleMax(x, y)
	}
	return a.imax(x, y)
}

func (a *arena) simpleMax(x, y lid) lid {
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
func (a *arena) offset(l lid) (base lid, n int) {
	for a.levels[l].kind == term.LevelSucc {
		l = lid(a.levels[l].a)
		n++
	}
	return l, n
}

// constantType is the declared type of a constant at the given levels.
func (s *session) constantType(n term.Name, levels lid) (id, bool) {
	declared, ok := s.constants[n]
	if !ok {
		handle, found := s.file.WrittenType(n)
		if found {
			m := &importer{file: s.file, arena: s.arena, exprs: map[uint32]id{}, levels: map[term.Level]lid{}, left: maxTypeNodes}
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
	table := make(map[term.Name]lid, len(params))
	for i, p := range params {
		table[p] = items[i]
	}
	sub := &levelSubstitution{session: s, params: table, exprs: map[id]id{}, levels: map[lid]lid{}}
	return sub.expr(declared.typ)
}

// maxTypeNodes bounds the types of constants that inference looks at.
const maxTypeNodes = 4096

// constantType is the imported type of a constant, if it could be imported.
type constantType struct {
	typ id
	ok  bool
}

// levelSubstitution puts levels in the place of universe parameters.
type levelSubstitution struct {
	session *session
	params  map[term.Name]lid
	exprs   map[id]id
	levels  map[lid]lid
}

func (m *levelSubstitution) expr(e id) (id, bool) {
	a := m.session.arena
	n := a.nodes[e]
	if !n.hasParams {
		return e, true
	}
	if out, ok := m.exprs[e]; ok {
		return out, true
	}
	if !a.step() {
		return 0, false
	}
	var out id
	var ok bool
	switch n.kind {
	case term.KindSort:
		out, ok = a.sort(m.level(lid(n.a))), true
	case term.KindConst:
		out, ok = a.constant(term.Name(n.a), m.level(lid(n.b))), true
	default:
		out, ok = a.rebuild(n, func(part id, _ uint32) (id, bool) { return m.expr(part) })
	}
	m.exprs[e] = out
	return out, ok
}

func (m *levelSubstitution) level(l lid) lid {
	a := m.session.arena
	n := a.levels[l]
	if !n.hasParams {
		return l
	}
	if out, ok := m.levels[l]; ok {
		return out
	}
	var out lid
	switch n.kind {
	case term.LevelParam:
		value, ok := m.params[term.Name(n.a)]
		if !ok {
			value = l
		}
		out = value
	case term.LevelSucc:
		out = a.succ(m.level(lid(n.a)))
	case term.LevelMax:
		out = a.simpleMax(m.level(lid(n.a)), m.level(lid(n.b)))
	case term.LevelIMax:
		out = a.simpleIMax(m.level(lid(n.a)), m.level(lid(n.b)))
	default:
		out = a.pair(n.kind, m.level(lid(n.a)), m.level(lid(n.b)))
	}
	m.levels[l] = out
	return out
}

// rebuild makes a compound expression anew from what change makes of its parts; under tells how many binders of n are
// around the part.
func (a *arena) rebuild(n node, change func(part id, under uint32) (id, bool)) (id, bool) {
	part := func(handle, under uint32) (id, bool) { return change(id(handle), under) }
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
func (s *session) lift(e id, by uint32) (id, bool) {
	if by == 0 {
		return e, true
	}
	return s.substitute(e, func(i, under uint32) (id, bool) { return s.arena.bvar(i + by), true })
}

// instantiate puts args, given outermost first, in the place of the innermost free variables.
func (s *session) instantiate(e id, args []id) (id, bool) {
	count := uint32(len(args))
	if count == 0 {
		return e, true
	}
	return s.substitute(e, func(i, under uint32) (id, bool) {
		if i -= under; i < count {
			return s.lift(args[count-1-i], under)
		}
		return s.arena.bvar(i + under - count), true
	})
}

// substitute replaces the free variables of an expression; replace gets the index and how many binders of e are
// around it, which are counted in the index.
func (s *session) substitute(e id, replace func(i, under uint32) (id, bool)) (id, bool) {
	type place struct {
		e     id
		under uint32
	}
	memo := map[place]id{}
	var walk func(e id, under uint32) (id, bool)
	walk = func(e id, under uint32) (id, bool) {
		a := s.arena
		n := a.nodes[e]
		if n.loose <= under {
			return e, true
		}
		if !a.step() {
			return 0, false
		}
		if n.kind == term.KindBVar {
			return replace(n.a, under)
		}
		if out, ok := memo[place{e, under}]; ok {
			return out, true
		}
		out, ok := a.rebuild(n, func(part id, more uint32) (id, bool) { return walk(part, under+more) })
		memo[place{e, under}] = out
		return out, ok
	}
	return walk(e, 0)
}

// atSortOf is @c.{u} A for a type A of Sort u.
func (s *session) atSortOf(constant term.Name, types []id, typ id) (id, bool) {
	u, ok := s.sortOf(types, typ)
	if !ok {
		return 0, false
	}
	a := s.arena
	return a.app(a.constant(constant, a.list([]lid{u})), typ), true
}

// headStructure is the constant at the head of the type of e.
func (s *session) headStructure(types []id, e id) (term.Name, bool) {
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
