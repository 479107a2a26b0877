package cluster

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/domain/receipt"
	"reckon/domain/run"
	"reckon/internal/tracing"
)

const (
	forwardPath      = "/evaluate"
	maxRequestBytes  = 8 << 20                // an expression is at most the API's 1 MB
	maxResponseBytes = 64 << 20               // a result and an output of at most 1 MB each, escaped
	maxRefusalBytes  = 256                    // of a refusal's text, kept for the log
	silence          = 2 * time.Second        // without an answer, until the owner is asked over a new connection
	unreachablePause = 500 * time.Millisecond // before an owner that did not receive the request is asked again
)

// Headers of a request between processes.
const (
	toHeader    = "X-Reckon-To"    // runner id of the receiver
	nonceHeader = "X-Reckon-Nonce" // nonceBytes random bytes, hex
)

// EvaluateFunc is a commands.Evaluator's Evaluate.
type EvaluateFunc func(context.Context, commands.Intent, commands.Evaluate) (commands.Evaluation, error)

// Peers forwards evaluations to the process that owns their session, and evaluates
// what other processes forward. A peer is a process that knows the secret.
type Peers struct {
	PeersConfig
	tls      *tls.Config
	client   http.Client
	fresh    http.Client // makes a connection for each request
	received nonces
}

// PeersConfig configures Peers. All of it but Tracer is required.
type PeersConfig struct {
	Process string // this process's runner id
	Secret  []byte
	Local   EvaluateFunc // evaluates in this process's own sessions
	// WaitUntilDead returns nil once a process counts as dead, or the context's error.
	WaitUntilDead func(ctx context.Context, processID string) error
	Now           func() time.Time
	Tracer        *tracing.Tracer // nil: no span is recorded
}

// NewPeers returns the peers of a process.
func NewPeers(c PeersConfig) (*Peers, error) {
	known, err := peerTLS(c.Secret)
	if err != nil {
		return nil, err
	}
	kept := &http.Transport{TLSClientConfig: known, TLSHandshakeTimeout: 10 * time.Second, MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute}
	fresh := kept.Clone()
	fresh.DisableKeepAlives = true
	return &Peers{PeersConfig: c, tls: known, client: http.Client{Transport: kept}, fresh: http.Client{Transport: fresh}}, nil
}

// Listener accepts only peers from l: their connections are encrypted, and others have no byte of a request read.
func (p *Peers) Listener(l net.Listener) net.Listener { return tls.NewListener(l, p.tls) }

var (
	// errOwnerDead ends a forwarded request whose receiver's lease has ended.
	errOwnerDead = errors.New("the process that owned the session is dead")
	// errNoAnswer means that the owner was not reached, or the connection broke before its answer
	// came. It is asked again: it evaluates a nonce once.
	errNoAnswer = errors.New("no answer came from the process that owns the session")
	// errReceivedBefore means that the owner has received the request already.
	errReceivedBefore = errors.New("the process that owns the session has received this before")
)

// CloseIdleConnections closes the connections to other processes that no request uses.
func (p *Peers) CloseIdleConnections() { p.client.CloseIdleConnections() }

// Evaluate evaluates in this process, or in the one that owns the session. While no answer comes
// the owner is asked again, until it answers or its lease ends; also an owner that has received
// the request and says nothing is given up then. The session begins anew in this process and the
// evaluation has a warning; what a dead owner has computed of it may be a run of its own. It
// returns a commands.SessionOwnerError when a live owner has received the request and its answer
// is lost, or the context ends before the lease.
func (p *Peers) Evaluate(ctx context.Context, in commands.Intent, c commands.Evaluate) (commands.Evaluation, error) {
	nonce := newNonce() // one for all attempts: an owner evaluates one of them
	var sent atomic.Bool
	for {
		answer, err := p.Local(ctx, in, c)
		var elsewhere *commands.SessionElsewhereError
		if !errors.As(err, &elsewhere) {
			return answer, err
		}
		owner := elsewhere.Owner
		answer, err = p.forwardUntilDead(noteConnections(ctx, &sent), elsewhere, nonce, in, c)
		switch {
		case errors.Is(err, errOwnerDead):
			c.OwnerDied = true // whoever waited with this one may open the session first
		case errors.As(err, &elsewhere): // the session has another owner by now
		case errors.Is(err, errNoAnswer):
			select {
			case <-ctx.Done():
				return answer, &commands.SessionOwnerError{Owner: owner, Cause: errors.Join(err, ctx.Err()), NotSent: !sent.Load()}
			case <-time.After(unreachablePause):
			}
		default:
			return answer, err
		}
	}
}

// noteConnections returns a context whose requests set made once they have a connection to a peer.
func noteConnections(ctx context.Context, made *atomic.Bool) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { made.Store(true) }})
}

