package commands

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"iter"
	"sort"

	"reckon/domain/event"
	"reckon/domain/receipt"
	"reckon/domain/transparency"
)

// MaxNewLeaves bounds the leaves that one checkpoint adds, and so what a process holds of a long log: 32 bytes each.
const MaxNewLeaves = 1 << 16

// LeafLog is the log as signers of checkpoints need it: the stream of checkpoints, and all events in their order.
type LeafLog interface {
	Store
	// ReadAll yields the events after a position up to the log's end; of other names than those given with a nil Event.
	ReadAll(ctx context.Context, after event.Position, only ...string) iter.Seq2[event.Recorded, error]
	// Chain is the log's hash chain at an event; nil where the log shows none.
	Chain(ctx context.Context, stream string, revision event.Revision) (*transparency.Chain, error)
}

// SignedTree remembers, beside the private keys, the largest tree that was signed with them.
type SignedTree interface {
	// Load returns the body of the last checkpoint; empty before the first.
	Load() (body string, err error)
	// Store is durable when it returns.
	Store(body string) error
}

// RolledBackError means that the keys have signed a tree that this log does not lead to: the log lacks events that it had, or has others.
type RolledBackError struct{ Signed, Here string }

func (e *RolledBackError) Error() string {
	return fmt.Sprintf("the keys have signed the tree %q, and this log gives %q: it was restored to an earlier state, or is a copy. "+
		"No checkpoint is signed, because it would contradict what others hold. Bring the log back that has these receipts; docs/transparency.md says what else can be done", e.Signed, e.Here)
}

// ForgottenTreeError means that the log has checkpoints, and that nothing beside the keys says which the largest is: the log and the keys
// were restored, or the keys alone were copied.
type ForgottenTreeError struct{ Here string }

func (e *ForgottenTreeError) Error() string {
	return fmt.Sprintf("this log has checkpoints, the newest %q, and the key folder has no file signed-tree that says which was signed last: log or keys come from a backup, or from another machine. "+
		"No checkpoint is signed, because a larger one may be in others' hands. Write the first three lines of the newest checkpoint that witnesses, users or you hold into signed-tree "+
		"(this log's own if there is no newer): docs/restoring.md, log and keys are lost", e.Here)
}

// Checkpoints signs checkpoints of the transparency log. Several processes may do so at once: the stream of checkpoints decides, and
// each tree is continued from the one in the last checkpoint, by the events that come after its last leaf. All fields but Memory are
// required. Its methods are for one goroutine.
type Checkpoints struct {
	Log    LeafLog
	Origin string                          // of the first checkpoint; the log keeps it
	Signer func() (*receipt.Signer, error) // the key that seals now
	Memory SignedTree                      // nil: nothing but the log is remembered
	Heeds  []string                        // names of the witnesses with which there must be no conflict

	revision event.Revision // up to which the stream of checkpoints is known to exist
	gathered gathered
	unsigned bool // the log had no checkpoint when this process first looked
}

// gathered are leaves that no checkpoint covers.
type gathered struct {
	begun   bool
	after   transparency.LeafPlace
	scanned event.Position
	entries []transparency.Entry
	last    transparency.LeafPlace
}

// Last returns the state of the transparency log and the revision of its last event. The stream grows for ever: its end is
// searched for, and only that is read.
func (c *Checkpoints) Last(ctx context.Context) (transparency.State, event.Revision, error) {
	end, err := c.end(ctx)
	if err != nil || end == event.NoStream {
		return transparency.State{}, end, err
	}
	// One checkpoint is followed by at most one event for each witness that cosigns it, and one for each that contradicts it.
	const following = 2 * transparency.MaxCosignatures
	from := max(0, end-following)
	history, err := c.Log.ReadFrom(ctx, transparency.Stream, from, following+1)
	if err != nil {
		return transparency.State{}, end, err
	}
	return transparency.Decider.Fold(history.Domain()), history.Revision, nil
}

