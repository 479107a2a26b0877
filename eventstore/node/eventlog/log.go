package eventlog

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"
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

const (
	memTableBytes = 16 << 20
	cacheBytes    = 64 << 20
	maxOpenFiles  = 512
)

// Options configure Open. Only Dir is required.
type Options struct {
	Dir   string           // folder of the log; created when it is absent
	Clock func() time.Time // for creation stamps and $maxAge; nil: time.Now
	// Logger receives storage errors; nil: they are discarded. When the disk refuses a
	// write of the write-ahead log, the error is logged and the process exits with status 1.
	Logger *slog.Logger
	Random io.Reader // for the log's id and the salts; nil: crypto/rand

	fs vfs.FS // file system of the storage; tests simulate power failures with it
}

// Log is an open event log. Its methods may be called concurrently.
type Log struct {
	dir      string
	clock    func() time.Time
	logger   *slog.Logger
	db       *pebble.DB
	lock     *os.File
	headFile *os.File
	id       uuid.UUID
	genesis  hash
	topics   topics

	viewMu sync.Mutex
	view   *View

	requests chan *request
	closing  chan struct{}
	stopped  chan struct{}
	close    func() error
}

// Open opens the log in o.Dir, creating it when the folder is empty or absent.
// Errors: *FolderInUseError, *FormatError, *CorruptError, or an error of the file system.
func Open(o Options) (*Log, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.fs == nil {
		o.fs = vfs.Default
	}
	if err := makeFolder(o.Dir); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	lock, err := lockFolder(o.Dir)
	if err != nil {
		return nil, err
	}
	l := &Log{
		dir:      o.Dir,
		clock:    o.Clock,
		logger:   o.Logger,
		lock:     lock,
		requests: make(chan *request, maxQueuedRequests),
		closing:  make(chan struct{}),
		stopped:  make(chan struct{}),
	}
	l.close = sync.OnceValue(l.shutdown)
	if err := l.openFiles(o); err != nil {
		return nil, errors.Join(err, l.closeFiles())
	}
	return l, nil
}

func (l *Log) openFiles(o Options) error {
	db, err := l.openStorage(filepath.Join(o.Dir, "log"), o)
	if err != nil {
		return err
	}
	l.db = db
	created, err := l.loadIdentity(o.Random)
	if err != nil {
		return err
	}
	w, err := recoverWriter(l, o.Random)
	if err != nil {
		return err
	}
	if l.headFile, err = os.OpenFile(filepath.Join(o.Dir, headFileName), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return fmt.Errorf("open the head file of the event log: %w", err)
	}
	if created {
		if err := w.appendIdentity(); err != nil {
			return err
		}
	}
	l.markHead(w.position, w.chain)
	l.publish(newView(l, w.position, w.createdTicks))
	go w.run()
	return nil
}

// openStorage opens the storage for writing. It opens it read-only first and compares it
// with the head file, because opening for writing drops unreadable data at the end of the
// write-ahead log.
func (l *Log) openStorage(dir string, o Options) (*pebble.DB, error) {
	mark, marked, err := readHeadMark(o.Dir)
	if err != nil {
		return nil, err
	}
	options := storageOptions(o)
	exists, err := storageExists(dir, options.FS)
	switch {
	case err != nil:
		return nil, l.openError(err)
	case !exists && marked:
		return nil, &CorruptError{Dir: o.Dir, Reason: "the log is gone from a folder that held one"}
	case !exists:
		// the first write-ahead log of a new store has an older format, in which damage
		// cannot be told from an unfinished write; opening the store again starts one of the new format
		if err := openAndClose(dir, storageOptions(o), nil); err != nil {
			return nil, l.openError(err)
		}
	case marked:
		readOnly := storageOptions(o)
		readOnly.ReadOnly = true
		err := openAndClose(dir, readOnly, func(db *pebble.DB) error {
			l.db = db
			defer func() { l.db = nil }()
			return l.checkHead(mark)
		})
		if err != nil {
			return nil, l.openError(err)
		}
	}
	db, err := pebble.Open(dir, options)
	if err != nil {
		return nil, l.openError(err)
	}
	return db, nil
}

func storageExists(dir string, files vfs.FS) (bool, error) {
	description, err := pebble.Peek(dir, files)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && description.Exists, err
}

func openAndClose(dir string, options *pebble.Options, use func(*pebble.DB) error) error {
	db, err := pebble.Open(dir, options)
	if err != nil {
		return err
	}
	if use != nil {
		err = use(db)
	}
	return errors.Join(err, db.Close())
}

func (l *Log) openError(err error) error {
	var known *CorruptError
	switch {
	case errors.As(err, &known):
		return err
	case pebble.IsCorruptionError(err):
		return &CorruptError{Dir: l.dir, Reason: err.Error(), Err: err}
	default:
		return fmt.Errorf("open the event log in %s: %w", l.dir, err)
	}
}

