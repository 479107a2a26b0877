package runners

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/session"
	"reckon/runners/cluster"
)

// Work is a job to compute.
type Work struct {
	job.Submission
	Content string        // of Payload
	Budget  time.Duration // of computing
}

// End is how a job ended: Status is job.Succeeded, job.Failed or job.TimedOut.
// Output and Result may be of any length; the rest of Outcome but Error and what
// is published is the runner's to fill in.
type End struct {
	Status  job.Status
	Outcome job.Outcome
}

// Claimant is what a runner says of itself when it asks for jobs.
type Claimant struct {
	Runner string
	Kinds  []job.Kind // that it can run
	// OwnSessions: it takes nothing but jobs in sessions that its process owns.
	OwnSessions bool
}

// Proposal is a job a runner may claim.
type Proposal struct {
	JobID       string
	Correlation string // of the submission
}

// Queue proposes jobs. The append of a claim decides.
type Queue interface {
	// Propose reserves up to n jobs. When there is none, again is the time after
	// which there may be one though no event says so; 0: events tell.
	Propose(ctx context.Context, c Claimant, n int) (list []Proposal, again time.Duration, err error)
	// Keep prolongs what was reserved, for jobs whose claim the queue may not have seen.
	Keep(ctx context.Context, runner string, jobIDs []string) error
	// Await returns once the queue has seen an event of a job and one of a session,
	// and all such before them, by their positions in the log.
	Await(ctx context.Context, ofJob, ofSession event.Position) error
}

// Config configures a runner.
type Config struct {
	Claimant
	Slots  int           // jobs at a time
	Grace  time.Duration // what running jobs get to finish when the process is told to stop
	Jobs   *commands.Jobs
	Queue  Queue
	Run    map[job.Kind]Kind // by name; see ByName
	Pulse  *cluster.Pulse
	Clock  commands.Clock
	Logger *slog.Logger
	Build  string
}

// Runner claims jobs and runs them.
type Runner struct {
	Config
	free  chan struct{} // one per slot that is not in use
	woken chan struct{}

	mu   sync.Mutex
	held map[string]*holding // by job id
	// positions of the latest events that may have made a job ready
	ofJob, ofSession event.Position
}

// holding is an attempt in hand.
type holding struct {
	nonce string
	kill  context.CancelCauseFunc
}

var (
	errTaken    = errors.New("the job is no longer this runner's")
	errIsolated = errors.New("the process cannot report")
	errDrained  = errors.New("the process is stopping")
	errOverrun  = errors.New("the job ran past its time budget and was stopped")
)

const (
	// awaitQueue is the longest wait for the queue to have seen an event; then the runner asks anyway.
	awaitQueue = 5 * time.Second
	// claimTimeout is how long a claim may take.
	claimTimeout = 5 * time.Second
	// retryPause is the pause after an error of the queue or the log.
	retryPause = 500 * time.Millisecond
	// keepEvery is how often reservations of running jobs are prolonged.
	keepEvery = 3 * time.Second
	// settleTimeout is how long the end of an attempt may take to be logged after its work was stopped.
	settleTimeout = 10 * time.Second
)

// New is a runner that runs nothing yet; its Observe must listen to the process's hub.
func New(c Config) *Runner {
	c.Kinds = slices.Sorted(maps.Keys(c.Run))
	r := &Runner{Config: c, free: make(chan struct{}, c.Slots), woken: make(chan struct{}, 1), held: map[string]*holding{}}
	for range c.Slots {
		r.free <- struct{}{}
	}
	return r
}

