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

// Options bound a check. A zero field takes its default.
type Options struct {
	Workers  int // goroutines checking declarations; default GOMAXPROCS
	MaxDepth int // levels of recursion; default DefaultMaxDepth
	MaxExprs int // distinct expressions per worker, those of the file included; default term.MaxExprs

	Room *term.Room // bounds the memory of the process; nil: no limit

	Questions Questions // for tests

	// Progress, when not nil, is called after every 64th declaration and the last one with the number checked so far,
	// which never falls. Calls come from one goroutine at a time.
	Progress func(checked, total int)
}

// DefaultMaxDepth bounds recursion so that the goroutine's stack stays far below what makes Go abort the process.
const DefaultMaxDepth = 200_000

// Result is the outcome of Check.
type Result struct {
	Checked   int        // number of declarations accepted
	Refusal   *Refusal   // of the first refused declaration in file order; nil when none was
	Exhausted *Exhausted // why the check did not finish; nil when it did or a declaration was refused
}

// Accepted reports whether every declaration was accepted.
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

// Prepare builds the environment, recognises the built-in constants and clones the store once for each worker. With more
// than one worker the caller may read the original store while the session runs; see LeavesStoreAlone. Running out of
// memory for clones reduces the number of workers; running out before that is reported by Run.
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
	r.firstRefused.Store(math.MaxInt64)
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
			s.checkers = append(s.checkers, newChecker(ctx, r.foundation, own, opts.Room, opts.MaxDepth, &r.firstRefused))
		}
	}
	if len(s.checkers) == 0 {
		s.checkers = append(s.checkers, newChecker(ctx, r.foundation, store, opts.Room, opts.MaxDepth, &r.firstRefused))
	}
	for _, c := range s.checkers {
		c.ask(opts.Questions)
	}
	store.SetRoom(nil) // the caller may go on with it
	return s
}

// cloneWithin clones the store within room; ok is false when the memory does not suffice.
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

// Recognises reports whether n is a built-in constant whose declaration is the one its name promises; an operation on
// Nat was proved to compute that operation. It may be called at any time after Prepare.
func (s *Session) Recognises(n term.Name) bool {
	if s.run.foundation == nil {
		return false
	}
	id, ok := s.run.foundation.names.ID(n)
	return ok && s.run.foundation.known.usableFrom[id] != neverUsable
}

// LeavesStoreAlone reports whether the caller may read the store while the session runs: every worker has a clone, or
// there is no worker because Prepare failed.
func (s *Session) LeavesStoreAlone() bool { return len(s.checkers) != 1 }

// Run checks the declarations. A session runs once.
func (s *Session) Run() Result {
	var group sync.WaitGroup
	for _, c := range s.checkers {
		c.store.SetRoom(s.run.opts.Room)
		group.Go(func() { s.run.checkUnits(c) })
	}
	group.Wait()
	return s.run.result()
}

// run is the state that the workers of one session share.
type run struct {
	foundation   *foundation
	opts         Options
	total        int
	nextUnit     atomic.Int64
	checked      atomic.Int64
	firstRefused atomic.Int64 // smallest index of a refused declaration
	refusals     []*Refusal   // by declaration

	mu        sync.Mutex
	exhausted *Exhausted
	reported  int
}

// prepare builds the environment and recognises built-in constants.
func (r *run) prepare(ctx context.Context, store *term.Store, declarations []term.Declaration) (e *Exhausted) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case runtime.Error: // a defect of the checker is reported as not finished; it neither decides nor ends the process
			e = &Exhausted{Reason: "internal error: " + p.Error()}
		default:
			if !isUnwinding(p) {
				panic(p)
			}
			e = &Exhausted{Reason: exhaustionReason(p)}
		}
	}()
	store.SetRoom(r.opts.Room)
	r.foundation = newFoundation(store, declarations)
	c := newChecker(ctx, r.foundation, store, r.opts.Room, r.opts.MaxDepth, &r.firstRefused)
	c.recognise()
	c.addMissingRecursors()
	store.Freeze()
	return nil
}

