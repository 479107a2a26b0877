package engine

import (
	"context"
	_ "embed"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

	"reckon/domain/expression"
	"reckon/domain/run"
	"reckon/runners/fair"
)

//go:embed python/evaluate.py
var evaluateSource []byte

// OutputLimitBytes bounds the result and the standard output of one evaluation; more is run.FailureOutputTooLarge.
const OutputLimitBytes = 1 << 20

// KeptLines is how many lines of a session Out, In and InString know; fewer where the values are large (evaluate.py).
const KeptLines = 100

// DefaultSessionIdle is how long a session lives without being used (spec section 3.2).
const DefaultSessionIdle = 30 * time.Minute

// Options of Start. The zero value of each means its default.
type Options struct {
	Environment string        // folder made by Install
	Sandbox     Sandbox       // default: required
	Concurrency int           // evaluations at a time, of all accounts, shared by the rule of package fair; default 2 per processor
	Idle        int           // workers kept ready; default 1 per processor, negative for none
	SessionIdle time.Duration // default DefaultSessionIdle
	// SessionMemoryBytes is what the workers of all sessions may hold together; beyond it sessions are ended, the
	// largest first of the account that is furthest over its share. Default: a quarter of the machine's memory.
	SessionMemoryBytes int64
	Limits             Limits
	// OnSessionExpired, when set, is told of every session that ended without CloseSession. It runs on a goroutine of its own.
	OnSessionExpired func(key string, reason ExpiryReason)
}

// DefaultConcurrency is how many evaluations run at a time: two per processor.
func DefaultConcurrency() int { return 2 * runtime.GOMAXPROCS(0) }

// Engine evaluates expressions with the default engine.
type Engine struct {
	options Options
	zygote  *Zygote
	places  *fair.Pool
	memory  *memoryGuard

	mu       sync.Mutex
	sessions map[string]*session
	ended    endings // their keys are not used again
	closed   bool
}

// Start starts the engine. It returns once a worker has evaluated and the boundaries were observed from inside a worker.
func Start(ctx context.Context, options Options) (*Engine, error) {
	if options.Concurrency <= 0 {
		options.Concurrency = DefaultConcurrency()
	}
	if options.Idle == 0 {
		options.Idle = runtime.GOMAXPROCS(0)
	}
	if options.SessionIdle <= 0 {
		options.SessionIdle = DefaultSessionIdle
	}
	zygote, err := StartZygote(ctx, Program{
		Name: "the engine", Python: Python(options.Environment), Source: evaluateSource,
		Sandbox: options.Sandbox, Idle: max(options.Idle, 0), Limits: options.Limits,
	})
	if err != nil {
		return nil, err
	}
	e := &Engine{
		options: options, zygote: zygote, places: fair.NewPool(options.Concurrency), sessions: map[string]*session{},
		ended: endings{reasons: map[string]ExpiryReason{}},
	}
	e.memory = guardSessionMemory(e)
	return e, nil
}

// Close ends every session and every worker. Evaluations under way fail.
func (e *Engine) Close(context.Context) error {
	e.mu.Lock()
	e.closed = true
	for _, s := range e.sessions {
		e.endSession(s, ExpiredClosed)
	}
	e.mu.Unlock()
	e.memory.stop()
	return e.zygote.Close()
}

// Ready returns why no worker can be started; nil while they start.
func (e *Engine) Ready(ctx context.Context) error { return e.zygote.Ready(ctx) }

// WhenEnded has a function called each time when the process that forks the workers ends though Close was not called.
func (e *Engine) WhenEnded(ended func(said string)) { e.zygote.WhenEnded(ended) }

// Usage tells how many evaluations run and how many wait for a worker.
func (e *Engine) Usage() fair.Usage { return e.places.Usage() }

// Info names the engine and its revision, as receipts record them.
func (e *Engine) Info() (name, revision string) {
	info := e.zygote.Info()
	return info["name"], info["revision"]
}

// Boundaries tells what is in force around the workers.
func (e *Engine) Boundaries() []Boundary { return e.zygote.Boundaries() }

