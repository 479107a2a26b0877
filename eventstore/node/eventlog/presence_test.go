package eventlog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"reckon/test/wait"
)

// diskLog opens a log of several segments on the disk.
func diskLog(t *testing.T, o Options) *Log {
	t.Helper()
	if o.verify == nil {
		o.verify = never
	}
	o.segmentBytes = 1500
	l, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		mustAppend(t, l, "s", Any(), event(fmt.Sprint(i)))
	}
	if n := len(*l.segments.Load()); n < 3 {
		t.Fatalf("%d segments", n)
	}
	return l
}

// losses are what may happen to the files of a running log.
func losses(l *Log) map[string]struct {
	file string // that is named
	do   func() error
} {
	segments := *l.segments.Load()
	tail, sealed, head := segments.tail(), segments[1], filepath.Join(l.dir, headFileName)
	replace := func(path string) func() error {
		return func() error {
			b, err := os.ReadFile(path)
			return errors.Join(err, os.WriteFile(path+".copy", b, 0o600), os.Rename(path+".copy", path))
		}
	}
	lengthen := func(path string) func() error {
		return func() error {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteString("x")
			return errors.Join(err, f.Close())
		}
	}
	return map[string]struct {
		file string
		do   func() error
	}{
		"newest segment removed":    {tail.name(), func() error { return os.Remove(tail.path) }},
		"newest segment replaced":   {tail.name(), replace(tail.path)},
		"newest segment cut":        {tail.name(), func() error { return os.Truncate(tail.path, segmentHeader) }},
		"newest segment lengthened": {tail.name(), lengthen(tail.path)},
		"HEAD removed":              {headFileName, func() error { return os.Remove(head) }},
		"HEAD replaced":             {headFileName, replace(head)},
		"HEAD lengthened":           {headFileName, lengthen(head)},
		"sealed segment removed":    {sealed.name(), func() error { return os.Remove(sealed.path) }},
		"sealed segment replaced":   {sealed.name(), replace(sealed.path)},
		"sealed segment cut":        {sealed.name(), func() error { return os.Truncate(sealed.path, segmentHeader+9) }},
		"folder of segments moved":  {segmentFolder, func() error { return os.Rename(filepath.Join(l.dir, segmentFolder), filepath.Join(l.dir, "away")) }},
	}
}

// No append is acknowledged that is in no file of the folder.
func TestAppendsAfterAFileIsGone(t *testing.T) {
	t.Parallel()
	for name := range losses(diskLogClosed(t)) {
		t.Run(name, func(t *testing.T) {
			l := diskLog(t, Options{Dir: t.TempDir(), watchEvery: time.Hour})
			loss := losses(l)[name]
			if err := loss.do(); err != nil {
				t.Fatal(err)
			}
			position := headOf(t, l)
			_, err := l.Append(t.Context(), "s", Any(), []Proposed{event("lost")})
			var damage *CorruptError
			newest := !strings.HasPrefix(name, "sealed")
			switch {
			case newest && !errors.As(err, &damage):
				t.Errorf("append: got %v", err)
			case newest && headOf(t, l) != position:
				t.Error("a reader sees what was not acknowledged")
			case newest && (!strings.Contains(err.Error(), "while the log was open") || !strings.Contains(err.Error(), "backup")):
				t.Errorf("the message lacks the reason or the next step: %v", err)
			case !newest && err != nil:
				t.Errorf("append: got %v", err)
			}
			closed := l.Close()
			if !newest && (!errors.As(closed, &damage) || !strings.HasPrefix(damage.File, loss.file)) {
				t.Errorf("close: got %v", closed)
			}
			if !errors.As(l.Err(), &damage) {
				t.Errorf("after the end: %v", l.Err())
			}
		})
	}
}

func diskLogClosed(t *testing.T) *Log {
	l := diskLog(t, Options{Dir: t.TempDir()})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l
}

