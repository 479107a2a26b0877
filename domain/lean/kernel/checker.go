package kernel

import (
	"context"
	"sync/atomic"

	"reckon/domain/lean/builtin"
	"reckon/domain/lean/environment"
	"reckon/domain/lean/term"
)

// checker checks one declaration at a time. It owns its store and caches; the environment is shared and only read.
//
// Free variables are numbered by binder depth: entering a binder takes the next number, leaving gives it back. Equal
// binders entered at equal depth therefore yield the same free variable and meet the same cache entries. The type of
// a free variable is part of it, so a cached fact about one is true wherever it appears.
type checker struct {
	store *term.Store
	env   *environment.Environment
	names *builtin.Names
	known *recognised // shared, written before checking starts
	ctx   context.Context

	view      environment.View        // what the declaration being checked may use
	params    []term.Name             // its universe parameters
	auxiliary []*environment.Constant // types standing for nested occurrences, named from auxiliaryBase on
	auxBase   term.Name
	nextLocal uint32
	base      int // expressions of the store that outlive the declaration
	levels    *levelOrder
	symbolic  *symbolic // set while an operation is being recognised
	eager     bool      // under eagerReduce: literals are computed even beside free variables

	inferred   exprCache // checked: every part was checked
	assumed    exprCache // inferred only: parts are known to be well-typed
	whnfs      exprCache
	cores      exprCache
	cheapCores exprCache
	unfoldings exprCache
	equal      pairSet // found definitionally equal
	unequal    pairSet // applications of one definition whose arguments were found unequal
	ruleValues map[uint64]term.Expr
	scopes     map[uint64]uint32    // by outer scope and free variable
	open       map[uint64]term.Expr // checked, by scope and expression
	openVisits int

	room      *term.Room
	depth     int
	deepest   int // how deep the checker has been, in steps of stackLook
	maxDepth  int
	steps     int
	stepLimit int           // when positive, stop at this many steps
	refused   *atomic.Int64 // smallest index of a declaration already refused
}

// foundation is what all checkers of a file share. It is only read once checking starts.
type foundation struct {
	env   *environment.Environment
	names *builtin.Names
	known recognised
}

func newFoundation(store *term.Store, declarations []term.Declaration) *foundation {
	names := builtin.Intern(store)
	return &foundation{env: environment.New(store, declarations), names: names}
}

func newChecker(ctx context.Context, f *foundation, store *term.Store, room *term.Room, maxDepth int, refused *atomic.Int64) *checker {
	c := &checker{store: store, env: f.env, names: f.names, known: &f.known, ctx: ctx, base: store.ExprCount(), room: room, maxDepth: maxDepth, refused: refused,
		ruleValues: map[uint64]term.Expr{}, scopes: map[uint64]uint32{}, open: map[uint64]term.Expr{}}
	for _, cache := range []*exprCache{&c.inferred, &c.assumed, &c.whnfs, &c.cores, &c.cheapCores, &c.unfoldings} {
		cache.room = room
	}
	c.equal.room, c.unequal.room = room, room
	c.levels = newLevelOrder(store, c.tick)
	c.begin(0)
	return c
}

// begin forgets everything about the previous declaration.
func (c *checker) begin(unit int) {
	c.forget()
	c.store.Truncate(c.base)
	c.view, c.params, c.auxiliary = c.env.At(unit), nil, nil
	c.auxBase = term.Name(c.store.NameCount())
	c.nextLocal, c.depth, c.eager = 0, 0, false
}

// forget empties the caches.
func (c *checker) forget() {
	for _, cache := range []*exprCache{&c.inferred, &c.assumed, &c.unfoldings} {
		cache.reset()
	}
	c.forgetReductions()
	clear(c.ruleValues)
	if len(c.open) > 1024 || len(c.scopes) > 1024 { // clearing a map that was large once takes long
		c.scopes, c.open = map[uint64]uint32{}, map[uint64]term.Expr{}
	}
	clear(c.scopes)
	clear(c.open)
	c.openVisits = 0
}

// forgetReductions empties the caches of what depends on how eagerly literals are computed.
func (c *checker) forgetReductions() {
	for _, cache := range []*exprCache{&c.whnfs, &c.cores, &c.cheapCores} {
		cache.reset()
	}
	c.equal.reset()
	c.unequal.reset()
}

// tickEvery is how many steps pass between looks at the deadline.
const tickEvery = 1 << 10

// tick counts a step, and stops when the caller cancelled or an earlier declaration was refused.
func (c *checker) tick() {
	c.steps++
	if c.stepLimit > 0 && c.steps > c.stepLimit {
		panic(stopped{"a bounded search ended"})
	}
	if c.steps%tickEvery == 0 {
		c.look()
	}
}

// look ends the check of this declaration when there is no time left or no use in it.
func (c *checker) look() {
	if c.ctx.Err() != nil {
		panic(outOfContext(c.ctx))
	}
	if c.refused.Load() < int64(c.view.Unit()) {
		panic(passed{})
	}
}

// enter counts a step and a level of recursion; leave takes the level back. A Go stack overflow cannot be recovered
// from, so the depth is bounded here.
func (c *checker) enter() {
	c.tick()
	c.depth++
	if c.depth > c.deepest+stackLook {
		c.room.Need(c.depth * depthBytes)
		c.deepest += stackLook
	}
	if c.depth > c.maxDepth {
		panic(stopped{"the check recurses too deeply"})
	}
}

// stackLook is how much deeper the checker goes between looks at the memory, and depthBytes what a level of it takes of
// the stack at most, with the copy that the runtime makes when a stack grows.
const (
	stackLook  = 1 << 11
	depthBytes = 1 << 12
)

func (c *checker) leave() { c.depth-- }

// local returns a new free variable of the given type.
func (c *checker) local(typ term.Expr) term.Expr {
	l := c.store.Local(c.nextLocal, typ)
	c.nextLocal++
	return l
}

// find returns the constant called n if the declaration being checked may use it, or nil.
func (c *checker) find(n term.Name) *environment.Constant {
	if n >= c.auxBase {
		if i := int(n - c.auxBase); i < len(c.auxiliary) {
			return c.auxiliary[i]
		}
		return nil
	}
	return c.view.Find(n)
}

// headConstant returns the constant at the head of an application, its levels, and whether there is one.
func (c *checker) headConstant(e term.Expr) (*environment.Constant, term.Levels) {
	n := c.store.Node(c.store.Head(e))
	if n.Kind != term.KindConst {
		return nil, 0
	}
	return c.find(term.Name(n.A)), term.Levels(n.B)
}

// instantiateParams puts levels in the place of the universe parameters of k in e; the counts agree.
func (c *checker) instantiateParams(e term.Expr, k *environment.Constant, ls term.Levels) term.Expr {
	if len(k.Params) == 0 {
		return e
	}
	return c.store.InstantiateLevels(e, k.Params, c.store.LevelsOf(ls))
}
