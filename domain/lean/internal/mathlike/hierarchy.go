package main

import (
	"fmt"
	"slices"
	"strings"
)

// A hierarchy is a family of classes on a type: each adds an operation and a law, and extends up to three earlier ones.
// As in Lean, the first parent is a field, the other parents' missing operations and laws are fields of their own, and a
// function puts such a parent together again. Instances are given for the unit type, functions and pairs.

type class struct {
	name    string
	parents []*class
	ops     []int // fields
	laws    []law // fields
}

// law is an equation between terms, for all a, b and c.
type law struct {
	id          int
	left, right *tree
}

// tree is a term over binary operations; a leaf has a variable.
type tree struct {
	op          int
	left, right *tree
	variable    string
}

func leaf(v string) *tree           { return &tree{variable: v} }
func node(op int, l, r *tree) *tree { return &tree{op: op, left: l, right: r} }
func (t *tree) isLeaf() bool        { return t.variable != "" }
func (t *tree) equal(u *tree) bool  { return t.text(plain) == u.text(plain) }
func plain(op int) string           { return fmt.Sprint("o", op) }
func (t *tree) size() int {
	if t.isLeaf() {
		return 1
	}
	return 1 + t.left.size() + t.right.size()
}

// text renders t, every operation by the given function.
func (t *tree) text(op func(int) string) string {
	if t.isLeaf() {
		return t.variable
	}
	return "(" + op(t.op) + " " + t.left.text(op) + " " + t.right.text(op) + ")"
}

func (t *tree) substitute(values map[string]*tree) *tree {
	if t.isLeaf() {
		if v, ok := values[t.variable]; ok {
			return v
		}
		return t
	}
	return node(t.op, t.left.substitute(values), t.right.substitute(values))
}

// match finds what the variables of the pattern stand for in t.
func (t *tree) match(pattern *tree, values map[string]*tree) bool {
	if pattern.isLeaf() {
		if v, ok := values[pattern.variable]; ok {
			return v.equal(t)
		}
		values[pattern.variable] = t
		return true
	}
	return !t.isLeaf() && t.op == pattern.op && t.left.match(pattern.left, values) && t.right.match(pattern.right, values)
}

func (c *class) allOps() (ops []int) {
	for _, p := range c.parents {
		ops = append(ops, p.allOps()...)
	}
	ops = append(ops, c.ops...)
	slices.Sort(ops)
	return slices.Compact(ops)
}

func (c *class) allLaws() (laws []law) {
	for _, p := range c.parents {
		laws = append(laws, p.allLaws()...)
	}
	laws = append(laws, c.laws...)
	slices.SortFunc(laws, func(a, b law) int { return a.id - b.id })
	return slices.CompactFunc(laws, func(a, b law) bool { return a.id == b.id })
}

func (c *class) embedded() *class {
	if len(c.parents) == 0 {
		return nil
	}
	return c.parents[0]
}

// op is the operation x of the instance s, and law the law l, found the way Lean finds a field.
func (c *class) op(x int, s string) string {
	if slices.Contains(c.ops, x) {
		return fmt.Sprintf("%s.o%d α %s", c.name, x, s)
	}
	return c.embedded().op(x, fmt.Sprintf("(%s.to%d α %s)", c.name, 0, s))
}

func (c *class) law(id int, s string) string {
	if slices.ContainsFunc(c.laws, func(l law) bool { return l.id == id }) {
		return fmt.Sprintf("%s.l%d α %s", c.name, id, s)
	}
	return c.embedded().law(id, fmt.Sprintf("(%s.to%d α %s)", c.name, 0, s))
}

// paths are the ways from an instance s of c to d through parents.
func (c *class) paths(d *class, s string) []string {
	if c == d {
		return []string{s}
	}
	var out []string
	for i, p := range c.parents {
		out = append(out, p.paths(d, fmt.Sprintf("(%s.to%d α %s)", c.name, i, s))...)
	}
	return out
}

// as makes an instance of d from the instance s of c.
func (c *class) as(d *class, s string) string {
	if paths := c.paths(d, s); len(paths) > 0 {
		return paths[0]
	}
	return c.build(d, s)
}

func (c *class) build(d *class, s string) string {
	text := "(" + d.name + ".mk α"
	if e := d.embedded(); e != nil {
		text += " " + c.as(e, s)
	}
	for _, x := range d.ops {
		text += " (" + c.op(x, s) + ")"
	}
	for _, l := range d.laws {
		text += " (" + c.law(l.id, s) + ")"
	}
	return text + ")"
}

