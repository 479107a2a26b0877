package commands_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"reckon/commands"
	"reckon/domain"
	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/keys"
	"reckon/domain/receipt"
	"reckon/domain/run"
	"reckon/domain/transparency"
	"reckon/eventstore/memory"
)

func transparencySigner() (*receipt.Signer, error) {
	private := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	return &receipt.Signer{KID: keys.Thumbprint(private.Public().(ed25519.PublicKey)), Key: private}, nil
}

func transparencyIntent() commands.Intent {
	return commands.Intent{ID: uuid.New(), At: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC), Actor: "signer:transparency"}
}

// rememberedTree is commands.SignedTree in memory.
type rememberedTree struct{ body string }

func (m *rememberedTree) Load() (string, error)   { return m.body, nil }
func (m *rememberedTree) Store(body string) error { m.body = body; return nil }

func appendTo(t rapid.TB, store *memory.Store, stream string, events ...event.Event) {
	t.Helper()
	if _, err := store.Append(context.Background(), stream, event.NoStream, transparencyIntent().Propose(stream, events)); err != nil {
		t.Fatal(err)
	}
}

// appendSealed appends a run with its receipt.
func appendSealed(t rapid.TB, store *memory.Store, id int64) {
	t.Helper()
	appendTo(t, store, run.Stream(id), run.Evaluated{Subject: run.Subject{RunID: id}}, run.Sealed{RunID: id, ReceiptID: fmt.Sprint(id), KID: "k", Signature: fmt.Sprint("s", id)})
}

// derived is the tree that the first n leaves of a log make: what anyone derives from it.
func derived(t rapid.TB, store *memory.Store, n int64) transparency.Tree {
	t.Helper()
	var tree transparency.Tree
	for r, err := range store.ReadAll(context.Background(), event.Position{}, transparency.LeafEvents()...) {
		leaf, ok, failed := transparency.LeafOf(r.Event)
		if err != nil || failed != nil {
			t.Fatal(err, failed)
		}
		if ok && tree.Size < n {
			tree = tree.With(transparency.EntryOf(leaf), nil)
		}
	}
	return tree
}

// brokenLog fails reads and appends at random.
type brokenLog struct {
	*memory.Store
	fails func() bool
}

var errBroken = errors.New("broken by the test")

func (l brokenLog) ReadAll(ctx context.Context, after event.Position, only ...string) iter.Seq2[event.Recorded, error] {
	return func(yield func(event.Recorded, error) bool) {
		for r, err := range l.Store.ReadAll(ctx, after, only...) {
			if l.fails() {
				yield(event.Recorded{}, errBroken)
				return
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

func (l brokenLog) Append(ctx context.Context, stream string, at event.Revision, events []event.Proposed) (commands.Appended, error) {
	if l.fails() {
		return commands.Appended{}, errBroken // nothing is appended
	}
	appended, err := l.Store.Append(ctx, stream, at, events)
	if err == nil && l.fails() {
		return commands.Appended{}, errBroken // the answer is lost
	}
	return appended, err
}

// TestEveryCheckpointIsDerivable: of any history, with several processes that sign, fail at any step and are started again, each
// checkpoint in the log is the tree of the first leaves of the log, and each is larger than the one before.
func TestEveryCheckpointIsDerivable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		store := memory.New(domain.Catalogue())
		broken := brokenLog{store, func() bool { return rapid.IntRange(0, 9).Draw(t, "fails") == 0 }}
		memories := &rememberedTree{}
		start := func() *commands.Checkpoints {
			return &commands.Checkpoints{Log: broken, Origin: "reckon.example/transparency", Signer: transparencySigner, Memory: memories}
		}
		processes := []*commands.Checkpoints{start(), start()}
		sign := func(c *commands.Checkpoints) {
			_, err := c.Sign(context.Background(), transparencyIntent())
			var rolledBack *commands.RolledBackError
			if err != nil && !errors.Is(err, errBroken) || errors.As(err, &rolledBack) {
				t.Fatal(err)
			}
		}
		next := int64(0)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			p := rapid.IntRange(0, 1).Draw(t, "process")
			switch next++; rapid.IntRange(0, 5).Draw(t, "step") {
			case 0, 1:
				appendSealed(t, store, next)
			case 2:
				appendTo(t, store, run.Stream(next), run.Evaluated{Subject: run.Subject{RunID: next}}, run.Sealed{RunID: next, UnsignedReason: "no key"})
			case 3:
				id := uuid.NewString()
				appendTo(t, store, certificate.Stream(id), certificate.Issued{CertificateID: id})
			case 4:
				sign(processes[p])
			case 5:
				processes[p] = start()
			}
		}
		broken.fails = func() bool { return false }
		last := &commands.Checkpoints{Log: store, Origin: "another-name", Signer: transparencySigner, Memory: memories}
		if _, err := last.Sign(context.Background(), transparencyIntent()); err != nil {
			t.Fatal(err)
		}
		history, err := store.Read(context.Background(), transparency.Stream)
		if err != nil {
			t.Fatal(err)
		}
		size := int64(0)
		for _, e := range history.Domain() {
			signed, ok := e.(transparency.Signed)
			if !ok || signed.Size <= size || signed.Origin != history.Events[0].Event.(transparency.Signed).Origin {
				t.Fatalf("%+v after size %d", e, size)
			}
			if size = signed.Size; derived(t, store, size).Root().String() != signed.Root {
				t.Fatalf("checkpoint %d is not the tree of the log", size)
			}
		}
		if all := derived(t, store, 1<<40); all.Size != size {
			t.Fatalf("%d of %d leaves are covered", size, all.Size)
		}
	})
}

