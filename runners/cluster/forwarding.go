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
)

const (
	forwardPath  = "/evaluate"
	signedBy     = "X-Reckon-Peer" // HMAC-SHA256 under the installation's secret of what seal writes, hex
	bodyDigest   = "X-Reckon-Body" // SHA-256 of the body, hex
	maxForwarded = 8 << 20         // an expression is at most the API's 1 MB
	maxAnswer    = 64 << 20        // a result and an output of at most 1 MB each, escaped
	unreachable  = 500 * time.Millisecond
)

// EvaluateFunc is a commands.Evaluator's Evaluate.
type EvaluateFunc func(context.Context, commands.Intent, commands.Evaluate) (commands.Evaluation, error)

// Peers forwards evaluations to the process that owns their session, and
// answers those that others forward. Who knows the secret is a peer.
type Peers struct {
	Secret []byte
	Local  EvaluateFunc
	client http.Client
}

// NewPeers evaluates what is this process's own with local.
func NewPeers(secret []byte, local EvaluateFunc) *Peers {
	return &Peers{Secret: secret, Local: local, client: http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute}}}
}

// Evaluate evaluates here, or where the session lives. While its owner cannot be
// reached it waits: either the owner answers again, or it is taken for dead and
// the session begins anew here, with a warning.
func (p *Peers) Evaluate(ctx context.Context, in commands.Intent, c commands.Evaluate) (commands.Evaluation, error) {
	for {
		answer, err := p.Local(ctx, in, c)
		var elsewhere *commands.SessionElsewhereError
		if !errors.As(err, &elsewhere) {
			return answer, err
		}
		answer, err = p.ask(ctx, elsewhere.Address, in, c)
		switch {
		case errors.As(err, &elsewhere): // it has moved meanwhile
		case notDelivered(err):
			select {
			case <-ctx.Done():
				return answer, fmt.Errorf("%w: %w", commands.ErrUnavailable, elsewhere)
			case <-time.After(unreachable):
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
	Kind     string
	Message  string         `json:",omitempty"`
	RunID    int64          `json:",omitempty"`
	Position event.Position `json:",omitzero"`
	Reason   string         `json:",omitempty"`
	Detail   string         `json:",omitempty"`
	Owner    string         `json:",omitempty"`
	Address  string         `json:",omitempty"`
}

// Kinds of a forwarded error.
const (
	kindTimeout      = "budget_exhausted"
	kindFailed       = "engine_failed"
	kindElsewhere    = "elsewhere"
	kindSessions     = "too_many_sessions"
	kindSaturated    = "saturated"
	kindUnavailable  = "unavailable"
	kindUnclassified = "error"
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

func (p *Peers) ask(ctx context.Context, address string, in commands.Intent, c commands.Evaluate) (commands.Evaluation, error) {
	body, err := json.Marshal(forwarded{in, c})
	if err != nil {
		return commands.Evaluation{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+forwardPath, bytes.NewReader(body))
	if err != nil {
		return commands.Evaluation{}, err
	}
	p.seal(request.Header, "ask", body)
	response, err := p.client.Do(request)
	if err != nil {
		if notDelivered(err) {
			return commands.Evaluation{}, err
		}
		return commands.Evaluation{}, fmt.Errorf("%w: the process that owns the session: %w", commands.ErrUnavailable, err)
	}
	defer func() { _ = response.Body.Close() }()
	answered, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return commands.Evaluation{}, fmt.Errorf("%w: the process that owns the session: %w", commands.ErrUnavailable, err)
	}
	if response.StatusCode != http.StatusOK || !p.sealed(response.Header, "answer", int64(len(answered))) || !digested(response.Header, answered) {
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

// ServeHTTP answers what another process forwards. The seal is in the headers and
// covers length and digest of the body: of a stranger's body no byte is read.
func (p *Peers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method != http.MethodPost || r.URL.Path != forwardPath:
		http.NotFound(w, r)
		return
	case r.ContentLength < 0 || r.ContentLength > maxForwarded:
		http.Error(w, "the body must say its length, of at most 8 MiB", http.StatusRequestEntityTooLarge)
		return
	case !p.sealed(r.Header, "ask", r.ContentLength):
		http.Error(w, "not a peer", http.StatusForbidden)
		return
	}
	body, err := io.ReadAll(r.Body)
	var asked forwarded
	switch {
	case err != nil:
		http.Error(w, "unreadable", http.StatusBadRequest)
		return
	case !digested(r.Header, body):
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
	p.seal(w.Header(), "answer", encoded)
	_, _ = w.Write(encoded) // who asked finds out by itself that it did not arrive
}

// seal writes the digest of a body and, over its direction, length and digest, a
// MAC, so that an answer cannot be asked back.
func (p *Peers) seal(header http.Header, direction string, body []byte) {
	digest := sha256.Sum256(body)
	header.Set(bodyDigest, hex.EncodeToString(digest[:]))
	header.Set(signedBy, p.mac(direction, int64(len(body)), header.Get(bodyDigest)))
}

func (p *Peers) sealed(header http.Header, direction string, length int64) bool {
	return hmac.Equal([]byte(p.mac(direction, length, header.Get(bodyDigest))), []byte(header.Get(signedBy)))
}

func (p *Peers) mac(direction string, length int64, digest string) string {
	mac := hmac.New(sha256.New, p.Secret)
	_, _ = fmt.Fprintf(mac, "%s\n%d\n%s", direction, length, digest) // a hash never fails
	return hex.EncodeToString(mac.Sum(nil))
}

// digested tells whether a body is the one its header names.
func digested(header http.Header, body []byte) bool {
	digest := sha256.Sum256(body)
	return header.Get(bodyDigest) == hex.EncodeToString(digest[:])
}