// Request is one expression to evaluate.
type Request struct {
	Code      string
	Account   string        // whose share of the workers it takes
	OwnWorker bool          // it takes no share: whoever asks bounds how many such evaluations run at a time, and may give it a place (fair.At)
	Session   string        // empty: a fresh process; otherwise an opaque key, account/session
	Weight    int           // of the account's plan, by which the memory of sessions is shared; 0: 1
	Budget    time.Duration // time to evaluate; waiting for the session's turn counts, waiting for a worker and standing still do not
	QueueWait time.Duration // time to wait for a worker, and to stand still once long for others, before a *fair.SaturatedError
	FullForm  bool          // also fill AnswerFullForm
	// Counted: Budget is processor time; the wall clock guards at wallFactor times as much and wallSlack. Not in a session.
	Counted bool
}

// The wall clock bounds an evaluation whose processor time is counted far outside, for a worker that gets none.
const (
	wallFactor = 4
	wallSlack  = 5 * time.Second
)

// Outcome is what the engine answered.
type Outcome struct {
	Result         string        // what people read: InputForm, but for forms asked for by name and precision shown as digits
	InputForm      string        // ToString[answer, InputForm]: reads back as the answer
	AnswerFullForm string        // the engine's FullForm of the answer, when asked for
	Stdout         string        // what the expression printed, without messages
	Messages       []string      // as `Symbol::tag: text`, each on one line
	SVG            []byte        // cleaned; empty without a graphic
	PlotOmitted    bool          // a graphic was made but is over 2 MiB
	Unevaluated    bool          // the engine gave the input back: not an answer
	Elapsed        time.Duration // of computing, set with an error too
	Line           int           // of the session; 0: of none
	SessionOpened  bool          // this evaluation opened the session
	SessionEnded   ExpiryReason  // with an error: the session ended by it; empty: it did not
}

// reply is one line from evaluate.py.
type reply struct {
	Error       string   `json:"error"`
	Result      string   `json:"result"`
	InputForm   *string  `json:"input_form"`
	Shown       *string  `json:"shown"`
	FullForm    string   `json:"full_form"`
	Stdout      string   `json:"stdout"`
	Messages    []string `json:"messages"` // each once
	Times       []int    `json:"times"`    // how often each came
	SVG         string   `json:"svg"`
	PlotOmitted bool     `json:"plot_omitted"`
	ElapsedNS   int64    `json:"elapsed_ns"`
	TooLarge    string   `json:"too_large"` // what is not in the reply for its length: result, output; empty: nothing
	Bytes       int64    `json:"bytes"`     // of it
	Limit       int64    `json:"limit"`
	Line        int      `json:"line"` // its number in the session; 0: in none, or it could not be read
	From        int      `json:"from"` // the first line that Out, In and InString knew
}

// failure is why a reply of a living worker is no answer; nil for an answer.
func (r reply) failure(code string) error {
	switch {
	case r.Error != "":
		return refusal(code, r.Error)
	case r.TooLarge != "":
		advice := "end the line with ; to compute without showing it, or ask for a part of it"
		if r.TooLarge == "output" {
			advice = "print less"
		}
		return &FailedError{Reason: run.FailureOutputTooLarge, Detail: fmt.Sprintf("the %s has %d bytes or more and at most %d are answered: %s",
			r.TooLarge, r.Bytes, r.Limit, advice)}
	}
	return nil
}

// Evaluate runs one expression. When its context is cancelled the worker is killed at once. Errors: ErrBudgetExhausted,
// *fair.SaturatedError, *FailedError, ErrLost, *SessionEndedError, ErrSessionClosed, ErrClosed, ErrCancelled, and the context's own
// while nothing was computed yet.
func (e *Engine) Evaluate(ctx context.Context, request Request) (Outcome, error) {
	if err := refuseExponents(request.Code); err != nil {
		return Outcome{}, err
	}
	code, silent := withoutEnd(request.Code)
	code = expression.Explicit(code)
	call := map[string]any{"op": "evaluate", "code": code, "silent": silent, "full_form": request.FullForm}
	if request.Counted && request.Session == "" {
		call["processor_ms"] = request.Budget.Milliseconds()
		request.Budget = wallFactor*request.Budget + wallSlack
	}
	if request.Session != "" {
		code, err := withOuts(code)
		if err != nil {
			return Outcome{}, err
		}
		call["code"], call["line"] = code, request.Code
	}
	var answer reply
	var outcome Outcome
	var err error
	if request.Session == "" {
		err = e.takePlaceAndCall(ctx, request, call, &answer)
	} else {
		outcome.SessionOpened, outcome.SessionEnded, err = e.inSession(ctx, request, call, &answer)
	}
	outcome.Elapsed = time.Duration(answer.ElapsedNS)
	if err == nil {
		err = answer.failure(request.Code)
	}
	if err != nil {
		return outcome, err
	}
	present(&outcome, request.Code, answer)
	outcome.Line = answer.Line
	return outcome, nil
}

