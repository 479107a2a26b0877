package audit_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"reckon/domain/audit"
	"reckon/domain/audit/audittest"
	"reckon/domain/event"
	"reckon/domain/transparency"
	"reckon/test/page"
	"reckon/test/sweep"
)

// evidence is what an auditor has besides the log.
type evidence struct {
	given  audit.Config // keys, a cosigned checkpoint, and the key of the witness
	anchor audit.Stored // the newest event, with its link
}

// seen is by which evidence a change is found: by the log alone, with keys, checkpoint and witness, with an anchor too.
type seen struct{ alone, witnessed, anchored bool }

// look has a log audited of which whoever changed it made the hash chain anew.
func (e evidence) look(t *testing.T, l *audittest.Log) (s seen) {
	t.Helper()
	all := chained(t, l)
	items := audittest.Prepare(t, l, all)
	wrong := func(config audit.Config) bool {
		findings, _ := audittest.Judge(items, config)
		return slices.ContainsFunc(findings, func(f audit.Finding) bool { return f.Severity != audit.Note })
	}
	s.alone = wrong(audit.Config{})
	s.witnessed = s.alone || wrong(e.given)
	last := int(e.anchor.Position.Commit) - 1
	s.anchored = s.witnessed || last >= len(all) || all[last].Link != e.anchor.Link
	return s
}

// signAnew has the service's keys sign all checkpoints of a log over what it says now. The witness has not cosigned them.
func signAnew(t *testing.T, l *audittest.Log) {
	t.Helper()
	var state transparency.State
	var entries []transparency.Entry
	var last transparency.LeafPlace
	revisions := map[string]event.Revision{}
	for _, e := range l.Events {
		switch said := e.Event.(type) {
		case transparency.Signed:
			all := chained(t, l)
			at := slices.IndexFunc(all, func(s audit.Stored) bool { return s.Stream == last.Stream && s.Revision == last.Revision })
			if at < 0 || len(entries) == 0 {
				return // there is nothing to sign
			}
			private := keyOf(said.KID)
			command := transparency.Sign{Origin: said.Origin, After: state.Last.Last, Entries: entries, Last: last, Public: private.Public().(ed25519.PublicKey),
				Chain: &transparency.Chain{Log: audittest.LogID, Position: all[at].Position.Commit, Link: hex.EncodeToString(all[at].Link[:])}}
			tree := state.Extended(entries)
			command.Signature = ed25519.Sign(private, []byte(transparency.Body(said.Origin, tree.Size, tree.Root())+command.Chain.Line()))
			signed, err := transparency.Decider.Decide(command, state)
			if err != nil {
				t.Fatal(err)
			}
			state, entries, e.Event = transparency.Decider.FoldFrom(state, signed), nil, signed[0]
		case transparency.Cosigned:
			said.Size, said.Root = state.Last.Size, state.Last.Root
			e.Event = said
		default:
			if leaf, ok, err := transparency.LeafOf(e.Event); ok && err == nil {
				entries, last = append(entries, transparency.EntryOf(leaf)), transparency.LeafPlace{Stream: e.Stream, Revision: revisions[e.Stream]}
			}
		}
		revisions[e.Stream]++
	}
}

// keyOf is the service's key with an id.
func keyOf(kid string) ed25519.PrivateKey {
	if first := audittest.New("the key of tests"); first.KID == kid {
		return first.Signer
	}
	return audittest.New("another key of tests").Signer
}

// retell has the events of some places say another thing, as retold does.
func retell(t *testing.T, l *audittest.Log, places []int, text, with string) {
	t.Helper()
	all := l.Stored(t)
	for _, i := range places {
		e := l.Events[i]
		e.Data, e.Meta = bytes.ReplaceAll(all[i].Data, []byte(text), []byte(with)), bytes.ReplaceAll(all[i].Metadata, []byte(text), []byte(with))
		e.Stream = strings.ReplaceAll(e.Stream, text, with)
	}
}

// changesOf are all changes of a kind; each changes a true log.
type changesOf struct {
	kind    string
	changes []func(*audittest.Log)
}

