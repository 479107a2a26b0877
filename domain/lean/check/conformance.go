package check

import (
	"slices"

	"reckon/domain/lean/builtin"
	"reckon/domain/lean/export"
	"reckon/domain/lean/term"
)

// origin says whether a declared constant is Lean's own.
type origin uint8

const (
	originOwn       origin = iota // the uploader's: no reference table has its name
	originLean                    // Lean's: its content is that of the reference table
	originDiffering               // it has the name of one of Lean's constants and another content
)

// coreComparison compares the constants of a file with the reference tables: the logical basis, which is the same in every
// version of Lean, and the table of the version that the file names, or of the nearest version that has one.
type coreComparison struct {
	store     *term.Store
	entries   map[term.Name]Entry
	basis     Basis
	reference *Reference

	computed   map[term.Name]bool   // operations on numbers that no table has
	recognises func(term.Name) bool // the kernel: such an operation computes what its name says
}

func newCore(f *export.File, tables referenceTables, recognises func(term.Name) bool) *coreComparison {
	c := &coreComparison{store: f.Store, entries: entriesOf(f.Store, f.Declarations), basis: tables.basis, recognises: recognises, computed: map[term.Name]bool{}}
	c.reference, _ = tables.nearest(f.Meta.LeanVersion)
	names := builtin.Intern(f.Store)
	for id := range builtin.Count {
		if _, inTable := c.reference.Constants[id.String()]; !inTable && builtin.Table[id].Evidence == builtin.ByEquations {
			c.computed[names.Handle(id)] = true
		}
	}
	return c
}

// originOf returns the origin of the constant n; how describes the difference of a differing one.
func (c *coreComparison) originOf(n term.Name) (s origin, how string) {
	plain, ok := c.store.PlainName(n)
	entry, declared := c.entries[n]
	if !ok || !declared {
		return originOwn, ""
	}
	if allowed, inBasis := c.basis[plain]; inBasis {
		if slices.Contains(allowed, entry) {
			return originLean, ""
		}
		return originDiffering, entry.differences(allowed[0])
	}
	expected, inTable := c.reference.Constants[plain]
	switch {
	case c.computed[n] && c.recognises(n):
		return originLean, ""
	case c.computed[n]:
		return originDiffering, "it is not found to compute what Lean's computes"
	case !inTable:
		return originOwn, ""
	case entry == expected:
		return originLean, ""
	}
	return originDiffering, entry.differences(expected)
}

// isBasis says whether n is one of the logical constants.
func (c *coreComparison) isBasis(n term.Name) bool {
	plain, ok := c.store.PlainName(n)
	if !ok {
		return false
	}
	_, inBasis := c.basis[plain]
	return inBasis
}

// conformance compares every declaration of the file with the reference tables. A constant of the logical basis counts as
// differing wherever it is declared: a file with another False is about another logic. Any other counts when a requested declaration
// rests on it, whatever version the file names; otherwise it changes no verified statement. Under All
// every declaration is requested.
func (j *judge) conformance(restedOn map[term.Name]bool) *Conformance {
	c := &Conformance{Differing: []string{}, ReferenceLeanVersion: &j.core.reference.LeanVersion, Outside: OutsideDeclarations{Namespaces: []string{}}}
	namespaces := map[string]bool{}
	seen := map[term.Name]bool{}
	for i := range j.file.Declarations {
		for _, n := range namesOf(&j.file.Declarations[i]) {
			if seen[n] {
				continue
			}
			seen[n] = true
			switch whose, how := j.core.originOf(n); {
			case whose == originLean:
				c.Matched++
			case whose == originDiffering && (j.opts.All || j.core.isBasis(n) || restedOn[n]):
				c.Differing = append(c.Differing, j.names.Text(n))
				j.differing = append(j.differing, difference{n, how})
			default:
				c.Outside.Count++
				first := n
				for j.file.Store.NamePrefix(first) != term.Anonymous {
					first = j.file.Store.NamePrefix(first)
				}
				namespaces[j.names.Text(first)] = true
			}
		}
	}
	for n := range namespaces {
		c.Outside.Namespaces = append(c.Outside.Namespaces, n)
	}
	slices.Sort(c.Differing)
	slices.Sort(c.Outside.Namespaces)
	return c
}

// difference is a constant with the name of one of Lean's and another content; how describes where they differ.
type difference struct {
	name term.Name
	how  string
}

// judgeCore refuses a file in which a constant of Lean's core has another content.
func (j *judge) judgeCore() {
	for _, d := range j.differing {
		if j.core.isBasis(d.name) {
			j.refuse(d.name, BasisDiffers, "this is not the logical constant of that name that Lean has: "+d.how, j.lineOf(d.name))
			continue
		}
		j.refuse(d.name, ConformanceDiffers, "this is not what Lean "+j.core.reference.LeanVersion+" calls by that name: "+d.how, j.lineOf(d.name))
	}
}

// statementDependencies returns the declarations that the requested ones rest on, the nearest first: everything the types of theorems mention, through
// the values of definitions and the constructors of types, and the same for the reached axioms. Theorems count where a
// requested type mentions them, by their statements: a proof does not change what a proposition says.
func (j *judge) statementDependencies(asked []term.Name) (units []int) {
	reached := make([]bool, len(j.file.Declarations))
	var queue []int
	add := func(n term.Name) {
		if unit, declared := j.reach.unitOf[n]; declared && !reached[unit] {
			reached[unit] = true
			queue = append(queue, unit)
		}
	}
	addUnlessProof := func(n term.Name) {
		if unit, declared := j.reach.unitOf[n]; declared && j.file.Declarations[unit].Kind != term.Theorem {
			add(n)
		}
	}
	for _, n := range asked {
		if d := &j.file.Declarations[j.reach.unitOf[n]]; d.Kind == term.Theorem {
			j.reach.uses.visitNames([]term.Expr{d.Type}, add)
		} else {
			add(n)
		}
		for _, axiom := range j.reach.axiomsOf(n) {
			add(axiom)
		}
	}
	for len(queue) > 0 {
		unit := queue[0]
		queue = queue[1:]
		units = append(units, unit)
		j.reach.uses.visitNames(contentOf(&j.file.Declarations[unit]), addUnlessProof)
	}
	return units
}

// contentOf lists the expressions that say what a declaration means: not proofs, and not what follows from the rest.
func contentOf(d *term.Declaration) []term.Expr {
	switch d.Kind {
	case term.Inductive:
		return typesOf(d.Block)
	case term.Theorem:
		return []term.Expr{d.Type}
	}
	return expressionsOf(d)
}
