package witness_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"

	"reckon/domain/event"
	"reckon/domain/transparency"
	"reckon/internal/witness"
	"reckon/test/need"
)

const origin, name = "reckon.example/transparency", "witness.example/1"

var logKey = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))

func now() time.Time { return time.Unix(1_790_000_000, 0) }

// history is a log: its checkpoints, and all hashes for proofs.
type history struct {
	state  transparency.State
	stored []tlog.Hash
	chain  *transparency.Chain // of the next checkpoint
}

func (h *history) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		if index >= int64(len(h.stored)) {
			return nil, errors.New("no such hash")
		}
		hashes[i] = h.stored[index]
	}
	return hashes, nil
}

func (h *history) prove(_ context.Context, older, size int64, _ string) (tlog.TreeProof, error) {
	if older == 0 {
		return nil, nil
	}
	return tlog.ProveTree(size, older, h)
}

// grow signs a checkpoint with more leaves. salt makes them others than those of another history.
func (h *history) grow(t rapid.TB, leaves int, salt string) transparency.Signed {
	t.Helper()
	command := transparency.Sign{Origin: origin, After: h.state.Last.Last, Public: logKey.Public().(ed25519.PublicKey), Chain: h.chain}
	for range leaves {
		n := h.state.Tree.Size + int64(len(command.Entries))
		entry := sha256.Sum256(fmt.Append(nil, salt, n))
		hashes, err := tlog.StoredHashes(n, entry[:], h)
		if err != nil {
			t.Fatal(err)
		}
		h.stored, command.Entries = append(h.stored, hashes...), append(command.Entries, entry)
		command.Last = transparency.LeafPlace{Stream: fmt.Sprint("run-", n)}
	}
	tree := h.state.Extended(command.Entries)
	command.Signature = ed25519.Sign(logKey, []byte(transparency.Body(origin, tree.Size, tree.Root())+h.chain.Line()))
	events, err := transparency.Decider.Decide(command, h.state)
	if err != nil {
		t.Fatal(err)
	}
	h.state = transparency.Decider.FoldFrom(h.state, events)
	return h.state.Last
}

func logVerifier() string {
	return transparency.VerifierKey(origin, logKey.Public().(ed25519.PublicKey))
}

