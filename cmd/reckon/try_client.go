package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"reckon/domain/keys"
	"reckon/domain/receipt"
	outcome "reckon/domain/run"
	"reckon/internal/httpkit"
	"reckon/internal/view"
)

// errServerEnds is that a server opens no session any more.
var errServerEnds = errors.New("the server is ending")

// apiClient asks the API in a local session.
type apiClient struct {
	session localSession
	http    http.Client
	lease   io.Closer // the connection that the session ends with
}

// signInLocally opens a session with the server that runs on a data folder; nil without an error where none runs.
func signInLocally(ctx context.Context, data string) (*apiClient, error) {
	response, err := sendToServer(ctx, data, http.MethodPost, "/local-session") //nolint:bodyclose // apiClient.close does
	if response == nil {
		return nil, err
	}
	c := &apiClient{lease: response.Body, http: http.Client{Transport: &http.Transport{}}} // no proxy: the server is on this machine
	switch {
	case response.StatusCode == http.StatusServiceUnavailable:
		err = errServerEnds
	case response.StatusCode != http.StatusOK:
		var why []byte
		why, err = io.ReadAll(io.LimitReader(response.Body, 16<<10))
		err = cmp.Or(err, errors.New(strings.TrimSpace(string(why))))
	default:
		err = json.NewDecoder(response.Body).Decode(&c.session)
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *apiClient) close() {
	c.http.CloseIdleConnections()
	_ = c.lease.Close() // nothing more is read from it
}

// maxAnswerBytes is the most that is read of an answer. The service answers less than that.
const maxAnswerBytes = 64 << 20

// send returns the status and the body of the answer.
func (c *apiClient) send(ctx context.Context, method, path string, body []byte) (status int, answer []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, method, c.session.URL+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.AddCookie(&http.Cookie{Name: c.session.Cookie, Value: c.session.Secret})
	request.Header.Set("User-Agent", "reckon-try")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err = io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes))
	return response.StatusCode, answer, err
}

// get returns the body of a path that the service has named.
func (c *apiClient) get(ctx context.Context, path string) ([]byte, error) {
	status, answer, err := c.send(ctx, http.MethodGet, path, nil)
	if err == nil && status != http.StatusOK {
		var problem httpkit.Problem
		_ = json.Unmarshal(answer, &problem) // what is no problem has no detail
		err = fmt.Errorf("GET %s: %d %s", path, status, problem.Detail)
	}
	return answer, err
}

// tried is what became of an expression.
type tried struct {
	expression, session string
	answered            json.RawMessage  // as it came
	evaluation          *view.Evaluation // nil where there is no answer; then there is a problem
	problem             *httpkit.Problem
	receipt             json.RawMessage // as it came
	sealed              receipt.Envelope
	receiptError        error // what is wrong with the receipt of the answer
}

// statusesOfExpressions are those of problems that the expression has. Every other problem says that the service could not evaluate.
var statusesOfExpressions = []int{
	http.StatusBadRequest, http.StatusForbidden, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity,
}

// try evaluates an expression and verifies the receipt of the answer. The error is that it could not be evaluated.
func (c *apiClient) try(ctx context.Context, expression, session string) (*tried, error) {
	t := &tried{expression: expression, session: session}
	asked := map[string]string{"expression": expression}
	if session != "" {
		asked["session_id"] = session
	}
	body, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	status, answer, err := c.send(ctx, http.MethodPost, "/api/evaluate", body)
	if err != nil && session != "" && ctx.Err() == nil { // it is not sent again: it may have changed the session
		return nil, errors.New("it is not known whether this was evaluated: " + err.Error())
	}
	if err != nil {
		return nil, err
	}
	t.answered = answer
	if status == http.StatusOK {
		if err := json.Unmarshal(answer, &t.evaluation); err != nil {
			return nil, fmt.Errorf("the answer cannot be read: %w", err)
		}
		t.receiptError = c.verifyReceipt(ctx, t)
		return t, nil
	}
	if err := json.Unmarshal(answer, &t.problem); err != nil || t.problem.Code == "" {
		return nil, fmt.Errorf("the service answers %d: %.200s", status, answer)
	}
	if !slices.Contains(statusesOfExpressions, status) {
		return nil, fmt.Errorf("%s (%d %s)", t.problem.Detail, status, t.problem.Code)
	}
	return t, nil
}

