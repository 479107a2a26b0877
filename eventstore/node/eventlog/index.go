package eventlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"runtime"
	"syscall"

	"reckon/internal/openfiles"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
)

const (
	indexFolder = "index"
	// indexWhole is a file in the folder of the index, made when the index was built from the
	// segments. It is removed, which needs no space on the disk, when the index is in doubt.
	indexWhole = "WHOLE"
	// storageFormat is named, and not the newest one of the library, so that a new
	// version of the library does not change folders.
	storageFormat = pebble.FormatTableFormatV6

	memTableBytes = 16 << 20
	// maxMemTables is not reached while the disk takes what is flushed: see indexFiles.
	maxMemTables = 16
	cacheBytes   = 64 << 20
	// l0Tables is how many flushed tables a key may be in before they are merged: fewer merges of what comes in, each read looks at more filters.
	l0Tables     = 8
	maxOpenFiles = 512
	// flushRecords bounds what is indexed again after a crash.
	flushRecords    = 1 << 17
	indexBatchBytes = 4 << 20
)

// index is the merge tree of what is found by stream or by position. All of it can be
// built again from the segments. It has no write-ahead log: after a crash it holds the
// records up to some position, which it knows, and the rest is added from the segments.
type index struct {
	*pebble.DB
	dir   string
	files *indexFiles
	fatal chan struct{} // closed when the library can no longer be closed in order
}

// openIndex opens the index in dir. refused is called when the disk refuses it a write later.
func openIndex(dir string, under vfs.FS, logger *slog.Logger, readOnly bool, refused func(i *index, operation string, err error)) (*index, error) {
	i := &index{dir: dir, fatal: make(chan struct{})}
	i.files = newIndexFiles(under, func(operation string, err error) { refused(i, operation, err) })
	options := &pebble.Options{
		FS:                          i.files,
		Logger:                      storageLogger{to: logger, failed: i.fail},
		EventListener:               quietEvents(),
		FormatMajorVersion:          storageFormat,
		ReadOnly:                    readOnly,
		DisableWAL:                  true,
		L0CompactionThreshold:       l0Tables,
		L0StopWritesThreshold:       3 * l0Tables,
		MemTableSize:                memTableBytes,
		MemTableStopWritesThreshold: maxMemTables,
		CacheSize:                   cacheBytes,
		MaxOpenFiles:                openfiles.Index.AtMost(maxOpenFiles),
	}
	for level := range options.Levels {
		options.Levels[level].FilterPolicy = bloom.FilterPolicy(10)
	}
	opened := make(chan error, 1)
	go func() { // of its own, for the library's logger may end it
		db, err := pebble.Open(dir, options)
		i.DB = db
		opened <- err
	}()
	select {
	case err := <-opened:
		if err != nil {
			return nil, err
		}
		close(i.files.running)
		return i, nil
	case <-i.fatal:
		return nil, errors.Join(errors.New("the storage library gave up"), i.files.passedOn())
	}
}

// quietEvents replaces the library's own listener, which ends the process when it finds
// damage: the read that found it returns an error as well.
func quietEvents() *pebble.EventListener {
	l := &pebble.EventListener{
		DataCorruption:  func(pebble.DataCorruptionInfo) {},
		BackgroundError: func(error) {},
	}
	l.EnsureDefaults(nil)
	return l
}

// fail is called when the library gives up. It does not return: the library's state is
// undefined, and the goroutine ends.
func (i *index) fail(message string) {
	i.files.mu.Lock()
	first := !i.files.failed
	i.files.failed = true
	i.files.mu.Unlock()
	if first {
		i.files.refused("use the index", errors.New(message))
	}
	i.fatalOnce()
	runtime.Goexit()
}

func (i *index) fatalOnce() {
	i.files.mu.Lock()
	defer i.files.mu.Unlock()
	if !isClosed(i.fatal) {
		close(i.fatal)
	}
}

// close writes what is in memory and closes the index. An index whose writes were refused is forgotten.
func (i *index) close() error {
	i.files.end()
	done := make(chan error, 1)
	go func() { done <- errors.Join(i.Flush(), i.Close()) }()
	select {
	case err := <-done:
		if i.files.hasFailed() {
			return i.forget()
		}
		return err
	case <-i.fatal:
		return i.forget()
	}
}

// forget makes the next start build the index again.
func (i *index) forget() error { return forgetIndex(i.files.FS, i.dir) }

func forgetIndex(files vfs.FS, dir string) error {
	if err := files.Remove(filepath.Join(dir, indexWhole)); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return fmt.Errorf("mark the index of the event log as doubtful: %w", err)
	}
	return nil
}

// setWhole makes the file indexWhole, after what is in the index is durable.
func (i *index) setWhole() error {
	if err := i.Flush(); err != nil {
		return err
	}
	if i.files.hasFailed() {
		return errDropped
	}
	f, err := i.files.FS.Create(filepath.Join(i.dir, indexWhole), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	folder, err := i.files.FS.OpenDir(i.dir)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	return errors.Join(f.Sync(), f.Close(), folder.Sync(), folder.Close())
}

// errDropped is returned for an index of which a write was refused: what is on the disk is not all of it.
var errDropped = errors.New("a write was refused before")

// isWhole reports whether the folder holds an index that was built to its end and never in doubt.
func isWhole(files vfs.FS, dir string) (bool, error) {
	_, err := files.Stat(filepath.Join(dir, indexWhole))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return false, nil
	}
	return err == nil, err
}