func (l law) statement(typ string, op func(int) string) string {
	return fmt.Sprintf("(a b c : %s) -> Eq.{1} %s %s %s", typ, typ, l.left.text(op), l.right.text(op))
}

// hierarchy is a module of classes, instances and theorems.
func (g *generator) hierarchy(name string) string {
	var b strings.Builder
	var classes []*class
	for i := range 5 + g.Intn(5) {
		c := &class{name: fmt.Sprintf("%s.C%d", name, i)}
		for range 3 {
			if p := i - 1 - g.Intn(3); p >= 0 && !slices.Contains(c.parents, classes[p]) && !c.has(classes[p]) {
				c.parents = append(c.parents, classes[p])
			}
		}
		if e := c.embedded(); e != nil {
			for _, x := range c.allOps() {
				if !slices.Contains(e.allOps(), x) {
					c.ops = append(c.ops, x)
				}
			}
			for _, l := range c.allLaws() {
				if !slices.ContainsFunc(e.allLaws(), func(m law) bool { return m.id == l.id }) {
					c.laws = append(c.laws, l)
				}
			}
		}
		c.ops = append(c.ops, i)
		c.laws = append(c.laws, g.newLaw(i, c.allOps()))
		classes = append(classes, c)
		c.declare(&b)
		c.instances(&b)
	}
	for i := range 12 {
		c := classes[len(classes)-1-i%min(4, len(classes))]
		g.coherence(&b, fmt.Sprintf("%s.coherent%d", name, i), c, classes[g.Intn(len(classes))])
		g.rewriting(&b, fmt.Sprintf("%s.rewrite%d", name, i), c, classes)
	}
	return b.String()
}

// has says whether p is an ancestor already.
func (c *class) has(p *class) bool {
	return slices.ContainsFunc(c.parents, func(q *class) bool { return q == p || q.has(p) })
}

func (g *generator) newLaw(id int, ops []int) law {
	a, b, c := leaf("a"), leaf("b"), leaf("c")
	o, p := id, ops[g.Intn(len(ops))]
	switch g.Intn(4) {
	case 0:
		return law{id, node(o, a, b), node(o, b, a)}
	case 1:
		return law{id, node(o, node(o, a, b), c), node(o, a, node(o, b, c))}
	case 2:
		return law{id, node(o, a, node(p, b, c)), node(p, node(o, a, b), node(o, a, c))}
	default:
		return law{id, node(p, node(o, a, b), c), node(o, node(p, b, c), a)}
	}
}

func (c *class) declare(b *strings.Builder) {
	fmt.Fprintf(b, "inductive %s (α : Type) : Type\n| mk", c.name)
	e := c.embedded()
	if e != nil {
		fmt.Fprintf(b, " (s : %s α)", e.name)
	}
	inside := func(x int) string {
		if slices.Contains(c.ops, x) {
			return plain(x)
		}
		return e.op(x, "s")
	}
	for _, x := range c.ops {
		fmt.Fprintf(b, " (o%d : α -> α -> α)", x)
	}
	for _, l := range c.laws {
		fmt.Fprintf(b, " (l%d : %s)", l.id, l.statement("α", inside))
	}
	fmt.Fprintf(b, " : %s α\n", c.name)
	index := 0
	if e != nil {
		fmt.Fprintf(b, "abbrev %s.to0 (α : Type) (s : %s α) : %s α := proj %s 0 s\n", c.name, c.name, e.name, c.name)
		index++
	}
	for _, x := range c.ops {
		fmt.Fprintf(b, "abbrev %s.o%d (α : Type) (s : %s α) : α -> α -> α := proj %s %d s\n", c.name, x, c.name, c.name, index)
		index++
	}
	for _, l := range c.laws {
		fmt.Fprintf(b, "theorem %s.l%d (α : Type) (s : %s α) : %s := proj %s %d s\n", c.name, l.id, c.name,
			l.statement("α", func(x int) string { return c.op(x, "s") }), c.name, index)
		index++
	}
	for i, p := range c.parents {
		if i > 0 {
			before := *c // only what is declared by now
			before.parents = c.parents[:i]
			fmt.Fprintf(b, "abbrev %s.to%d (α : Type) (s : %s α) : %s α := %s\n", c.name, i, c.name, p.name, before.as(p, "s"))
		}
	}
}