func open(t rapid.TB, folder string) *witness.Server {
	t.Helper()
	s, err := witness.Open(folder, name, []string{logVerifier()}, now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func verifierOf(t rapid.TB, s *witness.Server) witness.Key {
	t.Helper()
	key, err := witness.ParseKey(s.Key())
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestBothEnds: a log has its checkpoints cosigned over HTTP, a client that forgot what was cosigned learns it, a witness that was started
// again goes on, and who shows a second history is refused.
func TestBothEnds(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder)
	var handler http.Handler = s
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	defer server.Close()
	peer, err := witness.ParsePeer(s.Key() + " " + server.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	var h history
	client := witness.NewClient([]witness.Peer{peer}, h.prove)
	cosign := func(client *witness.Client, h *history) error {
		answers, err := client.Cosign(t.Context(), h.state)
		if err != nil {
			return err
		}
		if len(answers.Conflicts) > 0 {
			return &transparency.ConflictError{Conflicted: answers.Conflicts[0]}
		}
		if len(answers.Lines) != 1 {
			t.Fatalf("%q", answers.Lines)
		}
		text, err := h.state.Last.Note(answers.Lines)
		if err != nil {
			t.Fatal(err)
		}
		verifier, err := note.NewVerifier(logVerifier())
		if err != nil {
			t.Fatal(err)
		}
		if opened, err := note.Open([]byte(text), note.VerifierList(verifier, peer.Key)); err != nil || len(opened.Sigs) != 2 {
			t.Fatalf("%+v, %v", opened, err)
		}
		// A checkpoint that the witness has cosigned is not asked for again.
		h.state = transparency.Decider.FoldFrom(h.state, []event.Event{transparency.Cosigned{Size: h.state.Last.Size, Root: h.state.Last.Root, Cosignatures: answers.Lines}})
		again, err := client.Cosign(t.Context(), h.state)
		if len(again.Lines) > 0 {
			t.Errorf("asked again: %q", again.Lines)
		}
		return err
	}
	for _, leaves := range []int{1, 1, 5, 300} {
		h.grow(t, leaves, "")
		if err := cosign(client, &h); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, folder)
	defer func() { _ = s.Close() }()
	handler = s
	h.grow(t, 3, "")
	if err := cosign(witness.NewClient([]witness.Peer{peer}, h.prove), &h); err != nil {
		t.Fatal(err)
	}
	kept := get(t, server.URL+"/"+hashOf(origin)+"/checkpoint")
	if !strings.HasPrefix(kept, origin+"\n310\n") || strings.Count(kept, "— ") != 2 {
		t.Errorf("the witness shows %q", kept)
	}

	// Who shows another history, or an earlier state, is told so: it is no outage of the witness.
	contradicts := func(h *history, how transparency.Conflict) {
		t.Helper()
		want := transparency.Conflicted{Size: h.state.Last.Size, Root: h.state.Last.Root, Witness: name, Conflict: how, Held: 310}
		var conflict *transparency.ConflictError
		if err := cosign(witness.NewClient([]witness.Peer{peer}, h.prove), h); !errors.As(err, &conflict) || conflict.Conflicted != want {
			t.Errorf("%v, want %+v", err, want)
		}
	}
	var other, shorter history
	other.grow(t, 310, "another")
	contradicts(&other, transparency.OtherHistory)
	other.grow(t, 5, "another")
	contradicts(&other, transparency.OtherHistory)
	shorter.grow(t, 100, "")
	contradicts(&shorter, transparency.Ahead)
	if again := get(t, server.URL+"/"+hashOf(origin)+"/checkpoint"); again != kept {
		t.Errorf("refusals changed what is kept: %q", again)
	}
}

func hashOf(origin string) string {
	sum := sha256.Sum256([]byte(origin))
	return hex.EncodeToString(sum[:])
}

func get(t *testing.T, address string) string {
	t.Helper()
	response, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s %v", address, response.StatusCode, content, err)
	}
	return string(content)
}

// TestStatuses: each refusal has the status of C2SP tlog-witness.
func TestStatuses(t *testing.T) {
	s := open(t, t.TempDir())
	defer func() { _ = s.Close() }()
	var h history
	three := h.grow(t, 3, "")
	proof := func(older int64) string {
		hashes, err := tlog.ProveTree(h.state.Tree.Size, older, &h)
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, hash := range hashes {
			text += hash.String() + "\n"
		}
		return text
	}
	signed := func(e transparency.Signed) string {
		text, err := e.Note(nil)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	post := func(body string, want int) *httptest.ResponseRecorder {
		t.Helper()
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/add-checkpoint", strings.NewReader(body)))
		if w.Code != want {
			t.Errorf("%.120q: %d %q, want %d", body, w.Code, w.Body, want)
		}
		return w
	}
	first := signed(three)
	post("old 0\n"+tlog.Hash{}.String()+"\n\n"+first, http.StatusUnprocessableEntity)
	post("old 4\n\n"+first, http.StatusBadRequest)
	if w := post("old 1\n\n"+first, http.StatusConflict); w.Body.String() != "0\n" || w.Header().Get("Content-Type") != "text/x.tlog.size" {
		t.Errorf("%q %v", w.Body, w.Header())
	}
	post("old 0\n\n"+first, http.StatusOK)
	post("old 3\n\n"+first, http.StatusOK)
	if w := post("old 0\n\n"+first, http.StatusConflict); w.Body.String() != "3\n" {
		t.Errorf("%q", w.Body)
	}
	seven := signed(h.grow(t, 4, ""))
	post("old 3\n\n"+seven, http.StatusUnprocessableEntity)
	post("old 3\n"+proof(2)+"\n"+seven, http.StatusUnprocessableEntity)
	for _, bad := range []string{"", "old 3", "old 3\n", "old 03\n\n", "old -1\n\n", "new 3\n\n", "old 3\nxx\n\n", "old 3\n" + strings.Repeat(tlog.Hash{}.String()+"\n", 64) + "\n", "old 9223372036854775808\n\n"} {
		post(bad+strings.TrimPrefix(seven, "\n"), http.StatusBadRequest)
	}
	post("old 3\n"+proof(3)+"\n"+strings.Replace(seven, origin, "other.example/log", 1), http.StatusNotFound)
	post("old 3\n"+proof(3)+"\n"+strings.Replace(seven, "\n7\n", "\n8\n", 1), http.StatusForbidden)
	body, _, _ := strings.Cut(seven, "\n\n")
	post("old 3\n"+proof(3)+"\n"+body+"\n\n— "+origin+" AAAAAAAA\n", http.StatusForbidden)
	post("old 3\n"+proof(3)+"\n"+body+"\n", http.StatusBadRequest)
	post(strings.Repeat("x", 200_000), http.StatusBadRequest)
	post("old 3\n"+proof(3)+"\n"+seven, http.StatusOK)
	for _, path := range []string{"/", "/x/checkpoint", "/" + hashOf("x") + "/checkpoint", "/../key.pem/checkpoint"} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != http.StatusNotFound {
			t.Errorf("GET %s: %d", path, w.Code)
		}
	}
}

// TestTheEventLogGoesOn: a checkpoint commits to the event log. One whose log has the id of that of the checkpoint before and is no longer, or
// that says another log of the same tree, is not cosigned, though its tree continues; one of a migrated log is, and the witness warns of it.
func TestTheEventLogGoesOn(t *testing.T) {
	at := func(log string, position uint64, digit string) *transparency.Chain {
		return &transparency.Chain{Log: log + "f0e3f52-0c1d-4d2b-9a57-8e41630bd117", Position: position, Link: strings.Repeat(digit, 64)}
	}
	for what, c := range map[string]struct {
		first, second *transparency.Chain
		grown         int
		status        int
	}{
		"a log that goes on":                {at("6", 10, "a"), at("6", 12, "b"), 2, http.StatusOK},
		"the first that commits":            {nil, at("6", 12, "b"), 2, http.StatusOK},
		"a copy with positions of its own":  {at("6", 10, "a"), at("7", 3, "b"), 2, http.StatusOK},
		"the same once more":                {at("6", 10, "a"), at("6", 10, "a"), 0, http.StatusOK},
		"another log at the same tree":      {at("6", 10, "a"), at("6", 10, "b"), 0, http.StatusUnprocessableEntity},
		"another position at the same tree": {at("6", 10, "a"), at("6", 11, "a"), 0, http.StatusUnprocessableEntity},
		"a shorter log":                     {at("6", 10, "a"), at("6", 9, "b"), 2, http.StatusUnprocessableEntity},
		"as long a log with more leaves":    {at("6", 10, "a"), at("6", 10, "a"), 2, http.StatusUnprocessableEntity},
		"a copy at the same tree":           {at("6", 10, "a"), at("7", 11, "b"), 0, http.StatusUnprocessableEntity},
		"a server without a chain":          {at("6", 10, "a"), nil, 2, http.StatusOK},
		"none any more at the same tree":    {at("6", 10, "a"), nil, 0, http.StatusUnprocessableEntity},
		"one at a tree without one":         {nil, at("6", 10, "a"), 0, http.StatusUnprocessableEntity},
	} {
		t.Run(what, func(t *testing.T) {
			var said strings.Builder
			s, err := witness.Open(t.TempDir(), name, []string{logVerifier()}, now, slog.New(slog.NewTextHandler(&said, nil)))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			add := func(h *history, older int64) int {
				proof, err := h.prove(t.Context(), older, h.state.Tree.Size, "")
				if err != nil {
					t.Fatal(err)
				}
				text := fmt.Sprintf("old %d\n", older)
				for _, hash := range proof {
					text += hash.String() + "\n"
				}
				note, err := h.state.Last.Note(nil)
				if err != nil {
					t.Fatal(err)
				}
				w := httptest.NewRecorder()
				s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/add-checkpoint", strings.NewReader(text+"\n"+note)))
				return w.Code
			}
			h := history{chain: c.first}
			h.grow(t, 3, "")
			if status := add(&h, 0); status != http.StatusOK {
				t.Fatalf("the first: %d", status)
			}
			other := history{state: h.state, stored: slices.Clone(h.stored), chain: c.second}
			if c.grown == 0 {
				other = history{chain: c.second}
				other.grow(t, 3, "")
			} else {
				other.grow(t, c.grown, "")
			}
			if status := add(&other, 3); status != c.status {
				t.Errorf("%d, want %d", status, c.status)
			}
			moved := c.first != nil && (c.second == nil || c.second.Log != c.first.Log) && c.status == http.StatusOK
			if warned := strings.Contains(said.String(), "commit to another event log than before"); warned != moved {
				t.Errorf("warned: %t, want %t: %s", warned, moved, said.String())
			}
		})
	}
}

// TestNoTwoHistoriesAreCosigned: of two histories of a log, shown in any order, with any proof, and with the witness started again at any
// time, all that is cosigned is one history.
func TestNoTwoHistoriesAreCosigned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		folder, err := os.MkdirTemp("", "witness")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(folder) }()
		s := open(t, folder)
		defer func() { _ = s.Close() }()
		key := verifierOf(t, s)
		var common history
		if n := rapid.IntRange(0, 9).Draw(t, "common"); n > 0 {
			common.grow(t, n, "")
		}
		histories := []*history{{state: common.state, stored: append([]tlog.Hash{}, common.stored...)}, {state: common.state, stored: append([]tlog.Hash{}, common.stored...)}}
		cosigned := -1 // which history, once one beyond the common part was
		size := int64(0)
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			which := rapid.IntRange(0, 1).Draw(t, "which")
			h := histories[which]
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				h.grow(t, rapid.IntRange(1, 9).Draw(t, "leaves"), fmt.Sprint(which))
			case 1:
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				s = open(t, folder)
			default:
				if h.state.Last.Size == 0 {
					continue
				}
				older := rapid.SampledFrom([]int64{size, 0, rapid.Int64Range(0, h.state.Last.Size).Draw(t, "older")}).Draw(t, "old")
				var proof tlog.TreeProof
				if older > 0 && older <= h.state.Last.Size {
					if proof, err = tlog.ProveTree(h.state.Last.Size, older, h); err != nil {
						t.Fatal(err)
					}
				}
				text := fmt.Sprintf("old %d\n", older)
				for _, hash := range proof {
					text += hash.String() + "\n"
				}
				signed, err := h.state.Last.Note(nil)
				if err != nil {
					t.Fatal(err)
				}
				line, err := s.Add(text + "\n" + signed)
				if err != nil {
					continue
				}
				if opened, err := note.Open([]byte(signed+line), note.VerifierList(key)); err != nil || len(opened.Sigs) != 1 {
					t.Fatalf("%q: %v", line, err)
				}
				beyond := h.state.Last.Size > common.state.Last.Size
				if h.state.Last.Size < size || beyond && cosigned >= 0 && cosigned != which {
					t.Fatalf("history %d of %d leaves is cosigned after history %d of %d", which, h.state.Last.Size, cosigned, size)
				}
				if size = h.state.Last.Size; beyond {
					cosigned = which
				}
			}
		}
	})
}

