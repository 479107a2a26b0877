package witness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"reckon/domain/transparency"
)

const (
	// askTimeout bounds one witness and one checkpoint.
	askTimeout = 10 * time.Second
	// patience is how long, of that, a proof is waited for, and followPause how often it is looked for: a checkpoint is signed from the log,
	// and the tables, of which proofs are made, follow it.
	patience    = 5 * time.Second
	followPause = 100 * time.Millisecond
	// maxAnswerBytes bounds what a witness answers.
	maxAnswerBytes = 64 << 10
	// maxAttempts bounds the requests to one witness: its size becomes known with the first.
	maxAttempts = 3
)

// Client has checkpoints cosigned by witnesses. Its method is for one goroutine.
type Client struct {
	Peers []Peer
	// Prove returns the consistency proof between the trees of an older size and of a signed root; a *transparency.BehindError while it
	// cannot yet, and then it is asked again for as long as Patience.
	Prove    func(ctx context.Context, older, size int64, root string) (tlog.TreeProof, error)
	Patience time.Duration

	mu     sync.Mutex
	sizes  map[string]int64 // of the last checkpoint that a witness cosigned, by its name
	failed map[string]error // what was wrong with a witness when it was asked last, by its name
	http   http.Client
}

// NewClient asks these witnesses.
func NewClient(peers []Peer, prove func(ctx context.Context, older, size int64, root string) (tlog.TreeProof, error)) *Client {
	return &Client{Peers: peers, Prove: prove, Patience: patience, sizes: map[string]int64{}, failed: map[string]error{}, http: http.Client{
		Timeout: askTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Names are the names of the witnesses.
func (c *Client) Names() []string {
	names := make([]string, len(c.Peers))
	for i, p := range c.Peers {
		names[i] = p.Key.name
	}
	return names
}

// Cosign asks all witnesses that have not cosigned the last checkpoint, at once. The error joins those of the witnesses that failed; what
// the others said holds all the same. One that cannot be asked, because Prove is behind or its tables are away, is as it was when it was asked last.
func (c *Client) Cosign(ctx context.Context, state transparency.State) (answers transparency.Answers, err error) {
	signed, err := state.Last.Note(nil)
	if err != nil {
		return answers, err
	}
	var asked []Peer
	for _, p := range c.Peers {
		if slices.ContainsFunc(state.Cosignatures, func(line string) bool { return transparency.Cosigner(line) == p.Key.name }) {
			delete(c.failed, p.Key.name)
		} else {
			asked = append(asked, p)
		}
	}
	lines := make([]string, len(asked))
	failed := make([]error, len(asked))
	var all sync.WaitGroup
	for i, p := range asked {
		all.Go(func() {
			if lines[i], failed[i] = c.ask(ctx, p, state.Last, signed); failed[i] != nil {
				failed[i] = fmt.Errorf("witness %s: %w", p.Key.name, failed[i])
			}
		})
	}
	all.Wait()
	for i, err := range failed {
		if conflict, is := errors.AsType[*transparency.ConflictError](err); is {
			answers.Conflicts, failed[i] = append(answers.Conflicts, conflict.Conflicted), nil
		}
		if isOfTables(err) {
			answers.Behind, failed[i] = err, c.failed[asked[i].Key.name]
		}
		c.failed[asked[i].Key.name] = failed[i]
	}
	answers.Lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
	return answers, errors.Join(failed...)
}

// isOfTables tells whether the tables are why there is no proof, and not a witness: they lag, or their database is away.
func isOfTables(err error) bool {
	_, behind := errors.AsType[*transparency.BehindError](err)
	_, away := errors.AsType[interface {
		error
		UnavailablePart() string
	}](err)
	return behind || away
}

// ask has one witness cosign a checkpoint, and returns its verified line, or a *transparency.ConflictError.
func (c *Client) ask(ctx context.Context, p Peer, checkpoint transparency.Signed, signed string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	for range maxAttempts {
		c.mu.Lock()
		older := c.sizes[p.Key.name]
		c.mu.Unlock()
		proof, err := c.proof(ctx, older, checkpoint.Size, checkpoint.Root)
		if err != nil {
			return "", err
		}
		answer, status, err := c.post(ctx, p, request(older, proof, signed))
		if err != nil {
			return "", err
		}
		size := checkpoint.Size
		conflict := func(how transparency.Conflict, held int64) error {
			return &transparency.ConflictError{Conflicted: transparency.Conflicted{Size: checkpoint.Size, Root: checkpoint.Root, Witness: p.Key.name, Conflict: how, Held: held}}
		}
		switch status {
		case http.StatusOK:
			line, err := lineOf(p.Key, signed, answer)
			if err != nil {
				return "", err
			}
			c.learn(p, size)
			return line, nil
		case http.StatusConflict:
			size, err = strconv.ParseInt(strings.TrimSuffix(answer, "\n"), 10, 64)
			switch {
			case err == nil && size == older && size == checkpoint.Size:
				return "", conflict(transparency.OtherHistory, size)
			case err != nil || size < 0 || size == older:
				return "", fmt.Errorf("it answers 409 to size %d with %.100q", older, answer)
			case size > checkpoint.Size:
				return "", conflict(transparency.Ahead, size)
			}
			c.learn(p, size)
		case http.StatusUnprocessableEntity: // of a proof from nothing it says nothing
			if older > 0 {
				return "", conflict(transparency.OtherHistory, older)
			}
			return "", fmt.Errorf("it answers 422 to the first checkpoint: %.200q", answer)
		case http.StatusForbidden:
			return "", fmt.Errorf("it answers 403: %.200q. Give it every key of /.well-known/transparency-log.json", answer)
		default:
			return "", fmt.Errorf("it answers %d: %.200q", status, answer)
		}
	}
	return "", errors.New("it answers with another size each time")
}

// proof is what Prove returns within Patience.
func (c *Client) proof(ctx context.Context, older, size int64, root string) (tlog.TreeProof, error) {
	following, cancel := context.WithTimeout(ctx, c.Patience)
	defer cancel()
	for {
		proof, err := c.Prove(ctx, older, size, root)
		if _, behind := errors.AsType[*transparency.BehindError](err); !behind {
			return proof, err
		}
		select {
		case <-following.Done():
			return nil, err
		case <-time.After(followPause):
		}
	}
}

func (c *Client) learn(p Peer, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sizes[p.Key.name] = size
}

// request is the body of add-checkpoint.
func request(older int64, proof tlog.TreeProof, signed string) string {
	var body strings.Builder
	fmt.Fprintf(&body, "old %d\n", older)
	for _, hash := range proof {
		fmt.Fprintf(&body, "%s\n", hash)
	}
	return body.String() + "\n" + signed
}

func (c *Client) post(ctx context.Context, p Peer, body string) (answer string, status int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL+"/add-checkpoint", strings.NewReader(body))
	if err != nil {
		return "", 0, err
	}
	response, err := c.http.Do(r)
	if err != nil {
		return "", 0, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	content, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes))
	return string(content), response.StatusCode, err
}

// lineOf is the line of a witness among those that it answered, if it verifies.
func lineOf(key Key, signed, answer string) (string, error) {
	opened, err := note.Open([]byte(signed+answer), note.VerifierList(key))
	if err != nil {
		return "", fmt.Errorf("its answer is no cosignature: %w", err)
	}
	return fmt.Sprintf("— %s %s", opened.Sigs[0].Name, opened.Sigs[0].Base64), nil
}
