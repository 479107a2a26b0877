package term

// memo maps (expression, binder depth) to the result of one substitution, so that a shared subterm is rewritten once.
// Raising the generation empties it.
type memo struct {
	entries    []memoEntry
	generation uint32
	used       int
}

type memoEntry struct {
	expr, depth uint32
	generation  uint32
	result      Expr
}

func (m *memo) reset() {
	if len(m.entries) == 0 || len(m.entries) > 1<<16 && m.used < len(m.entries)/64 {
		m.entries = make([]memoEntry, 1024) // also after one huge substitution: do not keep its table for ever
	}
	m.generation++
	if m.generation == 0 { // wrapped: stale entries could look fresh
		clear(m.entries)
		m.generation = 1
	}
	m.used = 0
}

func (m *memo) get(e Expr, depth uint32) (Expr, bool) {
	mask := uint32(len(m.entries) - 1)
	for i := mix(uint32(e), depth, 0, 0) & mask; ; i = (i + 1) & mask {
		en := &m.entries[i]
		if en.generation != m.generation {
			return 0, false
		}
		if en.expr == uint32(e) && en.depth == depth {
			return en.result, true
		}
	}
}

func (m *memo) put(room *Room, e Expr, depth uint32, result Expr) {
	if m.used*2 >= len(m.entries) {
		old := m.entries
		m.entries = Grow[memoEntry](room, nil, len(old)*4, len(old)*4)
		m.used = 0
		for _, en := range old {
			if en.generation == m.generation {
				m.insert(en)
			}
		}
	}
	m.insert(memoEntry{uint32(e), depth, m.generation, result})
}

func (m *memo) insert(en memoEntry) {
	mask := uint32(len(m.entries) - 1)
	i := mix(en.expr, en.depth, 0, 0) & mask
	for m.entries[i].generation == m.generation {
		i = (i + 1) & mask
	}
	m.entries[i] = en
	m.used++
}

// maxNesting bounds the recursion of a substitution. An expression nested deeper is out of reach of the checker too.
const maxNesting = 1 << 20

// TooDeep is the panic of a substitution in an expression nested deeper than maxNesting.
type TooDeep struct{}

func (TooDeep) Error() string { return "an expression is nested too deeply" }

// levelsPerStackCheck is the number of recursion levels between two checks that the stack fits in the room. nestingBytes
// is the most stack one level takes, in bytes, the copy included that the runtime makes when a stack grows.
const (
	levelsPerStackCheck = 1 << 13
	nestingBytes        = 1 << 10
)

// limitNesting panics with TooDeep beyond maxNesting levels of recursion, and with OutOfMemory when the stack does not fit
// in the room.
func (s *Store) limitNesting(nesting int) {
	if nesting > maxNesting {
		panic(TooDeep{})
	}
	if nesting > s.deepestNesting+levelsPerStackCheck {
		s.room.Require(nesting * nestingBytes)
		s.deepestNesting += levelsPerStackCheck
	}
}

// Instantiate replaces the outermost len(values) loose variables of e: index 0 stands for the last value. The values
// are closed.
func (s *Store) Instantiate(e Expr, values []Expr) Expr {
	n := &s.exprs[e]
	if n.Loose == 0 || len(values) == 0 {
		return e
	}
	if n.Kind == KindBVar {
		return s.instantiateVar(e, n.A, 0, values)
	}
	s.memo.reset()
	return s.instantiate(e, 0, values, 0)
}

func (s *Store) instantiateVar(e Expr, index, depth uint32, values []Expr) Expr {
	switch count := uint32(len(values)); {
	case index < depth:
		return e
	case index-depth < count:
		return values[count-1-(index-depth)]
	default:
		return s.BVar(index - count)
	}
}