// good reports whether there is an answer that nothing contradicts, with a right receipt.
func (t *tried) good() bool {
	return t.evaluation != nil && t.evaluation.Status != outcome.Unevaluated && t.receiptError == nil &&
		(t.evaluation.Verification == nil || t.evaluation.Verification.Verdict != outcome.VerdictRefuted)
}

// verifyReceipt fetches the receipt of the answer and the published keys, and returns what is wrong with it: that it does not verify, or
// that it is the receipt of something else.
func (c *apiClient) verifyReceipt(ctx context.Context, t *tried) error {
	if t.evaluation.ReceiptURL == nil {
		return errors.New("the answer has no receipt")
	}
	var err error
	if t.receipt, err = c.get(ctx, *t.evaluation.ReceiptURL); err != nil {
		return err
	}
	if err := json.Unmarshal(t.receipt, &t.sealed); err != nil {
		return fmt.Errorf("the receipt cannot be read: %w", err)
	}
	published, err := c.get(ctx, view.KeysPath)
	if err != nil {
		return err
	}
	known, err := publicKeys(published)
	if err != nil {
		return err
	}
	if err := receipt.Check(t.sealed, known); err != nil {
		return err
	}
	return t.isOfAnswer()
}

// publicKeys reads a key set (RFC 7517 §5, RFC 8037 §2). A key whose id is not its thumbprint is refused.
func publicKeys(set []byte) (map[string]ed25519.PublicKey, error) {
	var parsed struct {
		Keys []struct{ KTY, CRV, X, KID string }
	}
	if err := json.Unmarshal(set, &parsed); err != nil {
		return nil, fmt.Errorf("the published keys cannot be read: %w", err)
	}
	known := map[string]ed25519.PublicKey{}
	for _, k := range parsed.Keys {
		if k.KTY != "OKP" || k.CRV != "Ed25519" {
			continue
		}
		public, err := base64.RawURLEncoding.DecodeString(k.X)
		if err != nil || len(public) != ed25519.PublicKeySize || keys.Thumbprint(public) != k.KID {
			return nil, fmt.Errorf("the published key %s is not what its id says", k.KID)
		}
		known[k.KID] = public
	}
	return known, nil
}

// isOfAnswer returns in what the receipt's record differs from the question and the answer.
func (t *tried) isOfAnswer() error {
	var r receipt.Record
	if err := json.Unmarshal(t.sealed.Record, &r); err != nil {
		return fmt.Errorf("the receipt's record cannot be read: %w", err)
	}
	e := t.evaluation
	var differs []string
	note := func(what string, same bool) {
		if !same {
			differs = append(differs, what)
		}
	}
	note("run", e.RunID != nil && r.RunID == *e.RunID)
	note("expression", r.Expression == t.expression)
	note("answer", r.Answer == e.Result)
	note("printed text", r.StdoutSHA256 == hexSHA256(e.Stdout))
	note("status", r.Status == e.Status)
	note("warnings", slices.Equal(r.Warnings, e.Warnings))
	note("session", r.SessionID == nil && t.session == "" || r.SessionID != nil && *r.SessionID == t.session)
	v := e.Verification
	note("verdict", v == nil && r.Verification == nil || v != nil && r.Verification != nil && *r.Verification == receipt.Verification{Verdict: v.Verdict, Basis: v.Basis, Method: v.Method})
	if len(differs) > 0 {
		return fmt.Errorf("the receipt is of something else: its %s differs", strings.Join(differs, ", its "))
	}
	return nil
}

// hexSHA256 is the hash of a text that may be missing, as receipts have it.
func hexSHA256(text *string) string {
	var content []byte
	if text != nil {
		content = []byte(*text)
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