func (c *class) instances(b *strings.Builder) {
	e := c.embedded()
	instance := func(suffix, binders, arguments, typ string, op func(int) string, proof func(law) string) {
		fmt.Fprintf(b, "def %s.%s%s : %s %s := %s.mk %s", c.name, suffix, binders, c.name, typ, c.name, typ)
		if e != nil {
			fmt.Fprintf(b, " (%s.%s%s)", e.name, suffix, arguments)
		}
		for _, x := range c.ops {
			fmt.Fprintf(b, " (%s)", op(x))
		}
		for _, l := range c.laws {
			fmt.Fprintf(b, " (%s)", proof(l))
		}
		b.WriteString("\n")
	}
	instance("unit", "", "", "PUnit.{1}", func(int) string { return "fun (a b : PUnit.{1}) => PUnit.unit.{1}" },
		func(law) string { return "fun (a b c : PUnit.{1}) => Eq.refl.{1} PUnit.{1} PUnit.unit.{1}" })
	parent := func(of string) string {
		if e == nil {
			return ""
		}
		return fmt.Sprintf(" (%s.to0 α %s)", c.name, of)
	}
	s := func(x int) string { return c.op(x, "s") }
	instance("function", fmt.Sprintf(" (ι α : Type) (s : %s α)", c.name), " ι α"+parent("s"), "(ι -> α)",
		func(x int) string {
			return fmt.Sprintf("fun (f g : ι -> α) (i : ι) => %s (f i) (g i)", c.op(x, "s"))
		},
		func(l law) string {
			at := map[string]*tree{"a": leaf("(a i)"), "b": leaf("(b i)"), "c": leaf("(c i)")}
			return fmt.Sprintf("fun (a b c : ι -> α) => funext.{1, 1} ι (fun (i : ι) => α) (fun (i : ι) => %s) (fun (i : ι) => %s) (fun (i : ι) => %s (a i) (b i) (c i))",
				l.left.substitute(at).text(s), l.right.substitute(at).text(s), c.law(l.id, "s"))
		})
	pair := "(Prod.{0, 0} α β)"
	second := func(text string) string { return strings.ReplaceAll(text, "α", "β") }
	instance("product", fmt.Sprintf(" (α β : Type) (s : %s α) (t : %s β)", c.name, c.name), " α β"+parent("s")+second(parent("t")), pair,
		func(x int) string {
			return fmt.Sprintf("fun (p q : %s) => Prod.mk.{0, 0} α β (%s (proj Prod 0 p) (proj Prod 0 q)) (%s (proj Prod 1 p) (proj Prod 1 q))",
				pair, c.op(x, "s"), second(c.op(x, "t")))
		},
		func(l law) string {
			part := func(i int) map[string]*tree {
				at := map[string]*tree{}
				for _, v := range []string{"a", "b", "c"} {
					at[v] = leaf(fmt.Sprintf("(proj Prod %d %s)", i, v))
				}
				return at
			}
			t := func(x int) string { return second(c.op(x, "t")) }
			return fmt.Sprintf("fun (a b c : %s) => congrArg2.{1, 1, 1} α β %s (Prod.mk.{0, 0} α β) %s %s %s %s (%s %s) (%s %s)", pair, pair,
				l.left.substitute(part(0)).text(s), l.right.substitute(part(0)).text(s),
				l.left.substitute(part(1)).text(t), l.right.substitute(part(1)).text(t),
				c.law(l.id, "s"), "(proj Prod 0 a) (proj Prod 0 b) (proj Prod 0 c)",
				second(c.law(l.id, "t")), "(proj Prod 1 a) (proj Prod 1 b) (proj Prod 1 c)")
		})
}

// coherence states that all ways from one class to another give the same instance.
func (g *generator) coherence(b *strings.Builder, name string, c, d *class) {
	paths := c.paths(d, "s")
	if len(paths) < 2 {
		return
	}
	fmt.Fprintf(b, "theorem %s (α : Type) (s : %s α) : Eq.{1} (%s α) %s %s := Eq.refl.{1} (%s α) %s\n", name, c.name, d.name,
		paths[0], paths[len(paths)-1], d.name, paths[g.Intn(len(paths))])
}

