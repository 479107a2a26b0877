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
	store    *term.Store
	env      *environment.Environment
	names    *builtin.Names
	builtins *recognised // shared, written before checking starts
	ctx      context.Context

	view           environment.View        // what the declaration being checked may use
	params         []term.Name             // its universe parameters
	auxiliary      []*environment.Constant // types standing for nested occurrences, named from auxiliaryBase on
	auxBase        term.Name
	nextLocal      uint32
	permanentExprs int // expressions of the store that outlive the declaration
	levels         *levelOrder
	symbolic       *symbolic // set while an operation is being recognised
	eager          bool      // under eagerReduce: literals are computed even beside free variables

	inferred       exprCache // checked: every part was checked
	inferredOnly   exprCache // inferred only: parts are known to be well-typed
	whnfs          exprCache
	whnfCores      exprCache
	cheapWhnfCores exprCache
	unfoldings     exprCache
	equal          pairSet // pairs that defEq found equal
	equalReduced   pairSet // pairs that defEqReduced found equal
	unequal        pairSet // applications of one definition whose arguments sameArguments found unequal
	ruleValues     map[uint64]term.Expr
	scopeIDs       map[uint64]uint32    // by outer scope and free variable
	scopedTypes    map[uint64]term.Expr // checked, by scope and expression
	openVisits     int

	apart       *checker     // checks what this one generates
	disturbance *disturbance // nil but in tests
	uncached    bool         // only in tests, and where generated types are checked
	maxSteps    int          // of one declaration; 0: no limit

	room         *term.Room
	depth        int
	deepest      int // how deep the checker has been, in levels, a multiple of levelsPerStackCheck
	maxDepth     int
	steps        int
	stepLimit    int           // when positive, stop at this many steps
	firstRefused *atomic.Int64 // smallest index of a declaration already refused
}

// foundation is the data that all checkers of a file share. It is only read once checking starts.
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
	c := &checker{store: store, env: f.env, names: f.names, builtins: &f.known, ctx: ctx, permanentExprs: store.ExprCount(), room: room, maxDepth: maxDepth, firstRefused: refused,
		ruleValues: map[uint64]term.Expr{}, scopeIDs: map[uint64]uint32{}, scopedTypes: map[uint64]term.Expr{}}
	for _, cache := range []*exprCache{&c.inferred, &c.inferredOnly, &c.whnfs, &c.whnfCores, &c.cheapWhnfCores, &c.unfoldings} {
		cache.room = room
	}
	for _, pairs := range []*pairSet{&c.equal, &c.equalReduced, &c.unequal} {
		pairs.room = room
	}
	c.levels = newLevelOrder(store, c.tick)
	c.begin(0)
	return c
}

// begin forgets everything about the previous declaration.
func (c *checker) begin(unit int) {
	c.forget()
	c.store.Truncate(c.permanentExprs)
	c.view, c.params, c.auxiliary = c.env.ViewAt(unit), nil, nil
	c.auxBase = term.Name(c.store.NameCount())
	c.nextLocal, c.depth, c.eager, c.stepLimit = 0, 0, false, 0
	if c.maxSteps > 0 {
		c.stepLimit = c.steps + c.maxSteps
	}
}

// setStage shows constants of the block being checked. Expressions that were stuck may reduce then.
func (c *checker) setStage(stage environment.Stage) {
	c.view.SetStage(stage)
	c.forget()
}

// forget empties every cache. A cached fact holds for one declaration, one stage of its view and, in a symbolic run, one
// set of facts only.
func (c *checker) forget() {
	for _, cache := range []*exprCache{&c.inferred, &c.unfoldings} {
		cache.reset()
	}
	c.forgetReductions()
	clear(c.ruleValues)
	if len(c.scopedTypes) > 1024 || len(c.scopeIDs) > 1024 { // clearing a map that was large once takes long
		c.scopeIDs, c.scopedTypes = map[uint64]uint32{}, map[uint64]term.Expr{}
	}
	clear(c.scopeIDs)
	clear(c.scopedTypes)
	c.openVisits = 0
}

// forgetReductions empties the caches whose entries depend on c.eager: those of whnf, of defEq, and of types that are
// inferred on the way.
func (c *checker) forgetReductions() {
	for _, cache := range []*exprCache{&c.inferredOnly, &c.whnfs, &c.whnfCores, &c.cheapWhnfCores} {
		cache.reset()
	}
	for _, pairs := range []*pairSet{&c.equal, &c.equalReduced, &c.unequal} {
		pairs.reset()
	}
	c.disturbance.forget()
}

// tickEvery is the number of steps between two checks of the context.
const tickEvery = 1 << 10

// tick counts one step. It panics with exhaustedPanic beyond stepLimit, and every tickEvery steps calls stopIfCancelled.
func (c *checker) tick() {
	c.steps++
	if c.stepLimit > 0 && c.steps > c.stepLimit {
		panic(exhaustedPanic{"a bounded search ended"})
	}
	if c.steps%tickEvery == 0 {
		c.stopIfCancelled()
	}
}

// stopIfCancelled panics with exhaustedPanic when the context has ended, and with abandonedPanic when a declaration
// before this one was refused, so that this one's result would not be reported.
func (c *checker) stopIfCancelled() {
	if c.ctx.Err() != nil {
		panic(contextEnded(c.ctx))
	}
	if c.firstRefused.Load() < int64(c.view.Unit()) {
		panic(abandonedPanic{})
	}
}

// enter counts one step and one level of recursion, and panics with exhaustedPanic beyond maxDepth: Go cannot recover
// from a stack overflow. Each enter is paired with a leave.
func (c *checker) enter() {
	c.tick()
	c.depth++
	if c.depth > c.deepest+levelsPerStackCheck {
		c.room.Require(c.depth * depthBytes)
		c.deepest += levelsPerStackCheck
	}
	if c.depth > c.maxDepth {
		panic(exhaustedPanic{"the check recurses too deeply"})
	}
}

// levelsPerStackCheck is the number of recursion levels between two checks that the stack fits in the room. depthBytes
// is the most stack one level takes, in bytes, the copy included that the runtime makes when a stack grows.
const (
	levelsPerStackCheck = 1 << 11
	depthBytes          = 1 << 12
)

// leave ends the level of recursion that enter began.
func (c *checker) leave() { c.depth-- }

// newLocal returns a new free variable of the given type.
func (c *checker) newLocal(typ term.Expr) term.Expr {
	l := c.store.Local(c.nextLocal, typ)
	c.nextLocal++
	return l
}

// findConstant returns the constant called n if the declaration being checked may use it, or nil.
func (c *checker) findConstant(n term.Name) *environment.Constant {
	if n >= c.auxBase {
		if i := int(n - c.auxBase); i < len(c.auxiliary) {
			return c.auxiliary[i]
		}
		return nil
	}
	return c.view.Find(n)
}

// headConstant returns the constant at the head of the application e and its universe levels; nil when the head is no
// visible constant.
func (c *checker) headConstant(e term.Expr) (*environment.Constant, term.Levels) {
	n := c.store.Node(c.store.Head(e))
	if n.Kind != term.KindConst {
		return nil, 0
	}
	return c.findConstant(term.Name(n.A)), term.Levels(n.B)
}

// instantiateParams substitutes the levels ls for the universe parameters of k in e. Their counts are equal.
func (c *checker) instantiateParams(e term.Expr, k *environment.Constant, ls term.Levels) term.Expr {
	if len(k.Params) == 0 {
		return e
	}
	return c.store.InstantiateLevels(e, k.Params, c.store.LevelsOf(ls))
}
