package cluster

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/domain/receipt"
	"reckon/domain/run"
)

const (
	forwardPath      = "/evaluate"
	signatureHeader  = "X-Reckon-Peer"        // what signature returns
	digestHeader     = "X-Reckon-Body"        // SHA-256 of the body, hex
	maxRequestBytes  = 8 << 20                // an expression is at most the API's 1 MB
	maxResponseBytes = 64 << 20               // a result and an output of at most 1 MB each, escaped
	unreachablePause = 500 * time.Millisecond // before an owner that did not accept a connection is tried again
)

// EvaluateFunc is a commands.Evaluator's Evaluate.
type EvaluateFunc func(context.Context, commands.Intent, commands.Evaluate) (commands.Evaluation, error)

// Peers forwards evaluations to the process that owns their session, and evaluates
// what other processes forward. A peer is a process that knows the secret.
type Peers struct {
	Secret []byte
	Local  EvaluateFunc
	client http.Client
}

// NewPeers returns the peers of a process that evaluates in its own sessions with local.
func NewPeers(secret []byte, local EvaluateFunc) *Peers {
	return &Peers{Secret: secret, Local: local, client: http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute}}}
}

// Evaluate evaluates in this process, or in the one that owns the session. While no
// connection to the owner can be made it tries again, until the owner answers or counts
// as dead; then the session begins anew in this process and the evaluation has a warning.
func (p *Peers) Evaluate(ctx context.Context, in commands.Intent, c commands.Evaluate) (commands.Evaluation, error) {
	for {
		answer, err := p.Local(ctx, in, c)
		var elsewhere *commands.SessionElsewhereError
		if !errors.As(err, &elsewhere) {
			return answer, err
		}
		answer, err = p.forward(ctx, elsewhere.Address, in, c)
		switch {
		case errors.As(err, &elsewhere): // the session has another owner by now
		case notDelivered(err):
			select {
			case <-ctx.Done():
				return answer, fmt.Errorf("%w: %w", commands.ErrUnavailable, elsewhere)
			case <-time.After(unreachablePause):
			}
		default:
			return answer, err
		}
	}
}

// notDelivered tells whether a request certainly did not reach its owner.
func notDelivered(err error) bool {
	var network *net.OpError
	return errors.As(err, &network) && network.Op == "dial"
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
	kindUnclassified errorKind = "error"
)

func packError(err error) *forwardedError {
	var ended *commands.RunEndedError
	var failed *commands.EngineFailedError
	var elsewhere *commands.SessionElsewhereError
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
	case errors.Is(err, commands.ErrSaturated):
		packed.Kind = kindSaturated
	case errors.Is(err, commands.ErrUnavailable):
		packed.Kind = kindUnavailable
	case errors.Is(err, receipt.ErrCannotSign):
		packed.Kind = kindCannotSign
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
		return commands.ErrSaturated
	case kindUnavailable:
		return fmt.Errorf("%w: %s", commands.ErrUnavailable, e.Message)
	case kindCannotSign:
		return receipt.ErrCannotSign
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

func (p *Peers) forward(ctx context.Context, address string, in commands.Intent, c commands.Evaluate) (commands.Evaluation, error) {
	body, err := json.Marshal(forwarded{in, c})
	if err != nil {
		return commands.Evaluation{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+forwardPath, bytes.NewReader(body))
	if err != nil {
		return commands.Evaluation{}, err
	}
	p.sign(request.Header, directionRequest, body)
	response, err := p.client.Do(request)
	if err != nil {
		if notDelivered(err) {
			return commands.Evaluation{}, err
		}
		return commands.Evaluation{}, fmt.Errorf("%w: the process that owns the session: %w", commands.ErrUnavailable, err)
	}
	defer func() { _ = response.Body.Close() }()
	answered, err := io.ReadAll(io.LimitReader(response.Body, maxResponseBytes))
	if err != nil {
		return commands.Evaluation{}, fmt.Errorf("%w: the process that owns the session: %w", commands.ErrUnavailable, err)
	}
	if response.StatusCode != http.StatusOK || !p.signed(response.Header, directionAnswer, int64(len(answered))) || !digestMatches(response.Header, answered) {
		return commands.Evaluation{}, fmt.Errorf("%w: %s is no process of this installation, or has another peer secret (%s)", commands.ErrUnavailable, address, response.Status)
	}
	var answer forwardedAnswer
	if err := json.Unmarshal(answered, &answer); err != nil {
		return commands.Evaluation{}, err
	}
	if answer.Error != nil {
		return commands.Evaluation{}, answer.Error.unpack()
	}
	return answer.Evaluation, nil
}

// ServeHTTP evaluates what another process forwards. The signature is in the headers and
// covers length and digest of the body, so no byte is read of the body of one that is no peer.
func (p *Peers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method != http.MethodPost || r.URL.Path != forwardPath:
		http.NotFound(w, r)
		return
	case r.ContentLength < 0 || r.ContentLength > maxRequestBytes:
		http.Error(w, "the body must say its length, of at most 8 MiB", http.StatusRequestEntityTooLarge)
		return
	case !p.signed(r.Header, directionRequest, r.ContentLength):
		http.Error(w, "not a peer", http.StatusForbidden)
		return
	}
	body, err := io.ReadAll(r.Body)
	var asked forwarded
	switch {
	case err != nil:
		http.Error(w, "unreadable", http.StatusBadRequest)
		return
	case !digestMatches(r.Header, body):
		http.Error(w, "not the body that was sealed", http.StatusForbidden)
		return
	case json.Unmarshal(body, &asked) != nil:
		http.Error(w, "not a forwarded evaluation", http.StatusBadRequest)
		return
	}
	var answer forwardedAnswer
	answer.Evaluation, err = p.Local(r.Context(), asked.Intent, asked.Evaluate)
	if err != nil {
		answer.Error = packError(err)
	}
	encoded, err := json.Marshal(answer)
	if err != nil {
		http.Error(w, "the answer cannot be sent", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	p.sign(w.Header(), directionAnswer, encoded)
	_, _ = w.Write(encoded) // a peer that gets no whole answer reports that itself
}

// direction says which way a message goes; it is part of what is signed, so that an
// answer cannot be sent back as a request.
type direction string

const (
	directionRequest direction = "ask"
	directionAnswer  direction = "answer"
)

// sign sets the digest and the signature of a body.
func (p *Peers) sign(header http.Header, d direction, body []byte) {
	digest := sha256.Sum256(body)
	header.Set(digestHeader, hex.EncodeToString(digest[:]))
	header.Set(signatureHeader, p.signature(d, int64(len(body)), header.Get(digestHeader)))
}

// signed tells whether a header has the signature of its direction, length and digest.
func (p *Peers) signed(header http.Header, d direction, length int64) bool {
	return hmac.Equal([]byte(p.signature(d, length, header.Get(digestHeader))), []byte(header.Get(signatureHeader)))
}

// signature is HMAC-SHA256 (RFC 2104) under the installation's secret, in hex.
func (p *Peers) signature(d direction, length int64, digest string) string {
	mac := hmac.New(sha256.New, p.Secret)
	_, _ = fmt.Fprintf(mac, "%s\n%d\n%s", d, length, digest) // a hash never fails
	return hex.EncodeToString(mac.Sum(nil))
}

// digestMatches tells whether a body has the digest in its header.
func digestMatches(header http.Header, body []byte) bool {
	digest := sha256.Sum256(body)
	return header.Get(digestHeader) == hex.EncodeToString(digest[:])
}
