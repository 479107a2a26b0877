package kernel

import "reckon/domain/lean/term"

// exprCache maps expressions to expressions for the duration of one declaration. It is indexed by handle, and emptied
// by changing the generation.
type exprCache struct {
	entries    []cacheEntry
	generation uint32
}

type cacheEntry struct {
	generation uint32
	value      term.Expr
}

func (c *exprCache) get(e term.Expr) (term.Expr, bool) {
	if int(e) < len(c.entries) {
		if en := c.entries[e]; en.generation == c.generation {
			return en.value, true
		}
	}
	return 0, false
}

func (c *exprCache) set(e, value term.Expr) {
	if int(e) >= len(c.entries) {
		grown := make([]cacheEntry, int(e)+int(e)/2+1024)
		copy(grown, c.entries)
		c.entries = grown
	}
	c.entries[e] = cacheEntry{c.generation, value}
}

func (c *exprCache) reset() {
	c.generation++
	if c.generation == 0 {
		clear(c.entries)
		c.generation = 1
	}
}

// root follows the union-find links kept in c to the representative of e's class, halving the path.
func (c *exprCache) root(e term.Expr) term.Expr {
	for {
		parent, ok := c.get(e)
		if !ok || parent == e {
			return e
		}
		if grand, ok := c.get(parent); ok {
			c.entries[e].value = grand
		}
		e = parent
	}
}

// union joins the classes of a and b.
func (c *exprCache) union(a, b term.Expr) {
	ra, rb := c.root(a), c.root(b)
	switch {
	case ra < rb:
		c.set(rb, ra)
	case rb < ra:
		c.set(ra, rb)
	}
}

// pair is an unordered pair of expressions.
func pair(a, b term.Expr) uint64 {
	if a > b {
		a, b = b, a
	}
	return uint64(a)<<32 | uint64(b)
}