// TestAWitnessKeepsItsStateToItself: one process has a folder, a key has one name, and a file that was changed is not believed.
func TestAWitnessKeepsItsStateToItself(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder)
	if _, err := witness.Open(folder, name, []string{logVerifier()}, now, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a second process opened the folder")
	}
	key := s.Key()
	var h history
	h.grow(t, 2, "")
	signed, err := h.state.Last.Note(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Add("old 0\n\n" + signed); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := witness.Open(folder, "another.example", []string{logVerifier()}, now, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("the key has two names")
	}
	s = open(t, folder)
	if s.Key() != key {
		t.Error("another key after a start")
	}
	path := filepath.Join(folder, hashOf(origin))
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	shown := func() int {
		answer := httptest.NewRecorder()
		s.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/"+hashOf(origin)+"/checkpoint", nil))
		return answer.Code
	}
	if status := shown(); status != http.StatusOK {
		t.Errorf("as it is: %d", status)
	}
	for what, changed := range map[string]string{"an older size": strings.Replace(string(content), "\n2\n", "\n1\n", 1), "nothing": "", "without the cosignature": signed, "gone": gone} {
		err := os.WriteFile(path, []byte(changed), 0o600)
		if changed == gone {
			err = os.Remove(path)
		}
		if err != nil {
			t.Fatal(err)
		}
		if line, err := s.Add("old 0\n\n" + signed); !forgotten(err) {
			t.Errorf("%s: cosigned %q, %v", what, line, err)
		}
		if status := shown(); status == http.StatusOK {
			t.Errorf("%s: shown", what)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := witness.Open(folder, name, []string{logVerifier()}, now, slog.New(slog.DiscardHandler)); !forgotten(err) || !strings.Contains(err.Error(), origin) {
			t.Errorf("%s: %v at the start", what, err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		s = open(t, folder)
	}
	if err := errors.Join(s.Close(), os.Remove(filepath.Join(folder, "key.pem"))); err != nil {
		t.Fatal(err)
	}
	if _, err := witness.Open(folder, name, []string{logVerifier()}, now, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "key.pem is gone") {
		t.Errorf("without its key: %v", err)
	}
}

// gone is the content of a file that is removed.
const gone = "gone"

func forgotten(err error) bool {
	_, is := errors.AsType[*witness.ForgottenError](err)
	return is
}

// TestWitnessesThatFail: whatever a witness answers, nothing that it has not signed is kept, and the others are asked all the same.
func TestWitnessesThatFail(t *testing.T) {
	s, stranger := open(t, t.TempDir()), open(t, t.TempDir())
	defer func() { _, _ = s.Close(), stranger.Close() }()
	good := httptest.NewServer(s)
	defer good.Close()
	var h history
	h.grow(t, 2, "")
	for name, answer := range map[string]http.HandlerFunc{
		"500":          func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"nothing":      func(http.ResponseWriter, *http.Request) {},
		"no signature": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "— witness.example/2 AAAA\n") },
		"another's":    stranger.ServeHTTP,
		"the same size each time": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, "0\n")
		},
		"a size that is none": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, "x\n")
		},
		"422 to the first": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnprocessableEntity) },
		"elsewhere": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, good.URL, http.StatusTemporaryRedirect)
		},
		"a flood": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", 1<<20)) },
	} {
		t.Run(name, func(t *testing.T) {
			bad := httptest.NewServer(answer)
			defer bad.Close()
			public := ed25519.NewKeyFromSeed([]byte("0123456789abcdef0123456789abcdef")).Public().(ed25519.PublicKey)
			key, err := witness.NewKey("witness.example/2", public)
			if err != nil {
				t.Fatal(err)
			}
			client := witness.NewClient([]witness.Peer{{Key: key, URL: bad.URL}, {Key: verifierOf(t, s), URL: good.URL}}, h.prove)
			answers, err := client.Cosign(t.Context(), h.state)
			if err == nil || len(answers.Conflicts) > 0 || !strings.Contains(err.Error(), "witness.example/2") || len(answers.Lines) != 1 || transparency.Cosigner(answers.Lines[0]) != "witness.example/1" {
				t.Errorf("%+v, %v", answers, err)
			}
		})
	}
}

