package plain

import (
	"context"
	"fmt"
	"runtime"

	"reckon/domain/lean/term"
)

// Budget bounds a check. A zero field takes its default. Steps are counted, not timed: equal files end alike.
type Budget struct {
	Steps int64 // for one declaration; default 1<<25
	Total int64 // for the file; default 1<<27, and 512 more for each expression of the file
	Depth int   // of recursion; default 30,000
	Exprs int   // expressions beyond those of the file; default 1<<23

	Room *term.Room // bounds the memory of the process; nil: no limit
}

// withDefaults is the budget for a file with that many expressions. Exports of whole libraries take 20 to 200 steps for
// each expression.
func (b Budget) withDefaults(exprs int) Budget {
	if b.Steps <= 0 {
		b.Steps = 1 << 25
	}
	if b.Total <= 0 {
		b.Total = 1<<27 + 512*int64(exprs)
	}
	if b.Depth <= 0 {
		b.Depth = 30_000
	}
	if b.Exprs <= 0 {
		b.Exprs = 1 << 23
	}
	return b
}

// literalBytes bounds the numbers that arithmetic makes.
const literalBytes = 256 << 20

// Report is the outcome of Check.
type Report struct {
	Checked     int          // declarations found well-formed
	Refusal     *Refusal     // of the first refused declaration; nil when none was
	OutOfBudget *OutOfBudget // the first declaration that was not decided; nil when all were
	Steps       int64        // taken for the whole file
}

// Accepted reports whether every declaration was found well-formed.
func (r Report) Accepted() bool { return r.Refusal == nil && r.OutOfBudget == nil }

// Refusal says why a declaration is not well-formed.
type Refusal struct {
	Declaration term.Name
	Class       Class
	Message     string
	Line        int
}

func (r *Refusal) Error() string { return string(r.Class) + ": " + r.Message }

// OutOfBudget says where the check did not come to an end. It is no verdict.
type OutOfBudget struct {
	Declaration term.Name
	Line        int
	Reason      string
	Counted     bool // the budget ran out, as it does for every equal file; false: the time or memory given did, or this package has a defect
}

func (o *OutOfBudget) Error() string { return "out of budget: " + o.Reason }

// Class is the rule that a refused declaration breaks, spelled as package kernel spells it.
type Class string

const (
	duplicateDeclaration Class = "duplicate_declaration"
	duplicateUniverse    Class = "duplicate_universe_parameter"
	undefinedUniverse    Class = "undefined_universe_parameter"
	universeCount        Class = "universe_count"
	unknownConstant      Class = "unknown_constant"
	looseVariable        Class = "loose_variable"
	typeExpected         Class = "type_expected"
	functionExpected     Class = "function_expected"
	typeMismatch         Class = "type_mismatch"
	argumentMismatch     Class = "argument_mismatch"
	letMismatch          Class = "let_mismatch"
	theoremNotProp       Class = "theorem_not_prop"
	invalidProjection    Class = "invalid_projection"
	invalidLiteral       Class = "invalid_literal"
	unsafeDeclaration    Class = "unsafe_declaration"
	invalidInductive     Class = "invalid_inductive"
	invalidConstructor   Class = "invalid_constructor"
	universeTooBig       Class = "universe_too_big"
	nonPositive          Class = "non_positive_occurrence"
	invalidOccurrence    Class = "invalid_occurrence"
	invalidNested        Class = "invalid_nested"
	inductiveMismatch    Class = "inductive_mismatch"
	constructorMismatch  Class = "constructor_mismatch"
	recursorMismatch     Class = "recursor_mismatch"
	invalidQuotient      Class = "invalid_quotient"
	illTypedRecursor     Class = "ill_typed_recursor" // a generated recursor or rule is not well-typed
)

// refused and spent unwind the check of a declaration.
type refused struct {
	class   Class
	message string
}

type spent struct {
	reason    string
	uncounted bool
}

func refuse(class Class, format string, args ...any) {
	panic(refused{class, fmt.Sprintf(format, args...)})
}

// kernel is the state of one call of Check.
type kernel struct {
	ctx    context.Context
	store  *term.Store
	budget Budget
	env    map[term.Name]*constant
	added  []term.Name // to env, by the declaration
	names  names

	operations map[term.Name]*operation // by the name of the constant
	computed   map[term.Name]bool       // operations found to satisfy their equations
	quotients  map[term.QuotKind]bool   // declared so far

	memo     memo
	remember bool // false: nothing is remembered, for a test that compares

	steps, limit int64 // of the declaration
	total        int64 // of the declarations before
	depth        int
}

