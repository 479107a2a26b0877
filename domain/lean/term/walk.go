package term

// Walker visits the parts of expressions before the wholes, each once in its life, without recursion.
type Walker struct {
	store *Store
	seen  []bool
	stack []Expr
}

// NewWalker returns a walker over the expressions s has now.
func NewWalker(s *Store) *Walker { return &Walker{store: s, seen: make([]bool, len(s.exprs))} }

// Walk visits what of root was not visited before.
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

// Children are the expressions n is directly made of, the type of a free variable excepted.
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