func storageOptions(o Options) *pebble.Options {
	options := &pebble.Options{
		FS:                          o.fs,
		Logger:                      storageLogger{o.Logger},
		EventListener:               &pebble.EventListener{DataCorruption: reportDamage(o.Logger)},
		FormatMajorVersion:          pebble.FormatNewest,
		MemTableSize:                memTableBytes,
		MemTableStopWritesThreshold: 4,
		CacheSize:                   cacheBytes,
		MaxOpenFiles:                maxOpenFiles,
	}
	for i := range options.Levels {
		options.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	return options
}

// reportDamage logs damage found in a file; the read that found it returns an error too.
func reportDamage(logger *slog.Logger) func(pebble.DataCorruptionInfo) {
	return func(info pebble.DataCorruptionInfo) {
		logger.Error("a file of the event log is damaged", "file", info.Path, "details", info.Details)
	}
}

// loadIdentity reads the log's id, or makes one when the store is empty. The error is
// *FormatError for a store of another format.
func (l *Log) loadIdentity(random io.Reader) (created bool, err error) {
	value, err := l.readValue(l.db, identityKey)
	if err != nil {
		return false, err
	}
	if value != nil {
		if len(value) != 1+len(l.id) || value[0] != recordFormat {
			return false, &FormatError{Dir: l.dir, Reason: "it was written by another version of this program"}
		}
		copy(l.id[:], value[1:])
		l.genesis = genesisOf(l.id)
		return false, nil
	}
	iterator, err := l.db.NewIter(nil)
	if err != nil {
		return false, fmt.Errorf("read the event log: %w", err)
	}
	foreign := iterator.First()
	if err := iterator.Close(); err != nil {
		return false, l.readError(0, err)
	}
	if foreign {
		return false, &FormatError{Dir: l.dir, Reason: "it holds data but no log identity"}
	}
	if l.id, err = uuid.NewRandomFromReader(random); err != nil {
		return false, fmt.Errorf("make a log id: %w", err)
	}
	l.genesis = genesisOf(l.id)
	return true, nil
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

// Close waits for the writes that were submitted, then closes the storage and unlocks the
// folder. Every View must have been closed.
func (l *Log) Close() error { return l.close() }

func (l *Log) shutdown() error {
	close(l.closing)
	<-l.stopped
	l.viewMu.Lock()
	view := l.view
	l.view = nil
	l.viewMu.Unlock()
	view.Close()
	// flushed tables have checksums, and the next start need not replay the write-ahead log
	return errors.Join(l.db.Flush(), l.headFile.Sync(), l.closeFiles())
}

// closeFiles closes the files that are open, the lock last.
func (l *Log) closeFiles() error {
	var errs []error
	if l.view != nil {
		l.view.Close()
	}
	if l.db != nil {
		errs = append(errs, l.db.Close())
	}
	if l.headFile != nil {
		errs = append(errs, l.headFile.Close())
	}
	return errors.Join(append(errs, l.lock.Close())...)
}

// markHead writes the newest durable record to the head file. An error is logged and not
// returned: it only weakens the check of the next start.
func (l *Log) markHead(position uint64, link hash) {
	if _, err := l.headFile.WriteAt(headMark{l.id, position, link}.encode(), 0); err != nil {
		l.logger.Error("cannot write the head file of the event log", "error", err)
	}
}

// reader is a database or a snapshot of it.
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
		return nil, l.readError(0, err)
	}
	value = append(make([]byte, 0, len(value)), value...)
	return value, closer.Close()
}

// readError returns a *CorruptError for damage that the storage found, and otherwise wraps err.
func (l *Log) readError(position uint64, err error) error {
	if pebble.IsCorruptionError(err) {
		return &CorruptError{Dir: l.dir, Position: position, Reason: err.Error(), Err: err}
	}
	return fmt.Errorf("read the event log: %w", err)
}

// record reads the record at a position; a missing one is a *CorruptError.
func (l *Log) record(from reader, position uint64) (Record, error) {
	s, err := l.storedRecord(from, position)
	return s.Record, err
}

// recordAt reads the record of a stream's revision; a missing one is a *CorruptError.
func (l *Log) recordAt(from reader, stream string, revision uint64) (Record, error) {
	value, err := l.readValue(from, appendRevisionKey(nil, stream, revision))
	if err != nil {
		return Record{}, err
	}
	if len(value) != 8 {
		return Record{}, &CorruptError{Dir: l.dir, Reason: fmt.Sprintf("revision %d of stream %q is missing from the index", revision, stream)}
	}
	return l.record(from, binary.BigEndian.Uint64(value))
}

// head reads the head of a stream; a stream never written to has last = -1.
func (l *Log) head(from reader, stream string) (head, error) {
	value, err := l.readValue(from, headKey(stream))
	if err != nil {
		return head{}, err
	}
	if value == nil {
		return head{last: -1}, nil
	}
	h, ok := parseHead(value)
	if !ok {
		return head{}, &CorruptError{Dir: l.dir, Reason: fmt.Sprintf("the head of stream %q cannot be read", stream)}
	}
	return h, nil
}

// state reads the state of a stream: head and metadata.
func (l *Log) state(from reader, stream string) (*streamState, error) {
	h, err := l.head(from, stream)
	if err != nil {
		return nil, err
	}
	s := &streamState{head: h}
	if IsMetaStream(stream) {
		return s, nil
	}
	metaHead, err := l.head(from, MetaStream(stream))
	if err != nil || metaHead.last < 0 {
		return s, err
	}
	record, err := l.record(from, metaHead.position)
	if err != nil {
		return nil, err
	}
	s.hasMetadata = true
	s.metadataPosition = metaHead.position
	s.metadata = parseMetadata(metadataBytes(record.Type, record.Data))
	return s, nil
}

// storageLogger passes the storage's messages to a logger. Fatalf exits: it must not return.
type storageLogger struct{ to *slog.Logger }

func (s storageLogger) Infof(format string, args ...any) {
	s.to.Debug("storage", "message", fmt.Sprintf(format, args...))
}

func (s storageLogger) Errorf(format string, args ...any) {
	s.to.Error("storage", "message", fmt.Sprintf(format, args...))
}

func (s storageLogger) Fatalf(format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	s.to.Error("storage failed; exiting, because it is not known what reached the disk. Everything acknowledged is stored: free space or replace the disk, then start again", "message", message)
	fmt.Fprintln(os.Stderr, "reckon: event log storage failed:", message)
	os.Exit(1)
}
