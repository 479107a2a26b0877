package kernel

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"

	"reckon/domain/lean/term"
)

// Options bound a check. The zero value means the defaults.
type Options struct {
	Workers  int // goroutines checking declarations; default GOMAXPROCS
	MaxDepth int // of recursion; default DefaultMaxDepth
	MaxExprs int // distinct expressions per worker, those of the file included; default term.MaxExprs

	Room *term.Room // of the process; default no limit

	// Progress, when set, is called now and then with the number of declarations checked. Calls come from one
	// goroutine at a time.
	Progress func(checked, total int)
}

// DefaultMaxDepth bounds recursion so that the goroutine's stack stays far below what makes Go abort the process.
const DefaultMaxDepth = 200_000

// Result is the outcome of Check.
type Result struct {
	Checked   int        // declarations found right
	Refusal   *Refusal   // why the first wrong declaration is refused, or nil
	Exhausted *Exhausted // set when the check did not finish and nothing was refused
}

// Accepted says whether every declaration was found right.
func (r Result) Accepted() bool { return r.Refusal == nil && r.Exhausted == nil }

// Check checks declarations in the given order against one another: each may use what earlier ones declare. The store
// must be the one they were built in, and is not to be used by anyone else meanwhile. The first refusal in the order of
// the file is reported, whatever the number of workers.
func Check(ctx context.Context, store *term.Store, declarations []term.Declaration, opts Options) Result {
	return Prepare(ctx, store, declarations, opts).Run()
}

// Session is a check that is ready to run.
type Session struct {
	run      *run
	checkers []*checker // one for each worker
}

// Prepare does what has to precede checking. When there is more than one worker, each has a copy of the store, and the
// caller may read the original while the session runs.
func Prepare(ctx context.Context, store *term.Store, declarations []term.Declaration, opts Options) *Session {
	if opts.Workers <= 0 {
		opts.Workers = runtime.GOMAXPROCS(0)
	}
	if opts.MaxDepth <= 0 {
		opts.MaxDepth = DefaultMaxDepth
	}
	if opts.MaxExprs > 0 {
		store.SetExprLimit(opts.MaxExprs)
	}
	r := &run{opts: opts, refusals: make([]*Refusal, len(declarations)), total: len(declarations)}
	r.refused.Store(math.MaxInt64)
	s := &Session{run: r}
	if r.exhausted = r.prepare(ctx, store, declarations); r.exhausted != nil {
		return s
	}
	if workers := min(opts.Workers, max(1, len(declarations))); workers > 1 {
		for range workers {
			own, ok := cloneWithin(store, opts.Room)
			if !ok {
				break // fewer workers need less
			}
			s.checkers = append(s.checkers, newChecker(ctx, r.base, own, opts.Room, opts.MaxDepth, &r.refused))
		}
	}
	if len(s.checkers) == 0 {
		s.checkers = append(s.checkers, newChecker(ctx, r.base, store, opts.Room, opts.MaxDepth, &r.refused))
	}
	store.SetRoom(nil) // the caller may go on with it
	return s
}

// cloneWithin copies a store if there is room for it.
func cloneWithin(store *term.Store, room *term.Room) (own *term.Store, ok bool) {
	defer func() {
		if p := recover(); p != nil {
			if _, out := p.(term.OutOfMemory); !out {
				panic(p)
			}
			ok = false
		}
	}()
	return store.Clone(room), true
}

// Recognises says whether the constant called n is a built-in one that is declared as it has to be: of an operation on
// numbers, that it computes what its name says. It answers once Prepare has returned.
func (s *Session) Recognises(n term.Name) bool {
	if s.run.base == nil {
		return false
	}
	id, ok := s.run.base.names.ID(n)
	return ok && s.run.base.known.from[id] != never
}

// LeavesStoreAlone says whether the caller may read the store while the session runs.
func (s *Session) LeavesStoreAlone() bool { return len(s.checkers) != 1 }