// everyChange are the kinds of changes of the true log, up to the newest leaf: what is after it no checkpoint commits to yet.
func everyChange(t *testing.T) []changesOf {
	l := audittest.True()
	newest := l.Index(l.Find("receipt.sealed", 4))
	fields, removed, repeated := changesOf{kind: "one field of one event"}, changesOf{kind: "an event removed"}, changesOf{kind: "an event repeated under another id"}
	exchanged, metadata, groups := changesOf{kind: "two neighbours exchanged"}, changesOf{kind: "who did it: actor, client and build in the metadata"}, changesOf{kind: "what several events say of one piece of work, in some of them or in all"}
	cut := changesOf{kind: "the end cut off"}
	for i, e := range l.Events[:newest+1] {
		if strings.HasPrefix(e.Stream, "$") || e.Stream == "reckon-log" {
			continue
		}
		for _, path := range fieldPaths(t, e.Event) {
			if other, ok := withField(t, e.Event, path); ok {
				fields.changes = append(fields.changes, func(l *audittest.Log) { l.Events[i].Event = other })
			}
		}
		removed.changes = append(removed.changes, func(l *audittest.Log) { l.Remove(l.Events[i]) })
		repeated.changes = append(repeated.changes, func(l *audittest.Log) { l.InsertAfter(l.Events[i], l.CopyOf(l.Events[i])) })
		exchanged.changes = append(exchanged.changes, func(l *audittest.Log) { l.Events[i-1], l.Events[i] = l.Events[i], l.Events[i-1] })
		metadata.changes = append(metadata.changes, func(l *audittest.Log) {
			m := &l.Events[i].Metadata
			m.Actor, m.Agent, m.Build = "operator", "another client", "another build"
		})
		cut.changes = append(cut.changes, func(l *audittest.Log) { l.Events = l.Events[:i] })
	}
	all := l.Stored(t)
	for _, story := range sortedStories(l, all) {
		texts := said(l, all, story, 2)
		for _, text := range slices.Sorted(maps.Keys(texts)) {
			in, with := texts[text], otherwise(t, text)
			for _, part := range append(someOf(in), in) {
				if part[len(part)-1] <= newest {
					groups.changes = append(groups.changes, func(l *audittest.Log) { retell(t, l, part, text, with) })
				}
			}
		}
	}
	keys := changesOf{"everything, with all receipts sealed by another key", []func(*audittest.Log){func(l *audittest.Log) { *l = *audittest.TrueSealedWith("another first key") }}}
	return []changesOf{fields, groups, removed, repeated, exchanged, metadata, cut, keys}
}

// undone tells whether signing anew makes a changed log the true one again: of a checkpoint it writes every field.
func undone(t *testing.T, change func(*audittest.Log), all []audit.Stored) bool {
	l := audittest.True()
	change(l)
	signAnew(t, l)
	changed := chained(t, l)
	return len(changed) == len(all) && changed[len(all)-1].Link == all[len(all)-1].Link
}

const evidencePage, evidenceBegin, evidenceEnd = "../../docs/audit.md", "<!-- evidence: domain/audit/evidence_test.go -->\n", "<!-- end of evidence -->"

// TestWhichEvidenceFindsWhat changes the true log in many ways of each kind, has the hash chain made anew, once without and once with the
// service's own keys, and counts which evidence finds the change. The whole makes the table of docs/audit.md; each part must find with a
// cosigned checkpoint all that an anchor finds.
func TestWhichEvidenceFindsWhat(t *testing.T) {
	l := audittest.True()
	all := chained(t, l)
	e := evidence{audit.Config{OutsideKeys: publishedKeys(t, l), Checkpoints: []audit.Checkpoint{parsed(t, noteOf(t, l, 2))}, Witnesses: []audit.Witness{audittest.Witness()}}, all[len(all)-1]}
	if s := e.look(t, l); s != (seen{}) {
		t.Fatalf("a true log: %+v", s)
	}
	const whole = 40
	size := sweep.Size(t, "RECKON_EVIDENCE", 4, whole)
	if *update {
		size = whole
	}
	var rows strings.Builder
	for _, kind := range everyChange(t) {
		var counts [6]int
		tried := min(size, len(kind.changes))
		for i := range tried {
			n := i * len(kind.changes) / tried // evenly
			for ; undone(t, kind.changes[n], all); n++ {
			}
			for signed := range 2 {
				l := audittest.True()
				kind.changes[n](l)
				if signed == 1 {
					signAnew(t, l)
				}
				s := e.look(t, l)
				if !s.witnessed {
					t.Errorf("%s, change %d, signed anew: %t: not found with a cosigned checkpoint", kind.kind, n, signed == 1)
				}
				for i, found := range []bool{s.alone, s.witnessed, s.anchored} {
					if found {
						counts[3*signed+i]++
					}
				}
			}
		}
		fmt.Fprintf(&rows, "| %s | %d | %d | %d | %d | %d | %d | %d |\n", kind.kind, tried, counts[0], counts[1], counts[2], counts[3], counts[4], counts[5])
	}
	if size != whole {
		return
	}
	const head = "| kind of change | changes | no key: the log alone | keys, checkpoint, witness | an anchor | all keys: the log alone | keys, checkpoint, witness | an anchor |\n|---|---|---|---|---|---|---|---|\n"
	page.Keep(t, evidencePage, evidenceBegin, head+rows.String(), evidenceEnd, *update, "go test ./domain/audit -run TestWhichEvidenceFindsWhat -update")
}