// Observe is told of every event in the order of the log: it wakes a runner that
// waits for work, and stops work on jobs that are not its own any more.
func (r *Runner) Observe(e event.Recorded) {
	latest := &r.ofJob
	switch of := e.Event.(type) {
	case job.WasQueued:
	case session.Opened, session.Cleared, session.Expired:
		latest = &r.ofSession
	case job.WasReleased:
		r.taken(of.JobID, func(nonce string) bool { return nonce == of.Nonce })
	case job.WasClaimed:
		r.taken(of.JobID, func(nonce string) bool { return nonce != of.Nonce })
		return // makes nothing ready
	case job.HasSucceeded, job.HasFailed, job.HasTimedOut: // by whoever holds it
	case job.WasCancelled:
		r.taken(of.JobID, func(string) bool { return true })
	case job.WasLost:
		r.taken(of.JobID, func(string) bool { return true })
	default:
		return
	}
	r.mu.Lock()
	*latest = e.Position
	r.mu.Unlock()
	select {
	case r.woken <- struct{}{}:
	default:
	}
}

// taken stops the work on a job whose attempt is over.
func (r *Runner) taken(jobID string, over func(nonce string) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.held[jobID]; h != nil && over(h.nonce) {
		h.kill(errTaken)
	}
}

// KillAll stops all work at once and hands nothing back: for a process that cannot report.
func (r *Runner) KillAll() { r.killAll(errIsolated) }

func (r *Runner) killAll(why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range r.held {
		h.kill(why)
	}
}

// Start claims and runs jobs until the context ends, then lets running jobs
// finish within the grace period and hands back those that did not.
func (r *Runner) Start(ctx context.Context) error {
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var works sync.WaitGroup
	works.Go(func() { r.keepReservations(ctx) })
	for r.next(ctx) {
		for _, p := range r.propose(ctx) {
			<-r.free
			works.Go(func() {
				defer func() { r.free <- struct{}{} }()
				r.attempt(working, p)
			})
		}
	}
	drained := time.AfterFunc(r.Grace, func() { r.killAll(errDrained) })
	defer drained.Stop()
	works.Wait()
	return nil
}

// next waits until there is a free slot; false: the runner is to stop.
func (r *Runner) next(ctx context.Context) bool {
	select {
	case slot := <-r.free:
		r.free <- slot
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// propose returns jobs to claim, at most one for each free slot, and waits for
// something to happen when there is none.
func (r *Runner) propose(ctx context.Context) []Proposal {
	if r.Pulse.Connected(ctx) != nil {
		return nil
	}
	r.mu.Lock()
	ofJob, ofSession := r.ofJob, r.ofSession
	r.mu.Unlock()
	bounded, cancel := context.WithTimeout(ctx, awaitQueue)
	err := r.Queue.Await(bounded, ofJob, ofSession)
	cancel()
	if err != nil && ctx.Err() == nil {
		r.Logger.Warn("the queue is behind the log", "error", err)
	}
	list, again, err := r.Queue.Propose(ctx, r.Claimant, len(r.free))
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		r.Logger.Warn("asking for jobs failed; trying again", "error", err)
		again = retryPause
	case len(list) > 0:
		return list
	}
	var later <-chan time.Time
	if again > 0 {
		later = time.After(again)
	}
	select {
	case <-r.woken:
	case <-later:
	case <-ctx.Done():
	}
	return nil
}

// keepReservations prolongs the reservations of what is in hand.
func (r *Runner) keepReservations(ctx context.Context) {
	ticker := time.NewTicker(keepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		r.mu.Lock()
		ids := slices.Collect(maps.Keys(r.held))
		r.mu.Unlock()
		if len(ids) == 0 {
			continue
		}
		if err := r.Queue.Keep(ctx, r.Runner, ids); err != nil && ctx.Err() == nil {
			r.Logger.Warn("reservations were not prolonged", "error", err)
		}
	}
}

// attempt claims a job and brings the attempt to its end.
func (r *Runner) attempt(ctx context.Context, p Proposal) {
	work, kill := context.WithCancelCause(ctx)
	defer kill(nil)
	h := &holding{nonce: uuid.NewString(), kill: kill}
	r.Pulse.Hold(h.nonce)
	defer r.Pulse.Drop(h.nonce)
	r.mu.Lock()
	r.held[p.JobID] = h
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		delete(r.held, p.JobID)
		r.mu.Unlock()
	}()

	in := commands.Intent{ID: uuid.New(), At: r.Clock.Now(), Actor: "runner:" + r.Runner, Source: "job", Build: r.Build, Correlation: p.Correlation}
	claiming, cancel := context.WithTimeout(work, claimTimeout) // while the reservation holds
	state, _, err := r.Jobs.ClaimJob(claiming, in, p.JobID, r.Runner, h.nonce)
	cancel()
	switch {
	case errors.Is(err, job.ErrNotQueued):
		return // somebody was faster, or it was cancelled; the reservation lapses once the queue knows
	case err != nil:
		r.Logger.Warn("a claim failed", "job", p.JobID, "error", err)
		return // a claim that happened after all is missing from the next two beats
	}
	in.Account, in.Agent = state.Queued.Account, state.Queued.Agent
	end, err := r.compute(work, in, state.Queued.Submission)
	r.settle(ctx, work, in, state, h, end, err)
}

