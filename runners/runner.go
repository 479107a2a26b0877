package runners

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/receipt"
	"reckon/domain/session"
	"reckon/internal/tracing"
	"reckon/runners/cluster"
)

// Work is a job with its payload at hand.
type Work struct {
	job.Submission
	Content string        // the whole text of Payload
	Budget  time.Duration // for computing, without the time to claim and to end
}

// End is how a job ended: Status is job.Succeeded, job.Failed or job.TimedOut.
// The kind sets Output and Result (of any length), Error and what is published; the
// runner fills in the rest of Outcome.
type End struct {
	Status  job.Status
	Outcome job.Outcome
}

// Claimant is what the queue needs to know of a runner to propose jobs to it.
type Claimant struct {
	Runner string     // runner id
	Kinds  []job.Kind // kinds of jobs it can run
	// OwnSessionsOnly: the runner claims only jobs in sessions that its process owns.
	OwnSessionsOnly bool
	// Except are jobs in no session that it has no room for now, by id.
	Except map[string]bool
	// ReadyFor: the runner claims only jobs that any other could have claimed for as long.
	ReadyFor time.Duration
	// Budget is that of a job at most; 0: any.
	Budget time.Duration
	// ExceptAccounts are accounts of which the runner claims nothing now.
	ExceptAccounts map[string]bool
}

// Proposal is a job that the queue has reserved for a runner to claim.
type Proposal struct {
	JobID       string
	Account     string
	Kind        job.Kind
	Correlation string // correlation id of the submission
	Cause       string // id of the event that queued the job, or put it back into the queue
	Traceparent string // W3C trace context of the submission; empty: it had none
}

// Queue proposes jobs and reserves them for a short time. Only the append of a claim
// to the job's stream decides who runs a job.
type Queue interface {
	// Propose reserves up to n jobs. If there are none, retryAfter is when to ask again
	// although no event announces a job; 0: wait for an event.
	Propose(ctx context.Context, c Claimant, n int) (list []Proposal, retryAfter time.Duration, err error)
	// ProlongReservations prolongs the reservations of jobs whose claim the queue may not have applied yet.
	ProlongReservations(ctx context.Context, runner string, jobIDs []string) error
	// WithdrawProposals ends the reservations of jobs that the runner will not claim.
	WithdrawProposals(ctx context.Context, runner string, jobIDs []string) error
	// WaitUntilApplied returns once the queue has applied every event of jobs up to lastJob
	// and every event of sessions up to lastSession, positions in the log.
	WaitUntilApplied(ctx context.Context, lastJob, lastSession event.Position) error
}

// Config configures a runner.
type Config struct {
	Claimant
	Slots     int           // jobs at a time
	Grace     time.Duration // how long running jobs may still run once the process is told to stop
	Jobs      *commands.Jobs
	Queue     Queue
	Run       map[job.Kind]Kind // by name; see ByName
	Heartbeat *cluster.Heartbeat
	Clock     commands.Clock
	Logger    *slog.Logger
	Build     string // revision of the binary, for event metadata
	// AwaitAble returns nil once this process can do the work it would claim, or the context's error; nil: always.
	AwaitAble func(ctx context.Context) error
	// Tracer begins a span for every attempt, below what queued the job; nil: no span is recorded.
	Tracer *tracing.Tracer
	// Ended is called when an attempt at a job has ended here, with what it took since the claim; nil: nobody is.
	Ended func(kind job.Kind, outcome Outcome, took time.Duration)
}

// Outcome is how an attempt at a job ended: a job's status, or one of these.
type Outcome string

// Outcomes of an attempt that did not end its job.
const (
	Released    Outcome = "released"    // handed back, because the process stops
	Untried     Outcome = "untried"     // handed back with its attempt: it could not be tried here
	Interrupted Outcome = "interrupted" // handed back by a process that was cut off, or lost with its session
	Abandoned   Outcome = "abandoned"   // its work ended the attempt, which is spent
	Superseded  Outcome = "superseded"  // the job was cancelled, or is another attempt's by now
	Unreported  Outcome = "unreported"  // what became of it could not be appended
)

