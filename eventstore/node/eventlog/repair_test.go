package eventlog

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// repairModel is a log whose sealed segments are damaged and restored while it runs, is read only, or is closed.
type repairModel struct {
	dir     string
	log     *Log // nil while it is closed
	logged  *logLines
	records []Record          // as they were appended, by position - 1
	whole   map[string][]byte // of each segment that is not as it was written: what it was
	bases   []uint64          // of the segments that were sealed when damage began
	told    map[uint64]bool   // damaged positions that somebody was told of
}

// TestDamageAndRepair damages and restores segments at any time (rapid). Nothing is served that was not written; every error
// names a place in a damaged segment; once anybody was told of damage no append is acknowledged until that segment is restored,
// whatever is restored, read or started meanwhile; and when all are restored the log is as it was.
func TestDamageAndRepair(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		m := &repairModel{dir: filepath.Join(root, fmt.Sprint(n)), whole: map[string][]byte{}, told: map[uint64]bool{}}
		m.open(t)
		for i := range 40 {
			if _, err := m.log.Append(t.Context(), fmt.Sprintf("s-%d", i%3), Any(), []Proposed{event(fmt.Sprint(i))}); err != nil {
				t.Fatal(err)
			}
		}
		if rapid.Bool().Draw(t, "scavenged") {
			if _, err := m.log.Append(t.Context(), MetaStream("s-1"), Any(), []Proposed{{ID: uuid.New(), Type: MetadataType, JSON: true, Data: []byte(`{"$tb":5}`)}}); err != nil {
				t.Fatal(err)
			}
			if _, err := m.log.Scavenge(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
		}
		m.records = m.readAll(t, false)
		for _, s := range *m.log.segments.Load() {
			m.bases = append(m.bases, s.base)
		}
		t.Repeat(map[string]func(*rapid.T){
			"damage":        m.damage,
			"restore":       m.restore,
			"restart":       m.restart,
			"lose index":    m.loseIndex,
			"read a stream": m.readStream,
			"accept":        m.accept,
			"append":        m.append,
			"read":          m.read,
			"read a record": m.readOne,
			"verify":        m.verify,
			"look at files": m.look,
		})
		m.stop(t)
		for path, was := range m.whole {
			if err := os.WriteFile(path, was, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		clear(m.whole)
		clear(m.told)
		m.open(t)
		if m.log == nil || m.log.Err() != nil {
			t.Fatalf("all is restored: %v", m.log)
		}
		if got := m.readAll(t, false); len(got) != len(m.records) {
			t.Fatalf("%d records, want %d", len(got), len(m.records))
		}
		if _, err := m.log.Verify(t.Context()); err != nil {
			t.Fatal(err)
		}
		m.append(t)
		if err := m.log.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func (m *repairModel) open(t *rapid.T) {
	m.logged = &logLines{}
	var err error
	m.log, err = Open(Options{Dir: m.dir, verify: never, watchEvery: time.Hour, segmentBytes: 1500, recentRecords: 1, Logger: slog.New(m.logged)})
	if err != nil {
		m.log = nil
		m.tell(t, "start", err)
	}
}

// tell checks an error, which must name damage that is there.
func (m *repairModel) tell(t *rapid.T, what string, err error) {
	var damage *CorruptError
	if !errors.As(err, &damage) {
		t.Fatalf("%s: %v", what, err)
	}
	if len(m.damagedAround(damage.Position)) == 0 {
		t.Fatalf("%s: named is what is right: %v; damaged are %v", what, err, slices.Sorted(maps.Keys(m.whole)))
	}
	if damage.Position <= m.tailBase() {
		m.told[damage.Position] = true
	}
}

func (m *repairModel) tailBase() uint64 { return m.bases[len(m.bases)-1] }

// damagedAround are the damaged segments to which damage at a position may be due: that of the position, and the one before
// it, of whose end the next one's beginning is told.
func (m *repairModel) damagedAround(position uint64) (paths []string) {
	if len(m.bases) == 0 {
		return nil
	}
	for i, base := range m.bases[:len(m.bases)-1] {
		path := filepath.Join(m.dir, segmentFolder, segmentName(base))
		if _, damaged := m.whole[path]; damaged && position > base && position <= m.bases[i+1]+1 {
			paths = append(paths, path)
		}
	}
	return paths
}

func (m *repairModel) damage(t *rapid.T) {
	base := rapid.SampledFrom(m.bases[:len(m.bases)-1]).Draw(t, "segment")
	path := filepath.Join(m.dir, segmentFolder, segmentName(base))
	b, err := os.ReadFile(path)
	if err != nil {
		return // it is gone
	}
	if _, damaged := m.whole[path]; !damaged {
		m.whole[path] = slices.Clone(b)
	}
	switch rapid.IntRange(0, 5).Draw(t, "how") {
	case 0:
		err = os.Remove(path)
	case 1:
		err = os.Truncate(path, int64(rapid.IntRange(0, max(0, len(b)-1)).Draw(t, "length")))
	case 2:
		err = os.WriteFile(path, append(b, 0), 0o600)
	default:
		if len(b) <= segmentHeader {
			return
		}
		at := rapid.IntRange(segmentHeader, len(b)-1).Draw(t, "byte")
		f, openErr := os.OpenFile(path, os.O_WRONLY, 0)
		if openErr != nil {
			t.Fatal(openErr)
		}
		_, err = f.WriteAt([]byte{b[at] ^ byte(rapid.IntRange(1, 255).Draw(t, "bits"))}, int64(at)) // in place
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if b, err = os.ReadFile(path); err == nil && bytes.Equal(b, m.whole[path]) {
		delete(m.whole, path)
	}
}

// restore puts a segment back while the log is closed, as an operator does.
func (m *repairModel) restore(t *rapid.T) {
	if len(m.whole) == 0 {
		return
	}
	path := rapid.SampledFrom(slices.Sorted(maps.Keys(m.whole))).Draw(t, "segment")
	m.stop(t)
	if err := os.WriteFile(path, m.whole[path], 0o600); err != nil {
		t.Fatal(err)
	}
	delete(m.whole, path)
	for position := range m.told {
		if len(m.damagedAround(position)) == 0 {
			delete(m.told, position)
		}
	}
	m.open(t)
}

func (m *repairModel) stop(t *rapid.T) {
	if m.log == nil {
		return
	}
	if err := m.log.Close(); err != nil {
		m.tell(t, "close", err)
	}
	if lines := m.logged.errors(); lines > 2+len(m.records) {
		t.Fatalf("%d lines", lines)
	}
	m.log = nil
}

func (m *repairModel) restart(t *rapid.T) {
	m.stop(t)
	m.open(t)
}

func (m *repairModel) loseIndex(t *rapid.T) {
	m.stop(t)
	if err := os.RemoveAll(filepath.Join(m.dir, indexFolder)); err != nil {
		t.Fatal(err)
	}
	m.open(t)
}

// accept is the operator's word that they want the other records.
func (m *repairModel) accept(t *rapid.T) {
	m.stop(t)
	if err := os.Remove(filepath.Join(m.dir, damageName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	m.open(t)
}

func (m *repairModel) append(t *rapid.T) {
	if m.log == nil {
		return
	}
	result, err := m.log.Append(t.Context(), "s-0", Any(), []Proposed{event("more")})
	if err != nil {
		m.tell(t, "append", err)
		return
	}
	if len(m.told) > 0 {
		t.Fatalf("an append is acknowledged over damage at %v", slices.Sorted(maps.Keys(m.told)))
	}
	view, err := m.log.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	records, err := view.ReadAll(t.Context(), result.Position, false, Page{Records: 1, Bytes: 1})
	if err != nil || len(records) != 1 {
		t.Fatal(err)
	}
	m.records = append(m.records, records[0])
}

func (m *repairModel) read(t *rapid.T) {
	if m.log == nil {
		return
	}
	backwards := rapid.Bool().Draw(t, "backwards")
	got := m.readAll(t, backwards)
	for i := range got {
		want := i
		if backwards {
			want = len(m.records) - 1 - i
		}
		m.compare(t, &got[i], want)
	}
}

func (m *repairModel) compare(t *rapid.T, got *Record, i int) {
	want := &m.records[i]
	if got.Position != want.Position || got.ID != want.ID || got.Stream != want.Stream || got.Revision != want.Revision || !bytes.Equal(got.Data, want.Data) || !bytes.Equal(got.Metadata, want.Metadata) {
		t.Fatalf("position %d is %+v, want %+v", i+1, got, want)
	}
}

// readAll reads pages until the end or damage.
func (m *repairModel) readAll(t *rapid.T, backwards bool) (all []Record) {
	view, err := m.log.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	page := Page{Records: rapid.IntRange(1, 50).Draw(t, "page"), Bytes: 1 << 20}
	from := uint64(1)
	if backwards {
		from = view.Head() + 1
	}
	for {
		records, err := view.ReadAll(t.Context(), from, backwards, page)
		all = append(all, records...)
		if err != nil {
			m.tell(t, "read", err)
			return all
		}
		if len(records) == 0 {
			if uint64(len(all)) != view.Head() {
				t.Fatalf("%d records, want %d", len(all), view.Head())
			}
			return all
		}
		if from = records[len(records)-1].Position; !backwards {
			from++
		}
	}
}

func (m *repairModel) readOne(t *rapid.T) {
	if m.log == nil {
		return
	}
	i := rapid.IntRange(0, len(m.records)-1).Draw(t, "record")
	view, err := m.log.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	got, found, err := view.Event(m.records[i].Stream, m.records[i].Revision)
	switch {
	case err != nil:
		m.tell(t, "event", err)
	case m.records[i].Redacted || IsMetaStream(m.records[i].Stream):
	case !found:
		t.Fatalf("position %d is not found", i+1)
	default:
		m.compare(t, &got, i)
	}
}

// readStream reads pages of a stream, or of the index stream that lists all, until the end or damage.
func (m *repairModel) readStream(t *rapid.T) {
	if m.log == nil {
		return
	}
	stream, backwards := rapid.SampledFrom([]string{"s-0", "s-2", "$ce-s"}).Draw(t, "stream"), rapid.Bool().Draw(t, "backwards")
	if stream == "$ce-s" {
		m.readLinks(t, backwards)
		return
	}
	var want []int // of the stream's records, in the direction of the read
	for i := range m.records {
		if m.records[i].Stream == stream {
			want = append(want, i)
		}
	}
	if backwards {
		slices.Reverse(want)
	}
	view, err := m.log.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	records, err := view.ReadStream(t.Context(), stream, 0, uint64(len(want)-1), backwards, Page{Records: len(want), Bytes: 1 << 20})
	if err != nil {
		m.tell(t, "stream", err)
	} else if len(records) != len(want) {
		t.Fatalf("%d of %d events", len(records), len(want))
	}
	for i := range records {
		m.compare(t, &records[i], want[i])
	}
}

// readLinks reads the links to the events of all streams s-….
func (m *repairModel) readLinks(t *rapid.T, backwards bool) {
	view, err := m.log.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	info, err := view.Stream("$ce-s")
	if err != nil {
		t.Fatal(err)
	}
	links, err := view.ReadStream(t.Context(), "$ce-s", 0, uint64(info.Last), backwards, Page{Records: int(info.Last) + 1, Bytes: 1 << 20})
	if err != nil {
		m.tell(t, "links", err)
	} else if len(links) != int(info.Last)+1 {
		t.Fatalf("%d of %d links", len(links), info.Last+1)
	}
	revision := 0
	var want []string
	for i := range m.records {
		if r := &m.records[i]; strings.HasPrefix(r.Stream, "s-") {
			want = append(want, fmt.Sprintf("%d %d@%s", revision, r.Revision, r.Stream))
			revision++
		}
	}
	if backwards {
		slices.Reverse(want)
	}
	for i := range links {
		if got := fmt.Sprintf("%d %s", links[i].Revision, links[i].Data); got != want[i] {
			t.Fatalf("link %d is %s, want %s", i, got, want[i])
		}
	}
}

func (m *repairModel) verify(t *rapid.T) {
	if m.log == nil {
		return
	}
	if _, err := m.log.Verify(t.Context()); err != nil {
		m.tell(t, "verify", err)
		return
	}
	for path, was := range m.whole {
		if b, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(b, was) { // bytes behind its end are not looked at while it is open
			t.Fatalf("nothing is found; %s is damaged", path)
		}
	}
}

func (m *repairModel) look(t *rapid.T) {
	if m.log == nil {
		return
	}
	if err := m.log.checkFiles(); err != nil {
		m.tell(t, "look", err)
	}
}
