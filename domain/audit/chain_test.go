package audit_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"reckon/domain/audit"
	"reckon/domain/audit/audittest"
	"reckon/domain/billing"
	"reckon/domain/event"
	"reckon/domain/run"
	"reckon/domain/transparency"
)

// chained are the events of a log as its files show them, whose hash chain whoever changed it has made anew.
func chained(t testing.TB, l *audittest.Log) []audit.Stored {
	t.Helper()
	all := l.Stored(t)
	audittest.Chain(all)
	return all
}

// TestCheckpointsCommitToTheWholeLog: what nothing in a log follows from, and no receipt covers, is found once a checkpoint was signed after it:
// by the log alone, and where the keys signed all checkpoints anew by one that was kept.
func TestCheckpointsCommitToTheWholeLog(t *testing.T) {
	l := audittest.True()
	kept := parsed(t, noteOf(t, l, 2))
	findings, state := audittest.AuditWith(t, l, chained(t, l), audit.Config{Checkpoints: []audit.Checkpoint{kept}, Witnesses: []audit.Witness{audittest.Witness()}})
	last := l.Find("checkpoint.signed", 2).Event.(transparency.Signed)
	if len(findings) > 0 || state.Chained != 2 || state.Anchored != last.Chain.Position {
		t.Errorf("a true log: %+v, %v", state, findings)
	}
	for name, change := range map[string]change{
		"a free field":        edit("invoice.issued", 2, func(e *billing.Issued) { e.Reference = "a cook" }),
		"an actor":            editMetadata("run.failed", 1, func(m *event.Metadata) { m.Actor = "operator" }),
		"a build":             editMetadata("key.published", 1, func(m *event.Metadata) { m.Build = "another" }),
		"the name of a token": rewrite("token.minted", 1, `"laptop"`, `"tablet"`),
	} {
		t.Run(name, func(t *testing.T) {
			l := audittest.True()
			change(l)
			all := l.Stored(t)
			if findings, _ := audittest.AuditWith(t, l, all, audit.Config{}); len(findings) > 0 {
				t.Fatalf("found without the chain: %v", findings)
			}
			findings, state := audittest.AuditWith(t, l, chained(t, l), audit.Config{})
			if len(findings) == 0 || slices.ContainsFunc(findings, func(f audit.Finding) bool {
				return f.Kind != audit.KindCheckpointChain || !strings.HasPrefix(f.Stream, "checkpoints")
			}) {
				t.Errorf("by the log alone: %v", findings)
			}
			findings, state = audittest.AuditWith(t, l, chained(t, l), audit.Config{Checkpoints: []audit.Checkpoint{kept}})
			if state.Anchored != 0 || !slices.ContainsFunc(findings, func(f audit.Finding) bool {
				return f.Kind == audit.KindCheckpointKept && f.Position == last.Chain.Position
			}) {
				t.Errorf("by a kept checkpoint: %+v, %v", state, findings)
			}
		})
	}
}

// TestACheckpointOfAnotherChain: a checkpoint of a log with another id is of another log, unless the log was migrated; and one that is longer
// than the log was cut off.
func TestACheckpointOfAnotherChain(t *testing.T) {
	l := audittest.True()
	note := noteOf(t, l, 2)
	for what, with := range map[string]string{
		"another log":  strings.Replace(note, "chain 6f0e", "chain 7f0e", 1),
		"a longer log": strings.Replace(note, "chain "+audittest.LogID+" ", "chain "+audittest.LogID+" 9", 1),
		"no event log": note[:strings.Index(note, "chain ")] + note[strings.Index(note, "\n\n")+1:],
	} {
		findings, state := audittest.AuditWith(t, l, chained(t, l), audit.Config{Checkpoints: []audit.Checkpoint{parsed(t, with)}})
		if state.Anchored != 0 || !slices.ContainsFunc(findings, func(f audit.Finding) bool { return f.Kind == audit.KindCheckpointKept }) {
			t.Errorf("%s: %+v, %v", what, state, findings)
		}
	}
}

// TestTheChainOfAMigratedLog: checkpoints of before, and those that were kept of before, commit to the chain of the log that was copied.
func TestTheChainOfAMigratedLog(t *testing.T) {
	l := audittest.True()
	kept := audit.Config{Checkpoints: []audit.Checkpoint{parsed(t, noteOf(t, l, 2))}}
	l.Events[0].ID = audittest.UUID(0x999)
	if findings, _ := audittest.AuditWith(t, l, chained(t, l), audit.Config{}); !slices.ContainsFunc(findings, func(f audit.Finding) bool { return f.Kind == audit.KindCheckpointChain }) {
		t.Errorf("a log with another id: %v", findings)
	}
	_, named := migrated(t, l)
	if findings, state := audittest.AuditWith(t, l, chained(t, l), kept); len(findings) != 1 || findings[0].Kind != audit.KindCheckpointOther || state.Chained > 0 || state.Anchored > 0 {
		t.Errorf("a migrated log: %+v, %v", state, findings)
	}
	l.Remove(named)
	newest := l.Find("checkpoint.signed", 2)
	l.Events = slices.Insert(l.Events, l.Index(newest), named)
	if findings, _ := audittest.AuditWith(t, l, chained(t, l), audit.Config{}); has(findings, audit.KindCheckpointChain, uint64(l.Index(l.Find("checkpoint.signed", 1))+1)) ||
		!has(findings, audit.KindCheckpointChain, uint64(l.Index(newest)+1)) {
		t.Errorf("a checkpoint of the former log behind the copy: %v", findings)
	}
}

