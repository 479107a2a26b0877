package audit_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"reckon/domain/audit"
	"reckon/domain/audit/audittest"
	"reckon/domain/run"
	"reckon/domain/runner"
	"reckon/domain/token"
)

// contentOf is the content of a log by what docs/audit.md says of the hash.
func contentOf(t testing.TB, l *audittest.Log) audit.Content {
	t.Helper()
	sum, events := sha256.New(), uint64(0)
	for _, s := range l.Stored(t) {
		if strings.HasPrefix(s.Stream, "$") || strings.HasPrefix(s.Stream, "runner-") || s.Stream == "reckon-log" {
			continue
		}
		one := sha256.New()
		for _, field := range []string{s.Stream, fmt.Sprint(int64(s.Revision)), s.ID, s.Name, string(s.Data), string(s.Metadata)} {
			_ = binary.Write(one, binary.BigEndian, uint64(len(field))) // a hash takes everything
			one.Write([]byte(field))
		}
		sum.Write(one.Sum(nil))
		events++
	}
	return audit.Content{Events: events, SHA256: hex.EncodeToString(sum.Sum(nil))}
}

// migrated makes a log what `reckon migrate` makes of it.
func migrated(t testing.TB, l *audittest.Log) (copying, named *audittest.Logged) {
	t.Helper()
	content := contentOf(t, l)
	var from *audittest.Logged // its newest name
	for _, e := range l.Events {
		if e.Name == "reckon.log_named" {
			from = e
		}
	}
	id := l.NewID()
	event := func(id, name, data string) *audittest.Logged {
		return &audittest.Logged{ID: id, Stream: "reckon-log", Name: name, Event: runner.Beat{}, Meta: []byte{}, Data: []byte(data)}
	}
	copying = event(l.NewID(), "reckon.log_copying", fmt.Sprintf(`{"copy":%q,"from":%q}`, id, from.ID))
	l.InsertAfter(from, copying)
	named = event(id, "reckon.log_named", fmt.Sprintf(`{"from":%q,"events":%d,"streams":9,"source_position":%d,"digested":%d,"sha256":%q}`,
		from.ID, len(l.Events), len(l.Events), content.Events, content.SHA256))
	l.Events = append(l.Events, named)
	return copying, named
}

// TestMigrated: a migrated log audits clean, also one that was migrated twice, and a payload of a heartbeat that its source had removed.
func TestMigrated(t *testing.T) {
	l := audittest.True()
	beat := l.Find("runner.beat", 1)
	beat.Name, beat.Data, beat.Meta = "reckon.payload_removed", []byte("{}"), []byte{}
	_, named := migrated(t, l)
	if findings := audittest.Audit(t, l, nil); len(findings) > 0 {
		t.Fatal(findings)
	}
	l.Remove(named) // the names come first in the next copy
	l.InsertAfter(l.Find("reckon.log_copying", 1), named)
	second, again := migrated(t, l)
	l.Remove(second)
	l.InsertAfter(named, second)
	if findings := audittest.Audit(t, l, nil); len(findings) > 0 {
		t.Fatal(findings)
	}
	l.Remove(again)
	if findings := audittest.Audit(t, l, nil); !has(findings, audit.KindMigration, uint64(l.Index(second)+1)) {
		t.Errorf("unfinished: %v", findings)
	}
}

// TestMovedAndTakenBack: the log that was migrated still audits clean, and so it does when it was opened again.
func TestMovedAndTakenBack(t *testing.T) {
	l := audittest.True()
	add := func(name, data string) *audittest.Logged {
		e := &audittest.Logged{ID: l.NewID(), Stream: "reckon-log", Name: name, Event: runner.Beat{}, Meta: []byte{}, Data: []byte(data)}
		l.Events = append(l.Events, e)
		return e
	}
	from := l.Find("reckon.log_named", 1).ID
	for _, next := range [][2]string{{"reckon.log_moved", `{"copy":"x","to":"y"}`}, {"reckon.log_named", fmt.Sprintf(`{"from":%q,"reopened":true}`, from)}} {
		add(next[0], next[1])
		if findings := audittest.Audit(t, l, nil); len(findings) > 0 {
			t.Fatal(findings)
		}
	}
	twice := add("reckon.log_named", `{"from":"z","reopened":true}`)
	if findings := audittest.Audit(t, l, nil); !has(findings, audit.KindMigration, uint64(l.Index(twice)+1)) {
		t.Error(findings)
	}
}

// TestFromIsTheNameBefore: a name that says another one before it is found.
func TestFromIsTheNameBefore(t *testing.T) {
	l := audittest.True()
	_, named := migrated(t, l)
	named.Data = []byte(strings.Replace(string(named.Data), l.Find("reckon.log_named", 1).ID, l.NewID(), 1))
	if findings := audittest.Audit(t, l, nil); !has(findings, audit.KindMigration, uint64(l.Index(named)+1)) {
		t.Error(findings)
	}
}

// TestKeptContent: given contents that were noted of a log, then the log that it was migrated to has them, also when it has grown; and one
// that was changed and whose name says so, or that was cut, has not.
func TestKeptContent(t *testing.T) {
	l := audittest.True()
	whole := contentOf(t, l)
	cut := audittest.True()
	cut.Events = cut.Events[:20]
	config := audit.Config{Witnesses: []audit.Witness{audittest.Witness()}, Contents: []audit.Content{whole, contentOf(t, cut)}}
	audited := func(l *audittest.Log) []audit.Finding {
		findings, _ := audittest.AuditWith(t, l, l.Stored(t), config)
		return findings
	}
	migrated(t, l)
	l.Now = l.Now.Add(time.Minute)
	l.Add("runids", "", run.Reserved{Process: audittest.Process})
	if findings := audited(l); len(findings) > 0 {
		t.Error(findings)
	}
	forged := audittest.True()
	e := forged.Find("token.minted", 1)
	minted := e.Event.(token.Minted)
	minted.Name = "another"
	e.Event, e.Data = minted, nil
	last := uint64(len(forged.Events) + 1) // with the mark of the copy before its last event
	migrated(t, forged)
	findings := audited(forged)
	for _, f := range findings {
		if f.Kind != audit.KindContent {
			t.Errorf("what was changed is told by more than the content: %v", f)
		}
	}
	if !has(findings, audit.KindContent, last) {
		t.Errorf("at %d: %v", last, findings)
	}
	if findings := audited(cut); !has(findings, audit.KindContent, 0) {
		t.Errorf("cut: %v", findings)
	}
	for _, text := range []string{"", "5", "5:", ":" + whole.SHA256, "5:" + strings.ToUpper(whole.SHA256), "-5:" + whole.SHA256, whole.String() + "00"} {
		if parsed, err := audit.ParseContent(text); err == nil {
			t.Errorf("%q is %v", text, parsed)
		}
	}
	if parsed, err := audit.ParseContent(whole.String()); err != nil || parsed != whole {
		t.Errorf("%v, %v", parsed, err)
	}
}