// Outcomes lists those.
func Outcomes() []Outcome {
	return []Outcome{Released, Untried, Interrupted, Abandoned, Superseded, Unreported, notClaimed}
}

// notClaimed is the outcome, in traces, of an attempt that did not begin: another runner was first, or the claim could not be appended.
const notClaimed Outcome = "not_claimed"

// Running is the number of attempts that run here.
func (r *Runner) Running() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.attempts)
}

// Runner claims jobs and runs them.
type Runner struct {
	Config
	freeSlots chan struct{} // one element per slot that is not in use
	wakeUp    chan struct{} // receives when a job may have become ready

	mu       sync.Mutex
	slots    *slots
	attempts map[string]*attempt // running here, by job id
	// positions of the latest events of a job and of a session that may have made a job ready
	lastJob, lastSession event.Position
	// postponed are the jobs that there was no room for since room last came free (see Reserver)
	postponed map[string]bool
	freed     int // how often room came free
	// failures counts the pauses in a row that attempts have led to which could not be tried here; until pauseEnds nothing is claimed
	failures  int
	pauseEnds time.Time

	graceOver chan struct{} // of the latest Start: closed when it has stopped waiting for its jobs
}

// attempt is an attempt at a job that runs here.
type attempt struct {
	nonce string
	kill  context.CancelCauseFunc
	spent atomic.Bool // the work is computed, or has ended the attempt: it is not to be done again for nothing
}

var (
	errSuperseded = errors.New("the job is no longer this runner's")
	errIsolated   = errors.New("the process cannot report")
	errDrained    = errors.New("the process is stopping")
	errOverrun    = errors.New("the job ran past its time budget and was stopped")
)

const (
	// applyTimeout is the longest wait for the queue to have applied an event; then the runner asks it all the same.
	applyTimeout = 5 * time.Second
	// claimTimeout bounds the append of a claim.
	claimTimeout = 5 * time.Second
	// retryPause is the pause after an error of the queue or the log.
	retryPause = 500 * time.Millisecond
	// prolongInterval is the time between two prolongations of the reservations of running jobs.
	prolongInterval = 3 * time.Second
	// maxPostponed bounds the jobs that are remembered as postponed; beyond it all are asked about again.
	maxPostponed = 10_000
	// postponeTime is after how long postponed jobs are asked about again though no room came free here.
	postponeTime = time.Minute
	// handBackTimeout bounds the appends that hand a job back after its work was stopped.
	handBackTimeout = 10 * time.Second
	// hangDelay is how long past its budget and cluster.Overrun work may go on that does not end when it is stopped.
	hangDelay = 30 * time.Second
	// maxClaimPause bounds the pause of a process in which jobs cannot be tried.
	maxClaimPause = 30 * time.Second
	// othersFirst is how long a job must have been ready before a process claims it in which the last one could not be tried.
	othersFirst = time.Second
)

// New returns a runner that runs nothing yet; its Observe must listen to the process's Subscription.
func New(c Config) *Runner {
	c.Kinds = slices.Sorted(maps.Keys(c.Run))
	r := &Runner{Config: c, freeSlots: make(chan struct{}, c.Slots), wakeUp: make(chan struct{}, 1), slots: newSlots(c.Slots), attempts: map[string]*attempt{}, postponed: map[string]bool{}}
	for range c.Slots {
		r.freeSlots <- struct{}{}
	}
	return r
}