func (s *Store) instantiate(e Expr, depth uint32, values []Expr, nesting int) Expr {
	n := s.exprs[e]
	if n.Loose <= depth {
		return e
	}
	if n.Kind == KindBVar {
		return s.instantiateVar(e, n.A, depth, values)
	}
	if r, ok := s.memo.get(e, depth); ok {
		return r
	}
	s.limitNesting(nesting)
	nesting++
	var r Expr
	switch n.Kind {
	case KindApp:
		r = s.App(s.instantiate(Expr(n.A), depth, values, nesting), s.instantiate(Expr(n.B), depth, values, nesting))
	case KindLam, KindPi:
		r = s.binder(n.Kind, s.instantiate(Expr(n.A), depth, values, nesting), s.instantiate(Expr(n.B), depth+1, values, nesting))
	case KindLet:
		r = s.Let(s.instantiate(Expr(n.A), depth, values, nesting), s.instantiate(Expr(n.B), depth, values, nesting),
			s.instantiate(Expr(n.C), depth+1, values, nesting))
	case KindProj:
		r = s.Proj(Name(n.A), n.B, s.instantiate(Expr(n.C), depth, values, nesting))
	}
	s.memo.put(s.room, e, depth, r)
	return r
}

// Abstract turns the free variables locals of the closed expression e into loose ones: the last becomes index 0.
func (s *Store) Abstract(e Expr, locals []Expr) Expr {
	if len(locals) == 0 || s.exprs[e].Locals == 0 {
		return e
	}
	first := s.exprs[locals[0]].A
	for _, l := range locals {
		first = min(first, s.exprs[l].A)
	}
	s.memo.reset()
	return s.abstract(e, 0, locals, first, 0)
}

func (s *Store) abstract(e Expr, depth uint32, locals []Expr, first uint32, nesting int) Expr {
	n := s.exprs[e]
	if n.Locals <= first {
		return e
	}
	if n.Kind == KindLocal {
		for i := len(locals) - 1; i >= 0; i-- {
			if locals[i] == e {
				return s.BVar(depth + uint32(len(locals)-1-i))
			}
		}
		return e
	}
	if r, ok := s.memo.get(e, depth); ok {
		return r
	}
	s.limitNesting(nesting)
	nesting++
	var r Expr
	switch n.Kind {
	case KindApp:
		r = s.App(s.abstract(Expr(n.A), depth, locals, first, nesting), s.abstract(Expr(n.B), depth, locals, first, nesting))
	case KindLam, KindPi:
		r = s.binder(n.Kind, s.abstract(Expr(n.A), depth, locals, first, nesting), s.abstract(Expr(n.B), depth+1, locals, first, nesting))
	case KindLet:
		r = s.Let(s.abstract(Expr(n.A), depth, locals, first, nesting), s.abstract(Expr(n.B), depth, locals, first, nesting),
			s.abstract(Expr(n.C), depth+1, locals, first, nesting))
	case KindProj:
		r = s.Proj(Name(n.A), n.B, s.abstract(Expr(n.C), depth, locals, first, nesting))
	}
	s.memo.put(s.room, e, depth, r)
	return r
}

// Pis closes body over locals as a function type; Lams as a function. A local's type may mention earlier ones.
func (s *Store) Pis(locals []Expr, body Expr) Expr { return s.close(KindPi, locals, body) }

// Lams closes body over locals as a function.
func (s *Store) Lams(locals []Expr, body Expr) Expr { return s.close(KindLam, locals, body) }

func (s *Store) close(kind Kind, locals []Expr, body Expr) Expr {
	r := s.Abstract(body, locals)
	for i := len(locals) - 1; i >= 0; i-- {
		r = s.binder(kind, s.Abstract(Expr(s.exprs[locals[i]].B), locals[:i]), r)
	}
	return r
}

// InstantiateLevels replaces the universe parameters params of e by levels, position by position. Other parameters stay.
func (s *Store) InstantiateLevels(e Expr, params []Name, levels []Level) Expr {
	if !s.exprs[e].HasParam || len(params) == 0 {
		return e
	}
	s.memo.reset()
	return s.instantiateLevels(e, &levelMap{params: params, levels: levels}, 0)
}