// TestALogThatWasRolledBackIsNotSigned: a backup lacks leaves that were signed, or gets others in their place. The keys remember.
func TestALogThatWasRolledBackIsNotSigned(t *testing.T) {
	memories := &rememberedTree{}
	sign := func(store *memory.Store) error {
		c := commands.Checkpoints{Log: store, Origin: "o", Signer: transparencySigner, Memory: memories}
		_, err := c.Sign(t.Context(), transparencyIntent())
		return err
	}
	store := memory.New(domain.Catalogue())
	for id := range int64(3) {
		appendSealed(t, store, id+1)
	}
	if err := sign(store); err != nil {
		t.Fatal(err)
	}
	for name, ids := range map[string][]int64{"fewer": {1, 2}, "other": {1, 2, 4}, "other, and more": {1, 2, 4, 5}} {
		restored := memory.New(domain.Catalogue())
		for _, id := range ids {
			appendSealed(t, restored, id)
		}
		before := memories.body
		var refused *commands.RolledBackError
		if err := sign(restored); !errors.As(err, &refused) || refused.Signed != before || memories.body != before {
			t.Errorf("%s: %v", name, err)
		}
		if history, err := restored.Read(t.Context(), transparency.Stream); err != nil || len(history.Events) > 0 {
			t.Errorf("%s: %d checkpoints, %v", name, len(history.Events), err)
		}
	}
	// The same leaves, of which the log lost only the checkpoint, are signed again: it says the same.
	again := memory.New(domain.Catalogue())
	for id := range int64(4) {
		appendSealed(t, again, id+1)
	}
	if err := sign(again); err != nil {
		t.Error(err)
	}
}

// chainedLog shows a hash chain, which follows from the place of an event alone.
type chainedLog struct {
	*memory.Store
	err error
}

func (l chainedLog) Chain(_ context.Context, stream string, revision event.Revision) (*transparency.Chain, error) {
	return &transparency.Chain{Log: "6f0e3f52-0c1d-4d2b-9a57-8e41630bd117", Position: 7, Link: fmt.Sprintf("link of %s %d", stream, revision)}, l.err
}

