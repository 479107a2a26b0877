package audit_test

import (
	"slices"
	"strings"
	"testing"

	"reckon/domain/audit"
	"reckon/domain/audit/audittest"
	"reckon/domain/billing"
	"reckon/domain/event"
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
	if findings, state := audittest.AuditWith(t, l, chained(t, l), kept); len(findings) > 0 || state.Chained > 0 || state.Anchored > 0 {
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

// TestCheckpointsGoOnToCommit: behind a checkpoint that commits to a log none is signed of it that does not.
func TestCheckpointsGoOnToCommit(t *testing.T) {
	for n, found := range map[int]bool{1: false, 2: true} {
		l := audittest.True()
		edit("checkpoint.signed", n, func(e *transparency.Signed) { e.Chain = nil })(l)
		findings, _ := audittest.AuditWith(t, l, chained(t, l), audit.Config{})
		if has(findings, audit.KindCheckpointChain, uint64(l.Index(l.Find("checkpoint.signed", n))+1)) != found {
			t.Errorf("checkpoint %d: %v", n, findings)
		}
	}
}