// end is the revision of the stream's last event.
func (c *Checkpoints) end(ctx context.Context) (event.Revision, error) {
	holds := func(at event.Revision) (bool, error) {
		history, err := c.Log.ReadFrom(ctx, transparency.Stream, at, 1)
		return len(history.Events) > 0, err
	}
	exists, err := holds(c.revision)
	if err != nil || !exists {
		return event.NoStream, err
	}
	step := event.Revision(1)
	for ; ; step *= 2 {
		if exists, err = holds(c.revision + step); err != nil {
			return 0, err
		} else if !exists {
			break
		}
	}
	// The event at revision+step is missing, the one at revision is there.
	var failed error
	missing := sort.Search(int(step), func(i int) bool {
		exists, err := holds(c.revision + event.Revision(i))
		failed = errors.Join(failed, err)
		return !exists
	})
	if failed != nil {
		return 0, failed
	}
	c.revision += event.Revision(missing) - 1
	return c.revision, nil
}

// Sign signs a checkpoint over the leaves that the log has after the last one, at most MaxNewLeaves. more tells that there may be
// others. It signs nothing where there is no leaf, and where another process was first. Errors: those of the log and of Signer,
// *transparency.ConflictError, *RolledBackError and *ForgottenTreeError.
func (c *Checkpoints) Sign(ctx context.Context, in Intent) (more bool, err error) {
	leave, err := c.Log.Enter(ctx, transparency.Stream)
	if err != nil {
		return false, err
	}
	defer leave()
	state, revision, err := c.Last(ctx)
	if err != nil {
		return false, err
	}
	if err := state.Heeded(c.Heeds); err != nil {
		return false, err
	}
	if _, _, err := c.signedTree(state); err != nil {
		return false, err
	}
	if err := c.gather(ctx, state); err != nil || len(c.gathered.entries) == 0 {
		return false, err
	}
	signer, err := c.Signer()
	if err != nil {
		return false, err
	}
	if signer == nil {
		return false, receipt.ErrCannotSign
	}
	chain, err := c.Log.Chain(ctx, c.gathered.last.Stream, c.gathered.last.Revision)
	if err != nil {
		return false, fmt.Errorf("hash chain at the last leaf: %w", err)
	}
	command, err := c.command(state, chain, signer)
	if err != nil {
		return false, err
	}
	events, err := transparency.Decider.Decide(command, state)
	if err != nil {
		return false, err
	}
	more = len(c.gathered.entries) >= MaxNewLeaves
	_, err = c.Log.Append(ctx, transparency.Stream, revision, in.Propose(transparency.Stream, events))
	if errors.Is(err, ErrConflict) {
		return more, nil
	}
	return more, err
}