func (s *Store) instantiateLevels(e Expr, m *levelMap, nesting int) Expr {
	n := s.exprs[e]
	if !n.HasParam {
		return e
	}
	switch n.Kind {
	case KindSort:
		return s.Sort(s.substituteLevel(Level(n.A), m))
	case KindConst:
		return s.Const(Name(n.A), s.substituteLevels(Levels(n.B), m))
	}
	if r, ok := s.memo.get(e, 0); ok {
		return r
	}
	s.limitNesting(nesting)
	nesting++
	var r Expr
	switch n.Kind {
	case KindApp:
		r = s.App(s.instantiateLevels(Expr(n.A), m, nesting), s.instantiateLevels(Expr(n.B), m, nesting))
	case KindLam, KindPi:
		r = s.binder(n.Kind, s.instantiateLevels(Expr(n.A), m, nesting), s.instantiateLevels(Expr(n.B), m, nesting))
	case KindLet:
		r = s.Let(s.instantiateLevels(Expr(n.A), m, nesting), s.instantiateLevels(Expr(n.B), m, nesting),
			s.instantiateLevels(Expr(n.C), m, nesting))
	case KindProj:
		r = s.Proj(Name(n.A), n.B, s.instantiateLevels(Expr(n.C), m, nesting))
	case KindLocal:
		r = s.Local(n.A, s.instantiateLevels(Expr(n.B), m, nesting))
	}
	s.memo.put(s.room, e, 0, r)
	return r
}

// levelMap is a substitution of universe parameters; done remembers compound levels of large lists.
type levelMap struct {
	params []Name
	levels []Level
	done   map[Level]Level
}

func (s *Store) substituteLevels(ls Levels, m *levelMap) Levels {
	if !s.lists[ls].hasParam {
		return ls
	}
	var buf [8]Level
	out := buf[:0]
	for _, l := range s.LevelsOf(ls) {
		out = append(out, s.substituteLevel(l, m))
	}
	return s.List(out)
}

func (s *Store) substituteLevel(l Level, m *levelMap) Level {
	n := s.levels[l]
	if !n.HasParam {
		return l
	}
	if n.Kind == LevelParam {
		for i, p := range m.params {
			if p == Name(n.A) {
				return m.levels[i]
			}
		}
		return l
	}
	if n.Size > 16 {
		if r, ok := m.done[l]; ok {
			return r
		}
	}
	var r Level
	switch n.Kind {
	case LevelSucc:
		r = s.Succ(s.substituteLevel(Level(n.A), m))
	case LevelMax:
		r = s.Max(s.substituteLevel(Level(n.A), m), s.substituteLevel(Level(n.B), m))
	case LevelIMax:
		r = s.IMax(s.substituteLevel(Level(n.A), m), s.substituteLevel(Level(n.B), m))
	}
	if n.Size > 16 {
		if m.done == nil {
			m.done = map[Level]Level{}
		}
		m.done[l] = r
	}
	return r
}

// Replace rewrites e from the outside in: where f returns true, its result replaces the subexpression and is not searched
// further. Neither the replaced subexpressions nor the results have loose variables.
func (s *Store) Replace(e Expr, f func(Expr) (Expr, bool)) Expr {
	done := map[Expr]Expr{}
	return s.replace(e, f, done, 0)
}

func (s *Store) replace(e Expr, f func(Expr) (Expr, bool), done map[Expr]Expr, nesting int) Expr {
	if r, ok := done[e]; ok {
		return r
	}
	s.limitNesting(nesting)
	nesting++
	r, ok := f(e)
	if !ok {
		n := s.exprs[e]
		switch n.Kind {
		case KindApp:
			r = s.App(s.replace(Expr(n.A), f, done, nesting), s.replace(Expr(n.B), f, done, nesting))
		case KindLam, KindPi:
			r = s.binder(n.Kind, s.replace(Expr(n.A), f, done, nesting), s.replace(Expr(n.B), f, done, nesting))
		case KindLet:
			r = s.Let(s.replace(Expr(n.A), f, done, nesting), s.replace(Expr(n.B), f, done, nesting), s.replace(Expr(n.C), f, done, nesting))
		case KindProj:
			r = s.Proj(Name(n.A), n.B, s.replace(Expr(n.C), f, done, nesting))
		default:
			r = e
		}
	}
	done[e] = r
	return r
}
