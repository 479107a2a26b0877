package reference

import (
	"context"
	"errors"
	"sync"
	"time"

	"reckon/domain/account"
	"reckon/domain/reference"
	"reckon/runners/adapter"
	"reckon/runners/checker"
	"reckon/runners/engine"
	"reckon/runners/fair"
)

// Bench is an engine, a checker and kinds of job that run examples and nothing else.
type Bench struct {
	Runner
	engine  *engine.Engine
	checker *checker.Checker
	places  int
}

// Start starts engine and checker in an environment made by engine.Install. Examples have the permissions of the first plan, every new
// account's, and budget to evaluate. judge is the command that starts a child which judges proofs (proof.Serve).
func Start(ctx context.Context, environment string, sandbox engine.Sandbox, budget time.Duration, judge []string) (*Bench, error) {
	places := engine.DefaultConcurrency()
	started, err := engine.Start(ctx, engine.Options{Environment: environment, Sandbox: sandbox, Concurrency: places})
	if err != nil {
		return nil, err
	}
	checks, err := checker.New(ctx, environment, checker.Options{Sandbox: sandbox})
	if err != nil {
		return nil, errors.Join(err, started.Close(ctx))
	}
	return &Bench{
		Runner: Runner{
			Engine: adapter.Engine{Engine: started}, Checker: adapter.Checker{Engine: started, Checker: checks, Places: fair.NewPool(places)},
			Plan: account.DefaultPlans()[0], Budget: budget, jobs: newJobs(judge),
		},
		engine: started, checker: checks, places: places,
	}, nil
}

// Close ends both.
func (b *Bench) Close(ctx context.Context) error {
	b.jobs.close()
	return errors.Join(b.engine.Close(ctx), b.checker.Close())
}

// RunAll runs the examples of entries, several at a time. It answers what became of them by entry and example; done is told of each that ran,
// on any goroutine.
func (b *Bench) RunAll(ctx context.Context, entries []reference.Entry, done func()) ([][]reference.Ran, error) {
	type place struct{ entry, example int }
	all := make([][]reference.Ran, len(entries))
	var places []place
	for i, e := range entries {
		all[i] = make([]reference.Ran, len(e.Examples))
		for j := range e.Examples {
			places = append(places, place{i, j})
		}
	}
	err := b.eachInTime(ctx, len(places), b.Budget, done, func(ctx context.Context, r Runner, n int) (bool, error) {
		at := places[n]
		ran, err := r.Run(ctx, entries[at.entry].Examples[at.example])
		all[at.entry][at.example] = ran
		return ran.OutOfTime, err
	})
	return all, err
}

// Alone is the bench with one place and more time, for what another result may have come of only because the machine was busy.
func (b *Bench) Alone() *Bench {
	alone := *b
	alone.places, alone.Budget = 1, patience*b.Budget
	return &alone
}

// patience is how many times its budget an evaluation gets when it is tried again alone.
const patience = 3

// eachInTime calls work for 0 to n-1 with a Runner of that budget, as each does, and once more, one at a time and with patience, for
// those that it says ran out of time: how much else the machine does must change nothing. done is told of each once.
func (b *Bench) eachInTime(ctx context.Context, n int, budget time.Duration, done func(), work func(ctx context.Context, r Runner, i int) (outOfTime bool, err error)) error {
	runner := b.Runner
	runner.Budget = budget
	var mu sync.Mutex
	var late []int
	err := b.each(ctx, n, func(ctx context.Context, i int) error {
		outOfTime, err := work(ctx, runner, i)
		if !outOfTime {
			done()
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		late = append(late, i)
		return err
	})
	if err != nil {
		return err
	}
	runner.Budget *= patience
	for _, i := range late {
		if _, err := work(ctx, runner, i); err != nil {
			return err
		}
		done()
	}
	return nil
}

// each calls work for 0 to n-1, as many at a time as there are workers, until one fails.
func (b *Bench) each(ctx context.Context, n int, work func(ctx context.Context, i int) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	next := make(chan int)
	var group sync.WaitGroup
	for range b.places {
		group.Go(func() {
			for i := range next {
				if err := work(ctx, i); err != nil {
					stop(err)
				}
			}
		})
	}
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	group.Wait()
	return context.Cause(ctx)
}

// tally counts what is done.
type tally struct {
	mu   sync.Mutex
	now  Building
	show func(Building)
}

func newTally(all Building, show func(Building)) *tally { return &tally{now: all, show: show} }

func (t *tally) add(examples, names int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now.Examples, t.now.Names = t.now.Examples+examples, t.now.Names+names
	t.show(t.now)
}
