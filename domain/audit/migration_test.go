package audit_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"reckon/domain/audit"
	"reckon/domain/audit/audittest"
	"reckon/domain/runner"
)

// migrated makes a log what `reckon migrate` makes of it, by what docs/audit.md says of the hash.
func migrated(t testing.TB, l *audittest.Log) (copying, named *audittest.Logged) {
	t.Helper()
	sum, events := sha256.New(), 0
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
	from := l.Find("reckon.log_named", 1)
	id := l.NewID()
	event := func(id, name, data string) *audittest.Logged {
		return &audittest.Logged{ID: id, Stream: "reckon-log", Name: name, Event: runner.Beat{}, Meta: []byte{}, Data: []byte(data)}
	}
	copying = event(l.NewID(), "reckon.log_copying", fmt.Sprintf(`{"copy":%q,"from":%q}`, id, from.ID))
	l.InsertAfter(from, copying)
	named = event(id, "reckon.log_named", fmt.Sprintf(`{"from":%q,"events":%d,"streams":9,"source_position":%d,"digested":%d,"sha256":%q}`,
		from.ID, len(l.Events), len(l.Events), events, hex.EncodeToString(sum.Sum(nil))))
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
	for _, next := range [][2]string{{"reckon.log_moved", `{"copy":"x","to":"y"}`}, {"reckon.log_named", `{"from":"z","reopened":true}`}} {
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