// tablesAway is an error of the database that the tables are in.
type tablesAway struct{}

func (*tablesAway) Error() string           { return "connection refused" }
func (*tablesAway) UnavailablePart() string { return "the database of read models" }

// TestALagIsNoFailureOfAWitness: a proof that the tables cannot give yet is waited for; where they do not follow in time the lag is said apart,
// and what was wrong with a witness when it was asked last stays said, until it is asked again.
func TestALagIsNoFailureOfAWitness(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	defer func() { _ = s.Close() }()
	refuses := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refuses {
			http.Error(w, "no such key", http.StatusForbidden)
			return
		}
		s.ServeHTTP(w, r)
	}))
	defer server.Close()
	var h history
	lags, away := 0, false // how often the proof is asked for in vain, and whether its database is away
	client := witness.NewClient([]witness.Peer{{Key: verifierOf(t, s), URL: server.URL}}, func(ctx context.Context, older, size int64, root string) (tlog.TreeProof, error) {
		if away {
			return nil, &tablesAway{}
		}
		if lags > 0 {
			lags--
			return nil, &transparency.BehindError{Leaves: older, Signed: size}
		}
		return h.prove(ctx, older, size, root)
	})
	const always = 1 << 30
	for _, look := range []struct {
		what              string
		lags              int
		patience          time.Duration
		refuses           bool
		lines             int
		away              bool
		behind, forbidden bool
	}{
		{what: "the first", lines: 1},
		{what: "tables that follow", lags: 2, patience: time.Hour, lines: 1},
		{what: "tables that do not", lags: always, behind: true},
		{what: "a witness that refuses", refuses: true, forbidden: true},
		{what: "one that refused, and tables that do not follow", lags: always, behind: true, forbidden: true},
		{what: "all well again", lines: 1},
		{what: "a database that is away", away: true, behind: true},
		{what: "one that agreed, and tables that do not follow", lags: always, behind: true},
	} {
		h.grow(t, 3, "")
		lags, client.Patience, refuses, away = look.lags, look.patience, look.refuses, look.away
		answers, err := client.Cosign(t.Context(), h.state)
		forbidden := err != nil && strings.Contains(err.Error(), "403")
		if len(answers.Lines) != look.lines || (answers.Behind != nil) != look.behind || forbidden != look.forbidden || (err != nil) != forbidden {
			t.Errorf("%s: %+v, %v", look.what, answers, err)
		}
	}
}