// Run checks the declarations. A session runs once.
func (s *Session) Run() Result {
	var group sync.WaitGroup
	for _, c := range s.checkers {
		c.store.SetRoom(s.run.opts.Room)
		group.Go(func() { s.run.work(c) })
	}
	group.Wait()
	return s.run.result()
}

// run is one call of Check.
type run struct {
	base     *foundation
	opts     Options
	total    int
	next     atomic.Int64
	checked  atomic.Int64
	refused  atomic.Int64 // smallest index of a refused declaration
	refusals []*Refusal   // by declaration

	mu        sync.Mutex
	exhausted *Exhausted
	reported  int
}

// prepare builds the environment and recognises built-in constants.
func (r *run) prepare(ctx context.Context, store *term.Store, declarations []term.Declaration) (e *Exhausted) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case runtime.Error: // a defect of the checker: never a verdict, never a dead server
			e = &Exhausted{Reason: "internal error: " + p.Error()}
		default:
			if !isUnwinding(p) {
				panic(p)
			}
			e = &Exhausted{Reason: reason(p)}
		}
	}()
	store.SetRoom(r.opts.Room)
	r.base = newFoundation(store, declarations)
	c := newChecker(ctx, r.base, store, r.opts.Room, r.opts.MaxDepth, &r.refused)
	c.recognise()
	c.addMissingRecursors()
	store.Freeze()
	return nil
}

// work checks declarations until none is left.
func (r *run) work(c *checker) {
	for {
		unit := int(r.next.Add(1)) - 1
		if unit >= r.total {
			return
		}
		if int64(unit) > r.refused.Load() {
			continue
		}
		refusal, exhausted := c.checkUnit(unit)
		switch {
		case refusal != nil:
			r.refusals[unit] = refusal
			if !refusal.minor {
				r.refuse(int64(unit))
			}
		case exhausted != nil:
			r.mu.Lock()
			if r.exhausted == nil || exhausted.Line < r.exhausted.Line {
				r.exhausted = exhausted
			}
			r.mu.Unlock()
			if c.ctx.Err() != nil {
				return
			}
		default:
			r.progress(int(r.checked.Add(1)))
		}
	}
}

func (r *run) refuse(unit int64) {
	for {
		old := r.refused.Load()
		if unit >= old || r.refused.CompareAndSwap(old, unit) {
			return
		}
	}
}

// progressEvery is how many declarations pass between reports.
const progressEvery = 64

func (r *run) progress(checked int) {
	if r.opts.Progress == nil || checked%progressEvery != 0 && checked != r.total {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if checked > r.reported {
		r.reported = checked
		r.opts.Progress(checked, r.total)
	}
}

// result picks the first refusal. One that is not minor says more; a declaration before it that could not be finished
// does not make it less wrong.
func (r *run) result() Result {
	result := Result{Checked: int(r.checked.Load())}
	for _, refusal := range r.refusals {
		if refusal == nil {
			continue
		}
		if result.Refusal == nil {
			result.Refusal = refusal
		}
		if !refusal.minor {
			result.Refusal = refusal
			break
		}
	}
	if result.Refusal == nil {
		result.Exhausted = r.exhausted
	}
	return result
}

// checkUnit checks one declaration. Everything that unwinds the checker ends here.
func (c *checker) checkUnit(unit int) (refusal *Refusal, exhausted *Exhausted) {
	d := c.env.Declaration(unit)
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		switch p := p.(type) {
		case refused:
			if p.name == term.Anonymous {
				p.name = d.Name
			}
			refusal = &Refusal{Declaration: p.name, Class: p.class, Message: p.message, Line: d.Line,
				minor: p.minor || p.class == UnsafeDeclaration}
		case passed:
		case runtime.Error:
			// A defect of the checker: never a verdict, never a dead server.
			exhausted = &Exhausted{Declaration: d.Name, Line: d.Line, Reason: "internal error: " + p.Error()}
		default:
			if !isUnwinding(p) {
				panic(p)
			}
			exhausted = &Exhausted{Declaration: d.Name, Line: d.Line, Reason: reason(p)}
		}
	}()
	if name, duplicate := c.env.Duplicate(unit); duplicate {
		return &Refusal{Declaration: d.Name, Class: DuplicateDeclaration, Line: d.Line,
			Message: "the name " + c.store.NameString(name) + " is already declared"}, nil
	}
	if c.ctx.Err() != nil {
		panic(outOfContext(c.ctx))
	}
	c.begin(unit)
	c.checkDeclaration(d)
	return nil, nil
}

