package term

import "slices"

// Walker visits expressions in post-order, without recursion. It visits each expression once over all calls of Walk.
type Walker struct {
	store *Store
	seen  []bool
	stack []Expr
}

// NewWalker returns a walker over the expressions s has now.
func NewWalker(s *Store) *Walker { return &Walker{store: s, seen: make([]bool, len(s.exprs))} }

// Walk visits root and its subexpressions, those left out that an earlier call visited.
func (w *Walker) Walk(root Expr, visit func(e Expr, n Node)) {
	w.stack = append(w.stack[:0], root)
	for len(w.stack) > 0 {
		e := w.stack[len(w.stack)-1]
		if w.seen[e] {
			w.stack = w.stack[:len(w.stack)-1]
			continue
		}
		n := w.store.exprs[e]
		pending := len(w.stack)
		children, count := n.Children()
		for _, child := range children[:count] {
			if !w.seen[child] {
				w.stack = append(w.stack, child)
			}
		}
		if len(w.stack) > pending {
			continue
		}
		w.seen[e] = true
		w.stack = w.stack[:pending-1]
		visit(e, n)
	}
}

// Children are the immediate subexpressions of n. The type of a free variable is not one of them.
func (n Node) Children() (children [3]Expr, count int) {
	switch n.Kind {
	case KindApp, KindLam, KindPi:
		return [3]Expr{Expr(n.A), Expr(n.B)}, 2
	case KindLet:
		return [3]Expr{Expr(n.A), Expr(n.B), Expr(n.C)}, 3
	case KindProj:
		return [3]Expr{Expr(n.C)}, 1
	}
	return children, 0
}

// AnyDomain reports whether f is true of the domain of one of typ's leading Pi binders. It does not reduce.
func (s *Store) AnyDomain(typ Expr, f func(domain Expr) bool) bool {
	for n := s.Node(typ); n.Kind == KindPi; n = s.Node(Expr(n.B)) {
		if f(Expr(n.A)) {
			return true
		}
	}
	return false
}

// Mentions reports whether e contains a constant whose name satisfies the predicate.
func (s *Store) Mentions(e Expr, is func(Name) bool) bool { return s.mentions(e, is, map[Expr]bool{}) }

func (s *Store) mentions(e Expr, is func(Name) bool, seen map[Expr]bool) bool {
	n := s.Node(e)
	switch n.Kind {
	case KindConst:
		return is(Name(n.A))
	case KindBVar, KindSort, KindNat, KindStr, KindLocal:
		return false
	}
	if seen[e] {
		return false
	}
	seen[e] = true
	children, count := n.Children()
	return slices.ContainsFunc(children[:count], func(child Expr) bool { return s.mentions(child, is, seen) })
}