// memo holds values of functions of expressions in the present environment.
type memo struct {
	checked, typed   map[term.Expr]term.Expr // by expression: its type, with premises checked or not
	whnf, core, lazy map[term.Expr]term.Expr
	equal            map[[2]term.Expr]bool // by pair, as asked
	stringsChecked   bool
}

// largestMemo bounds the entries of one map. What is not kept is found again.
const largestMemo = 1 << 21

// keep enters a value of a function into its map.
func keep[K comparable, V any](k *kernel, values map[K]V, argument K, value V) {
	if k.remember && len(values) < largestMemo {
		values[argument] = value
	}
}

// forget empties the memo. It is called wherever the environment changes.
func (k *kernel) forget() {
	k.memo = memo{checked: map[term.Expr]term.Expr{}, typed: map[term.Expr]term.Expr{}, whnf: map[term.Expr]term.Expr{},
		core: map[term.Expr]term.Expr{}, lazy: map[term.Expr]term.Expr{}, equal: map[[2]term.Expr]bool{}}
}

// step takes one step of the budget.
func (k *kernel) step() { k.spend(1) }

func (k *kernel) spend(steps int64) {
	before := k.steps
	k.steps += steps
	if k.steps > k.limit {
		panic(spent{reason: "the steps for a declaration are spent"})
	}
	if k.steps>>10 != before>>10 && k.ctx.Err() != nil {
		panic(spent{"the time given ran out, or the check was cancelled", true})
	}
}

// enter is a step one level of recursion deeper; leave ends it. A panic leaves all levels: see decide.
func (k *kernel) enter() {
	k.step()
	k.depth++
	if k.depth > k.budget.Depth {
		panic(spent{reason: "the recursion is too deep"})
	}
}

func (k *kernel) leave() { k.depth-- }

// attempt is the answer of a question asked with at most the given number of steps; without an answer it is no.
func (k *kernel) attempt(steps int64, question func() bool) (answer bool) {
	outer, depth := k.limit, k.depth
	k.limit = min(k.limit, k.steps+steps)
	k.forget()
	defer func() {
		k.limit, k.depth = outer, depth
		k.forget()
		switch p := recover().(type) {
		case nil:
		case refused, spent:
			if answer = false; k.ctx.Err() != nil {
				panic(spent{"the time given ran out, or the check was cancelled", true}) // an answer must not depend on it
			}
		default:
			panic(p)
		}
	}()
	return question()
}

// Check checks declarations in the given order: each may use those before it. The store is the one they were built in; it
// is only read, and must not be written meanwhile. The first refused declaration ends the check. One that is out of budget
// is assumed to be as the file says, recursors and their rules too, and the check goes on until the budget of the file is
// spent: a later refusal takes precedence.
func Check(ctx context.Context, store *term.Store, declarations []term.Declaration, budget Budget) (report Report) {
	return checkAll(ctx, store, declarations, budget, true)
}

func checkAll(ctx context.Context, store *term.Store, declarations []term.Declaration, budget Budget, remember bool) (report Report) {
	k := &kernel{ctx: ctx, budget: budget.withDefaults(store.ExprCount()), env: map[term.Name]*constant{}, computed: map[term.Name]bool{},
		quotients: map[term.QuotKind]bool{}, remember: remember}
	defer func() { report.Steps = k.total + k.steps }()
	if out := k.guard(func() { k.prepare(store) }); out != nil {
		report.OutOfBudget = &OutOfBudget{Reason: out.(spent).reason, Counted: !out.(spent).uncounted}
		return report
	}
	for i := range declarations {
		d := &declarations[i]
		k.total += k.steps
		k.steps, k.limit, k.depth, k.added = 0, min(k.budget.Steps, k.budget.Total-k.total), 0, k.added[:0]
		kept := k.store.ExprCount()
		k.forget()
		switch out := k.guard(func() { k.declaration(d) }).(type) {
		case nil:
			report.Checked++
		case refused:
			report.Refusal = &Refusal{Declaration: d.Name, Class: out.class, Message: out.message, Line: d.Line}
			return report
		case spent:
			if report.OutOfBudget == nil || report.OutOfBudget.Counted && out.uncounted {
				report.OutOfBudget = &OutOfBudget{Declaration: d.Name, Line: d.Line, Reason: out.reason, Counted: !out.uncounted}
			}
			k.total, k.steps, k.limit, k.depth = k.total+k.steps, 0, k.budget.Steps, 0
			k.withdraw(kept)
			if k.total >= k.budget.Total || ctx.Err() != nil || k.guard(func() { k.assumeUndecided(d) }) != nil {
				return report
			}
		}
		if d.Block == nil {
			k.store.Truncate(kept) // nothing of it is needed: a block's generated recursors are
		}
	}
	if n := len(k.quotients); n != 0 && n != 4 {
		for i := range declarations {
			if d := &declarations[i]; d.Kind == term.Quotient {
				report.Refusal = &Refusal{Declaration: d.Name, Class: invalidQuotient, Message: "the quotient constants are declared together or not at all", Line: d.Line}
			}
		}
	}
	return report
}