// compute runs the job within its budget and what may pass until it is killed.
func (r *Runner) compute(ctx context.Context, in commands.Intent, s job.Submission) (end End, err error) {
	kind, known := r.Run[s.Kind]
	if !known {
		return End{}, fmt.Errorf("no runner here for jobs of kind %q", s.Kind)
	}
	budget := time.Duration(s.TimeoutMS) * time.Millisecond
	ctx, cancel := context.WithTimeoutCause(ctx, budget+cluster.Overrun, errOverrun)
	defer cancel()
	defer func() {
		if thrown := recover(); thrown != nil { // one job must not end the others
			end, err = End{}, fmt.Errorf("the runner panicked: %v", thrown)
		}
	}()
	content, err := r.Jobs.Payload(ctx, s)
	if err != nil {
		return End{}, err
	}
	end, err = kind.Run(ctx, in, Work{Submission: s, Content: content, Budget: budget})
	if err != nil && errors.Is(context.Cause(ctx), errOverrun) {
		return End{Status: job.TimedOut, Outcome: job.Outcome{Error: errOverrun.Error()}}, nil
	}
	return end, err
}

// settle logs how an attempt ended.
func (r *Runner) settle(ctx, work context.Context, in commands.Intent, s job.State, h *holding, end End, err error) {
	id := s.Queued.JobID
	if cause := context.Cause(work); errors.Is(cause, errTaken) || errors.Is(cause, errIsolated) {
		r.Logger.Info("work was stopped", "job", id, "cause", cause)
		return
	}
	if err == nil {
		err = r.finish(work, in, id, h, end)
		if err == nil || errors.Is(err, job.ErrSuperseded) || work.Err() != nil && !errors.Is(context.Cause(work), errDrained) {
			return
		}
	}
	bounded, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	in.ID, in.At = uuid.New(), r.Clock.Now()
	var elsewhere *commands.SessionElsewhereError
	drained := errors.Is(context.Cause(work), errDrained) && s.Queued.Rerunnable()
	switch {
	case drained, errors.As(err, &elsewhere), errors.Is(err, commands.ErrSaturated): // it was not run, or may be run again
		err = r.Jobs.ReleaseJob(bounded, in, id, h.nonce)
	default:
		r.Logger.Warn("a job could not be run here", "job", id, "error", err)
		_, err = r.Jobs.AbandonJob(bounded, in, id, h.nonce)
	}
	if err != nil && !errors.Is(err, job.ErrSuperseded) {
		r.Logger.Warn("a job was not handed back", "job", id, "error", err)
	}
}

// finish ends the job with what was computed, and keeps trying while the log is
// away and the attempt is the runner's.
func (r *Runner) finish(ctx context.Context, in commands.Intent, id string, h *holding, end End) error {
	end.Outcome.JobID, end.Outcome.Nonce = id, h.nonce
	in.ID, in.At = uuid.New(), r.Clock.Now()
	for {
		_, err := r.Jobs.FinishJob(ctx, in, end.Status, end.Outcome)
		if !errors.Is(err, commands.ErrUnavailable) || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(retryPause):
		}
	}
}
