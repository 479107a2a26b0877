package eventlog

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"reckon/internal/disk"
)

// Stream and type of the first event of every log, which holds its Identity. Any client can read it.
const (
	IdentityStream = "$reckon-log"
	IdentityType   = "$reckon-log-created"
)

// Identity is the JSON of the first event.
type Identity struct {
	LogID   uuid.UUID `json:"logId"`
	Format  int       `json:"format"`
	Chain   string    `json:"chain"`
	Genesis string    `json:"genesis"` // hex of the link before position 1
}

// Options configure Open. Only Dir is required.
type Options struct {
	Dir    string           // folder of the log; created when it is absent
	Clock  func() time.Time // for creation stamps and $maxAge; nil: time.Now
	Logger *slog.Logger     // receives a line for what an operator must know; nil: nothing is logged
	Random io.Reader        // for the log's id and the salts; nil: crypto/rand

	// for tests
	files         fileSystem    // of the segments and the head file
	indexFiles    vfs.FS        // of the index
	segmentBytes  int64         // size at which a segment is sealed
	recentRecords int           // of the window in which a repeated append is recognised
	verify        *verification // how the log verifies itself in the background
	elapsed       func() time.Duration
	watchEvery    time.Duration // between two looks at the files

	rebuild   bool // the index is built again, for Reindex
	acceptEnd bool // the index need not be one of this log's end, for Reindex
}

// Log is an open event log. Its methods may be called concurrently.
type Log struct {
	dir           string
	clock         *steadyClock
	logger        *slog.Logger
	files         fileSystem
	lock          *folderLock
	headFile      file
	headState     fileState // of the head file when it was opened
	index         *index
	segments      atomic.Pointer[segmentList]
	segmentBytes  int64
	recentRecords int
	rebuild       bool
	acceptEnd     bool
	known         *CorruptError // over which the log was opened, for reading only; nil for a log that was not found damaged
	notes         damageNotes
	id            uuid.UUID
	genesis       hash
	topics        topics
	verifier      verifier
	watcher       watcher

	scavenging sync.Mutex  // held by a scavenge
	scavenged  atomic.Bool // some segment has lost payloads
	writing    sync.Mutex  // held while the writer changes the newest segment and the head file

	viewMu sync.Mutex
	view   *View

	failMu  sync.Mutex
	failure error         // why no more appends are taken
	failed  chan struct{} // closed when failure is set

	requests *requests
	closing  chan struct{}
	stopped  chan struct{}
	close    func() error
}

// Open opens the log in o.Dir, creating it when the folder is empty or absent.
// Over damage that was found before, and that the operator knows of, it is opened for reading only: Err is that damage from
// the beginning. Errors: *FolderInUseError, *FormatError, *CorruptError, *StorageError, or an error of the
// file system.
func Open(o Options) (*Log, error) {
	o = o.withDefaults()
	if err := disk.MakeFolder(o.Dir); err != nil {
		return nil, &StorageError{Dir: o.Dir, Operation: "make the folder", Err: err, Opening: true}
	}
	lock, err := lockFolder(o.Dir)
	if err != nil {
		return nil, err
	}
	l := &Log{
		dir:           o.Dir,
		clock:         newSteadyClock(o.Clock, o.elapsed),
		logger:        o.Logger,
		files:         o.files,
		lock:          lock,
		segmentBytes:  o.segmentBytes,
		recentRecords: o.recentRecords,
		rebuild:       o.rebuild,
		acceptEnd:     o.acceptEnd,
		failed:        make(chan struct{}),
		requests:      newRequests(),
		closing:       make(chan struct{}),
		stopped:       make(chan struct{}),
	}
	l.close = sync.OnceValue(l.shutdown)
	if err := l.openFiles(o); err != nil {
		if damage := (*CorruptError)(nil); errors.As(err, &damage) {
			l.rememberFound(damage)
		}
		return nil, errors.Join(err, l.closeFiles())
	}
	return l, nil
}

func (o Options) withDefaults() Options {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.files == nil {
		o.files = diskFiles{}
	}
	if o.indexFiles == nil {
		o.indexFiles = vfs.Default
	}
	if o.segmentBytes == 0 {
		o.segmentBytes = segmentBytes
	}
	if o.recentRecords == 0 {
		o.recentRecords = recentRecords
	}
	if o.verify == nil {
		o.verify = &defaultVerification
	}
	if o.watchEvery == 0 {
		o.watchEvery = watchEvery
	}
	if o.elapsed == nil {
		start := time.Now()
		o.elapsed = func() time.Duration { return time.Since(start) }
	}
	return o
}

func (l *Log) openFiles(o Options) error {
	if err := refuseFolder(o.Dir); err != nil {
		return err
	}
	tail, err := l.openSegments(o)
	if err != nil {
		return err
	}
	if err := l.loadIndex(o.indexFiles, tail.end); err != nil {
		return err
	}
	w := newWriter(l, o.Random, tail)
	if l.known != nil {
		l.serveKnown()
	} else if err := l.prepareAppends(w); err != nil {
		return err
	}
	if w.position == 0 {
		if err := w.appendIdentity(); err != nil {
			return err
		}
	} else {
		l.publish(newView(l, w.position))
	}
	go w.run()
	l.verifier.start(l, *o.verify)
	l.watcher.start(l, o.watchEvery)
	return nil
}

