package environment

import "reckon/domain/lean/term"

// heights computes definitional heights, which order lazy delta reduction: 1 + the largest height of a definition that the
// value mentions. The heights that the file gives are not used.
type heights struct {
	env    *Environment
	view   View // of the definition whose height is computed
	walker *term.Walker
	memo   []int32 // by expression: the largest height of a definition in it
}

func newHeights(env *Environment) *heights {
	return &heights{env: env, walker: term.NewWalker(env.store), memo: make([]int32, env.store.ExprCount())}
}

func (h *heights) assign(unit int) {
	d := &h.env.declarations[unit]
	if d.Kind != term.Definition {
		return
	}
	own := h.env.ViewAt(unit + 1)
	c := own.Find(d.Name)
	if c == nil || c.Unit != unit {
		return
	}
	h.view = h.env.ViewAt(unit)
	switch d.Hint {
	case term.HintOpaque:
		c.Height = OpaqueHeight
	case term.HintAbbrev:
		c.Height = AbbrevHeight
	default:
		h.walker.Walk(d.Value, h.visit)
		c.Height = h.memo[d.Value] + 1
	}
}

func (h *heights) visit(e term.Expr, n term.Node) {
	height := int32(0)
	children, count := n.Children()
	for _, child := range children[:count] {
		height = max(height, h.memo[child])
	}
	if n.Kind == term.KindConst {
		if c := h.view.Find(term.Name(n.A)); c != nil && c.Kind == Definition && c.Height != AbbrevHeight {
			height = max(c.Height, 0)
		}
	}
	h.memo[e] = height
}