// gather reads the leaves after the last checkpoint that were not read yet.
func (c *Checkpoints) gather(ctx context.Context, state transparency.State) error {
	g := &c.gathered
	if !g.begun || g.after != state.Last.Last {
		*g = gathered{begun: true, after: state.Last.Last}
		if state.Last.Size > 0 {
			last, err := c.Log.Event(ctx, g.after.Stream, g.after.Revision)
			if err != nil {
				g.begun = false
				return fmt.Errorf("last leaf of checkpoint %d: %w", state.Last.Size, err)
			}
			g.scanned = last.Position
		}
	}
	for r, err := range c.Log.ReadAll(ctx, g.scanned, transparency.LeafEvents()...) {
		if err != nil {
			return err
		}
		if len(g.entries) >= MaxNewLeaves && r.Position != g.scanned { // events of one position are not parted
			return nil
		}
		if err := g.add(r); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (g *gathered) add(r event.Recorded) error {
	leaf, ok, err := transparency.LeafOf(r.Event)
	if err != nil {
		return err
	}
	if ok {
		g.entries = append(g.entries, transparency.EntryOf(leaf))
		g.last = transparency.LeafPlace{Stream: r.Stream, Revision: r.Revision}
	}
	g.scanned = r.Position
	return nil
}

// command signs the tree with the gathered leaves, and the hash chain at the last of them.
func (c *Checkpoints) command(state transparency.State, chain *transparency.Chain, signer *receipt.Signer) (transparency.Sign, error) {
	origin := state.OriginOr(c.Origin)
	body, err := c.remembered(origin, state)
	if err != nil {
		return transparency.Sign{}, err
	}
	return transparency.Sign{
		Origin: origin, After: c.gathered.after, Entries: c.gathered.entries, Last: c.gathered.last, Chain: chain,
		Public: signer.Key.Public().(ed25519.PublicKey), Signature: ed25519.Sign(signer.Key, []byte(body+chain.Line())), Heeds: c.Heeds,
	}, nil
}

// signedTree returns the largest tree of the log that was signed, and its size; empty where none was. It is a *ForgottenTreeError where
// the log has checkpoints and none of its trees is remembered.
func (c *Checkpoints) signedTree(state transparency.State) (body string, size int64, err error) {
	if c.Memory == nil {
		return "", 0, nil
	}
	if body, err = c.Memory.Load(); err != nil {
		return "", 0, err
	}
	size, known := transparency.SizeOfBody(state.OriginOr(c.Origin), body)
	if known {
		return body, size, nil
	}
	if state.Last.Size == 0 { // a new log: what the keys signed of another one says nothing
		c.unsigned = true
		return "", 0, nil
	}
	body = transparency.Body(state.Last.Origin, state.Last.Size, state.Tree.Root())
	if !c.unsigned {
		return "", 0, &ForgottenTreeError{Here: body}
	}
	return body, state.Last.Size, c.Memory.Store(body) // another process, with a key folder of its own, was first
}

// remembered returns the body of the tree with the gathered leaves, once it is remembered as signed. It is a *RolledBackError where
// another tree was signed that this one does not continue.
func (c *Checkpoints) remembered(origin string, state transparency.State) (body string, err error) {
	signed, size, err := c.signedTree(state)
	if err != nil {
		return "", err
	}
	tree, known := state.Tree, signed != ""
	met := !known || size < tree.Size
	bodyOf := func() string { return transparency.Body(origin, tree.Size, tree.Root()) }
	if known && size == tree.Size && tree.Size > 0 {
		met = bodyOf() == signed
	}
	for _, e := range c.gathered.entries {
		if tree = tree.With(e, nil); known && tree.Size == size {
			met = bodyOf() == signed
		}
	}
	if body = bodyOf(); !met {
		return "", &RolledBackError{Signed: signed, Here: body}
	}
	if c.Memory == nil {
		return body, nil
	}
	return body, c.Memory.Store(body)
}

// Cosign notes cosignatures of a checkpoint. It does nothing where another checkpoint was signed meanwhile, or another process was first.
func (c *Checkpoints) Cosign(ctx context.Context, in Intent, of transparency.Signed, cosignatures []string) error {
	return c.note(ctx, in, transparency.Cosign{Size: of.Size, Root: of.Root, Cosignatures: cosignatures})
}

// Contradict notes that a witness contradicts a checkpoint, as Cosign does; where the checkpoint is not the last any more, the witness
// may have cosigned the one after it, and nothing is noted.
func (c *Checkpoints) Contradict(ctx context.Context, in Intent, conflict transparency.Conflicted) error {
	return c.note(ctx, in, transparency.Contradict{Conflicted: conflict})
}

// note appends what a witness said of the last checkpoint.
func (c *Checkpoints) note(ctx context.Context, in Intent, command transparency.Command) error {
	leave, err := c.Log.Enter(ctx, transparency.Stream)
	if err != nil {
		return err
	}
	defer leave()
	state, revision, err := c.Last(ctx)
	if err != nil {
		return err
	}
	events, err := transparency.Decider.Decide(command, state)
	if errors.Is(err, transparency.ErrSuperseded) || err == nil && len(events) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err = c.Log.Append(ctx, transparency.Stream, revision, in.Propose(transparency.Stream, events)); errors.Is(err, ErrConflict) {
		return nil
	}
	return err
}
