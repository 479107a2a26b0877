package eventlog

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"
)

// promise is an append that was acknowledged: its events, at consecutive positions up to the last.
type promise struct {
	streams   []string // of each event
	ids       []uuid.UUID
	revisions []uint64
	position  uint64 // of the last
}

// promiseOf is the promise of an append to one stream.
func promiseOf(stream string, ids []uuid.UUID, last Result) promise {
	p := promise{ids: ids, position: last.Position}
	for i := range ids {
		p.streams = append(p.streams, stream)
		p.revisions = append(p.revisions, uint64(last.LastRevision)-uint64(len(ids)-1-i))
	}
	return p
}

// appendSome appends the events to a stream, or in turn to several.
func appendSome(l *Log, random *rand.Rand, events []Proposed) (promise, error) {
	ids := make([]uuid.UUID, len(events))
	in := make([]ProposedIn, len(events))
	for i := range events {
		ids[i], in[i] = events[i].ID, ProposedIn{fmt.Sprintf("s%d", random.IntN(3)), events[i]}
	}
	if random.IntN(2) == 0 {
		result, err := l.Append(context.Background(), in[0].Stream, Any(), events)
		return promiseOf(in[0].Stream, ids, result), err
	}
	written, position, err := l.AppendSeveral(context.Background(), nil, in)
	p := promise{ids: ids, position: position, revisions: make([]uint64, len(in))}
	next := map[string]int64{} // the revision of the event before, going backwards
	for _, w := range written {
		next[w.Stream] = w.LastRevision
	}
	for i := len(in) - 1; i >= 0; i-- {
		p.revisions[i] = uint64(next[in[i].Stream])
		next[in[i].Stream]--
	}
	for _, e := range in {
		p.streams = append(p.streams, e.Stream)
	}
	return p, err
}

// workload appends to a few streams, one append after the other, until one is refused: to one stream or to several at once.
// It returns what was acknowledged and the ids of the refused append.
func workload(l *Log, random *rand.Rand, appends int) (promised []promise, refused []uuid.UUID, err error) {
	for range appends {
		events := make([]Proposed, 1+random.IntN(3))
		for i := range events {
			events[i] = event(fmt.Sprintf("%0*d", 1+random.IntN(300), i))
		}
		made, err := appendSome(l, random, events)
		if err != nil {
			return promised, made.ids, err
		}
		promised = append(promised, made)
	}
	return promised, nil, nil
}

// checkPromises checks that every acknowledged append is where it was acknowledged, that
// the log verifies, and that the append which was refused is there wholly or not at all.
func checkPromises(t *testing.T, l *Log, promised []promise, refused []uuid.UUID) {
	t.Helper()
	verify(t, l)
	byID := map[uuid.UUID]Record{}
	for _, r := range all(t, l) {
		byID[r.ID] = r
	}
	for _, p := range promised {
		for i, id := range p.ids {
			position := p.position - uint64(len(p.ids)-1-i)
			r, ok := byID[id]
			if !ok || r.Stream != p.streams[i] || r.Position != position || r.Revision != p.revisions[i] {
				t.Fatalf("acknowledged in %q at position %d: the log has %+v", p.streams[i], position, r)
			}
		}
	}
	there := 0
	for _, id := range refused {
		if _, ok := byID[id]; ok {
			there++
		}
	}
	if there != 0 && there != len(refused) {
		t.Fatalf("%d of %d events of one append are there", there, len(refused))
	}
}

