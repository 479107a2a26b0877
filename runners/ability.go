package runners

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Need is something without which a process can do no job.
type Need struct {
	Name  string
	Check func(ctx context.Context) error // an error: it is away
}

// Ability tells whether a process can do the jobs that it would claim. Its Await is for one goroutine at a time.
type Ability struct {
	Needs  []Need
	Logger *slog.Logger

	met time.Time // when all needs were met last
}

const (
	// metFor is for how long needs that were met are not asked about again.
	metFor = 2 * time.Second
	// needTimeout bounds one check.
	needTimeout = 5 * time.Second
	// the pause between two looks while a need is not met grows from one to the other
	firstLook, longestLook = 500 * time.Millisecond, 8 * time.Second
)

// Await returns nil once all needs are met, or the context's error. What is away is logged when it is found to be, and once it is back.
func (a *Ability) Await(ctx context.Context) error {
	if time.Since(a.met) < metFor {
		return ctx.Err()
	}
	said := ""
	for pause := firstLook; ; pause = min(2*pause, longestLook) {
		missing, err := a.missing(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case missing == "":
			if said != "" {
				a.Logger.Info("this process claims jobs again")
			}
			a.met = time.Now()
			return nil
		case missing != said:
			a.Logger.Warn("this process claims no job: a part that jobs need is away", "part", missing, "error", err)
			said = missing
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// missing names the first need that is not met; empty when all are.
func (a *Ability) missing(ctx context.Context) (name string, err error) {
	bounded, cancel := context.WithTimeout(ctx, needTimeout)
	defer cancel()
	failed := make([]error, len(a.Needs))
	var asked sync.WaitGroup
	for i, need := range a.Needs {
		asked.Go(func() { failed[i] = need.Check(bounded) })
	}
	asked.Wait()
	for i, err := range failed {
		if err != nil {
			return a.Needs[i].Name, err
		}
	}
	return "", nil
}
