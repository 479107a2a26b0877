package plain

import (
	"reckon/domain/lean/term"
)

// kind says what a constant is.
type kind uint8

const (
	axiom kind = iota
	definition
	theorem
	opaque
	quotient
	inductive
	constructor
	recursor
)

// constant is a declared constant. The environment holds those of the declarations before the one being checked, so that
// nothing can be used before it is declared (TTL 2.4).
type constant struct {
	kind   kind
	params []term.Name // universe parameters
	typ    term.Expr
	value  term.Expr // of definitions and theorems what delta unfolds to; an opaque constant has one and is never unfolded
	height int       // of what unfolds: the larger is unfolded first

	inductive   *inductiveInfo   // of a type
	constructor *constructorInfo // of a constructor
	recursor    *recursorInfo
	quotient    term.QuotKind
}

type inductiveInfo struct {
	name                  term.Name
	numParams, numIndices int
	constructors          []term.Name
	all                   []term.Name // the types of the block
	isRec                 bool        // a field's type mentions a type of the block
}

// structureLike: one constructor, no indices, not recursive (C++ inductive.cpp, is_structure_like).
func (i *inductiveInfo) structureLike() bool {
	return len(i.constructors) == 1 && i.numIndices == 0 && !i.isRec
}

type constructorInfo struct {
	inductive            term.Name
	numParams, numFields int
}

type recursorInfo struct {
	inductive                                    term.Name // of the major premise
	numParams, numIndices, numMotives, numMinors int
	rules                                        []rule
	k                                            bool
}

// major is the position of the major premise among the arguments.
func (r *recursorInfo) major() int { return r.numParams + r.numMotives + r.numMinors + r.numIndices }

// rule is a computation rule: value takes parameters, motives, minor premises and fields.
type rule struct {
	constructor term.Name
	numFields   int
	value       term.Expr
}

// unfolds: delta replaces the constant by its value. Opaque constants never unfold.
func (c *constant) unfolds() bool { return c.kind == definition || c.kind == theorem }

// Heights of what unfolds last and first. Heights order the search of definitional equality and change no reduct.
const (
	lastHeight  = -1
	firstHeight = 1 << 30
)

// heightOf is 1 + the largest height of a definition that the value mentions.
func (k *kernel) heightOf(d *term.Declaration) int {
	if d.Kind == term.Theorem || d.Hint == term.HintOpaque {
		return lastHeight
	}
	if d.Hint == term.HintAbbrev {
		return firstHeight
	}
	height := 0
	k.visit(d.Value, func(_ term.Expr, n term.Node) bool {
		if n.Kind == term.KindConst {
			if c := k.env[term.Name(n.A)]; c != nil && c.kind == definition && c.height != firstHeight {
				height = max(height, c.height)
			}
		}
		return true
	})
	return height + 1
}

// visit calls f on e and, where f answers true, on its parts, each distinct one once.
func (k *kernel) visit(e term.Expr, f func(e term.Expr, n term.Node) bool) {
	seen := map[term.Expr]bool{e: true}
	for waiting := []term.Expr{e}; len(waiting) > 0; {
		k.step()
		e := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		n := k.store.Node(e)
		if !f(e, n) {
			continue
		}
		children, count := n.Children()
		for _, child := range children[:count] {
			if !seen[child] {
				seen[child] = true
				waiting = append(waiting, child)
			}
		}
	}
}

// mentions reports whether a constant occurs in e whose name is in the set.
func (k *kernel) mentions(e term.Expr, names map[term.Name]bool) bool {
	found := false
	k.visit(e, func(_ term.Expr, n term.Node) bool {
		found = found || n.Kind == term.KindConst && names[term.Name(n.A)]
		return !found
	})
	return found
}

// constAt is the constant that e is, with its declaration, or nil.
func (k *kernel) constAt(e term.Expr) (c *constant, name term.Name, levels []term.Level) {
	n := k.store.Node(e)
	if n.Kind != term.KindConst {
		return nil, 0, nil
	}
	return k.env[term.Name(n.A)], term.Name(n.A), k.store.LevelsOf(term.Levels(n.B))
}