// refuseExponents refuses numbers such as 3*^2147483648, of which the engine would keep the 3 alone.
func refuseExponents(code string) error {
	if number := largeExponent.FindString(stringLiteral.ReplaceAllString(code, `""`)); number != "" {
		return &FailedError{Reason: run.FailureRefused, Detail: fmt.Sprintf("the exponent in %.40s has more than 9 digits, which the engine cannot read", number)}
	}
	return nil
}

// largeExponent is the end of a number whose exponent has more than 9 digits: the engine reads 32 bits of it.
var largeExponent = regexp.MustCompile(`[0-9.` + "`" + `]\*\^[+-]?0*[1-9][0-9]{9,}`)

// withoutEnd is the code up to the end of its last word, without the comments after it, and whether that word is a semicolon.
func withoutEnd(code string) (_ string, silent bool) {
	words, err := expression.Tokens(code)
	switch {
	case err != nil:
		return code, strings.HasSuffix(strings.TrimSpace(code), ";")
	case len(words) == 0: // nothing to be shown
		return code, true
	}
	last := words[len(words)-1]
	return code[:last.End], last.Operator == ";" || last.Operator == ";;"
}

// InputFullForm is what the engine prints for ToString[FullForm[Hold[code]]], of the code as Evaluate sends it, in a worker of its own, which takes no share:
// whoever asks bounds how many such readings run at a time, and gives it his place (fair.At). The engine may run code while it reads the text, so that the
// result is only good for comparison with the reading of the service's parser (expression.SameAsEngine, which also knows how
// strings stand in it).
func (e *Engine) InputFullForm(ctx context.Context, code string, budget time.Duration) (string, error) {
	var answer reply
	if err := e.callOnce(ctx, budget, map[string]any{"op": "full_form", "code": expression.Explicit(code)}, &answer); err != nil {
		return "", err
	}
	if err := answer.failure(code); err != nil {
		return "", err
	}
	if !strings.HasPrefix(answer.FullForm, "Hold[") || !strings.HasSuffix(answer.FullForm, "]") {
		return "", &FailedError{Reason: run.FailureRefused, Detail: "the engine did not keep the input held"}
	}
	return answer.FullForm, nil
}

// takePlaceAndCall runs one request in a fresh worker, once its account may have one.
func (e *Engine) takePlaceAndCall(ctx context.Context, request Request, call any, answer *reply) error {
	ctx, release, err := e.takePlace(ctx, request)
	if err != nil {
		return err
	}
	defer release()
	return e.callOnce(ctx, request.Budget, call, answer)
}

// callOnce runs one request in a fresh worker.
func (e *Engine) callOnce(ctx context.Context, budget time.Duration, call any, answer *reply) error {
	worker, err := e.zygote.Spawn(ctx)
	if err != nil {
		return err
	}
	defer worker.Kill()
	return evaluate(ctx, budget, worker, call, answer)
}

// takePlace waits until the request's account may have a worker. The context that it returns is at that place.
func (e *Engine) takePlace(ctx context.Context, request Request) (at context.Context, release func(), err error) {
	if request.OwnWorker {
		return ctx, func() {}, nil
	}
	place, err := e.places.Acquire(ctx, request.Account, request.QueueWait, request.Budget)
	if err != nil {
		return nil, nil, err
	}
	return fair.At(ctx, place), place.Release, nil
}
