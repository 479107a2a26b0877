package attack

// Term is an expression in which bound variables are identified by their binder. Names are kept as spelled in the
// language of parse.go, so that equal names have equal spellings.
type Term struct {
	kind       termKind
	name       string  // of a constant, or of a projection's structure
	levels     []Level // of a constant
	level      Level   // of a sort
	local      *Local  // of a variable or binder
	a, b, c    *Term   // function and argument; body in b; value of a let in a; structure of a projection in a
	index      int     // of a projection or a loose variable
	text       string  // of a literal
	annotation string  // of a binder; empty: default
}

type termKind uint8

const (
	localTerm termKind = iota
	looseTerm          // a variable without a binder, by index
	sortTerm
	constTerm
	appTerm
	lamTerm
	piTerm
	letTerm
	projTerm
	natTerm
	strTerm
)

// Local is a bound variable.
type Local struct {
	name string
	typ  *Term
}

// Level is a universe level: zero is nil.
type Level *levelNode

type levelNode struct {
	kind  string // succ, max, imax, param
	a, b  Level
	param string
}

func succ(l Level) Level        { return &levelNode{kind: "succ", a: l} }
func levelParam(n string) Level { return &levelNode{kind: "param", param: n} }

func variable(l *Local) *Term { return &Term{kind: localTerm, local: l} }
func sort(l Level) *Term      { return &Term{kind: sortTerm, level: l} }
func constant(name string, levels ...Level) *Term {
	return &Term{kind: constTerm, name: name, levels: levels}
}
func natLiteral(digits string) *Term { return &Term{kind: natTerm, text: digits} }
func strLiteral(text string) *Term   { return &Term{kind: strTerm, text: text} }
func lam(l *Local, body *Term) *Term { return &Term{kind: lamTerm, local: l, b: body} }
func pi(l *Local, body *Term) *Term  { return &Term{kind: piTerm, local: l, b: body} }
func arrow(from, to *Term) *Term     { return pi(&Local{"x", from}, to) }
func projection(structure string, i int, e *Term) *Term {
	return &Term{kind: projTerm, name: structure, index: i, a: e}
}

func apply(f *Term, args ...*Term) *Term {
	for _, a := range args {
		f = &Term{kind: appTerm, a: f, b: a}
	}
	return f
}

func pis(locals []*Local, body *Term) *Term {
	for i := len(locals) - 1; i >= 0; i-- {
		body = pi(locals[i], body)
	}
	return body
}

func lams(locals []*Local, body *Term) *Term {
	for i := len(locals) - 1; i >= 0; i-- {
		body = lam(locals[i], body)
	}
	return body
}

func variables(locals []*Local) []*Term {
	out := make([]*Term, len(locals))
	for i, l := range locals {
		out[i] = variable(l)
	}
	return out
}

// spine splits f a b into f and [a b].
func spine(t *Term) (head *Term, args []*Term) {
	for t.kind == appTerm {
		args = append([]*Term{t.b}, args...)
		t = t.a
	}
	return t, args
}

// telescope splits (x : A) → (y : B) → C into [x y] and C.
func telescope(t *Term) (locals []*Local, rest *Term) {
	for t.kind == piTerm {
		locals = append(locals, t.local)
		t = t.b
	}
	return locals, t
}

// substitution puts terms in the place of variables. Binders whose types change are renewed.
type substitution map[*Local]*Term

func (s substitution) applyTo(t *Term) *Term {
	if t == nil {
		return nil
	}
	if t.kind == localTerm {
		if v, ok := s[t.local]; ok {
			return v
		}
		return t
	}
	out := *t
	if t.local != nil {
		fresh := &Local{t.local.name, s.applyTo(t.local.typ)}
		out.local = fresh
		old, had := s[t.local]
		s[t.local] = variable(fresh)
		defer func() {
			delete(s, t.local)
			if had {
				s[t.local] = old
			}
		}()
		out.b = s.applyTo(t.b)
		out.a = s.applyTo(t.a)
		return &out
	}
	out.a, out.b, out.c = s.applyTo(t.a), s.applyTo(t.b), s.applyTo(t.c)
	return &out
}

// mentions says whether a constant for which is holds occurs in t.
func (t *Term) mentions(is func(name string) bool) bool {
	if t == nil {
		return false
	}
	if t.kind == constTerm && is(t.name) {
		return true
	}
	return t.local != nil && t.kind != localTerm && t.local.typ.mentions(is) || t.a.mentions(is) || t.b.mentions(is) || t.c.mentions(is)
}

// Decl is one declaration.
type Decl struct {
	Kind   string // axiom, def, theorem, opaque, quot, inductive, raw
	Name   string
	Params []string // universe parameters
	Type   *Term
	Value  *Term
	Attrs  map[string]string // see parse.go
	Types  []*Inductive
	Text   string // of a raw record

	Recursors []*Recursor // of an inductive declaration, derived unless the attribute norec is set
}

// Inductive is one type of an inductive declaration.
type Inductive struct {
	Name   string
	Locals []*Local // its parameters
	Type   *Term    // with the parameters
	Ctors  []*Ctor
}

// Ctor is a constructor.
type Ctor struct {
	Name string
	Type *Term // with the parameters
}

// Recursor is a recursor record.
type Recursor struct {
	Name                  string
	Params                []string
	Type                  *Term
	NumParams, NumIndices int
	NumMotives, NumMinors int
	K                     bool
	Rules                 []*Rule
}

// Rule is a recursor's rule for one constructor.
type Rule struct {
	Ctor   string
	Fields int
	Value  *Term
}

// File is an export in the making.
type File struct {
	Version string // of Lean, as the file claims; "-" leaves it out
	Decls   []*Decl
}

// Find returns the declaration called name. It panics where there is none: recipes are fixed texts.
func (f *File) Find(name string) *Decl {
	for _, d := range f.Decls {
		if d.Name == name {
			return d
		}
		for _, t := range d.Types {
			if t.Name == name {
				return d
			}
		}
	}
	panic("no declaration " + name)
}