// forwardUntilDead is forward that returns errOwnerDead once the owner counts as dead.
func (p *Peers) forwardUntilDead(ctx context.Context, owner *commands.SessionElsewhereError, nonce string, in commands.Intent, c commands.Evaluate) (commands.Evaluation, error) {
	asking, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	go func() {
		if p.WaitUntilDead(asking, owner.Owner) == nil {
			giveUp(errOwnerDead)
		}
	}()
	answer, err := p.forward(asking, owner, nonce, in, c)
	if err != nil && errors.Is(context.Cause(asking), errOwnerDead) {
		return commands.Evaluation{}, errOwnerDead
	}
	return answer, err
}

type forwarded struct {
	Intent   commands.Intent
	Evaluate commands.Evaluate
}

type forwardedAnswer struct {
	Evaluation commands.Evaluation
	Error      *forwardedError `json:",omitempty"`
}

// forwardedError is a typed error on its way between processes.
type forwardedError struct {
	Kind     errorKind
	Message  string            `json:",omitempty"`
	RunID    int64             `json:",omitempty"`
	Position event.Position    `json:",omitzero"`
	Reason   run.FailureReason `json:",omitempty"`
	Detail   string            `json:",omitempty"`
	Owner    string            `json:",omitempty"`
	Address  string            `json:",omitempty"`
	Retry    time.Duration     `json:",omitempty"` // of a SaturatedError
}

// errorKind says which typed error a forwardedError stands for.
type errorKind string

const (
	kindTimeout      errorKind = "budget_exhausted"
	kindFailed       errorKind = "engine_failed"
	kindElsewhere    errorKind = "elsewhere"
	kindSessions     errorKind = "too_many_sessions"
	kindSaturated    errorKind = "saturated"
	kindUnavailable  errorKind = "unavailable"
	kindCannotSign   errorKind = "cannot_sign"
	kindEngineLost   errorKind = "engine_lost"
	kindUnclassified errorKind = "error"
)

func packError(err error) *forwardedError {
	var ended *commands.RunEndedError
	var failed *commands.EngineFailedError
	var elsewhere *commands.SessionElsewhereError
	var saturated *commands.SaturatedError
	packed := &forwardedError{Kind: kindUnclassified, Message: err.Error()}
	if errors.As(err, &ended) {
		packed.RunID, packed.Position = ended.RunID, ended.Position
	}
	switch {
	case errors.As(err, &failed):
		packed.Kind, packed.Reason, packed.Detail = kindFailed, failed.Reason, failed.Detail
	case errors.Is(err, commands.ErrBudgetExhausted):
		packed.Kind = kindTimeout
	case errors.As(err, &elsewhere):
		packed.Kind, packed.Owner, packed.Address = kindElsewhere, elsewhere.Owner, elsewhere.Address
	case errors.Is(err, commands.ErrTooManySessions):
		packed.Kind = kindSessions
	case errors.As(err, &saturated):
		packed.Kind, packed.Retry = kindSaturated, saturated.RetryAfter
	case errors.Is(err, commands.ErrSaturated):
		packed.Kind = kindSaturated
	case errors.Is(err, commands.ErrUnavailable), errors.Is(err, commands.ErrCancelled): // to a client that waits still it is the same
		packed.Kind = kindUnavailable
	case errors.Is(err, receipt.ErrCannotSign):
		packed.Kind = kindCannotSign
	case errors.Is(err, commands.ErrEngineLost):
		packed.Kind = kindEngineLost
	}
	return packed
}

func (e *forwardedError) unpack() error {
	var cause error
	switch e.Kind {
	case kindElsewhere:
		return &commands.SessionElsewhereError{Owner: e.Owner, Address: e.Address}
	case kindSessions:
		return commands.ErrTooManySessions
	case kindSaturated:
		return &commands.SaturatedError{RetryAfter: e.Retry}
	case kindUnavailable:
		return fmt.Errorf("%w: %s", commands.ErrUnavailable, e.Message)
	case kindCannotSign:
		return receipt.ErrCannotSign
	case kindEngineLost:
		return commands.ErrEngineLost
	case kindTimeout:
		cause = commands.ErrBudgetExhausted
	case kindFailed:
		cause = &commands.EngineFailedError{Reason: e.Reason, Detail: e.Detail}
	default:
		return errors.New("the process that owns the session: " + e.Message)
	}
	if e.RunID == 0 {
		return cause
	}
	return &commands.RunEndedError{RunID: e.RunID, Position: e.Position, Cause: cause}
}