// checkUnits takes declarations in file order and checks them until none is left or the context has ended.
func (r *run) checkUnits(c *checker) {
	for {
		unit := int(r.nextUnit.Add(1)) - 1
		if unit >= r.total {
			return
		}
		if int64(unit) > r.firstRefused.Load() {
			continue
		}
		refusal, exhausted := c.checkUnit(unit)
		switch {
		case refusal != nil:
			r.refusals[unit] = refusal
			if !refusal.minor {
				r.recordRefusal(int64(unit))
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
			r.reportProgress(int(r.checked.Add(1)))
		}
	}
}

// recordRefusal lowers firstRefused to unit, unless an earlier declaration was refused.
func (r *run) recordRefusal(unit int64) {
	for {
		old := r.firstRefused.Load()
		if unit >= old || r.firstRefused.CompareAndSwap(old, unit) {
			return
		}
	}
}

// progressEvery is the number of declarations between two calls of Options.Progress.
const progressEvery = 64

func (r *run) reportProgress(checked int) {
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

// result reports the first refusal that is not minor, or else the first minor one. A refusal takes precedence over an
// unfinished declaration, wherever that stands in the file: the refused declaration is wrong in any case.
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

// checkUnit checks one declaration. Every panic that the checker raises on purpose is recovered here and returned as a
// Refusal or Exhausted; abandonedPanic returns neither.
func (c *checker) checkUnit(unit int) (refusal *Refusal, exhausted *Exhausted) {
	d := c.env.Declaration(unit)
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		switch p := p.(type) {
		case refusalPanic:
			if p.name == term.Anonymous {
				p.name = d.Name
			}
			refusal = &Refusal{Declaration: p.name, Class: p.class, Message: p.message, Line: d.Line,
				minor: p.minor || p.class == UnsafeDeclaration}
		case abandonedPanic:
		case runtime.Error:
			// A defect of the checker is reported as not finished; it neither decides nor ends the process.
			exhausted = &Exhausted{Declaration: d.Name, Line: d.Line, Reason: "internal error: " + p.Error()}
		default:
			if !isUnwinding(p) {
				panic(p)
			}
			exhausted = &Exhausted{Declaration: d.Name, Line: d.Line, Reason: exhaustionReason(p)}
		}
	}()
	if name, duplicate := c.env.DuplicateName(unit); duplicate {
		return &Refusal{Declaration: d.Name, Class: DuplicateDeclaration, Line: d.Line,
			Message: "the name " + c.store.NameString(name) + " is already declared"}, nil
	}
	if c.ctx.Err() != nil {
		panic(contextEnded(c.ctx))
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

// isUnwinding reports whether the recovered value p is a panic that the checker or the store raises on purpose.
func isUnwinding(p any) bool {
	switch p.(type) {
	case refusalPanic, exhaustedPanic, abandonedPanic, term.StoreFull, term.OutOfMemory, term.TooDeep:
		return true
	}
	return false
}

func exhaustionReason(p any) string {
	switch p := p.(type) {
	case exhaustedPanic:
		return p.reason
	case error:
		return p.Error()
	case refusalPanic:
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

// addMissingRecursors declares the recursors whose records a file leaves out, so that declarations using them are checked
// against the right types. The block that lacks a record is still refused.
func (c *checker) addMissingRecursors() {
	for unit := range c.env.Len() {
		b := c.env.Declaration(unit).Block
		if b == nil || len(b.Types) == 0 || len(b.Recursors) >= len(b.Types) {
			continue
		}
		if _, duplicate := c.env.DuplicateName(unit); !duplicate {
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
	for _, g := range b.generateRecursors() {
		c.env.AddRecursor(unit, &term.Recursor{Name: g.name, LevelParams: g.params, Type: g.typ, NumParams: uint32(b.numParams()),
			NumIndices: uint32(g.numIndices), NumMotives: uint32(len(b.types)), NumMinors: uint32(b.minorCount), Rules: g.rules, K: b.isK()},
			len(b.types) == 1)
	}
	c.permanentExprs = c.store.ExprCount() // the generated recursors outlive this declaration
}