// rewriting proves an equation by a chain of rewriting steps below other operations. Operations are reached by random
// ways through the hierarchy, so that every step has to see that they are the same.
func (g *generator) rewriting(b *strings.Builder, name string, c *class, classes []*class) {
	vias := g.vias(c, classes)
	op := func(x int) string {
		var fit []string
		for _, v := range vias {
			if slices.Contains(v.class.ops, x) {
				fit = append(fit, v.class.op(x, v.path))
			}
		}
		if len(fit) == 0 {
			return c.op(x, "s")
		}
		return fit[g.Intn(len(fit))]
	}
	laws, ops := c.allLaws(), c.allOps()
	t := node(ops[g.Intn(len(ops))], g.tree(ops, 4), g.tree(ops, 4))
	var shares strings.Builder
	count := 0
	share := func(text string) string {
		count++
		fmt.Fprintf(&shares, "  share t%d := %s;\n", count, text)
		return fmt.Sprint("t", count)
	}
	statement := t.text(op)
	start := share(statement)
	current := start
	var steps []string // proofs, each from terms[i] to terms[i+1]
	terms := []string{start}
	for range 4 + g.Intn(12) {
		next, context, proof := g.step(t, laws, c, op)
		if next == nil {
			break
		}
		t = next
		after := share(t.text(op))
		from, to := proof.left.text(op), proof.right.text(op)
		steps = append(steps, share(fmt.Sprintf("congrArg.{1, 1} α α %s %s (fun (hole : α) => %s) (%s)", from, to, context.text(op), proof.text)))
		terms = append(terms, after)
		current = after
	}
	if len(steps) == 0 {
		return
	}
	chain := steps[len(steps)-1]
	for i := len(steps) - 2; i >= 0; i-- {
		chain = share(fmt.Sprintf("Eq.trans.{1} α %s %s %s %s %s", terms[i], terms[i+1], current, steps[i], chain))
	}
	fmt.Fprintf(b, "theorem %s (α : Type) (s : %s α) (x y z w : α) : Eq.{1} α %s %s :=\n%s  %s\n", name, c.name,
		statement, t.text(op), shares.String(), chain)
}

type via struct {
	class *class
	path  string
}

// vias are ways from c to its ancestors.
func (g *generator) vias(c *class, classes []*class) []via {
	out := []via{{c, "s"}}
	for _, d := range classes {
		if d == c {
			continue
		}
		paths := c.paths(d, "s")
		for _, i := range g.Perm(len(paths))[:min(2, len(paths))] {
			out = append(out, via{d, paths[i]})
		}
	}
	return out
}

func (g *generator) tree(ops []int, depth int) *tree {
	if depth == 0 || g.Intn(6) == 0 {
		return leaf([]string{"x", "y", "z", "w"}[g.Intn(4)])
	}
	return node(ops[g.Intn(len(ops))], g.tree(ops, depth-1), g.tree(ops, depth-1))
}

// equation is a proof that left = right.
type equation struct {
	left, right *tree
	text        string
}

// step rewrites one place of t by a law, and gives the context with a variable called hole.
func (g *generator) step(t *tree, laws []law, c *class, op func(int) string) (next, context *tree, proof *equation) {
	type place struct {
		sub  *tree
		with func(*tree) *tree
	}
	var places []place
	var visit func(t *tree, with func(*tree) *tree)
	visit = func(t *tree, with func(*tree) *tree) {
		if t.isLeaf() {
			return
		}
		places = append(places, place{t, with})
		visit(t.left, func(u *tree) *tree { return with(node(t.op, u, t.right)) })
		visit(t.right, func(u *tree) *tree { return with(node(t.op, t.left, u)) })
	}
	visit(t, func(u *tree) *tree { return u })
	for range 40 * min(1, len(places)) {
		p, l := places[g.Intn(len(places))], laws[g.Intn(len(laws))]
		left, right, backwards := l.left, l.right, g.Intn(2) == 0
		if backwards {
			left, right = right, left
		}
		values := map[string]*tree{}
		if !p.sub.match(left, values) {
			continue
		}
		for _, v := range []string{"a", "b", "c"} {
			if values[v] == nil {
				values[v] = leaf("x")
			}
		}
		result := right.substitute(values)
		next = p.with(result)
		if next.size() > 60 {
			continue
		}
		text := fmt.Sprintf("%s %s %s %s", c.law(l.id, "s"), values["a"].text(op), values["b"].text(op), values["c"].text(op))
		if backwards {
			text = fmt.Sprintf("Eq.symm.{1} α %s %s (%s)", result.text(op), p.sub.text(op), text)
		}
		return next, p.with(leaf("hole")), &equation{p.sub, result, text}
	}
	return nil, nil, nil
}