// Observe is called with every event in the log's order: it wakes a runner that waits
// for jobs, and kills the work on jobs that another attempt has or that have ended.
func (r *Runner) Observe(recorded event.Recorded) {
	latest := &r.lastJob
	switch e := recorded.Event.(type) {
	case job.WasQueued:
	case session.Opened, session.Cleared, session.Expired:
		latest = &r.lastSession
	case job.WasReleased:
		r.killAttempt(e.JobID, func(nonce string) bool { return nonce == e.Nonce })
	case job.WasClaimed:
		r.killAttempt(e.JobID, func(nonce string) bool { return nonce != e.Nonce })
		return // a claim makes no job ready
	case job.HasSucceeded, job.HasFailed, job.HasTimedOut: // appended by the attempt itself
	case job.WasCancelled:
		r.killAttempt(e.JobID, func(string) bool { return true })
	case job.WasLost:
		r.killAttempt(e.JobID, func(string) bool { return true })
	default:
		return
	}
	r.mu.Lock()
	*latest = recorded.Position
	r.mu.Unlock()
	r.wake()
}

// wake makes the runner ask the queue again.
func (r *Runner) wake() {
	select {
	case r.wakeUp <- struct{}{}:
	default: // a wake-up is pending
	}
}

// killAttempt kills the attempt at a job that runs here, if its nonce matches.
func (r *Runner) killAttempt(jobID string, matches func(nonce string) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a := r.attempts[jobID]; a != nil && matches(a.nonce) {
		a.kill(errSuperseded)
	}
}

// KillAll kills all attempts at once, for a process that can write no heartbeats. When it can again, it hands their jobs back.
func (r *Runner) KillAll() { r.killAll(errIsolated) }

func (r *Runner) killAll(cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.attempts {
		a.kill(cause)
	}
}

// Start claims and runs jobs until the context ends, then lets running jobs
// finish within the grace period and hands back those that did not. It may be called again once it has ended.
func (r *Runner) Start(ctx context.Context) error {
	graceOver := make(chan struct{})
	r.mu.Lock()
	r.graceOver = graceOver
	r.mu.Unlock()
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var group sync.WaitGroup
	group.Go(func() { r.prolongReservations(ctx) })
	for r.waitForFreeSlot(ctx) {
		for _, p := range r.nextProposals(ctx) {
			<-r.freeSlots
			r.take(p)
			group.Go(func() {
				computed := r.reserveAndRun(running, p)
				r.give(p, computed)
			})
		}
	}
	over := sync.OnceFunc(func() { close(graceOver) })
	grace := time.AfterFunc(r.Grace, func() { r.killAll(errDrained); over() })
	defer over()
	defer grace.Stop()
	group.Wait()
	return nil
}

// take notes that a job has a slot.
func (r *Runner) take(p Proposal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.slots.take(p.JobID, p.Account, time.Now())
}

// give gives a job's slot to others, some of which could not have had the last one.
func (r *Runner) give(p Proposal, computed bool) {
	r.mu.Lock()
	r.slots.give(p.JobID, computed, time.Now())
	r.mu.Unlock()
	r.freeSlots <- struct{}{}
	r.wake()
}