func FuzzParsePeer(f *testing.F) {
	f.Add("witness.example/1+abcdef01+BHh4 https://witness.example")
	f.Fuzz(func(t *testing.T, text string) {
		if p, err := witness.ParsePeer(text); err == nil && !strings.HasPrefix(text, p.Key.String()+" http") {
			t.Errorf("%q is read as %v", text, p)
		}
	})
}

// FuzzAdd: nothing that is not signed by the log is cosigned.
func FuzzAdd(f *testing.F) {
	s, err := witness.Open(f.TempDir(), name, []string{logVerifier()}, now, slog.New(slog.DiscardHandler))
	if err != nil {
		f.Fatal(err)
	}
	f.Add("old 0\n\n" + origin + "\n1\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n\n— " + origin + " AAAA\n")
	f.Fuzz(func(t *testing.T, body string) {
		if line, err := s.Add(body); err == nil {
			t.Errorf("%q is cosigned: %q", body, line)
		}
	})
}

// TestKeys: a key is read as it is written, and nothing else is one.
func TestKeys(t *testing.T) {
	key, err := witness.NewKey("witness.example", logKey.Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	read, err := witness.ParseKey(key.String())
	if err != nil || read.String() != key.String() {
		t.Errorf("%v, %v", read, err)
	}
	for _, bad := range []string{"", "a", "a+b", "a+b+c", logVerifier(), strings.Replace(key.String(), "+", "+0", 1), key.String() + "A"} {
		if k, err := witness.ParseKey(bad); err == nil {
			t.Errorf("%q is read as %v", bad, k)
		}
	}
	for _, bad := range []string{key.String(), key.String() + " ", key.String() + " ftp://x", key.String() + " https://u:p@x", key.String() + " https://x?y", " https://x"} {
		if p, err := witness.ParsePeer(bad); err == nil {
			t.Errorf("%q is read as %v", bad, p)
		}
	}
}

// TestAWitnessIsNamedOnce: one key under two names, or one name with two keys, is no second witness.
func TestAWitnessIsNamedOnce(t *testing.T) {
	t.Parallel()
	peer := func(name string, seed byte) string {
		private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
		key, err := witness.NewKey(name, private.Public().(ed25519.PublicKey))
		if err != nil {
			t.Fatal(err)
		}
		return key.String() + " https://" + name
	}
	if peers, err := witness.ParsePeers([]string{peer("one.example", 1), peer("two.example", 2)}); err != nil || len(peers) != 2 {
		t.Errorf("%v, %v", peers, err)
	}
	for _, other := range []string{peer("one.example", 1), peer("two.example", 1), peer("one.example", 2), "x"} {
		if peers, err := witness.ParsePeers([]string{peer("one.example", 1), other}); err == nil {
			t.Errorf("%s: %v", other, peers)
		}
	}
}

// TestAnotherImplementation: a witness of others cosigns what the client sends, and refuses a second history. RECKON_TEST_WITNESS is its
// verifier key, a space and its address; it must know the test's log, whose name and key the test prints, and nothing of it yet.
func TestAnotherImplementation(t *testing.T) {
	t.Log("log:", logVerifier())
	given := os.Getenv("RECKON_TEST_WITNESS")
	if given == "" {
		need.Skip(t, "a witness of another implementation", "RECKON_TEST_WITNESS=/path/of/it go test ./internal/witness")
	}
	peer, err := witness.ParsePeer(given)
	if err != nil {
		t.Fatal(err)
	}
	var h history
	client := witness.NewClient([]witness.Peer{peer}, h.prove)
	for i, leaves := range []int{1, 1, 6, 300} {
		if i == 2 { // a client that forgot is told the size
			client = witness.NewClient([]witness.Peer{peer}, h.prove)
		}
		h.grow(t, leaves, "")
		if answers, err := client.Cosign(t.Context(), h.state); err != nil || len(answers.Lines) != 1 {
			t.Fatalf("%+v, %v", answers, err)
		}
	}
	var other, shorter history
	other.grow(t, 400, "another")
	if answers, err := witness.NewClient([]witness.Peer{peer}, other.prove).Cosign(t.Context(), other.state); len(answers.Lines) > 0 || len(answers.Conflicts) != 1 || answers.Conflicts[0].Conflict != transparency.OtherHistory {
		t.Errorf("a second history: %+v, %v", answers, err)
	}
	shorter.grow(t, 100, "")
	if answers, err := witness.NewClient([]witness.Peer{peer}, shorter.prove).Cosign(t.Context(), shorter.state); len(answers.Conflicts) != 1 || answers.Conflicts[0].Conflict != transparency.Ahead {
		t.Errorf("an earlier state: %+v, %v", answers, err)
	}
}
