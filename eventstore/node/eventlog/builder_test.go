package eventlog

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/uuid"
)

// TestBuilderKeepsRecordsWithoutPayload builds a log with removed payloads, and another one of
// that: both verify, are served and take appends.
func TestBuilderKeepsRecordsWithoutPayload(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	first, second := filepath.Join(root, "first"), filepath.Join(root, "second")
	var records []Linked
	for i := range uint64(9) {
		l := Linked{Record: Record{Stream: "s", Revision: i, ID: uuid.New(), Type: "t", CreatedTicks: int64(i), Data: fmt.Append(nil, i)}, LastOfAppend: i%3 == 2}
		if i == 1 || i == 4 || i == 8 {
			l.PayloadHash, l.DataBytes = payloadHash(make([]byte, saltBytes), nil, l.Data), uint32(len(l.Data))
			l.Data, l.Redacted = nil, true
		}
		records = append(records, l)
	}
	build := func(dir string, from []Linked) {
		t.Helper()
		b, err := NewBuilder(dir)
		if err != nil {
			t.Fatal(err)
		}
		for i := range from {
			if err := b.Add(&from[i]); err != nil {
				t.Fatal(err)
			}
		}
		if report, err := b.Finish(t.Context()); err != nil || report.Redacted != 3 || report.Records != 10 {
			t.Fatalf("%+v, %v", report, err)
		}
	}
	read := func(dir string) (kept []string, linked []Linked) {
		t.Helper()
		previous := hash{}
		_, err := ScanFolder(t.Context(), dir, 1, func(start FolderStart) error {
			previous = start.Link
			return nil
		}, func(l *Linked) error {
			if !l.Follows(previous) {
				t.Errorf("position %d does not follow", l.Position)
			}
			previous = l.Link
			c := *l
			c.Data = slices.Clone(l.Data)
			linked = append(linked, c)
			kept = append(kept, fmt.Sprint(l.Stream, l.Revision, l.ID, l.CreatedTicks, string(l.Data), l.Redacted, l.PayloadHash == records[l.Revision].PayloadHash, l.DataBytes, l.LastOfAppend))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return kept, linked
	}
	build(first, records)
	kept, linked := read(first)
	build(second, linked)
	if again, _ := read(second); !slices.Equal(again, kept) || len(kept) != len(records) {
		t.Errorf("%v\n%v", kept, again)
	}
	l, err := Open(Options{Dir: second})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(context.Background(), "s", Revision(8), []Proposed{{ID: uuid.New(), Type: "t"}}); err != nil {
		t.Error(err)
	}
	if report, err := l.Verify(t.Context()); err != nil || report.Redacted != 3 || report.Records != 11 {
		t.Errorf("%+v, %v", report, err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// TestBuilderRefuses what no log holds; what was made is removed.
func TestBuilderRefuses(t *testing.T) {
	t.Parallel()
	good := Record{Stream: "s", ID: uuid.New(), Type: "t"}
	with := func(change func(*Record)) Record {
		r := good
		change(&r)
		return r
	}
	for name, r := range map[string]Record{
		"a gap":         with(func(r *Record) { r.Revision = 1 }),
		"no id":         with(func(r *Record) { r.ID = uuid.Nil }),
		"no type":       with(func(r *Record) { r.Type = "" }),
		"no stream":     with(func(r *Record) { r.Stream = "" }),
		"$all":          with(func(r *Record) { r.Stream = AllStream }),
		"$$":            with(func(r *Record) { r.Stream = "$$" }),
		"its own":       with(func(r *Record) { r.Stream = IdentityStream }),
		"a long name":   with(func(r *Record) { r.Stream = string(make([]byte, MaxStreamNameBytes+1)) }),
		"too large":     with(func(r *Record) { r.Data = make([]byte, MaxAppendBytes) }),
		"half a grave":  with(func(r *Record) { r.Type = TombstoneType }),
		"half a grave2": with(func(r *Record) { r.Revision = TombstoneRevision }),
	} {
		dir := t.TempDir()
		b, err := NewBuilder(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Add(&Linked{Record: r, LastOfAppend: true}); err == nil {
			t.Errorf("%s was taken", name)
		}
		if err := b.Abort(); err != nil {
			t.Error(err)
		}
		if _, err := NewBuilder(dir); err != nil {
			t.Errorf("%s: the folder is not empty again: %v", name, err)
		}
	}
	b, err := NewBuilder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Add(&Linked{Record: good}); err != nil {
		t.Fatal(err)
	}
	var invalid *InvalidRequestError
	if _, err := b.Finish(t.Context()); !errors.As(err, &invalid) {
		t.Errorf("half an append: %v", err)
	}
}
