package check

import (
	"slices"

	"reckon/domain/lean/term"
)

// reach knows which axioms every declaration of a file reaches through types, values, constructors and recursors.
// Sets of axioms are interned, so that the many equal ones cost nothing.
type reach struct {
	store        *term.Store
	declarations []term.Declaration
	unitOf       map[term.Name]int // the declaration that introduces a name; the first one
	ofUnit       []int             // set by declaration
	ofExpr       []int32           // set by expression
	sets         [][]term.Name     // sets[0] is empty
	index        map[string]int
	unions       map[[2]int]int
	literals     literalNames
}

// literalNames are the constants a literal stands for.
type literalNames struct{ nat, str []term.Name }

func newReach(store *term.Store, declarations []term.Declaration) *reach {
	r := &reach{store: store, declarations: declarations, unitOf: map[term.Name]int{}, ofUnit: make([]int, len(declarations)),
		ofExpr: make([]int32, store.ExprCount()), sets: [][]term.Name{nil}, index: map[string]int{"": 0}, unions: map[[2]int]int{}}
	lookup := func(names ...string) (out []term.Name) {
		for _, n := range names {
			if id, ok := store.LookupDotted(n); ok {
				out = append(out, id)
			}
		}
		return out
	}
	r.literals.nat = lookup("Nat")
	r.literals.str = lookup("String", "String.ofList", "String.mk", "Char.ofNat", "List")
	walker := term.NewWalker(store)
	for unit := range declarations {
		set := 0
		for _, e := range expressionsOf(&declarations[unit]) {
			walker.Walk(e, r.visit)
			set = r.union(set, int(r.ofExpr[e]))
		}
		if d := &declarations[unit]; d.Kind == term.Axiom {
			set = r.union(set, r.intern([]term.Name{d.Name}))
		}
		r.ofUnit[unit] = set
		for _, n := range namesOf(&declarations[unit]) {
			if _, ok := r.unitOf[n]; !ok {
				r.unitOf[n] = unit
			}
		}
	}
	return r
}

// of returns the axioms a declared name reaches.
func (r *reach) of(n term.Name) []term.Name {
	unit, ok := r.unitOf[n]
	if !ok {
		return nil
	}
	return r.sets[r.ofUnit[unit]]
}

func (r *reach) visit(e term.Expr, n term.Node) {
	set := 0
	children, count := n.Children()
	for _, child := range children[:count] {
		set = r.union(set, int(r.ofExpr[child]))
	}
	use := func(names ...term.Name) {
		for _, name := range names {
			if unit, ok := r.unitOf[name]; ok {
				set = r.union(set, r.ofUnit[unit])
			}
		}
	}
	switch n.Kind {
	case term.KindConst, term.KindProj:
		use(term.Name(n.A))
	case term.KindNat:
		use(r.literals.nat...)
	case term.KindStr:
		use(r.literals.str...)
	}
	r.ofExpr[e] = int32(set)
}

func (r *reach) union(a, b int) int {
	switch {
	case a == b || b == 0:
		return a
	case a == 0:
		return b
	}
	key := [2]int{min(a, b), max(a, b)}
	if u, ok := r.unions[key]; ok {
		return u
	}
	merged := slices.Concat(r.sets[a], r.sets[b])
	slices.Sort(merged)
	u := r.intern(slices.Compact(merged))
	r.unions[key] = u
	return u
}

func (r *reach) intern(set []term.Name) int {
	key := make([]byte, 0, len(set)*4)
	for _, n := range set {
		key = append(key, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	}
	if i, ok := r.index[string(key)]; ok {
		return i
	}
	r.sets = append(r.sets, set)
	r.index[string(key)] = len(r.sets) - 1
	return len(r.sets) - 1
}

// expressionsOf lists every expression of a declaration.
func expressionsOf(d *term.Declaration) []term.Expr {
	switch d.Kind {
	case term.Inductive:
		var out []term.Expr
		for i := range d.Block.Types {
			out = append(out, d.Block.Types[i].Type)
		}
		for i := range d.Block.Constructors {
			out = append(out, d.Block.Constructors[i].Type)
		}
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
