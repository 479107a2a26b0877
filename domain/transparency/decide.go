package transparency

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"reckon/domain/decider"
	"reckon/domain/event"
	"reckon/domain/keys"
)

// MaxCosignatures bounds the witnesses of one checkpoint.
const MaxCosignatures = 16

// State is the last checkpoint, and who has cosigned it. The zero State is that of a log without one.
type State struct {
	Last         Signed
	Tree         Tree
	Cosignatures []string     // of the last checkpoint
	Conflicts    []Conflicted // with the last checkpoint
}

// Command is one of Sign, Cosign, Contradict.
type Command interface{ transparencyCommand() }

// Sign signs the tree that the state's becomes with more leaves.
type Sign struct {
	Origin    string // of the first checkpoint; later ones keep it
	After     LeafPlace
	Entries   []Entry // of the leaves after it, in the log's order
	Last      LeafPlace
	Chain     *Chain // at Last; nil: the log shows none
	Public    ed25519.PublicKey
	Signature []byte // over the body of Extended and the line of Chain
	// Heeds are the names of the witnesses that the operator believes: a conflict with one of them is refused with a *ConflictError.
	Heeds []string
}

// Cosign notes what witnesses answered to the last checkpoint. The lines are verified already.
type Cosign struct {
	Size         int64
	Root         string
	Cosignatures []string
}

// Contradict notes that a witness contradicts the last checkpoint, once for each witness.
type Contradict struct{ Conflicted }

// signed is Sign of a tree whose leaves and signature are judged elsewhere: they are not in this stream.
type signed struct{ Signed }

func (Sign) transparencyCommand()       {}
func (signed) transparencyCommand()     {}
func (Cosign) transparencyCommand()     {}
func (Contradict) transparencyCommand() {}

// ConflictError means that a witness that is heeded contradicts the last checkpoint: another history of this log was shown to it.
type ConflictError struct{ Conflicted }

func (e *ConflictError) Error() string {
	what := fmt.Sprintf("has cosigned a tree of %d leaves of this log that is not the beginning of its %d", e.Held, e.Size)
	if e.Conflict == Ahead {
		what = fmt.Sprintf("has cosigned %d leaves of this log, which has %d", e.Held, e.Size)
	}
	return fmt.Sprintf("the witness %s %s: this log was restored to an earlier state, or is a copy, or a second one signs with its keys. No checkpoint is signed, because it would "+
		"prove two histories. Bring the log back that has these receipts; docs/transparency.md#conflicts says what else can be done", e.Witness, what)
}

// BehindError means that the tables have not applied all leaves of a signed tree yet: they follow the log, and nothing is wrong with them.
type BehindError struct{ Leaves, Signed int64 }

func (e *BehindError) Error() string {
	return fmt.Sprintf("the read model transparency has applied %d of the %d leaves that were signed: it follows; `reckon projections status` says how far it is", e.Leaves, e.Signed)
}

// Answers are what witnesses say of a checkpoint.
type Answers struct {
	Lines     []string     // verified cosignatures
	Conflicts []Conflicted // of those that have cosigned something else of the log
	Behind    error        // why some could not be asked yet: the tables lag or are away; nil: all were
}

// Heeded is the first conflict with one of these witnesses; nil without any.
func (s State) Heeded(witnesses []string) error {
	for _, c := range s.Conflicts {
		if slices.Contains(witnesses, c.Witness) {
			return &ConflictError{c}
		}
	}
	return nil
}

var (
	// ErrElsewhere means that a leaf was signed meanwhile, so that the leaves are not those after the last checkpoint.
	ErrElsewhere = errors.New("the leaves do not follow the last checkpoint")
	// ErrSignature means that the signature is not that of the tree.
	ErrSignature = errors.New("the signature is not that of the tree with these leaves")
	// ErrSuperseded means that another checkpoint is the last one.
	ErrSuperseded = errors.New("another checkpoint was signed meanwhile")
)

// OriginOr is the log's name, which its first checkpoint fixed; before that the one given.
func (s State) OriginOr(first string) string {
	if s.Last.Size > 0 {
		return s.Last.Origin
	}
	return first
}

// Extended is the state's tree with more leaves.
func (s State) Extended(entries []Entry) Tree {
	t := s.Tree
	for _, e := range entries {
		t = t.With(e, nil)
	}
	return t
}

// Decider is the write model of Stream. Its state follows from the last checkpoint and what comes after it: a fold may begin there.
var Decider = decider.Decider[Command, State]{
	Initial: func() State { return State{} },
	Decide:  decide,
	Evolve:  evolve,
}