// forward asks the owner, and asks it again over a new connection when it has said nothing for silence: the one that was kept may be lost
// without a word. The owner evaluates what comes first and refuses the other, which then counts for nothing.
func (p *Peers) forward(ctx context.Context, to *commands.SessionElsewhereError, nonce string, in commands.Intent, c commands.Evaluate) (commands.Evaluation, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type reply struct {
		evaluation commands.Evaluation
		err        error
	}
	replies, asked := make(chan reply, 2), 0
	ask := func(client *http.Client) {
		asked++
		go func() {
			evaluation, err := p.ask(ctx, client, to, nonce, in, c)
			replies <- reply{evaluation, err}
		}()
	}
	ask(&p.client)
	silent := time.NewTimer(silence)
	defer silent.Stop()
	for {
		select {
		case r := <-replies:
			asked--
			if asked > 0 && (errors.Is(r.err, errReceivedBefore) || errors.Is(r.err, errNoAnswer)) {
				continue
			}
			return r.evaluation, r.err
		case <-silent.C:
			ask(&p.fresh)
		}
	}
}

// ask makes one request of the owner.
func (p *Peers) ask(ctx context.Context, client *http.Client, to *commands.SessionElsewhereError, nonce string, in commands.Intent, c commands.Evaluate) (commands.Evaluation, error) {
	ctx, span := tracing.Below(ctx, tracing.Forward, "")
	defer span.End()
	if span.Recording() {
		in.Traceparent = tracing.Traceparent(ctx)
	}
	unknown := func(cause error) (commands.Evaluation, error) {
		return commands.Evaluation{}, &commands.SessionOwnerError{Owner: to.Owner, Cause: cause}
	}
	body, err := json.Marshal(forwarded{in, c})
	if err != nil {
		return commands.Evaluation{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+to.Address+forwardPath, bytes.NewReader(body))
	if err != nil {
		return commands.Evaluation{}, err
	}
	request.Header.Set(toHeader, to.Owner)
	request.Header.Set(nonceHeader, nonce)
	response, err := client.Do(request)
	if notPeer(err) {
		return unknown(fmt.Errorf("%s is no process of this installation, or has another peer secret: %w", to.Address, err))
	}
	if err != nil {
		return commands.Evaluation{}, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	defer func() { _ = response.Body.Close() }()
	answered, err := io.ReadAll(io.LimitReader(response.Body, maxResponseBytes))
	switch {
	case err != nil:
		return commands.Evaluation{}, fmt.Errorf("%w: %w", errNoAnswer, err)
	case response.StatusCode == http.StatusMisdirectedRequest: // another process has the owner's address now
		return commands.Evaluation{}, fmt.Errorf("%w: another process is at %s", errNoAnswer, to.Address)
	case response.StatusCode == http.StatusConflict:
		return unknown(errReceivedBefore)
	case response.StatusCode != http.StatusOK:
		return unknown(fmt.Errorf("%s refuses with %s: %s", to.Address, response.Status, answered[:min(len(answered), maxRefusalBytes)]))
	}
	var answer forwardedAnswer
	if err := json.Unmarshal(answered, &answer); err != nil {
		return unknown(err)
	}
	if answer.Error != nil {
		return commands.Evaluation{}, answer.Error.unpack()
	}
	return answer.Evaluation, nil
}

// notPeer tells whether a connection failed because of who answered: another certificate, or none.
func notPeer(err error) bool {
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	return errors.As(err, &certificate) || errors.As(err, &record) || errors.Is(err, http.ErrSchemeMismatch)
}

// ServeHTTP evaluates what another process forwards; whose connections it serves came through Listener.
func (p *Peers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	nonce := r.Header.Get(nonceHeader)
	switch {
	case r.Method != http.MethodPost || r.URL.Path != forwardPath:
		http.NotFound(w, r)
		return
	case r.ContentLength < 0 || r.ContentLength > maxRequestBytes:
		http.Error(w, "the body must say its length, of at most 8 MiB", http.StatusRequestEntityTooLarge)
		return
	case r.Header.Get(toHeader) != p.Process:
		http.Error(w, "not to this process", http.StatusMisdirectedRequest)
		return
	case len(nonce) != 2*nonceBytes:
		http.Error(w, "no nonce", http.StatusBadRequest)
		return
	}
	body, err := io.ReadAll(r.Body)
	var asked forwarded
	if err != nil || json.Unmarshal(body, &asked) != nil {
		http.Error(w, "not a forwarded evaluation", http.StatusBadRequest)
		return
	}
	if !p.received.add(nonce, p.Now()) {
		http.Error(w, "received before", http.StatusConflict)
		return
	}
	var answer forwardedAnswer
	ctx, span := p.Tracer.Begin(r.Context(), tracing.Owner, "", asked.Intent.Traceparent)
	defer span.End()
	if within := tracing.Traceparent(ctx); within != "" {
		asked.Intent.Traceparent = within
	}
	answer.Evaluation, err = p.Local(ctx, asked.Intent, asked.Evaluate)
	if err != nil {
		answer.Error = packError(err)
	}
	encoded, err := json.Marshal(answer)
	if err != nil {
		http.Error(w, "the answer cannot be sent", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(encoded) // a peer that gets no whole answer reports that itself
}