func (k *kernel) prepare(store *term.Store) {
	k.store = store.Clone(k.budget.Room)
	k.store.SetExprLimit(store.ExprCount() + k.budget.Exprs)
	k.store.SetLiteralLimit(literalBytes)
	k.store.Freeze()
	k.limit = k.budget.Steps
	k.findNames()
}

// guard runs f. What it returns is nil, refused or spent. A defect of this package is reported as spent: it neither
// decides nor ends the process.
func (k *kernel) guard(f func()) (out any) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case refused, spent:
			out = p
		case term.StoreFull:
			out = spent{reason: p.Error()}
		case term.TooDeep:
			out = spent{reason: p.Error()}
		case term.OutOfMemory:
			out = spent{p.Error(), true}
		case runtime.Error:
			out = spent{"internal error: " + p.Error(), true}
		default:
			panic(p)
		}
	}()
	f()
	return nil
}

// declaration checks one declaration and adds what it declares (TTL 2.4 to 2.7; C++ environment.cpp, add_core).
func (k *kernel) declaration(d *term.Declaration) {
	if d.Block != nil {
		k.block(d.Block)
		return
	}
	if d.Kind == term.Inductive {
		refuse(invalidInductive, "an inductive record declares nothing")
	}
	k.unused(d.Name)
	k.distinct(d.LevelParams)
	if d.Unsafe || d.Partial {
		refuse(unsafeDeclaration, "unsafe and partial declarations are not judged")
	}
	k.wellScoped(d.Type, d.LevelParams)
	if d.Kind == term.Quotient {
		k.quotient(d)
		return
	}
	k.check(d.Type)
	level := k.sortOf(d.Type, true)
	switch d.Kind {
	case term.Theorem:
		if !k.alwaysZero(level) {
			refuse(theoremNotProp, "a theorem states a proposition; its type lives in Sort %s", k.store.DescribeLevel(level))
		}
		fallthrough
	case term.Definition, term.Opaque:
		k.wellScoped(d.Value, d.LevelParams)
		if have := k.check(d.Value); !k.equal(have, d.Type) {
			refuse(typeMismatch, "the value has type %s where %s is declared", k.store.Describe(have), k.store.Describe(d.Type))
		}
	}
	k.assume(d)
	if d.Kind == term.Definition {
		k.recogniseOperation(d.Name)
	}
}

// withdraw takes back what an undecided declaration has added, and its expressions, which have handles from kept on.
func (k *kernel) withdraw(kept int) {
	for _, n := range k.added {
		delete(k.env, n)
	}
	k.store.Truncate(kept)
	k.forget()
}

// assumeUndecided adds a declaration whose check did not come to an end, as its records say.
func (k *kernel) assumeUndecided(d *term.Declaration) {
	switch {
	case d.Block != nil:
		k.assumeBlock(d.Block)
	case d.Kind == term.Quotient:
		k.assumeQuotient(d)
	default:
		k.assume(d)
	}
}

// add enters a constant into the environment.
func (k *kernel) add(n term.Name, c *constant) {
	k.env[n] = c
	k.added = append(k.added, n)
}

// assume adds a declaration that is no block and no quotient.
func (k *kernel) assume(d *term.Declaration) {
	c := &constant{params: d.LevelParams, typ: d.Type}
	switch d.Kind {
	case term.Axiom:
		c.kind = axiom
	case term.Definition:
		c.kind, c.value = definition, d.Value
	case term.Theorem:
		c.kind, c.value = theorem, d.Value
	case term.Opaque:
		c.kind, c.value = opaque, d.Value
	}
	if c.unfolds() {
		c.height = k.heightOf(d)
	}
	k.add(d.Name, c)
}

// unused: no earlier declaration has the name.
func (k *kernel) unused(n term.Name) {
	if k.env[n] != nil {
		refuse(duplicateDeclaration, "the name %s is declared before", k.store.NameString(n))
	}
}

func (k *kernel) distinct(params []term.Name) {
	seen := map[term.Name]bool{}
	for _, p := range params {
		if seen[p] {
			refuse(duplicateUniverse, "the universe parameter %s is declared twice", k.store.NameString(p))
		}
		seen[p] = true
	}
}