// waitForFreeSlot returns true once a slot is free, and false once the context has ended.
func (r *Runner) waitForFreeSlot(ctx context.Context) bool {
	select {
	case slot := <-r.freeSlots:
		r.freeSlots <- slot
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// nextProposals returns jobs to claim, at most one for each free slot, and for the last one only a quick job. If there are
// none it waits until there may be some and returns none.
func (r *Runner) nextProposals(ctx context.Context) []Proposal {
	if r.Heartbeat.WaitUntilConnected(ctx) != nil || r.waitOutPause(ctx) != nil {
		return nil
	}
	if r.AwaitAble != nil && r.AwaitAble(ctx) != nil {
		return nil
	}
	r.mu.Lock()
	lastJob, lastSession := r.lastJob, r.lastSession
	claimant := r.Claimant
	claimant.Except = maps.Clone(r.postponed)
	wanted := r.slots.demand(len(r.freeSlots), time.Now())
	most := wanted.most
	claimant.Budget, claimant.ExceptAccounts = wanted.budget, wanted.except
	if r.failures > 0 { // one job tells whether it goes again, and only one that no other runner takes
		most, claimant.ReadyFor = 1, othersFirst
	}
	r.mu.Unlock()
	bounded, cancel := context.WithTimeout(ctx, applyTimeout)
	err := r.Queue.WaitUntilApplied(bounded, lastJob, lastSession)
	cancel()
	behind := err != nil
	if behind && ctx.Err() == nil {
		r.Logger.Warn("the queue is behind the log", "error", err)
	}
	list, retryAfter, err := r.Queue.Propose(ctx, claimant, most)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		r.Logger.Warn("asking the queue for jobs failed; trying again", "error", err)
		retryAfter = retryPause
	case len(list) > 0:
		return list
	case behind: // no event tells when it has caught up
		retryAfter = retryPause
	}
	var retry, again <-chan time.Time
	if retryAfter > 0 {
		retry = time.After(retryAfter)
	}
	if len(claimant.Except) > 0 || len(claimant.ExceptAccounts) > 0 {
		again = time.After(postponeTime)
	}
	select {
	case <-r.wakeUp:
	case <-retry:
	case <-again:
		r.forgetPostponed()
	case <-ctx.Done():
	}
	return nil
}

// waitOutPause waits until the pause is over that an attempt has led to which could not be tried here.
func (r *Runner) waitOutPause(ctx context.Context) error {
	r.mu.Lock()
	left := time.Until(r.pauseEnds)
	r.mu.Unlock()
	if left <= 0 {
		return ctx.Err()
	}
	select {
	case <-time.After(left):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pause keeps this process from claims for a time that grows, because a job could not be tried here; attempts that end
// in a pause were begun before it.
func (r *Runner) pause() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := time.Now(); now.After(r.pauseEnds) {
		r.failures++
		r.pauseEnds = now.Add(min(job.PauseAfter(r.failures), maxClaimPause))
	}
}

// tried notes that a job was tried here.
func (r *Runner) tried() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = 0
}

// room is what a job of a Reserver has before it is claimed.
type room struct {
	content *string // read from its payload; nil: of another kind, whose payload has not been read
	release func()  // gives the room back; nil: there is none to give back
	err     error   // the payload cannot be read: the attempt ends with this
}

// reserveAndRun claims and runs a job once there is room for it, and tells whether it was computed; without room it leaves the job in the queue.
func (r *Runner) reserveAndRun(ctx context.Context, p Proposal) (computed bool) {
	r.mu.Lock()
	freed := r.freed
	r.mu.Unlock()
	given, ok, err := r.reserve(ctx, p)
	switch {
	case err != nil:
		r.Logger.WarnContext(tracing.Join(ctx, p.Traceparent), "a job could not be read before its claim", "job", p.JobID, "error", err)
		return false // it is proposed again when the reservation expires
	case !ok:
		r.postpone(ctx, p.JobID, freed)
		return false
	}
	if given.release != nil {
		defer func() {
			given.release()
			r.forgetPostponed()
		}()
	}
	return r.claimAndRun(ctx, p, given)
}

// reserve asks the job's kind for room, if it is one that has any to give.
func (r *Runner) reserve(ctx context.Context, p Proposal) (given room, ok bool, err error) {
	reserver, needs := r.Run[p.Kind].(Reserver)
	if !needs {
		return room{}, true, nil
	}
	bounded, cancel := context.WithTimeout(ctx, claimTimeout)
	defer cancel()
	state, err := r.Jobs.Read(bounded, p.JobID)
	if err != nil {
		return room{}, false, err
	}
	content, err := r.Jobs.LoadPayload(bounded, state.Queued.Submission)
	if err != nil {
		return room{err: err}, true, nil
	}
	release, ok := reserver.Reserve(content)
	return room{content: &content, release: release}, ok, nil
}

// postpone leaves a job to others and asks for no more of it until room comes free here; freed is how often it had when there was none.
func (r *Runner) postpone(ctx context.Context, jobID string, freed int) {
	r.mu.Lock()
	if len(r.postponed) >= maxPostponed {
		clear(r.postponed)
	}
	if freed == r.freed {
		r.postponed[jobID] = true
	}
	r.mu.Unlock()
	if err := r.Queue.WithdrawProposals(ctx, r.Runner, []string{jobID}); err != nil && ctx.Err() == nil {
		r.Logger.Warn("a reservation was not withdrawn; it will expire", "job", jobID, "error", err)
	}
	r.wake() // the slot serves others
}

// forgetPostponed makes the runner ask for the jobs again that it had no room for.
func (r *Runner) forgetPostponed() {
	r.mu.Lock()
	r.freed++
	clear(r.postponed)
	r.mu.Unlock()
	r.wake()
}

// prolongReservations prolongs the reservations of the jobs that run here until the context ends.
func (r *Runner) prolongReservations(ctx context.Context) {
	ticker := time.NewTicker(prolongInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		r.mu.Lock()
		ids := slices.Collect(maps.Keys(r.attempts))
		r.mu.Unlock()
		if len(ids) == 0 {
			continue
		}
		if err := r.Queue.ProlongReservations(ctx, r.Runner, ids); err != nil && ctx.Err() == nil {
			r.Logger.Warn("reservations were not prolonged", "error", err)
		}
	}
}

// claimAndRun claims a job, computes it and ends it. It tells whether it got as far as computing.
func (r *Runner) claimAndRun(ctx context.Context, p Proposal, given room) (computed bool) {
	ctx, span := r.Tracer.Begin(ctx, tracing.Job, string(p.Kind), p.Traceparent)
	if within := tracing.Traceparent(ctx); within != "" {
		p.Traceparent = within // what the attempt appends is below its span
	}
	outcome := notClaimed
	defer func() { endSpan(span, p, outcome) }()
	working, kill := context.WithCancelCause(ctx)
	defer kill(nil)
	a := &attempt{nonce: uuid.NewString(), kill: kill}
	r.Heartbeat.AddAttempt(a.nonce)
	defer r.Heartbeat.RemoveAttempt(a.nonce)
	r.mu.Lock()
	r.attempts[p.JobID] = a
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		delete(r.attempts, p.JobID)
		r.mu.Unlock()
	}()

	in := commands.Intent{ID: uuid.New(), At: r.Clock.Now(), Actor: "runner:" + r.Runner, Source: event.SourceJob, Build: r.Build, Correlation: p.Correlation, Causation: p.Cause, Traceparent: p.Traceparent}
	claiming, cancel := context.WithTimeout(working, claimTimeout) // shorter than the reservation
	state, _, err := r.Jobs.ClaimJob(claiming, in, p.JobID, r.Runner, a.nonce)
	cancel()
	switch {
	case errors.Is(err, job.ErrNotQueued):
		return false // another runner claimed it, or it was cancelled; the queue ends the reservation when it applies that event
	case err != nil:
		r.Logger.WarnContext(ctx, "a claim failed", "job", p.JobID, "error", err)
		return false // if the claim was appended all the same, two heartbeats without its nonce give the job back
	}
	in = in.CausedBy(commands.EventID(in.ID, job.Stream(p.JobID), 0)) // all that follows does so from the claim
	in.Account, in.Agent = state.Queued.Account, state.Queued.Agent
	span.Set(tracing.Int(tracing.Attempt, int64(state.Attempt)))
	claimed := time.Now()
	end, err := r.compute(working, in, state.Queued.Submission, a, given)
	outcome = r.concludeAttempt(ctx, working, in, state, a, end, err)
	if r.Ended != nil {
		r.Ended(state.Queued.Kind, outcome, time.Since(claimed))
	}
	return true
}