// TestACheckpointCommitsToTheChainAtItsLastLeaf: whatever was appended since, and whoever signs. A log that shows no chain at the moment
// has no checkpoint signed without it, and what an older release signed without it is gone on from.
func TestACheckpointCommitsToTheChainAtItsLastLeaf(t *testing.T) {
	log, memories := chainedLog{memory.New(domain.Catalogue()), nil}, &rememberedTree{}
	sign := func(on commands.LeafLog) error {
		_, err := (&commands.Checkpoints{Log: on, Origin: "o", Signer: transparencySigner, Memory: memories}).Sign(t.Context(), transparencyIntent())
		return err
	}
	last := func() transparency.Signed {
		state, _, err := (&commands.Checkpoints{Log: log}).Last(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return state.Last
	}
	appendSealed(t, log.Store, 1)
	if err := sign(log.Store); err != nil || last().Chain != nil {
		t.Fatalf("without a chain: %+v, %v", last(), err)
	}
	appendSealed(t, log.Store, 2)
	appendTo(t, log.Store, run.Stream(3), run.Evaluated{Subject: run.Subject{RunID: 3}}, run.Sealed{RunID: 3, UnsignedReason: "no key"})
	if err := sign(chainedLog{log.Store, errBroken}); !errors.Is(err, errBroken) || last().Size != 1 {
		t.Errorf("while the chain cannot be read: %+v, %v", last(), err)
	}
	if err := sign(log); err != nil || last().Size != 2 || last().Chain == nil || last().Chain.Link != "link of "+run.Stream(2)+" 1" {
		t.Errorf("%+v, %v", last(), err)
	}
	if strings.Contains(memories.body, "chain") {
		t.Errorf("beside the keys stands %q: the tree alone is remembered", memories.body)
	}
}

// TestTheEndOfALongStreamIsFound: and it is found with few reads.
func TestTheEndOfALongStreamIsFound(t *testing.T) {
	for _, n := range []int64{1, 2, 3, 17, 18, 100} {
		store := memory.New(domain.Catalogue())
		signer := commands.Checkpoints{Log: store, Origin: "o", Signer: transparencySigner}
		for id := range n {
			appendSealed(t, store, id+1)
			if _, err := signer.Sign(t.Context(), transparencyIntent()); err != nil {
				t.Fatal(err)
			}
		}
		fresh := commands.Checkpoints{Log: store}
		for range 2 {
			if state, revision, err := fresh.Last(t.Context()); err != nil || state.Last.Size != n || int64(revision) != n-1 {
				t.Errorf("%d checkpoints: size %d, revision %d, %v", n, state.Last.Size, revision, err)
			}
		}
	}
}

func TestCosignaturesAreKeptWithTheirCheckpoint(t *testing.T) {
	store := memory.New(domain.Catalogue())
	c := commands.Checkpoints{Log: store, Origin: "o", Signer: transparencySigner}
	appendSealed(t, store, 1)
	if _, err := c.Sign(t.Context(), transparencyIntent()); err != nil {
		t.Fatal(err)
	}
	first, _, err := c.Last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.Cosign(t.Context(), transparencyIntent(), first.Last, []string{"— w1 AAAA"}); err != nil {
			t.Fatal(err)
		}
	}
	if state, revision, err := c.Last(t.Context()); err != nil || len(state.Cosignatures) != 1 || revision != 1 {
		t.Errorf("%+v %d %v", state, revision, err)
	}
	appendSealed(t, store, 2)
	if _, err := c.Sign(t.Context(), transparencyIntent()); err != nil {
		t.Fatal(err)
	}
	if err := c.Cosign(t.Context(), transparencyIntent(), first.Last, []string{"— w2 AAAA"}); err != nil {
		t.Fatal(err) // superseded: nothing happens
	}
	if state, revision, err := c.Last(t.Context()); err != nil || len(state.Cosignatures) != 0 || revision != 2 || state.Last.Size != 2 {
		t.Errorf("%+v %d %v", state, revision, err)
	}
}