// prepareAppends checks and makes what a log needs that takes appends.
func (l *Log) prepareAppends(w *writer) error {
	for err := range l.wrongEnds() {
		return err
	}
	if err := l.probeDisk(); err != nil {
		return err
	}
	if w.tail.current().scavenged { // a backup, or what is left of a log, may end with one
		return w.seal()
	}
	return nil
}

// refuseFolder refuses a folder of format 1, which had its records in the folder "log", and
// a copy that was not finished.
func refuseFolder(dir string) error {
	for name, reason := range map[string]string{
		"log":       "it has a subfolder \"log\", so that it was written by a version before the first release; move the folder away to begin a new log",
		copyingName: "it is a copy that was not finished, as its file " + copyingName + " says; make the backup, or the restore, again to the same folder",
	} {
		_, err := os.Stat(filepath.Join(dir, name))
		switch {
		case err == nil:
			return &FormatError{Dir: dir, Reason: reason}
		case !errors.Is(err, fs.ErrNotExist):
			return &StorageError{Dir: dir, Operation: "look at the folder", Err: err, Opening: true}
		}
	}
	return nil
}

// genesisOf returns the link before position 1, which binds the chain to the log's id.
func genesisOf(id uuid.UUID) hash {
	return sha256.Sum256(append([]byte("reckon event log 1\n"), id[:]...))
}

func identityJSON(id uuid.UUID, genesis hash) []byte {
	b, _ := json.Marshal(Identity{LogID: id, Format: recordFormat, Chain: "sha-256", Genesis: hex.EncodeToString(genesis[:])}) // plain values always encode
	return b
}

// ID returns the id of the log, made when the log was created.
func (l *Log) ID() uuid.UUID { return l.id }

// Err returns why the log takes no more appends: *StorageError, *CorruptError or
// *IndexError; nil while it does. Reads go on, and each checks what it reads.
func (l *Log) Err() error {
	l.failMu.Lock()
	defer l.failMu.Unlock()
	return l.failure
}

// Failed returns a channel that is closed when Err is set after Open, which it never is for a
// log that was opened for reading only.
func (l *Log) Failed() <-chan struct{} {
	if l.known != nil {
		return nil
	}
	return l.failed
}

// fail ends the taking of appends; the first error stays. Every damage is remembered.
func (l *Log) fail(err error) {
	l.failMu.Lock()
	first := l.failure == nil
	if first {
		l.failure = err
		close(l.failed)
	}
	l.failMu.Unlock()
	if first {
		l.logger.Error("the event log takes no more appends", "error", err)
	}
	var damage *CorruptError
	if errors.As(err, &damage) && l.remember(damage) && !first {
		l.logger.Error(anotherPlace, "error", damage)
	}
}

// storageError is the *StorageError for an operation on the log's files.
func (l *Log) storageError(operation string, err error) error {
	return &StorageError{Dir: l.dir, Operation: operation, Err: err, Opening: l.currentView() == nil}
}

func (l *Log) storageErrorOrNil(operation string, err error) error {
	if err == nil {
		return nil
	}
	return l.storageError(operation, err)
}

// indexRefused is called when the disk refuses the index a write.
func (l *Log) indexRefused(i *index, operation string, err error) {
	l.fail(l.storageError(operation, err))
	l.forget(i)
	if l.currentView() == nil { // it is being opened: there are no readers to wait for
		i.files.end()
	}
}

// doubtIndex ends the taking of appends and lets the next start build the index again.
// While the log is being opened that is done at once.
func (l *Log) doubtIndex(reason string, cause error) error {
	err := &IndexError{Dir: l.dir, Reason: reason, Err: cause}
	if l.currentView() != nil && l.known == nil { // over damage there is no other index to be had
		l.fail(err)
		l.forget(l.index)
	}
	return err
}

func (l *Log) forget(i *index) {
	if err := i.forget(); err != nil {
		l.logger.Error("cannot mark the index as doubtful: remove its folder before the next start", "folder", i.dir, "error", err)
	}
}

// Close waits for the writes that were submitted, then closes the files and unlocks the
// folder. Every View must have been closed.
func (l *Log) Close() error { return l.close() }

func (l *Log) shutdown() error {
	close(l.closing)
	select {
	case <-l.stopped:
	case <-l.failed:
		// the writer may wait for the index, whose writes wait for the end
		l.index.files.end()
		<-l.stopped
	}
	l.verifier.stop()
	l.watcher.stop()
	gone := l.checkFiles()
	l.viewMu.Lock()
	view := l.view
	l.view = nil
	l.viewMu.Unlock()
	view.Close()
	var synced error
	if l.Err() == nil {
		synced = l.storageErrorOrNil("sync the head file", l.headFile.sync())
	}
	return errors.Join(gone, synced, l.closeFiles())
}

// closeFiles closes the files that are open, the lock last.
func (l *Log) closeFiles() error {
	var errs []error
	if l.index != nil {
		errs = append(errs, l.index.close())
	}
	if segments := l.segments.Load(); segments != nil {
		errs = append(errs, segments.close())
	}
	if l.headFile != nil {
		errs = append(errs, l.headFile.Close())
	}
	return errors.Join(append(errs, l.lock.Close())...)
}