func endSpan(span tracing.Span, p Proposal, outcome Outcome) {
	span.Set(tracing.Text(tracing.JobID, p.JobID), tracing.Text(tracing.JobKind, string(p.Kind)), tracing.Text(tracing.Outcome, string(outcome)))
	if outcome == Untried || outcome == Abandoned || outcome == Unreported {
		span.Fail()
	}
	span.End()
}

// compute runs the job; it is killed cluster.Overrun past its budget, and given up hangDelay later.
func (r *Runner) compute(ctx context.Context, in commands.Intent, s job.Submission, a *attempt, given room) (end End, err error) {
	kind, known := r.Run[s.Kind]
	if !known {
		return End{}, fmt.Errorf("no runner here for jobs of kind %q", s.Kind)
	}
	budget := time.Duration(s.TimeoutMS) * time.Millisecond
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	overrun := time.AfterFunc(budget+cluster.Overrun, func() { stop(errOverrun) })
	defer overrun.Stop()
	hang := time.AfterFunc(budget+cluster.Overrun+hangDelay, func() { r.giveUp(ctx, in, s.JobID, a) })
	defer hang.Stop()
	ctx = commands.WithWork(ctx, func() { // to store what was computed may take longer
		overrun.Stop()
		hang.Stop()
		a.spent.Store(true)
	})
	defer func() {
		if thrown := recover(); thrown != nil { // a panic must not end the other jobs of the process
			a.spent.Store(true)
			end, err = End{}, fmt.Errorf("the runner panicked: %v", thrown)
		}
	}()
	content := given.content
	switch {
	case given.err != nil:
		return End{}, given.err
	case content == nil:
		loaded, err := r.Jobs.LoadPayload(ctx, s)
		if err != nil {
			return End{}, err
		}
		content = &loaded
	}
	end, err = kind.Run(ctx, in, Work{Submission: s, Content: *content, Budget: budget})
	if err != nil && errors.Is(context.Cause(ctx), errOverrun) {
		return End{Status: job.TimedOut, Outcome: job.Outcome{Error: errOverrun.Error()}}, nil
	}
	return end, err
}

