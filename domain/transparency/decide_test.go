package transparency_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"reckon/domain/decider/decidertest"
	"reckon/domain/event"
	"reckon/domain/keys"
	"reckon/domain/transparency"
)

const origin = "reckon.example/transparency"

var private = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))

func public() ed25519.PublicKey { return private.Public().(ed25519.PublicKey) }

// place is that of the last of n leaves.
func place(n int) transparency.LeafPlace {
	if n == 0 {
		return transparency.LeafPlace{}
	}
	return transparency.LeafPlace{Stream: fmt.Sprintf("run-%d", n), Revision: 1}
}

// sign is the command that signs the leaves from one to another.
func sign(from, to int) transparency.Sign {
	c := transparency.Sign{Origin: origin, After: place(from), Last: place(to), Public: public()}
	var tree transparency.Tree
	for i := range to {
		tree = tree.With(entry(i), nil)
		if i >= from {
			c.Entries = append(c.Entries, entry(i))
		}
	}
	c.Signature = ed25519.Sign(private, []byte(transparency.Body(origin, tree.Size, tree.Root())))
	return c
}

func signed(t testing.TB, from, to int) transparency.Signed {
	t.Helper()
	var tree transparency.Tree
	for i := range to {
		tree = tree.With(entry(i), nil)
	}
	c := sign(from, to)
	return transparency.Signed{
		Origin: origin, Size: tree.Size, Root: tree.Root().String(), Roots: tree.EncodeRoots(), Last: place(to),
		KID: keys.Thumbprint(public()), PublicKey: keys.EncodeX(public()), Signature: base64.StdEncoding.EncodeToString(c.Signature),
	}
}

func TestCheckpoints(t *testing.T) {
	given := decidertest.Given[transparency.Command, transparency.State]
	three, five := signed(t, 0, 3), signed(t, 3, 5)
	given(t, transparency.Decider).When(sign(0, 3)).Then(three)
	given(t, transparency.Decider, three).When(sign(3, 5)).Then(five)
	given(t, transparency.Decider).When(sign(0, 0)).ThenNothing()
	given(t, transparency.Decider, three).When(sign(3, 3)).ThenNothing()

	// A second writer read the leaves after an older checkpoint, or after one that is not there.
	given(t, transparency.Decider, three, five).When(sign(3, 5)).ThenRefused(transparency.ErrElsewhere)
	given(t, transparency.Decider, three).When(sign(0, 3)).ThenRefused(transparency.ErrElsewhere)
	given(t, transparency.Decider).When(sign(3, 5)).ThenRefused(transparency.ErrElsewhere)

	// The signature is that of another tree, of another log or by another key; the log's name stays that of the first checkpoint.
	for name, change := range map[string]func(*transparency.Sign){
		"another leaf": func(c *transparency.Sign) { c.Entries[1] = entry(99) },
		"fewer leaves": func(c *transparency.Sign) { c.Entries = c.Entries[:1] },
		"no signature": func(c *transparency.Sign) { c.Signature = nil },
		"no key":       func(c *transparency.Sign) { c.Public = nil },
		"another key":  func(c *transparency.Sign) { c.Public = make([]byte, 32) },
	} {
		t.Run(name, func(t *testing.T) {
			c := sign(3, 5)
			change(&c)
			given(t, transparency.Decider, three).When(c).ThenRefused(transparency.ErrSignature)
		})
	}
	renamed := sign(3, 5)
	renamed.Origin = "other.example"
	given(t, transparency.Decider, three).When(renamed).Then(five)

	w1, w2 := "— witness.example/1 AAAA", "— witness.example/2 AAAA"
	cosign := transparency.Cosign{Size: 3, Root: three.Root, Cosignatures: []string{w1, w1}}
	one := transparency.Cosigned{Size: 3, Root: three.Root, Cosignatures: []string{w1}}
	given(t, transparency.Decider, three).When(cosign).Then(one)
	given(t, transparency.Decider, three, one).When(cosign).ThenNothing()
	cosign.Cosignatures = []string{w1, w2}
	given(t, transparency.Decider, three, one).When(cosign).Then(transparency.Cosigned{Size: 3, Root: three.Root, Cosignatures: []string{w2}})
	given(t, transparency.Decider, three, five).When(cosign).ThenRefused(transparency.ErrSuperseded)
}

// TestCheckpointsCommitToTheEventLog: the signature covers the hash chain at the last leaf, which stands in the note as one line.
func TestCheckpointsCommitToTheEventLog(t *testing.T) {
	given := decidertest.Given[transparency.Command, transparency.State]
	chain := &transparency.Chain{Log: "6f0e3f52-0c1d-4d2b-9a57-8e41630bd117", Position: 17, Link: strings.Repeat("ab", 32)}
	command, want := sign(0, 3), signed(t, 0, 3)
	command.Chain = chain
	given(t, transparency.Decider).When(command).ThenRefused(transparency.ErrSignature)
	body := origin + "\n3\n" + want.Root + "\nchain 6f0e3f52-0c1d-4d2b-9a57-8e41630bd117 17 " + chain.Link + "\n"
	command.Signature = ed25519.Sign(private, []byte(body))
	want.Chain, want.Signature = chain, base64.StdEncoding.EncodeToString(command.Signature)
	given(t, transparency.Decider).When(command).Then(want)
	verifier, err := note.NewVerifier(transparency.VerifierKey(origin, public()))
	if err != nil {
		t.Fatal(err)
	}
	text, err := want.Note(nil)
	if err != nil {
		t.Fatal(err)
	}
	if opened, err := note.Open([]byte(text), note.VerifierList(verifier)); err != nil || opened.Text != body {
		t.Errorf("%+v, %v", opened, err)
	}
	if read, err := transparency.ReadChain(strings.Split(body, "\n")[3:]); err != nil || *read != *chain {
		t.Errorf("read as %+v, %v", read, err)
	}
	line := strings.TrimSuffix(chain.Line(), "\n")
	for _, bad := range [][]string{{line, line}, {line + " "}, {strings.Replace(line, " 17 ", " 017 ", 1)}, {strings.ToUpper(line[:5]) + line[5:], "chain x"}, {line[:len(line)-1]}} {
		if read, err := transparency.ReadChain(bad); err == nil {
			t.Errorf("%q is read as %+v", bad, read)
		}
	}
	if read, err := transparency.ReadChain([]string{"another extension", ""}); read != nil || err != nil {
		t.Errorf("%+v, %v", read, err)
	}
}