// readIndexState reads how far the index of a folder reaches, and changes nothing; false when
// it has none that can be read. A node may have the folder: what it has written of its index
// is never ahead of its segments.
func readIndexState(dir string, under vfs.FS) (indexState, bool) {
	path := filepath.Join(dir, indexFolder)
	if whole, err := isWhole(under, path); err != nil || !whole {
		return indexState{}, false
	}
	i, err := openIndex(path, under, slog.New(slog.DiscardHandler), true, func(*index, string, error) {})
	if err != nil {
		return indexState{}, false
	}
	value, closer, err := i.Get(stateKey)
	state, ok := parseIndexState(value)
	if err == nil {
		_ = closer.Close() // it was only read
	}
	i.files.end()
	_ = i.Close() // it was only read
	return state, ok && err == nil
}

// beyond returns the damage of a log that ends before its index: a record is indexed when it
// is durable, before it is acknowledged. nil for one that does not.
func (s indexState) beyond(dir string, end cursor, segments segmentList) error {
	damage := &CorruptError{Dir: dir, Advice: acceptEndAdvice}
	switch tail := segments.tail(); {
	case s.position > end.position:
		damage.Position, damage.File, damage.Offset = end.position+1, tail.name(), tail.current().end.Load()
		damage.Reason = fmt.Sprintf("acknowledged records are missing at the end of the log: the index has those up to position %d", s.position)
	case s.position == end.position && s.link != end.link:
		damage.Position, damage.File = end.position, segments.find(end.position).name()
		damage.Reason = "the index was made from another record at the end of the log: acknowledged records were lost, and others took their positions"
	default:
		return nil
	}
	return damage
}

// rebuildAsked is the reason to build an index again that nothing is wrong with.
const rebuildAsked = "it was asked for"

// loadIndex opens the index and adds the records that it lacks. One that is missing, in
// doubt, or not of these segments is built from all of them.
func (l *Log) loadIndex(under vfs.FS, end cursor) error {
	dir := filepath.Join(l.dir, indexFolder)
	whole, err := isWhole(under, dir)
	if err != nil {
		return l.storageError("open the index", err)
	}
	if whole {
		reason, err := l.adoptIndex(under, dir, end)
		if err != nil || reason == "" {
			return err
		}
		if l.known != nil {
			return l.errNoIndexOverDamage(reason)
		}
		if reason != rebuildAsked {
			l.logger.Warn("the index of the event log is built again from its segments", "folder", l.dir, "reason", reason)
		}
	}
	if l.known != nil {
		return l.errNoIndexOverDamage("it is missing, or in doubt")
	}
	if err := errors.Join(forgetIndex(under, dir), under.RemoveAll(dir)); err != nil {
		return l.storageError("remove the index", err)
	}
	if err := under.MkdirAll(dir, 0o700); err != nil {
		return l.storageError("make the folder of the index", err)
	}
	if l.index, err = openIndex(dir, under, l.logger, false, l.indexRefused); err != nil {
		return l.storageError("make the index", err)
	}
	if err := l.catchUp(cursor{link: l.genesis}, end); err != nil {
		return errors.Join(l.Err(), err)
	}
	if err := l.index.setWhole(); err != nil {
		return errors.Join(l.Err(), l.storageError("write the index", err))
	}
	return l.Err()
}

// adoptIndex opens an index that is there; a reason says why it must be built again.
func (l *Log) adoptIndex(under vfs.FS, dir string, end cursor) (reason string, err error) {
	opened, err := openIndex(dir, under, l.logger, false, l.indexRefused)
	if isRefusedByDisk(err) {
		return "", l.storageError("open the index", err)
	}
	if err != nil {
		return err.Error(), nil
	}
	l.index = opened
	if reason, err = l.completeIndex(end); err == nil && reason == "" {
		return "", l.Err()
	}
	l.index = nil
	closed := opened.close()
	if reason != "" {
		closed = nil // it is thrown away
	}
	return reason, errors.Join(err, closed)
}

// completeIndex adds the records that the index lacks; a reason says why it is not one of these segments.
func (l *Log) completeIndex(end cursor) (reason string, err error) {
	value, err := l.readValue(l.index, stateKey)
	if err != nil {
		return err.Error(), nil
	}
	state, ok := parseIndexState(value)
	switch {
	case !ok:
		return "its state cannot be read", nil
	case state.id != l.id:
		return "it is of another log", nil
	case l.acceptEnd:
		return rebuildAsked, nil
	}
	if err := state.beyond(l.dir, end, *l.segments.Load()); err != nil {
		return "", err
	}
	if l.rebuild {
		return rebuildAsked, nil
	}
	err = l.catchUp(state.cursor, end)
	var doubt *IndexError
	var damage *CorruptError
	switch {
	case errors.As(err, &doubt):
		return doubt.Reason, nil
	case errors.As(err, &damage) && state.position > 0:
		return damage.Reason, nil // building it anew tells a wrong state from a damaged record
	}
	return "", err
}