func decide(c Command, s State) ([]event.Event, error) {
	switch c := c.(type) {
	case Sign:
		return sign(c, s)
	case signed:
		if c.Size <= s.Last.Size || c.Origin != s.OriginOr(c.Origin) {
			return nil, ErrElsewhere
		}
		return []event.Event{c.Signed}, nil
	case Cosign:
		return cosign(c, s)
	case Contradict:
		return contradict(c, s)
	}
	return nil, fmt.Errorf("transparency: unknown command %T", c)
}

func sign(c Sign, s State) ([]event.Event, error) {
	if err := s.Heeded(c.Heeds); err != nil {
		return nil, err
	}
	if c.After != s.Last.Last {
		return nil, ErrElsewhere
	}
	if len(c.Entries) == 0 {
		return nil, nil
	}
	origin := s.OriginOr(c.Origin)
	if err := CheckOrigin(origin); err != nil {
		return nil, err
	}
	tree := s.Extended(c.Entries)
	root := tree.Root()
	if len(c.Public) != ed25519.PublicKeySize || !ed25519.Verify(c.Public, []byte(Body(origin, tree.Size, root)+c.Chain.Line()), c.Signature) {
		return nil, ErrSignature
	}
	return []event.Event{Signed{
		Origin: origin, Size: tree.Size, Root: root.String(), Roots: tree.EncodeRoots(), Last: c.Last, Chain: c.Chain,
		KID: keys.Thumbprint(c.Public), PublicKey: keys.EncodeX(c.Public), Signature: base64.StdEncoding.EncodeToString(c.Signature),
	}}, nil
}

func cosign(c Cosign, s State) ([]event.Event, error) {
	if c.Size != s.Last.Size || c.Root != s.Last.Root {
		return nil, ErrSuperseded
	}
	var more []string
	for _, line := range c.Cosignatures {
		if len(s.Cosignatures)+len(more) < MaxCosignatures && !cosignedBy(s.Cosignatures, line) && !cosignedBy(more, line) {
			more = append(more, line)
		}
	}
	if len(more) == 0 {
		return nil, nil
	}
	return []event.Event{Cosigned{Size: c.Size, Root: c.Root, Cosignatures: more}}, nil
}

func contradict(c Contradict, s State) ([]event.Event, error) {
	known := func(other Conflicted) bool { return other.Witness == c.Witness }
	cosigned := func(line string) bool { return Cosigner(line) == c.Witness }
	switch {
	case c.Size != s.Last.Size || c.Root != s.Last.Root:
		return nil, ErrSuperseded
	case len(s.Conflicts) >= MaxCosignatures, slices.ContainsFunc(s.Conflicts, known), slices.ContainsFunc(s.Cosignatures, cosigned):
		return nil, nil
	}
	return []event.Event{c.Conflicted}, nil
}

// cosignedBy tells whether the witness of a line is that of another one.
func cosignedBy(lines []string, line string) bool {
	return slices.ContainsFunc(lines, func(other string) bool { return Cosigner(other) == Cosigner(line) })
}

// Cosigner is the name in a signature line; empty for what is none.
func Cosigner(line string) string {
	rest, ok := strings.CutPrefix(line, "— ")
	name, _, separated := strings.Cut(rest, " ")
	if !ok || !separated {
		return ""
	}
	return name
}

func evolve(s State, e event.Event) State {
	switch e := e.(type) {
	case Signed:
		tree, err := DecodeTree(e.Size, e.Roots)
		if err != nil || tree.Root().String() != e.Root {
			return s // not one that sign decided: the next Sign is refused, and the audit finds it
		}
		return State{Last: e, Tree: tree}
	case Cosigned:
		if e.Size == s.Last.Size && e.Root == s.Last.Root {
			s.Cosignatures = slices.Concat(s.Cosignatures, e.Cosignatures)
		}
	case Conflicted:
		if e.Size == s.Last.Size && e.Root == s.Last.Root {
			s.Conflicts = slices.Concat(s.Conflicts, []Conflicted{e})
		}
	}
	return s
}

// Note is the checkpoint as it is served: a signed note with the log's signature and those of witnesses.
func (e Signed) Note(cosignatures []string) (string, error) {
	public, err := keys.DecodeX(e.PublicKey)
	if err != nil {
		return "", err
	}
	signature, err := base64.StdEncoding.Strict().DecodeString(e.Signature)
	if err != nil {
		return "", fmt.Errorf("signature of checkpoint %d: %w", e.Size, err)
	}
	var note strings.Builder
	fmt.Fprintf(&note, "%s\n%d\n%s\n%s\n%s", e.Origin, e.Size, e.Root, e.Chain.Line(), SignatureLine(e.Origin, public, signature))
	for _, line := range cosignatures {
		note.WriteString(line + "\n")
	}
	return note.String(), nil
}