// A file that is gone is noticed while nothing is appended or read.
func TestWatchNoticesAFileThatIsGone(t *testing.T) {
	t.Parallel()
	for name := range losses(diskLogClosed(t)) {
		t.Run(name, func(t *testing.T) {
			l := diskLog(t, Options{Dir: t.TempDir(), watchEvery: time.Millisecond})
			loss := losses(l)[name]
			if err := loss.do(); err != nil {
				t.Fatal(err)
			}
			<-l.Failed()
			var damage *CorruptError
			if err := l.Err(); !errors.As(err, &damage) || !strings.HasPrefix(damage.File, loss.file) {
				t.Errorf("got %v", err)
			}
			if err := l.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
}

// An orderly end says that a file is gone.
func TestCloseNoticesAFileThatIsGone(t *testing.T) {
	t.Parallel()
	for name := range losses(diskLogClosed(t)) {
		l := diskLog(t, Options{Dir: t.TempDir(), watchEvery: time.Hour})
		loss := losses(l)[name]
		if err := loss.do(); err != nil {
			t.Fatal(err)
		}
		var damage *CorruptError
		if err := l.Close(); !errors.As(err, &damage) || !strings.HasPrefix(damage.File, loss.file) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// A sealed segment that is gone is damage to whoever reads it, and to the verification in
// the background, though it may be open still.
func TestSealedSegmentGone(t *testing.T) {
	t.Parallel()
	for _, opened := range []bool{false, true} {
		for _, by := range []string{"read", "verification", "background"} {
			how := never
			if by == "background" {
				how = &verification{delay: 10 * time.Millisecond, pause: time.Millisecond, bytesPerSecond: math.MaxInt32}
			}
			l := diskLog(t, Options{Dir: t.TempDir(), watchEvery: time.Hour, verify: how})
			s := (*l.segments.Load())[1]
			if opened {
				all(t, l)
			} else if err := s.close(); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(s.path); err != nil {
				t.Fatal(err)
			}
			var err error
			switch by {
			case "read":
				if opened {
					s.mu.Lock()
					err = s.now.kept.Close()
					s.now.kept = nil
					s.mu.Unlock()
				}
				view, viewErr := l.View()
				if err = errors.Join(err, viewErr); err != nil {
					t.Fatal(err)
				}
				err = readThrough(t.Context(), view)
				view.Close()
			case "verification":
				_, err = l.Verify(t.Context())
			case "background":
				<-l.Failed()
				err = l.Err()
			}
			var damage *CorruptError
			if !errors.As(err, &damage) || damage.File != s.name() || damage.Position != s.base+1 {
				t.Errorf("%s, open %t: got %v", by, opened, err)
			}
			if _, err := l.Append(t.Context(), "s", Any(), []Proposed{event("x")}); !errors.As(err, &damage) {
				t.Errorf("%s, open %t: append: %v", by, opened, err)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// A sealed segment that is missing or has another length is found by the start.
func TestStartChecksSealedSegments(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(path string) error{
		"removed": os.Remove,
		"cut":     func(path string) error { return os.Truncate(path, 900) },
		"header":  func(path string) error { return os.Truncate(path, segmentHeader) },
	} {
		l := diskLogClosed(t)
		segments := *l.segments.Load()
		s := segments[1]
		if err := change(s.path); err != nil {
			t.Fatal(err)
		}
		var damage *CorruptError
		if _, err := Open(Options{Dir: l.dir, verify: never}); !errors.As(err, &damage) || damage.Position <= segments[0].base || damage.Position > segments[2].base {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// A segment that is missing is found by the start though the one before it has the same size, or was scavenged.
func TestStartMissesASegmentLikeTheOneBefore(t *testing.T) {
	t.Parallel()
	for _, scavenged := range []bool{false, true} {
		l, err := Open(Options{Dir: t.TempDir(), verify: never, segmentBytes: 1500})
		if err != nil {
			t.Fatal(err)
		}
		for range 99 {
			mustAppend(t, l, "s", Any(), event("x"))
		}
		segments := *l.segments.Load()
		var alike *segment
		for i := 2; i < len(segments)-1 && alike == nil; i++ {
			if segments[i].current().end.Load() == segments[i-1].current().end.Load() && segments[i+1].base-segments[i].base == segments[i].base-segments[i-1].base {
				alike = segments[i]
			}
		}
		if alike == nil {
			t.Fatal("no two segments are alike")
		}
		if scavenged {
			setMetadata(t, l, "s", `{"$tb":90}`)
			if _, err := l.Scavenge(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(l.Close(), os.Remove(alike.path)); err != nil {
			t.Fatal(err)
		}
		var damage *CorruptError
		if _, err := Open(Options{Dir: l.dir, verify: never, recentRecords: 1}); !errors.As(err, &damage) || damage.Position != alike.base+1 || damage.File != alike.name() {
			t.Errorf("scavenged %t: got %v", scavenged, err)
		}
	}
}

// Damage of an old record that was found is remembered by the next start, until the record is
// restored, or the operator says that they want the others.
func TestDamageIsRemembered(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := diskLog(t, Options{Dir: dir})
	s := (*l.segments.Load())[0]
	at := placeOf(t, l, 3)
	change := func() { flipIn(t, s, at) }
	change()
	var damage *CorruptError
	if _, err := l.Verify(t.Context()); !errors.As(err, &damage) || damage.Position != 3 {
		t.Fatalf("got %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := Open(Options{Dir: dir, verify: never, recentRecords: 1}); !errors.As(err, &damage) || damage.Position != 3 || !strings.Contains(err.Error(), damageName) {
			t.Fatalf("start: got %v", err)
		}
	}
	open := func() {
		t.Helper()
		again, err := Open(Options{Dir: dir, verify: never, recentRecords: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(dir, damageName)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		readOverDamage(t, dir, 3)
	}
	if err := os.WriteFile(filepath.Join(dir, damageName), []byte(`{"position":3}`), 0o600); err != nil {
		t.Fatal(err)
	}
	change() // back
	open()
	for _, name := range []string{damageName, knownDamageName} {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
}

// flipIn changes a byte of a record, or changes it back.
func flipIn(t *testing.T, s *segment, at place) {
	t.Helper()
	f, err := os.OpenFile(s.path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 1)
	if _, err := f.ReadAt(b, at.offset+40); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 1
	if _, err := f.WriteAt(b, at.offset+40); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// Damage that is found while a log is served for reading is named, logged once, and remembered beside the first, also in the
// same segment, and none is forgotten while another one is mended.
func TestAllDamageIsRemembered(t *testing.T) {
	t.Parallel()
	for _, finder := range []string{"reader", "background"} {
		l := diskLog(t, Options{Dir: t.TempDir()})
		dir, segments := l.dir, *l.segments.Load()
		flips := map[uint64]func(){}
		for _, position := range []uint64{2, 4, segments[1].base + 2, segments[1].base + 3, segments[2].base} {
			s, at := segments.find(position), placeOf(t, l, position)
			flips[position] = func() { flipIn(t, s, at) }
		}
		all := slices.Sorted(maps.Keys(flips))
		flips[all[0]]()
		if _, err := l.Verify(t.Context()); err == nil {
			t.Fatal("nothing is found")
		}
		if err := errors.Join(l.Close(), os.Remove(filepath.Join(dir, damageName))); err != nil {
			t.Fatal(err)
		}
		for _, position := range all[1:] {
			flips[position]()
		}
		var logged logLines
		open := func() *Log {
			t.Helper()
			logged = logLines{}
			how := never
			if finder == "background" {
				how = &verification{bytesPerSecond: 1 << 40, pause: time.Hour}
			}
			l, err := Open(Options{Dir: dir, verify: how, Logger: slog.New(&logged)})
			if err != nil {
				t.Fatal(err)
			}
			if finder == "background" && l.known != nil {
				<-l.verifier.done
			}
			return l
		}
		expect := func(l *Log, want ...uint64) {
			t.Helper()
			var damage *CorruptError
			if !errors.As(l.Err(), &damage) || damage.Position != want[0] {
				t.Errorf("%s: got %v", finder, l.Err())
			}
			failed := readEvery(t, l)
			for position, err := range failed {
				if !errors.As(err, &damage) || damage.Position != position || damage.Offset != placeOf(t, l, position).offset {
					t.Errorf("%s: position %d: got %v", finder, position, err)
				}
			}
			if got := slices.Sorted(maps.Keys(failed)); !slices.Equal(got, want) {
				t.Errorf("%s: damaged are %v, want %v", finder, got, want)
			}
			readPagesOver(t, l, want)
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			if got := logged.errors(); got != len(want) {
				t.Errorf("%s: %d lines, want %d", finder, got, len(want))
			}
			b, err := os.ReadFile(filepath.Join(dir, knownDamageName))
			if err != nil || strings.Count(string(b), "\n") != len(want) {
				t.Errorf("%s: %v, %s", finder, err, b)
			}
		}
		for i := range all {
			expect(open(), all[i:]...)
			flips[all[i]]()
		}
		last := open()
		mustAppend(t, last, "s", Any(), event("mended"))
		verify(t, last)
		if err := last.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Join(dir, knownDamageName)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the file is still there: %v", finder, err)
		}
	}
}

// readPagesOver reads pages with damaged records in both directions: what comes before the first that is met is given.
func readPagesOver(t *testing.T, l *Log, damaged []uint64) {
	t.Helper()
	view, err := l.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	whole := Page{Records: 100, Bytes: 1 << 20}
	of := func(stream string, backwards bool) ([]Record, error) {
		if stream == AllStream && backwards {
			return view.ReadAll(t.Context(), view.Head()+1, true, whole)
		} else if stream == AllStream {
			return view.ReadAll(t.Context(), 0, false, whole)
		}
		info, err := view.Stream(stream)
		if err != nil {
			t.Fatal(err)
		}
		return view.ReadStream(t.Context(), stream, info.First, uint64(info.Last), backwards, whole)
	}
	for _, stream := range []string{AllStream, "s", "$et-noted"} {
		for _, backwards := range []bool{false, true} {
			records, err := of(stream, backwards)
			from, last := uint64(2), damaged[0]-1 // what the page must have
			if backwards {
				from, last = damaged[len(damaged)-1]+1, view.Head()
			}
			if stream == AllStream && !backwards {
				from = 1
			}
			var damage *CorruptError
			if !errors.As(err, &damage) || !slices.Contains(damaged, damage.Position) || uint64(len(records)) != last+1-from {
				t.Errorf("%s, backwards %t: %d records, want %d to %d; %v", stream, backwards, len(records), from, last, err)
			}
			for i, r := range records {
				position, revision := from+uint64(i), from+uint64(i)-2
				if backwards {
					position, revision = last-uint64(i), last-uint64(i)-2
				}
				isLink := strings.HasPrefix(stream, "$et-")
				if !isLink && r.Position != position || stream != AllStream && r.Revision != revision || isLink && string(r.Data) != fmt.Sprintf("%d@s", revision) {
					t.Errorf("%s, backwards %t: record %d is %+v", stream, backwards, i, r)
				}
			}
		}
	}
}

// When all that was found is mended, damage that nobody has met is found before the log takes appends.
func TestMendedLogIsReadWhole(t *testing.T) {
	t.Parallel()
	l := diskLog(t, Options{Dir: t.TempDir()})
	segments := *l.segments.Load()
	first, second := placeOf(t, l, 2), placeOf(t, l, segments[1].base+2)
	flipIn(t, segments[0], first)
	if _, err := l.Verify(t.Context()); err == nil {
		t.Fatal("nothing is found")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	flipIn(t, segments[1], second)
	flipIn(t, segments[0], first)
	var damage *CorruptError
	if _, err := Open(Options{Dir: l.dir, verify: never, recentRecords: 1}); !errors.As(err, &damage) || damage.Position != second.position || !strings.Contains(err.Error(), damageName) {
		t.Errorf("got %v", err)
	}
	flipIn(t, segments[1], second)
	again, err := Open(Options{Dir: l.dir, verify: never, recentRecords: 1})
	if err != nil {
		t.Fatal(err)
	}
	verify(t, again)
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// A segment that is removed while the log is served for reading, or between two starts, is logged and remembered.
func TestSegmentGoneOverDamage(t *testing.T) {
	t.Parallel()
	for _, whileOpen := range []bool{true, false} {
		l := diskLogClosed(t)
		segments := *l.segments.Load()
		path := filepath.Join(l.dir, knownDamageName)
		damaged, err := os.ReadFile(segments[0].path)
		if err != nil {
			t.Fatal(err)
		}
		mended := slices.Clone(damaged)
		damaged[len(damaged)-20] ^= 1
		if err := errors.Join(os.WriteFile(segments[0].path, damaged, 0o600), os.WriteFile(path, []byte("not as it was written\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
		gone, err := os.ReadFile(segments[1].path)
		if err != nil {
			t.Fatal(err)
		}
		if !whileOpen {
			if err := os.Remove(segments[1].path); err != nil {
				t.Fatal(err)
			}
		}
		logged := &logLines{}
		if l, err = Open(Options{Dir: l.dir, verify: never, watchEvery: time.Millisecond, Logger: slog.New(logged)}); err != nil {
			t.Fatal(err)
		}
		if whileOpen {
			if err := os.Remove(segments[1].path); err != nil {
				t.Fatal(err)
			}
			wait.Until(t, "both errors are logged", func() bool { return logged.errors() >= 2 })
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		b, err := os.ReadFile(path)
		if err != nil || logged.errors() != 2 || !strings.Contains(string(b), fmt.Sprintf(`{"position":%d,`, segments[1].base)) || !strings.Contains(string(b), fmt.Sprintf(`{"position":%d,`, segments[1].base+1)) {
			t.Errorf("open %t: %d lines, %s, %v", whileOpen, logged.errors(), b, err)
		}
		if err := os.WriteFile(segments[0].path, mended, 0o600); err != nil {
			t.Fatal(err)
		}
		if l, err = Open(Options{Dir: l.dir, verify: never}); err != nil {
			t.Fatal(err)
		}
		var damage *CorruptError
		if !errors.As(l.Err(), &damage) || damage.Position != segments[1].base+1 {
			t.Errorf("open %t: got %v", whileOpen, l.Err())
		}
		if err := errors.Join(l.Close(), os.WriteFile(segments[1].path, gone, 0o600)); err != nil {
			t.Fatal(err)
		}
		if l, err = Open(Options{Dir: l.dir, verify: never}); err != nil || l.Err() != nil {
			t.Fatal(err, l.Err())
		}
		verify(t, l)
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

// logLines counts what a log says.
type logLines struct {
	slog.Handler
	mu    sync.Mutex
	lines map[slog.Level]int
}

func (h *logLines) Enabled(context.Context, slog.Level) bool { return true }

func (h *logLines) Handle(_ context.Context, r slog.Record) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lines == nil {
		h.lines = map[slog.Level]int{}
	}
	h.lines[r.Level]++
	return nil
}

func (h *logLines) errors() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lines[slog.LevelError]
}

// readOverDamage opens a log whose damage the operator knows of: it takes no appends and does
// not end, whoever reads the record is told, all others are read, and neither the verification
// in the background nor the end of it changes that.
func readOverDamage(t *testing.T, dir string, position uint64) {
	t.Helper()
	l, err := Open(Options{Dir: dir, verify: &verification{pause: time.Hour, bytesPerSecond: 1 << 40}})
	if err != nil {
		t.Fatal(err)
	}
	<-l.verifier.done // it has met the damage
	var damage *CorruptError
	if h := l.Health(); !h.ReadOnly || !errors.As(h.Err, &damage) || damage.Position != position {
		t.Errorf("got %+v", h)
	}
	if _, err := l.Append(t.Context(), "s", Any(), []Proposed{event("a")}); !errors.As(err, &damage) || damage.Position != position {
		t.Errorf("append: got %v", err)
	}
	failed := readEvery(t, l)
	if len(failed) != 1 || !errors.As(failed[position], &damage) || damage.Position != position {
		t.Errorf("reads: got %v", failed)
	}
	if view, err := l.View(); err == nil { // what is before it on a page is given
		records, err := view.ReadAll(t.Context(), 1, false, Page{Records: 10, Bytes: 1 << 20})
		if want := min(position-1, 10); (err != nil) != (position <= 10) || uint64(len(records)) != want {
			t.Errorf("a page has %d records, want %d: %v", len(records), want, err)
		}
		view.Close()
	}
	select {
	case <-l.Failed():
		t.Error("it ends")
	default:
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// Without its index a log with known damage cannot be opened, and the index that is there is not thrown away.
func TestKnownDamageWithoutAnIndex(t *testing.T) {
	t.Parallel()
	l := diskLogClosed(t)
	segments := *l.segments.Load()
	change := func() {
		b, err := os.ReadFile(segments[0].path)
		if err == nil {
			b[len(b)-20] ^= 1
			err = os.WriteFile(segments[0].path, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	change()
	if err := os.WriteFile(filepath.Join(l.dir, knownDamageName), []byte(fmt.Sprintf(`{"position":%d}`, segments[1].base)), 0o600); err != nil {
		t.Fatal(err)
	}
	readOverDamage(t, l.dir, segments[1].base)
	whole := filepath.Join(l.dir, indexFolder, indexWhole)
	if err := os.Rename(whole, whole+".away"); err != nil {
		t.Fatal(err)
	}
	var damage *CorruptError
	if _, err := Open(Options{Dir: l.dir, verify: never}); !errors.As(err, &damage) || damage.Position != segments[1].base || !strings.Contains(err.Error(), "index") || !strings.Contains(err.Error(), "export") {
		t.Errorf("got %v", err)
	}
	if err := os.Rename(whole+".away", whole); err != nil {
		t.Fatal(err)
	}
	readOverDamage(t, l.dir, segments[1].base)
}

// A segment whose header is that of another one is named by the position that belongs there.
func TestSegmentWithAnotherHeader(t *testing.T) {
	t.Parallel()
	for what, from := range map[string]func(*testing.T, segmentList) string{
		"the first segment of the log": func(_ *testing.T, l segmentList) string { return l[0].path },
		"a segment of another log":     func(t *testing.T, _ segmentList) string { return (*diskLogClosed(t).segments.Load())[0].path },
	} {
		l := diskLogClosed(t)
		segments := *l.segments.Load()
		for _, s := range segments[1:] {
			original, err := os.ReadFile(s.path)
			if err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(from(t, segments))
			if err = errors.Join(err, os.WriteFile(s.path, b, 0o600)); err != nil {
				t.Fatal(err)
			}
			var damage *CorruptError
			report, err := VerifyFolder(t.Context(), l.dir, nil)
			if !errors.As(err, &damage) || damage.Position != s.base+1 || damage.File != s.name() || report.Records != s.base {
				t.Errorf("%s in place of %s: %+v, %v", what, s.name(), report, err)
			}
			if err := os.WriteFile(s.path, original, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The holder of a folder is named, or is another process when nobody knows which.
func TestFolderInUseNamesTheHolder(t *testing.T) {
	t.Parallel()
	l := diskLog(t, Options{Dir: t.TempDir()})
	defer func() { _ = l.Close() }()
	path := filepath.Join(l.dir, "LOCK")
	for content, want := range map[string]string{fmt.Sprint(os.Getpid()): fmt.Sprintf("by process %d:", os.Getpid()), "": "by another process:", "junk": "by another process:"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(Options{Dir: l.dir}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v", content, err)
		}
	}
}