// TestConflicts: a witness that has cosigned something else of the log ends the signing for as long as it is heeded.
func TestConflicts(t *testing.T) {
	given := decidertest.Given[transparency.Command, transparency.State]
	three, five := signed(t, 0, 3), signed(t, 3, 5)
	conflict := transparency.Conflicted{Size: 3, Root: three.Root, Witness: "witness.example/1", Conflict: transparency.OtherHistory, Held: 2}
	contradict := transparency.Contradict{Conflicted: conflict}
	heeding := sign(3, 5)
	heeding.Heeds = []string{"witness.example/2", "witness.example/1"}
	given(t, transparency.Decider, three).When(contradict).Then(conflict)
	given(t, transparency.Decider, three, conflict).When(contradict).ThenNothing()
	given(t, transparency.Decider, three).When(heeding).Then(five)
	given(t, transparency.Decider, three, conflict).When(sign(3, 5)).Then(five) // the operator does not believe that witness
	state := transparency.Decider.Fold([]event.Event{three, conflict})
	var refused *transparency.ConflictError
	if _, err := transparency.Decider.Decide(heeding, state); !errors.As(err, &refused) || refused.Conflicted != conflict {
		t.Errorf("signed in spite of a conflict: %v", err)
	}
	// Another checkpoint was signed meanwhile, which the witness may have cosigned; or it has cosigned this one.
	given(t, transparency.Decider, three, five).When(contradict).ThenRefused(transparency.ErrSuperseded)
	cosigned := transparency.Cosigned{Size: 3, Root: three.Root, Cosignatures: []string{"— witness.example/1 AAAA"}}
	given(t, transparency.Decider, three, cosigned).When(contradict).ThenNothing()
}

// TestAnEventThatIsNoTreeIsNotContinued: whatever stands in the log, nothing is signed on a tree whose root it does not have.
func TestAnEventThatIsNoTreeIsNotContinued(t *testing.T) {
	wrong := signed(t, 0, 3)
	wrong.Roots[0] = transparency.LeafHash(entry(7)).String()
	state := transparency.Decider.Fold([]event.Event{wrong})
	if _, err := transparency.Decider.Decide(sign(3, 5), state); err == nil {
		t.Error("a checkpoint continues a tree that is none")
	}
}

func TestFoldOfCheckpoints(t *testing.T) {
	events := make([]event.Event, 64)
	for i := range events {
		events[i] = signed(t, i, i+1)
	}
	decidertest.Fold(t, transparency.Decider, func(i int) event.Event { return events[i%64] })
}

// TestNotesAreReadByOthers: checkpoints and keys are those that golang.org/x/mod/sumdb/note reads.
func TestNotesAreReadByOthers(t *testing.T) {
	e := signed(t, 0, 3)
	text, err := e.Note([]string{"— witness.example/1 jWbPPwAAAABkGFDLEZMH"})
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := note.NewVerifier(transparency.VerifierKey(origin, public()))
	if err != nil {
		t.Fatal(err)
	}
	opened, err := note.Open([]byte(text), note.VerifierList(verifier))
	if err != nil || opened.Text != origin+"\n3\n"+e.Root+"\n" || len(opened.Sigs) != 1 || len(opened.UnverifiedSigs) != 1 {
		t.Errorf("%+v, %v", opened, err)
	}
	if _, err := note.Open([]byte(strings.Replace(text, "\n3\n", "\n4\n", 1)), note.VerifierList(verifier)); err == nil {
		t.Error("another size verifies")
	}
	// The example of C2SP signed-note.
	raw, err := base64.StdEncoding.DecodeString("AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k")
	if err != nil {
		t.Fatal(err)
	}
	if got := transparency.VerifierKey("example.com/foo", raw[1:]); got != "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k" {
		t.Error(got)
	}
}

func TestOrigins(t *testing.T) {
	for _, good := range []string{"a", origin, "reckon-log/0198a1b2"} {
		if err := transparency.CheckOrigin(good); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"", "a b", "a+b", "a\nb", "a\u2003b", "\xff", strings.Repeat("a", 129), "a\x00"} {
		if transparency.CheckOrigin(bad) == nil {
			t.Errorf("%q names a log", bad)
		}
	}
}

func TestSizeOfBody(t *testing.T) {
	var root transparency.Hash = sha256.Sum256(nil)
	if size, ok := transparency.SizeOfBody(origin, transparency.Body(origin, 7, root)); !ok || size != 7 {
		t.Error(size, ok)
	}
	for _, none := range []string{"", origin, origin + "\n", origin + "\n-1\n", origin + "\nx\n", "other\n7\n"} {
		if size, ok := transparency.SizeOfBody(origin, none); ok {
			t.Errorf("%q has size %d", none, size)
		}
	}
}
