package check

import "reckon/domain/lean/term"

// sorryName is the axiom behind sorry.
const sorryName = "sorryAx"

// coreAxioms builds the types of the six axioms of the core library, by name.
//
//	propext              : ∀ {a b : Prop}, (a ↔ b) → a = b
//	Quot.sound.{u}       : ∀ {α : Sort u} {r : α → α → Prop} {a b : α}, r a b → Quot.mk r a = Quot.mk r b
//	Classical.choice.{u} : {α : Sort u} → Nonempty α → α
//	Lean.trustCompiler   : True
//	Lean.ofReduceBool    : ∀ (a b : Bool), Lean.reduceBool a = b → a = b
//	Lean.ofReduceNat     : ∀ (a b : Nat), Lean.reduceNat a = b → a = b
var coreAxioms = map[string]func(b *typeBuilder, u []term.Level) term.Expr{
	"propext": func(b *typeBuilder, _ []term.Level) term.Expr {
		p, q := b.local(b.Sort(term.Zero)), b.local(b.Sort(term.Zero))
		h := b.local(b.call("Iff", nil, p, q))
		return b.Pis([]term.Expr{p, q, h}, b.eq(b.Succ(term.Zero), b.Sort(term.Zero), p, q))
	},
	"Quot.sound": func(b *typeBuilder, u []term.Level) term.Expr {
		alpha := b.local(b.Sort(u[0]))
		r := b.local(b.Pi(alpha, b.Pi(alpha, b.Sort(term.Zero))))
		x, y := b.local(alpha), b.local(alpha)
		h := b.local(b.Apps(r, []term.Expr{x, y}))
		mk := func(e term.Expr) term.Expr { return b.call("Quot.mk", u, alpha, r, e) }
		return b.Pis([]term.Expr{alpha, r, x, y, h}, b.eq(u[0], b.call("Quot", u, alpha, r), mk(x), mk(y)))
	},
	"Classical.choice": func(b *typeBuilder, u []term.Level) term.Expr {
		alpha := b.local(b.Sort(u[0]))
		h := b.local(b.call("Nonempty", u, alpha))
		return b.Pis([]term.Expr{alpha, h}, alpha)
	},
	"Lean.trustCompiler": func(b *typeBuilder, _ []term.Level) term.Expr { return b.call("True", nil) },
	"Lean.ofReduceBool": func(b *typeBuilder, _ []term.Level) term.Expr {
		return b.ofReduce("Bool", "Lean.reduceBool")
	},
	"Lean.ofReduceNat": func(b *typeBuilder, _ []term.Level) term.Expr {
		return b.ofReduce("Nat", "Lean.reduceNat")
	},
}

// coreAxiomParams is the number of universe parameters of those that have some.
var coreAxiomParams = map[string]int{"Quot.sound": 1, "Classical.choice": 1}

// coreNames are the handles of the core axioms and of the constants that the reduction axioms speak of, in one store. A
// name of one component with a dot in it is none of them.
type coreNames struct{ axioms, functions map[term.Name]string }

func internCore(s *term.Store) coreNames {
	names := coreNames{map[term.Name]string{}, map[term.Name]string{}}
	for name := range coreAxioms {
		names.axioms[s.InternDotted(name)] = name
	}
	for _, name := range reduceConstants {
		names.functions[s.InternDotted(name)] = name
	}
	return names
}

// typeBuilder builds types in the store of the file.
type typeBuilder struct {
	*term.Store
	next uint32
}

func (b *typeBuilder) local(typ term.Expr) term.Expr {
	b.next++
	return b.Local(b.next, typ)
}

func (b *typeBuilder) call(name string, levels []term.Level, args ...term.Expr) term.Expr {
	return b.Apps(b.Const(b.InternDotted(name), b.List(levels)), args)
}

func (b *typeBuilder) eq(u term.Level, typ, x, y term.Expr) term.Expr {
	return b.call("Eq", []term.Level{u}, typ, x, y)
}

func (b *typeBuilder) ofReduce(typeName, function string) term.Expr {
	typ := b.call(typeName, nil)
	x, y := b.local(typ), b.local(typ)
	one := b.Succ(term.Zero)
	h := b.local(b.eq(one, typ, b.call(function, nil, x), y))
	return b.Pis([]term.Expr{x, y, h}, b.eq(one, typ, x, y))
}

// isCoreAxiom says whether d, named like a core axiom, is that axiom.
func isCoreAxiom(s *term.Store, name string, d *term.Declaration) bool {
	build, ok := coreAxioms[name]
	if !ok || d.Kind != term.Axiom || d.Unsafe || len(d.LevelParams) != coreAxiomParams[name] {
		return false
	}
	levels := make([]term.Level, len(d.LevelParams))
	for i, p := range d.LevelParams {
		levels[i] = s.Param(p)
	}
	return build(&typeBuilder{Store: s}, levels) == d.Type
}

// isReduceConstant says whether the functions the reduction axioms speak of are what they should be: opaque, of the
// right type, with the identity as value: kernels reduce them so, and the value is printed.
func isReduceConstant(s *term.Store, name string, d *term.Declaration) bool {
	b := &typeBuilder{Store: s}
	typ := b.call(map[string]string{"Lean.reduceBool": "Bool", "Lean.reduceNat": "Nat"}[name], nil)
	return d.Kind == term.Opaque && !d.Unsafe && len(d.LevelParams) == 0 && d.Type == b.Pi(typ, typ) && isIdentity(s, d.Value)
}

// isIdentity reports whether a function returns its argument, after the local definitions at the head of its body are put in.
func isIdentity(s *term.Store, value term.Expr) bool {
	n := s.Node(value)
	if n.Kind != term.KindLam {
		return false
	}
	x := s.Local(0, term.Expr(n.A)) // the value is closed
	body := s.Instantiate(term.Expr(n.B), []term.Expr{x})
	for range 16 { // the value may not be typed yet
		n := s.Node(body)
		fn := s.Node(term.Expr(n.A))
		switch {
		case n.Kind == term.KindLet:
			body = s.Instantiate(term.Expr(n.C), []term.Expr{term.Expr(n.B)})
		case n.Kind == term.KindApp && fn.Kind == term.KindLam:
			body = s.Instantiate(term.Expr(fn.B), []term.Expr{term.Expr(n.B)})
		default:
			return body == x
		}
	}
	return false
}

// reduceConstants are the names isReduceConstant knows.
var reduceConstants = []string{"Lean.reduceBool", "Lean.reduceNat"}
