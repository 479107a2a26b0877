package audit_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"reckon/domain/audit"
	"reckon/domain/audit/audittest"
	"reckon/domain/keys"
	"reckon/domain/run"
	"reckon/domain/transparency"
)

// noteOf is the n-th checkpoint of a log as it is served, with the cosignatures that follow it.
func noteOf(t testing.TB, l *audittest.Log, n int) string {
	t.Helper()
	note, err := l.Find("checkpoint.signed", n).Event.(transparency.Signed).Note(l.Find("checkpoint.cosigned", n).Event.(transparency.Cosigned).Cosignatures)
	if err != nil {
		t.Fatal(err)
	}
	return note
}

func parsed(t testing.TB, note string) audit.Checkpoint {
	t.Helper()
	c, err := audit.ParseCheckpoint(note)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCheckpointsThatWereKept: given checkpoints of a log that users kept, then the log that they are of is clean, and one that was cut,
// rewritten or stripped of its checkpoints is not, whoever cosigned it.
func TestCheckpointsThatWereKept(t *testing.T) {
	l := audittest.True()
	first, last := noteOf(t, l, 1), noteOf(t, l, 2)
	kept := audit.Config{Checkpoints: []audit.Checkpoint{parsed(t, first), parsed(t, last)}, Witnesses: []audit.Witness{audittest.Witness()}}
	findings, state := audittest.AuditWith(t, l, l.Stored(t), kept)
	if len(findings) > 0 {
		t.Errorf("its own: %v", findings)
	}
	newest := l.Find("checkpoint.signed", 2).Event.(transparency.Signed)
	want := audit.Transparency{Origin: newest.Origin, Leaves: newest.Size, Checkpoints: 2, Signed: newest.Size, Root: newest.Root, Kept: 2}
	if len(state.Cosigned) != 1 || state.Cosigned[0] != (audit.Cosignatures{Witness: audittest.Witness().Name, Size: newest.Size, Verified: true}) {
		t.Errorf("cosigned: %+v", state.Cosigned)
	}
	if state.Cosigned = nil; !equalState(state, want) {
		t.Errorf("%+v, not %+v", state, want)
	}
	if _, state := audittest.AuditWith(t, l, l.Stored(t), audit.Config{}); len(state.Cosigned) != 1 || state.Cosigned[0].Verified {
		t.Errorf("without the witness's key its cosignatures are called verified: %+v", state.Cosigned)
	}
	changes := []struct {
		name   string
		change func(*audittest.Log)
		of     func(audit.Config) audit.Config
	}{
		{"cut before its last leaf", func(l *audittest.Log) { l.Events = l.Events[:l.Index(l.Find("checkpoint.cosigned", 1))+1] }, nil},
		{"the last checkpoint removed", func(l *audittest.Log) { l.Events = l.Events[:l.Index(l.Find("checkpoint.signed", 2))] }, nil},
		{"all checkpoints removed", func(l *audittest.Log) { l.RemoveStream(transparency.Stream) }, nil},
		{"a receipt denied, all checkpoints removed", func(l *audittest.Log) {
			l.RemoveStream(transparency.Stream)
			e := l.Find("run.evaluated", 2)
			l.Remove(l.Find("receipt.sealed", 2))
			e.Event = run.TimedOut{Subject: e.Event.(run.Evaluated).Subject, BudgetMS: 3000}
			e.Name = e.Event.EventName()
		}, nil},
		{"sealed by another key from the start", func(l *audittest.Log) { *l = *audittest.TrueSealedWith("another first key") }, nil},
		{"a checkpoint that the log's keys have not signed", func(*audittest.Log) {}, func(audit.Config) audit.Config {
			body, signatures, _ := strings.Cut(first, "\n\n")
			line, rest, _ := strings.Cut(signatures, "\n")
			forged := line[:strings.LastIndex(line, " ")+1] + base64.StdEncoding.EncodeToString(make([]byte, 68))
			return audit.Config{Checkpoints: []audit.Checkpoint{parsed(t, body+"\n\n"+forged+"\n"+rest)}}
		}},
		{"a cosignature under it that the witness has not made", func(*audittest.Log) {}, func(c audit.Config) audit.Config {
			body, signatures, _ := strings.Cut(first, "\n\n")
			line, _, _ := strings.Cut(signatures, "\n")
			c.Checkpoints = []audit.Checkpoint{parsed(t, body+"\n\n"+line+"\n"+audittest.Cosign("another tree", l.Now)+"\n")}
			return c
		}},
	}
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			l, config := audittest.True(), kept
			if c.of != nil {
				config = c.of(kept)
			}
			c.change(l)
			findings, _ := audittest.AuditWith(t, l, l.Stored(t), config)
			if !slices.ContainsFunc(findings, func(f audit.Finding) bool { return f.Kind == audit.KindCheckpointKept && f.Severity == audit.Error }) {
				t.Errorf("not found: %v", findings)
			}
		})
	}
}

func equalState(a, b audit.Transparency) bool {
	return a.Origin == b.Origin && a.Leaves == b.Leaves && a.Checkpoints == b.Checkpoints && a.Signed == b.Signed && a.Root == b.Root && a.Kept == b.Kept
}

// TestACheckpointOfAKeyHandedOut: a key that is in --keys and not in the log has signed what was kept: the finding is about the tree, not about the signature.
func TestACheckpointOfAKeyHandedOut(t *testing.T) {
	l, other := audittest.True(), audittest.TrueSealedWith("another first key")
	published := other.Find("key.published", 1).Event.(keys.Published)
	public, err := keys.DecodeX(published.X)
	if err != nil {
		t.Fatal(err)
	}
	config := audit.Config{Checkpoints: []audit.Checkpoint{parsed(t, noteOf(t, other, 1))}, OutsideKeys: map[string]ed25519.PublicKey{published.KID: public}}
	findings, _ := audittest.AuditWith(t, l, l.Stored(t), config)
	var kept []audit.Finding
	for _, f := range findings {
		if f.Kind == audit.KindCheckpointKept {
			kept = append(kept, f)
		}
	}
	if len(kept) != 1 || !strings.Contains(kept[0].Expected, "root ") {
		t.Errorf("%v", kept)
	}
}

// FuzzParseCheckpoint: what is read as a checkpoint has the lines of one, and nothing is read beyond the bound.
func FuzzParseCheckpoint(f *testing.F) {
	note := noteOf(f, audittest.True(), 1)
	f.Add(note)
	f.Add(strings.Replace(note, "\n\n", "\nan extension\n\n", 1))
	f.Add(strings.Replace(note, "\n\n", "\n\n\n", 1))
	f.Add(note + note)
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := audit.ParseCheckpoint(text)
		if err != nil {
			return
		}
		if len(text) > audit.MaxCheckpointBytes || c.Size < 1 || !strings.HasPrefix(text, c.Origin+"\n") || !strings.Contains(text, "\n"+c.Root+"\n") {
			t.Errorf("%+v", c)
		}
	})
}