// Every call of the file system is refused in turn, once or from then on: nothing that was
// acknowledged is lost, no more is accepted after a doubt, the log closes, and opens again.
func TestEveryRefusedCall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		err     error
		forGood bool
	}{{"full", errFull, true}, {"full once", errFull, false}, {"failed", errDisk, false}} {
		t.Run(c.name, func(t *testing.T) {
			for call := 1; ; call++ {
				files, dir := newFaultyFiles(), t.TempDir()
				files.refuse = refuseFrom(call, c.forGood, c.err)
				random := rand.New(rand.NewPCG(uint64(call), 1))
				index := vfs.NewMem()
				options := func(files *faultyFiles) Options {
					return inMemory(Options{Dir: dir, files: files, indexFiles: index, segmentBytes: 1500})
				}
				l, err := Open(options(files))
				var promised []promise
				var refused []uuid.UUID
				var storage *StorageError
				if err == nil {
					promised, refused, err = workload(l, random, 12)
					if err == nil && l.Err() == nil {
						// the refused call, if there was one, came after the last append was acknowledged
						closed := l.Close()
						if files.calls < call {
							return // there are no more calls
						}
						if closed == nil && l.Err() == nil {
							t.Fatalf("call %d was refused and nobody was told", call)
						}
						continue
					}
					if _, again := l.Append(context.Background(), "s", Any(), []Proposed{event("x")}); !errors.As(again, &storage) {
						t.Fatalf("call %d: an append after %v: %v", call, err, again)
					}
					if n := headOf(t, l); len(promised) > 0 && n < promised[len(promised)-1].position {
						t.Fatalf("call %d: a reader sees %d positions", call, n)
					}
					all(t, l) // reads go on
					if err == nil {
						err = l.Err()
					}
					_ = l.Close() // it may report the refusal
				}
				if !errors.As(err, &storage) || storage.Full() != errors.Is(c.err, errFull) {
					t.Fatalf("call %d: got %v", call, err)
				}
				files.refuse = nil
				after := files
				if call%2 == 0 {
					after = files.powerFailure(random)
				}
				if l, err = Open(options(after)); err != nil {
					t.Fatalf("call %d: %v", call, err)
				}
				checkPromises(t, l, promised, refused)
				more, _, err := workload(l, random, 3)
				if err != nil {
					t.Fatal(err)
				}
				// what was acknowledged after the refusal, and what was found after it, survives a power failure too
				seen := headOf(t, l)
				failed := after.powerFailure(random)
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
				if l, err = Open(options(failed)); err != nil {
					t.Fatalf("call %d: %v", call, err)
				}
				checkPromises(t, l, append(promised, more...), refused)
				if n := headOf(t, l); n < seen {
					t.Fatalf("call %d: a reader saw position %d, the log ends at %d", call, seen, n)
				}
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// The power fails before every call of the file system in turn.
func TestPowerFailureBeforeEveryCall(t *testing.T) {
	t.Parallel()
	for call := 1; ; call++ {
		for round := range uint64(4) {
			random := rand.New(rand.NewPCG(uint64(call), round))
			files, dir := newFaultyFiles(), t.TempDir()
			var crashed *faultyFiles
			index := vfs.NewMem()
			files.refuse = func(n int, operation string) error {
				if n != call {
					return nil
				}
				return errPowerFailed
			}
			l, err := Open(inMemory(Options{Dir: dir, files: files, indexFiles: index, segmentBytes: 1500}))
			var promised []promise
			var refused []uuid.UUID
			if err == nil {
				promised, refused, _ = workload(l, random, 12)
				crashed = files.powerFailure(random)
				_ = l.Close() // it may be what the power fails at
				if files.calls < call {
					return // there are no more calls
				}
			} else {
				crashed = files.powerFailure(random)
			}
			if round%2 == 1 { // the index is lost, or stays as far as it was written
				index = vfs.NewMem()
			}
			l, err = Open(inMemory(Options{Dir: dir, files: crashed, indexFiles: index, segmentBytes: 1500}))
			if err != nil {
				t.Fatalf("call %d: %v", call, err)
			}
			checkPromises(t, l, promised, refused)
			if _, _, err := workload(l, random, 3); err != nil {
				t.Fatal(err)
			}
			verify(t, l)
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Nothing a reader saw, and nothing acknowledged, may be missing after the power fails at
// any moment while several write.
func TestPowerFailureUnderWriters(t *testing.T) {
	t.Parallel()
	files, index := newFaultyFiles(), vfs.NewCrashableMem()
	dir := t.TempDir()
	l := openLog(t, Options{Dir: dir, files: files, indexFiles: index, segmentBytes: 20_000})
	// every round allows the writers more appends than it waits for, so that the power
	// fails while they write, and the log stays small
	const rounds, perRound = 12, 60
	permits := make(chan struct{}, rounds*perRound)
	var mu sync.Mutex
	var acknowledged []promise
	var writers sync.WaitGroup
	for n := range 8 {
		random := rand.New(rand.NewPCG(3, uint64(n)))
		writers.Go(func() {
			for range permits {
				made, err := appendSome(l, random, []Proposed{event("x"), event("y")}[:1+n%2])
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				acknowledged = append(acknowledged, made)
				mu.Unlock()
			}
		})
	}
	watch := l.Watch(AllStream)
	defer watch.Close()
	random := rand.New(rand.NewPCG(1, 2))
	for round := range rounds {
		for range perRound {
			permits <- struct{}{}
		}
		waitForHead(t, l, watch, uint64(round*perRound+1+random.IntN(perRound)))
		mu.Lock()
		promised := append([]promise(nil), acknowledged...)
		mu.Unlock()
		seen := headOf(t, l)
		if round == rounds/2 {
			if err := l.index.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		// the index first: it is never ahead of the segments
		indexAfter := index.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50 * (round % 2), RNG: random})
		after := files.powerFailure(random)
		other := t.TempDir() // the folder itself is still locked
		moved := vfs.NewMem()
		if _, err := vfs.Clone(indexAfter, moved, dir+"/"+indexFolder, other+"/"+indexFolder); err != nil {
			t.Fatal(err)
		}
		crashed, err := Open(inMemory(Options{Dir: other, files: after.moved(dir, other), indexFiles: moved, segmentBytes: 20_000}))
		if err != nil {
			t.Fatal(err)
		}
		checkPromises(t, crashed, promised, nil)
		if n := headOf(t, crashed); n < seen || crashed.ID() != l.ID() {
			t.Fatalf("a reader saw position %d, the log ends at %d", seen, n)
		}
		if err := crashed.Close(); err != nil {
			t.Fatal(err)
		}
	}
	close(permits)
	writers.Wait()
}

// moved is the file system with everything in another folder.
func (m *faultyFiles) moved(from, to string) *faultyFiles { return filesWith(to, m.contents(from)) }