func (c *checker) checkDeclaration(d *term.Declaration) {
	if d.Kind == term.Inductive {
		c.checkInductive(d)
		return
	}
	c.params = d.LevelParams
	c.distinctParams(d.LevelParams)
	if d.Unsafe || d.Partial {
		refuse(UnsafeDeclaration, "unsafe and partial declarations are not judged")
	}
	if d.Kind == term.Quotient {
		c.checkQuotient(d)
		return
	}
	level := c.sortOf(d.Type, true)
	switch d.Kind {
	case term.Theorem:
		if !c.levels.alwaysZero(level) {
			refuse(TheoremNotProp, "a theorem states a proposition; this type lives in Sort %s", c.store.DescribeLevel(level))
		}
		c.checkValue(d)
	case term.Definition, term.Opaque:
		c.checkValue(d)
	}
}

func (c *checker) checkValue(d *term.Declaration) {
	typ := c.check(d.Value)
	if !c.defEq(typ, d.Type) {
		refuse(TypeMismatch, "the value has type %s where %s is declared", c.store.Describe(typ), c.store.Describe(d.Type))
	}
}

// isUnwinding says whether a recovered value is one the checker unwinds with.
func isUnwinding(p any) bool {
	switch p.(type) {
	case refused, stopped, passed, term.OutOfRoom, term.OutOfMemory, term.TooDeep:
		return true
	}
	return false
}

func reason(p any) string {
	switch p := p.(type) {
	case stopped:
		return p.reason
	case error:
		return p.Error()
	case refused:
		return p.message
	}
	return fmt.Sprint(p)
}

// recursorNames are the names Lean gives the recursors of a block: T.rec for its types, and T.rec_1, T.rec_2 … on the
// first type for nested ones. A name the file never writes is fresh: no record can have it.
func (c *checker) recursorNames(types []term.InductiveType, nested int) []term.Name {
	var names []term.Name
	lookup := func(prefix term.Name, text string) {
		n, ok := c.store.LookupStr(prefix, text)
		if !ok {
			n = c.store.FreshName(text)
		}
		names = append(names, n)
	}
	for i := range types {
		lookup(types[i].Name, "rec")
	}
	for i := range nested {
		lookup(types[0].Name, "rec_"+strconv.Itoa(i+1))
	}
	return names
}

// addMissingRecursors declares recursors that a block should have and whose records a file leaves out, so that what
// uses them is judged by what they are. The block itself is refused.
func (c *checker) addMissingRecursors() {
	for unit := range c.env.Len() {
		b := c.env.Declaration(unit).Block
		if b == nil || len(b.Types) == 0 || len(b.Recursors) >= len(b.Types) {
			continue
		}
		if _, duplicate := c.env.Duplicate(unit); !duplicate {
			c.generateMissing(unit, b)
		}
	}
}

func (c *checker) generateMissing(unit int, source *term.Block) {
	defer func() {
		if p := recover(); p != nil && !isUnwinding(p) {
			panic(p)
		}
	}()
	c.begin(unit)
	b := c.newBlock(source)
	b.checkRecords()
	for _, g := range b.generate() {
		c.env.AddRecursor(unit, &term.Recursor{Name: g.name, LevelParams: g.params, Type: g.typ, NumParams: uint32(b.numParams()),
			NumIndices: uint32(g.numIndices), NumMotives: uint32(len(b.types)), NumMinor: uint32(b.minorCount), Rules: g.rules, K: b.isK()},
			len(b.types) == 1)
	}
	c.base = c.store.ExprCount() // what was generated stays
}