// catchUp adds the records after the cursor to the index.
func (l *Log) catchUp(from, end cursor) error {
	b := &indexBatch{log: l, batch: l.index.NewBatch(), heads: map[string]head{}, listed: indexStreams{log: l}}
	reached, err := scanSegments(context.Background(), l.dir, *l.segments.Load(), keep, from, end.position, func(r *stored, at place) error {
		if err := b.add(r, at); err != nil {
			return err
		}
		if b.batch.Len() < indexBatchBytes {
			return nil
		}
		return b.commit(cursor{r.Position, r.Link, at.end()})
	})
	if err != nil {
		return errors.Join(err, b.batch.Close())
	}
	return b.commit(reached)
}

// indexBatch adds records that are durable to the index, several at a time.
type indexBatch struct {
	log   *Log
	batch *pebble.Batch
	heads map[string]head // of the streams in the batch

	listed indexStreams
}

func (b *indexBatch) add(r *stored, at place) error {
	h, known := b.heads[r.Stream]
	if !known {
		var err error
		if h, err = b.log.head(b.log.index, r.Stream); err != nil {
			return err
		}
	}
	switch {
	case h.tombstoned, r.Revision != TombstoneRevision && r.Revision != uint64(h.last+1), h.position >= r.Position:
		return &IndexError{Dir: b.log.dir, Reason: fmt.Sprintf("revision %d of stream %s at position %d follows revision %d", r.Revision, Quoted(r.Stream), r.Position, h.last)}
	case r.Revision == TombstoneRevision:
		h.tombstoned = true
	default:
		h.last++
	}
	h.position = r.Position
	b.heads[r.Stream] = h
	records, places := []Record{r.Record}, []place{at}
	if err := b.listed.add(b.batch, records, places); err != nil {
		return err
	}
	return putPlaces(b.batch, records, places)
}

// putPlaces adds the two entries that lead to each record, and that of a segment which begins with it. The merge tree inserts a key behind
// the one before it without a search, so those of a space come one after the other.
func putPlaces(batch *pebble.Batch, records []Record, places []place) error {
	for _, at := range places {
		if err := batch.Set(positionKey(at.position), at.encode()[8:], nil); err != nil {
			return err
		}
		if at.offset != segmentHeader {
			continue
		}
		if err := batch.Set(segmentKey(at.position-1), nil, nil); err != nil {
			return err
		}
	}
	var key []byte // reused
	for i, at := range places {
		key = appendRevisionKey(key[:0], records[i].Stream, records[i].Revision)
		if err := batch.Set(key, at.encode(), nil); err != nil {
			return err
		}
	}
	return nil
}

// commit applies the batch; the index then reaches the cursor.
func (b *indexBatch) commit(reached cursor) error {
	if err := b.log.Err(); err != nil {
		return err
	}
	for stream, h := range b.heads {
		if err := b.batch.Set(headKey(stream), h.encode(), nil); err != nil {
			return err
		}
	}
	clear(b.heads)
	if err := b.listed.putHeads(b.batch); err != nil {
		return err
	}
	if err := b.batch.Set(stateKey, indexState{b.log.id, reached}.encode(), nil); err != nil {
		return err
	}
	if err := b.log.index.Apply(b.batch, pebble.NoSync); err != nil {
		return err
	}
	b.listed.applied()
	err := b.batch.Close()
	b.batch = b.log.index.NewBatch()
	return err
}

// storageLogger passes the library's messages to a logger.
type storageLogger struct {
	to     *slog.Logger
	failed func(message string) // does not return
}

func (s storageLogger) Infof(format string, args ...any) {
	s.to.Debug("index of the event log", "message", fmt.Sprintf(format, args...))
}

// Errorf is for messages besides an error that is returned as well.
func (s storageLogger) Errorf(format string, args ...any) { s.Infof(format, args...) }

func (s storageLogger) Fatalf(format string, args ...any) { s.failed(fmt.Sprintf(format, args...)) }

// reader is the index or a snapshot of it.
type reader interface {
	Get(key []byte) ([]byte, io.Closer, error)
	NewIterWithContext(ctx context.Context, o *pebble.IterOptions) (*pebble.Iterator, error)
}

// readValue returns a copy of the value of a key, nil when the key is absent.
func (l *Log) readValue(from reader, key []byte) ([]byte, error) {
	value, closer, err := from.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, l.indexError(err)
	}
	value = append(make([]byte, 0, len(value)), value...)
	return value, closer.Close()
}

// indexError is the error of a read of the index. Damage puts the index in doubt.
func (l *Log) indexError(err error) error {
	if pebble.IsCorruptionError(err) {
		return l.doubtIndex("a file of it is damaged", err)
	}
	return fmt.Errorf("read the index of the event log in %s: %w", l.dir, err)
}