// giveUp takes a job from work that does not end when it is stopped.
func (r *Runner) giveUp(ctx context.Context, in commands.Intent, id string, a *attempt) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), handBackTimeout)
	defer cancel()
	in.ID, in.At = uuid.New(), r.Clock.Now()
	r.Logger.ErrorContext(ctx, "a job's work does not end although it was stopped; the job is given up", "job", id, "attempt", a.nonce)
	if _, err := r.Jobs.BlameWork(bounded, in, id, a.nonce); err != nil {
		r.Logger.WarnContext(ctx, "a job was not given up", "job", id, "attempt", a.nonce, "error", err)
	}
}

// concludeAttempt appends how an attempt ended, and returns it: the job's outcome, or that the job is
// handed back. It appends nothing for an attempt that another has superseded.
func (r *Runner) concludeAttempt(ctx, working context.Context, in commands.Intent, s job.State, a *attempt, end End, err error) Outcome {
	id := s.Queued.JobID
	switch cause := context.Cause(working); {
	case errors.Is(cause, errSuperseded):
		r.Logger.InfoContext(ctx, "an attempt was killed", "job", id, "attempt", a.nonce, "cause", cause)
		return Superseded
	case errors.Is(cause, errIsolated):
		return r.handBackIsolated(ctx, in, id, a)
	}
	if err == nil {
		a.spent.Store(true)
		err = r.appendOutcome(working, in, id, a, end)
		switch {
		case err == nil:
			r.tried()
			return Outcome(end.Status)
		case errors.Is(err, job.ErrSuperseded), errors.Is(context.Cause(working), errSuperseded):
			return Superseded
		case errors.Is(context.Cause(working), errIsolated):
			return r.handBackIsolated(ctx, in, id, a)
		}
	}
	bounded, cancel := context.WithTimeout(ctx, handBackTimeout)
	defer cancel()
	in.ID, in.At = uuid.New(), r.Clock.Now()
	outcome, failed := Released, error(nil)
	switch drained := errors.Is(context.Cause(working), errDrained); {
	case drained && s.Queued.Rerunnable():
		failed = r.Jobs.ReleaseJob(bounded, in, id, a.nonce)
	case drained:
		outcome = Interrupted
		_, failed = r.Jobs.AbandonJob(bounded, in, id, a.nonce, false)
	case errors.Is(err, commands.ErrEngineLost) && !s.Queued.Rerunnable():
		outcome = Interrupted
		_, failed = r.Jobs.AbandonJob(bounded, in, id, a.nonce, false)
	case a.spent.Load():
		r.Logger.WarnContext(ctx, "a job's work ended its attempt", "job", id, "attempt", a.nonce, "error", err)
		outcome = Abandoned
		_, failed = r.Jobs.BlameWork(bounded, in, id, a.nonce)
	default:
		lacked, sick := lackedBy(err)
		r.Logger.WarnContext(ctx, "a job could not be tried here", "job", id, "attempt", a.nonce, "error", err)
		outcome = Untried
		if sick {
			r.pause()
		}
		_, failed = r.Jobs.ReturnJob(bounded, in, id, a.nonce, lacked)
	}
	return r.handedBack(ctx, id, a, outcome, failed)
}

