package eventlog

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// salvaged is what a salvage of a folder gives: links by position, and gaps. It fails when the two
// are not in order, or overlap.
func salvaged(t interface{ Fatalf(string, ...any) }, dir string, after uint64) (map[uint64][32]byte, []Gap) {
	links, gaps, reached := map[uint64][32]byte{}, []Gap(nil), after
	_, err := SalvageFolder(context.Background(), dir, after, func(FolderStart) error { return nil }, func(l *Linked) error {
		if l.Position <= reached {
			t.Fatalf("position %d comes after %d", l.Position, reached)
		}
		reached = l.Position
		links[l.Position] = l.Link
		return nil
	}, func(g Gap) error {
		if g.First > 0 && (g.First <= reached || g.Last < g.First) {
			t.Fatalf("gap %+v comes after position %d", g, reached)
		}
		reached = max(reached, g.Last)
		gaps = append(gaps, g)
		return nil
	})
	if format := (*FormatError)(nil); errors.As(err, &format) { // no header and no head file is left
		return nil, []Gap{{}}
	}
	if err != nil {
		t.Fatalf("%v", err)
	}
	return links, gaps
}

// covers checks that every position is visited as it was or lies in a gap, and returns how many are lost.
func covers(t interface{ Fatalf(string, ...any) }, original, links map[uint64][32]byte, gaps []Gap) (lost uint64) {
	for position, link := range links {
		if original[position] != link {
			t.Fatalf("position %d is another record", position)
		}
	}
	for _, g := range gaps {
		lost += g.Records()
		for position := g.First; position > 0 && position <= g.Last; position++ {
			if _, found := links[position]; found {
				t.Fatalf("position %d was visited and lies in %+v", position, g)
			}
		}
	}
	if uint64(len(links))+lost != uint64(len(original)) {
		t.Fatalf("%d records, %d lost, of %d: %+v", len(links), lost, len(original), gaps)
	}
	return lost
}

// Every byte of every file is changed in turn: the record that has it is left out and named, and no other; what is wrong with
// a header or the head file costs no record.
func TestSalvageOfEveryFlippedByte(t *testing.T) {
	t.Parallel()
	for _, of := range []func(*testing.T) (map[string][]byte, []frameAt){smallLog, scavengedLog} {
		files, frames := of(t)
		dir := onDisk(t, files)
		original, gaps := salvaged(t, dir, 0)
		if len(original) != len(frames) || len(gaps) > 0 {
			t.Fatalf("%d of %d records of a sound log, %+v", len(original), len(frames), gaps)
		}
		for name, content := range files {
			for at := range content {
				changed := bytes.Clone(content)
				changed[at] ^= 1 << (at % 8)
				if err := os.WriteFile(filepath.Join(dir, name), changed, 0o600); err != nil {
					t.Fatal(err)
				}
				links, gaps := salvaged(t, dir, 0)
				want := uint64(0)
				for _, f := range frames {
					if f.file == name && f.offset <= int64(at) && int64(at) < f.end() {
						want = f.position
					}
				}
				lost := covers(t, original, links, gaps)
				if len(gaps) != 1 || gaps[0].First != want || gaps[0].File != name || lost > 1 {
					t.Fatalf("byte %d of %s, of position %d: %+v", at, name, want, gaps)
				}
			}
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for name := range files { // a file is gone
			if err := os.Rename(filepath.Join(dir, name), filepath.Join(dir, "away")); err != nil {
				t.Fatal(err)
			}
			links, gaps := salvaged(t, dir, 0)
			if len(gaps) != 1 {
				t.Fatalf("without %s: %+v", name, gaps)
			}
			covers(t, original, links, gaps)
			if err := os.Rename(filepath.Join(dir, "away"), filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Whatever happens to the files, what a salvage gives are records of the log, in order, and it ends.
func TestSalvageOfAnyDamage(t *testing.T) {
	t.Parallel()
	files, frames := smallLog(t)
	dir := onDisk(t, files)
	original, _ := salvaged(t, dir, 0)
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	rapid.Check(t, func(t *rapid.T) {
		with := map[string][]byte{}
		for name, b := range files {
			with[name] = bytes.Clone(b)
		}
		for range rapid.IntRange(1, 6).Draw(t, "changes") {
			name := rapid.SampledFrom(names).Draw(t, "file")
			b := with[name]
			if len(b) == 0 {
				continue
			}
			at := rapid.IntRange(0, len(b)-1).Draw(t, "at")
			switch rapid.SampledFrom([]string{"byte", "block", "cut", "double", "insert", "foreign"}).Draw(t, "what") {
			case "byte":
				b[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
			case "block":
				clear(b[at:min(len(b), at+rapid.IntRange(1, 600).Draw(t, "length"))])
			case "cut":
				with[name] = b[:at]
			case "double": // a record, somewhere
				f := rapid.SampledFrom(frames).Draw(t, "frame")
				if content := files[f.file]; f.end() <= int64(len(content)) {
					with[name] = append(bytes.Clone(b[:at]), append(bytes.Clone(content[f.offset:f.end()]), b[at:]...)...)
				}
			case "insert":
				with[name] = append(bytes.Clone(b[:at]), append(rapid.SliceOfN(rapid.Byte(), 1, 50).Draw(t, "bytes"), b[at:]...)...)
			case "foreign":
				with[name] = bytes.Clone(files[rapid.SampledFrom(names).Draw(t, "other")])
			}
		}
		for name, b := range with {
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		after := uint64(rapid.IntRange(0, len(frames)).Draw(t, "after"))
		links, gaps := salvaged(t, dir, after)
		for position, link := range links {
			if original[position] != link || position <= after {
				t.Fatalf("position %d is another record", position)
			}
		}
		if uint64(len(links)) < uint64(len(frames))-after && len(gaps) == 0 {
			t.Fatalf("%d records behind %d, and no gap", len(links), after)
		}
	})
}

// Records that a client has put into the data of an event are not taken for the log's own when the record that has them is damaged.
func TestSalvageOfARecordWithinARecord(t *testing.T) {
	t.Parallel()
	for _, behind := range []int{0, 3} {
		dir := t.TempDir()
		l := diskLog(t, Options{Dir: dir})
		mustAppend(t, l, "s", Any(), event("before"))
		tail := l.segments.Load().tail()
		position := headOf(t, l)
		var forged []byte
		link := hash{1}
		for i := range uint64(4) {
			r := Record{Position: position + 2 + i, Stream: "s", Revision: 90 + i, ID: event("").ID, Type: "forged", Data: []byte("forged")}
			forged, link = appendFrame(forged, tail.current().seed, position, &r, true, [16]byte{}, link)
		}
		mustAppend(t, l, "s", Any(), Proposed{ID: event("").ID, Type: "t", Data: append([]byte(strings.Repeat("x", 100)), forged...)})
		for i := range behind {
			mustAppend(t, l, "s", Any(), event(fmt.Sprint("behind ", i)))
		}
		at := placeOf(t, l, position+1)
		path := l.segments.Load().find(position + 1).path
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		original, _ := salvaged(t, dir, 0)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, length := range []uint32{0, 1, 130, 255, 1 << 31} {
			binary.BigEndian.PutUint32(b[at.offset+4:], length)
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			links, gaps := salvaged(t, dir, 0)
			if lost := covers(t, original, links, gaps); lost != 1 {
				t.Errorf("%d behind, length %d: %d are lost: %+v", behind, length, lost, gaps)
			}
		}
	}
}