// TestCheckpointsOfANodeCommit: each checkpoint of version 2 of a log with a chain commits to it, the first one too. Where the source shows no
// chain there is nothing to commit to, and behind one of version 2 none is of version 1.
func TestCheckpointsOfANodeCommit(t *testing.T) {
	for n := 1; n <= 2; n++ {
		l := audittest.True()
		edit("checkpoint.signed", n, func(e *transparency.Signed) { e.Chain = nil })(l)
		place := uint64(l.Index(l.Find("checkpoint.signed", n)) + 1)
		if findings, _ := audittest.AuditWith(t, l, chained(t, l), audit.Config{}); !has(findings, audit.KindCheckpointChain, place) {
			t.Errorf("checkpoint %d without a chain: %v", n, findings)
		}
		if findings := audittest.Audit(t, l, nil); has(findings, audit.KindCheckpointChain, place) {
			t.Errorf("checkpoint %d of a server: %v", n, findings)
		}
		l.Find("checkpoint.signed", n).Metadata.Version = 1
		for _, all := range [][]audit.Stored{l.Stored(t), chained(t, l)} {
			findings, _ := audittest.AuditWith(t, l, all, audit.Config{})
			older := slices.ContainsFunc(findings, func(f audit.Finding) bool { return f.Position == place && f.Found == "version 1" })
			if has(findings, audit.KindCheckpointChain, place) || older != (n == 2) {
				t.Errorf("checkpoint %d of version 1: %v", n, findings)
			}
		}
	}
}

// TestCheckpointsOfVersionOne: checkpoints that an older release signed commit to no event log. They stay valid, in the log and kept
// elsewhere, whether its source shows a hash chain or none, and the next checkpoint commits to them.
func TestCheckpointsOfVersionOne(t *testing.T) {
	l := audittest.True()
	for n := 1; n <= 2; n++ {
		signed, cosigned := l.Find("checkpoint.signed", n), l.Find("checkpoint.cosigned", n)
		e := signed.Event.(transparency.Signed)
		body := fmt.Sprintf("%s\n%d\n%s\n", e.Origin, e.Size, e.Root)
		e.Chain, e.Signature = nil, base64.StdEncoding.EncodeToString(ed25519.Sign(keyOf(e.KID), []byte(body)))
		signed.Event, signed.Metadata.Version = e, 1
		cosigned.Event = transparency.Cosigned{Size: e.Size, Root: e.Root, Cosignatures: []string{audittest.Cosign(body, cosigned.Metadata.At)}}
	}
	config := audit.Config{Checkpoints: []audit.Checkpoint{parsed(t, noteOf(t, l, 1)), parsed(t, noteOf(t, l, 2))}, Witnesses: []audit.Witness{audittest.Witness()}}
	for _, all := range [][]audit.Stored{l.Stored(t), chained(t, l)} {
		if findings, said := audittest.AuditWith(t, l, all, config); len(findings) > 0 || said.Kept != 2 || said.Chained > 0 || said.Anchored > 0 {
			t.Errorf("%+v, %v", said, findings)
		}
	}
	e := run.Evaluated{Subject: run.Subject{RunID: 1999, Account: audittest.Bob, Expression: event.Inline("1+1"), Source: event.SourceWeb},
		Answer: event.Inline("2"), InputForm: event.Inline("2"), Status: run.Success, Engine: run.Engine{Name: "woxi", Revision: "1"}, EvaluatedAt: l.At()}
	l.Add(run.Stream(1999), audittest.Bob, e, l.Seal(e, "1+1", "2", ""))
	l.SignTree()
	config.Checkpoints = append(config.Checkpoints, parsed(t, noteOf(t, l, 3)))
	if findings, said := audittest.AuditWith(t, l, chained(t, l), config); len(findings) > 0 || said.Chained != 1 || said.Anchored == 0 {
		t.Errorf("behind a checkpoint that commits: %+v, %v", said, findings)
	}
}

// TestTheFirstRecordIsTheLogs: a chained log whose first record is not the node's is found, and its checkpoints are compared.
func TestTheFirstRecordIsTheLogs(t *testing.T) {
	for name, change := range map[string]func(*audittest.Logged){
		"another stream": func(e *audittest.Logged) { e.Stream = "$reckon-log2" },
		"another name":   func(e *audittest.Logged) { e.Name = "$reckon-log-begun" },
	} {
		l := audittest.True()
		kept := audit.Config{Checkpoints: []audit.Checkpoint{parsed(t, noteOf(t, l, 2))}, Witnesses: []audit.Witness{audittest.Witness()}}
		change(l.Events[0])
		findings, state := audittest.AuditWith(t, l, chained(t, l), kept)
		differs := slices.ContainsFunc(findings, func(f audit.Finding) bool { return f.Kind == audit.KindCheckpointKept })
		if !has(findings, audit.KindIdentity, 1) || !differs || state.Anchored > 0 {
			t.Errorf("%s: %+v, %v", name, state, findings)
		}
	}
}