// handedBack is the outcome of an attempt whose job was handed back, with this error.
func (r *Runner) handedBack(ctx context.Context, id string, a *attempt, outcome Outcome, err error) Outcome {
	switch {
	case errors.Is(err, job.ErrSuperseded):
		return Superseded
	case err != nil:
		r.Logger.WarnContext(ctx, "a job was not handed back", "job", id, "attempt", a.nonce, "error", err)
		return Unreported
	}
	return outcome
}

// handBackIsolated hands the job of an attempt back that was killed because no heartbeat could be written, once one can be again:
// the process lives, and so the attempt is not spent, also if others have counted it meanwhile.
func (r *Runner) handBackIsolated(ctx context.Context, in commands.Intent, id string, a *attempt) Outcome {
	r.Logger.InfoContext(ctx, "an attempt was killed", "job", id, "attempt", a.nonce, "cause", errIsolated)
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	r.mu.Lock()
	graceOver := r.graceOver
	r.mu.Unlock()
	go func() {
		select {
		case <-graceOver:
			stop()
		case <-waiting.Done():
		}
	}()
	if r.Heartbeat.WaitUntilConnected(waiting) != nil {
		return Unreported
	}
	bounded, cancel := context.WithTimeout(ctx, handBackTimeout)
	defer cancel()
	in.ID, in.At = uuid.New(), r.Clock.Now()
	_, err := r.Jobs.ExcuseAttempt(bounded, in, id, a.nonce)
	return r.handedBack(ctx, id, a, Interrupted, err)
}

// lackedBy says why a job could not be tried here, in words for its owner, and whether others would fare no better here: sick is
// false where only this job meets it, or room.
func lackedBy(err error) (words string, sick bool) {
	part, away := errors.AsType[interface {
		error
		UnavailablePart() string
	}](err)
	_, elsewhere := errors.AsType[*commands.SessionElsewhereError](err)
	switch {
	case elsewhere:
		return "its session lives in another process", false
	case errors.Is(err, commands.ErrSaturated):
		return "no worker was free", false
	case errors.Is(err, receipt.ErrCannotSign):
		return "receipts could not be signed", true
	case errors.Is(err, commands.ErrEngineLost):
		return "the engine ended while it computed", true
	case away:
		return part.UnavailablePart() + " could not be reached", true
	case commands.IsAway(err):
		return "the event log could not be reached", true
	}
	return "a runner failed before it began", true
}

// appendOutcome ends the job with what was computed. While the log or the store of blobs is away it
// tries again until the attempt is killed.
func (r *Runner) appendOutcome(ctx context.Context, in commands.Intent, id string, a *attempt, end End) error {
	end.Outcome.JobID, end.Outcome.Nonce = id, a.nonce
	in.ID, in.At = uuid.New(), r.Clock.Now()
	for {
		_, err := r.Jobs.FinishJob(ctx, in, end.Status, end.Outcome)
		if !commands.IsAway(err) || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(retryPause):
		}
	}
}
