package kernel

import (
	"reckon/domain/lean/environment"
	"reckon/domain/lean/term"
)

// What the kernel generates is not believed either. The types of recursors, projections and quotients are checked like a
// type that a file declares, and a rule is checked to preserve types: the recursor applied to a constructor, and the
// value that replaces it, have the same type under the parameters, motives, minor premises and fields. A checker of its
// own does it, which remembers nothing: no answer of the run that generated them takes part.
//
// The recursors themselves are those of the file by then, which compareRecords found to be the generated ones.

// generatedSteps is the number of steps that one check of generated types may take without caches; the check is begun
// again with empty caches of its own when they do not suffice, as with types that share parts many times.
const generatedSteps = 1 << 16

// checkApart runs check with a checker that shares nothing with c but the declarations and the store. A refusal becomes
// one of class, which says what is not well-typed.
func (c *checker) checkApart(params []term.Name, class Class, what string, check func(own *checker)) {
	if c.apart == nil {
		c.apart = newChecker(c.ctx, &foundation{env: c.env, names: c.names}, c.store, c.room, c.maxDepth, c.firstRefused)
		c.apart.builtins = c.builtins
	}
	own := c.apart
	own.forget()
	own.view, own.auxBase, own.params, own.eager = c.view, c.auxBase, params, false
	own.depth, own.nextLocal, own.steps = c.depth, c.nextLocal, 0
	own.ask(Questions{Uncached: true})
	finished := own.attempt(generatedSteps, class, what, check)
	c.steps += own.steps
	if finished {
		return
	}
	own.forget()
	own.ask(Questions{})
	own.depth, own.nextLocal = c.depth, c.nextLocal
	own.attempt(0, class, what, check)
}

// attempt runs check within so many steps, 0 for no limit, and says whether it finished.
func (c *checker) attempt(steps int, class Class, what string, check func(own *checker)) (finished bool) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case refusalPanic:
			refuse(class, "%s: %s", what, p.message)
		case exhaustedPanic:
			if steps == 0 || c.steps <= c.stepLimit {
				panic(p)
			}
		default:
			panic(p)
		}
	}()
	c.stepLimit = 0
	if steps > 0 {
		c.stepLimit = c.steps + steps
	}
	check(c)
	return true
}

// checkGenerated checks the recursors of a block, their rules, and the types of projections out of its structures.
func (b *block) checkGenerated(recursors []generatedRecursor) {
	b.setStage(environment.RecursorsVisible)
	s := b.store
	for i := range recursors {
		g := &recursors[i]
		b.checkApart(g.params, InvalidInductive, "the type of "+s.NameString(g.name), func(own *checker) { own.sortOf(g.typ, true) })
		for j := range g.rules {
			b.checkApart(g.params, InvalidInductive, "the rule of "+s.NameString(g.name)+" for "+s.NameString(g.rules[j].Constructor), func(own *checker) {
				before, after := own.check(g.redexes[j]), own.check(g.rules[j].Value)
				if !own.defEq(before, after) {
					refuse(TypeMismatch, "it turns a value of type %s into one of type %s", s.Describe(before), s.Describe(after))
				}
			})
		}
	}
	for _, t := range b.types[:len(b.source.Types)] {
		if len(t.ctors) == 1 {
			b.checkProjections(t)
		}
	}
}

// checkProjections checks the types that inferProj gives the fields of a structure. The fields of a proposition from the
// first one on that cannot be projected are left out.
func (b *block) checkProjections(t *blockType) {
	value := b.newLocal(b.store.Apps(t.constant, t.indices))
	for i := range t.ctors[0].fields {
		var typ term.Expr
		projectable := false
		b.checkApart(b.params, InvalidInductive, "a projection", func(own *checker) { typ, projectable = own.projectionType(t.name, i, value) })
		if !projectable {
			return
		}
		b.checkApart(b.params, InvalidInductive, "the type of a projection", func(own *checker) { own.sortOf(typ, true) })
	}
}

// projectionType is the type of field i of value, if that may be projected.
func (c *checker) projectionType(structure term.Name, i int, value term.Expr) (typ term.Expr, projectable bool) {
	defer func() {
		if p := recover(); p != nil {
			if r, refused := p.(refusalPanic); !refused || r.class != InvalidProjection {
				panic(p)
			}
			projectable = false
		}
	}()
	return c.check(c.store.Proj(structure, uint32(i), value)), true
}