// TestAConflictEndsTheSigning: of every signer that heeds the witness, without a new leaf too; who does not heed it signs on.
func TestAConflictEndsTheSigning(t *testing.T) {
	store := memory.New(domain.Catalogue())
	heeding := commands.Checkpoints{Log: store, Origin: "o", Signer: transparencySigner, Heeds: []string{"w1"}}
	sign := func(c *commands.Checkpoints) error {
		_, err := c.Sign(t.Context(), transparencyIntent())
		return err
	}
	appendSealed(t, store, 1)
	if err := sign(&heeding); err != nil {
		t.Fatal(err)
	}
	state, _, err := heeding.Last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	conflict := transparency.Conflicted{Size: state.Last.Size, Root: state.Last.Root, Witness: "w1", Conflict: transparency.Ahead, Held: 9}
	for range 2 {
		if err := heeding.Contradict(t.Context(), transparencyIntent(), conflict); err != nil {
			t.Fatal(err)
		}
	}
	for i := range int64(transparency.MaxCosignatures) { // what others say afterwards does not hide it
		if err := heeding.Cosign(t.Context(), transparencyIntent(), state.Last, []string{fmt.Sprintf("— other%d AAAA", i)}); err != nil {
			t.Fatal(err)
		}
	}
	other := commands.Checkpoints{Log: store, Origin: "o", Signer: transparencySigner, Heeds: []string{"w2", "w1"}}
	for id := range int64(2) {
		var refused *transparency.ConflictError
		if err := sign(&heeding); !errors.As(err, &refused) || refused.Conflicted != conflict {
			t.Errorf("signed: %v", err)
		}
		if err := sign(&other); !errors.As(err, &refused) {
			t.Errorf("another process signed: %v", err)
		}
		appendSealed(t, store, 2+id)
	}
	disbelieving := commands.Checkpoints{Log: store, Origin: "o", Signer: transparencySigner, Heeds: []string{"w2"}}
	if err := sign(&disbelieving); err != nil {
		t.Errorf("without the witness: %v", err)
	}
	if state, _, err := disbelieving.Last(t.Context()); err != nil || state.Last.Size != 3 || len(state.Conflicts) != 0 {
		t.Errorf("%+v %v", state, err)
	}
}

// TestATreeThatWasForgottenIsNotSigned: given a log with checkpoints, when nothing beside the keys says which tree was signed last, or what
// stands there is of no tree of this log, then nothing is signed, at once and without a new leaf, until somebody says it.
func TestATreeThatWasForgottenIsNotSigned(t *testing.T) {
	memories, store := &rememberedTree{}, memory.New(domain.Catalogue())
	sign := func(on *memory.Store) error {
		_, err := (&commands.Checkpoints{Log: on, Origin: "o", Signer: transparencySigner, Memory: memories}).Sign(t.Context(), transparencyIntent())
		return err
	}
	appendSealed(t, store, 1)
	if err := sign(store); err != nil {
		t.Fatal(err)
	}
	first := memories.body
	for _, lost := range []string{"", "o\n", "another log\n1\nroot\n"} {
		memories.body = lost
		var forgotten *commands.ForgottenTreeError
		if err := sign(store); !errors.As(err, &forgotten) || forgotten.Here != first || memories.body != lost {
			t.Errorf("with %q beside the keys: %v", lost, err)
		}
	}
	appendSealed(t, store, 2)
	memories.body = ""
	if err := sign(store); err == nil {
		t.Error("a new leaf was signed")
	}
	history, err := store.Read(t.Context(), transparency.Stream)
	if err != nil || len(history.Events) != 1 {
		t.Fatalf("%d checkpoints, %v", len(history.Events), err)
	}
	memories.body = first
	if err := sign(store); err != nil || memories.body == first {
		t.Errorf("when it was said: %v", err)
	}
	// A process that was there before the first checkpoint, with a key folder of its own, goes on when the one that signed it is gone.
	shared, other := memory.New(domain.Catalogue()), &rememberedTree{}
	standby := &commands.Checkpoints{Log: shared, Origin: "o", Signer: transparencySigner, Memory: other}
	if _, err := standby.Sign(t.Context(), transparencyIntent()); err != nil {
		t.Fatal(err)
	}
	memories.body = ""
	for id := range int64(2) {
		appendSealed(t, shared, id+1)
		if id == 0 {
			if err := sign(shared); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := standby.Sign(t.Context(), transparencyIntent()); err != nil || !strings.HasPrefix(other.body, "o\n2\n") {
		t.Errorf("another process: %v, it remembers %q", err, other.body)
	}
	if err := sign(memory.New(domain.Catalogue())); err != nil {
		t.Errorf("a new log with these keys: %v", err)
	}
}
