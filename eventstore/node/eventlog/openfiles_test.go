package eventlog

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"reckon/test/wait"
)

// TestTheNextSegmentWaitsForFiles: where no more files can be open, appends go on in the newest segment up to
// a bound; the next one is made when they can.
func TestTheNextSegmentWaitsForFiles(t *testing.T) {
	t.Parallel()
	files, logged, dir := newFaultyFiles(), &lines{}, t.TempDir()
	refuse := func(yes bool) {
		files.mu.Lock()
		defer files.mu.Unlock()
		files.noMoreFiles = yes
	}
	l := openLog(t, Options{Dir: dir, files: files, segmentBytes: 50_000, Logger: slog.New(logged)})
	random := rand.New(rand.NewPCG(1, 2))
	promised, _, err := workload(l, random, 5)
	if err != nil {
		t.Fatal(err)
	}
	refuse(true)
	for l.segments.Load().tail().current().end.Load() < 2*l.segmentBytes {
		more, _, err := workload(l, random, 5)
		if err != nil {
			t.Fatal(err)
		}
		promised = append(promised, more...)
	}
	if n := len(*l.segments.Load()); n != 1 {
		t.Fatalf("%d segments", n)
	}
	refuse(false)
	ctx, cancel := context.WithTimeout(t.Context(), wait.Longest)
	defer cancel()
	for len(*l.segments.Load()) == 1 && ctx.Err() == nil {
		more, _, err := workload(l, random, 1)
		if err != nil {
			t.Fatal(err)
		}
		promised = append(promised, more...)
	}
	checkPromises(t, l, promised, nil)
	waits := 0
	for _, line := range logged.text {
		if strings.Contains(line, "waits for files") {
			waits++
		}
	}
	if waits != 1 {
		t.Errorf("said %d times: %q", waits, logged.text)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	checkPromises(t, openLog(t, Options{Dir: dir, files: files, segmentBytes: 50_000}), promised, nil)
}

// TestASegmentDoesNotGrowForEver: at lateSegments times its size the log takes no more appends, and says what to do.
func TestASegmentDoesNotGrowForEver(t *testing.T) {
	t.Parallel()
	files := newFaultyFiles()
	l := openLog(t, Options{files: files, segmentBytes: 2000})
	files.mu.Lock()
	files.noMoreFiles = true
	files.mu.Unlock()
	random := rand.New(rand.NewPCG(1, 2))
	ctx, cancel := context.WithTimeout(t.Context(), wait.Longest)
	defer cancel()
	for l.Err() == nil && ctx.Err() == nil {
		_, _, _ = workload(l, random, 1)
	}
	var refused *StorageError
	if err := l.Err(); !errors.As(err, &refused) || !errors.Is(err, syscall.EMFILE) || !strings.Contains(err.Error(), "ulimit -n") {
		t.Errorf("%v", err)
	}
}

// TestASegmentThatHasItsNameIsNotMadeAgain: a file that cannot be opened when the next segment is there already ends the appends.
func TestASegmentThatHasItsNameIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	files := newFaultyFiles()
	l := openLog(t, Options{files: files, segmentBytes: 2000})
	files.mu.Lock()
	files.refuse = func(_ int, operation string) error {
		if operation != "sync folder" {
			return nil
		}
		return &fs.PathError{Op: operation, Path: "segments", Err: syscall.EMFILE}
	}
	files.mu.Unlock()
	random := rand.New(rand.NewPCG(1, 2))
	ctx, cancel := context.WithTimeout(t.Context(), wait.Longest)
	defer cancel()
	for l.Err() == nil && ctx.Err() == nil {
		_, _, _ = workload(l, random, 1)
	}
	if end := l.segments.Load().tail().current().end.Load(); l.Err() == nil || end >= 2*l.segmentBytes {
		t.Errorf("%v at %d bytes", l.Err(), end)
	}
}

// TestSealedSegmentsDoNotStayOpen: a log that grows has no more files open than it keeps.
func TestSealedSegmentsDoNotStayOpen(t *testing.T) { // not parallel: the number is one for all logs of a process
	kept := keptSegments
	keptSegments = func() int { return 2 }
	t.Cleanup(func() { keptSegments = kept })
	l := openLog(t, Options{segmentBytes: 1500})
	promised, _, err := workload(l, rand.New(rand.NewPCG(1, 2)), 60)
	if err != nil {
		t.Fatal(err)
	}
	checkPromises(t, l, promised, nil)
	open := 0
	for _, s := range *l.segments.Load() {
		if s.current().kept != nil {
			open++
		}
	}
	if n := len(*l.segments.Load()); n < 5 || open > 3 { // the oldest two and the newest
		t.Errorf("%d of %d segments are open", open, n)
	}
}
