package check

import (
	"reckon/domain/lean/builtin"
	"reckon/domain/lean/term"
)

// references finds the names that expressions refer to: constants, the structures of projections, and the constants of
// the expression that a literal abbreviates. A call visits each shared subexpression once.
type references struct {
	store   *term.Store
	literal map[term.Kind][]term.Name
	seen    []uint32 // by expression: the call that saw it last
	call    uint32
	stack   []term.Expr
}

func newReferences(store *term.Store, declarations []term.Declaration) *references {
	names := builtin.Intern(store)
	handles := func(ids []builtin.ID) (out []term.Name) {
		for _, id := range ids {
			out = append(out, names.Handle(id))
		}
		return out
	}
	return &references{store: store, seen: make([]uint32, store.ExprCount()), literal: map[term.Kind][]term.Name{
		term.KindNat: handles(builtin.NatLiteral),
		term.KindStr: handles(builtin.StringLiteral(names.StringMaker(declarations))),
	}}
}

// visitNames shows every name that the expressions refer to; one may be shown more than once.
func (r *references) visitNames(exprs []term.Expr, visit func(term.Name)) {
	r.call++
	r.stack = append(r.stack[:0], exprs...)
	for len(r.stack) > 0 {
		e := r.stack[len(r.stack)-1]
		r.stack = r.stack[:len(r.stack)-1]
		if r.seen[e] == r.call {
			continue
		}
		r.seen[e] = r.call
		n := r.store.Node(e)
		switch n.Kind {
		case term.KindConst, term.KindProj:
			visit(term.Name(n.A))
		case term.KindNat, term.KindStr:
			for _, name := range r.literal[n.Kind] {
				visit(name)
			}
		}
		children, count := n.Children()
		r.stack = append(r.stack, children[:count]...)
	}
}

// expressionsOf lists every expression of a declaration.
func expressionsOf(d *term.Declaration) []term.Expr {
	switch d.Kind {
	case term.Inductive:
		out := typesOf(d.Block)
		for i := range d.Block.Recursors {
			out = append(out, d.Block.Recursors[i].Type)
			for _, rule := range d.Block.Recursors[i].Rules {
				out = append(out, rule.Value)
			}
		}
		return out
	case term.Definition, term.Theorem, term.Opaque:
		return []term.Expr{d.Type, d.Value}
	default:
		return []term.Expr{d.Type}
	}
}

// typesOf lists the types and the types of the constructors of a block.
func typesOf(b *term.Block) (out []term.Expr) {
	for i := range b.Types {
		out = append(out, b.Types[i].Type)
	}
	for i := range b.Constructors {
		out = append(out, b.Constructors[i].Type)
	}
	return out
}

// namesOf lists every name a declaration introduces.
func namesOf(d *term.Declaration) []term.Name {
	if d.Kind != term.Inductive {
		return []term.Name{d.Name}
	}
	var out []term.Name
	for i := range d.Block.Types {
		out = append(out, d.Block.Types[i].Name)
	}
	for i := range d.Block.Constructors {
		out = append(out, d.Block.Constructors[i].Name)
	}
	for i := range d.Block.Recursors {
		out = append(out, d.Block.Recursors[i].Name)
	}
	return out
}
