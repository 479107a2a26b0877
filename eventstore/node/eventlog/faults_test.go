package eventlog

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"unsafe"
)

// faultyFiles is a file system in memory that knows what is durable: contents after a sync
// of the file, names after a sync of the folder. It can be told to refuse a call, and it can
// be cloned as a power failure leaves it.
type faultyFiles struct {
	mu      sync.Mutex
	names   map[string]*faultyData
	durable map[string]*faultyData // names after a power failure
	pending []nameChange           // since the folder was synced
	calls   int
	// refuse returns the error of a call, nil for none. A refused write writes the first
	// part of its bytes; a refused sync forgets what it should have synced, as Linux does.
	refuse func(call int, operation string) error
	// noMoreFiles refuses to open a file.
	noMoreFiles bool
	// refuseRead returns the error of a read of these bytes of a file, nil for none.
	refuseRead func(path string, from, to int64) error
}

type nameChange struct {
	dir   string
	apply func(names map[string]*faultyData)
}

type faultyData struct {
	owner    *faultyFiles
	path     string // by which it was opened last
	current  []byte
	synced   []byte
	unsynced []write
}

// write is a write, or with a nil slice a truncation.
type write struct {
	at    int64
	bytes []byte
}

func newFaultyFiles() *faultyFiles {
	return &faultyFiles{names: map[string]*faultyData{}, durable: map[string]*faultyData{}}
}

// call counts a call and returns its error.
func (m *faultyFiles) call(operation string) error {
	m.calls++
	if m.refuse == nil {
		return nil
	}
	return m.refuse(m.calls, operation)
}

func (m *faultyFiles) open(path string) (file, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.noMoreFiles {
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.EMFILE}
	}
	data := m.names[path]
	if data == nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	data.path = path
	return data, nil
}

func (m *faultyFiles) create(path string) (file, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.call("create"); err != nil {
		return nil, err
	}
	data := &faultyData{owner: m}
	m.change(filepath.Dir(path), func(names map[string]*faultyData) { names[path] = data })
	return data, nil
}

// change changes names now, and on the disk once the folder is synced.
func (m *faultyFiles) change(dir string, apply func(names map[string]*faultyData)) {
	apply(m.names)
	m.pending = append(m.pending, nameChange{dir, apply})
}

func (m *faultyFiles) list(dir string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var names []string
	for path := range m.names {
		if filepath.Dir(path) == dir {
			names = append(names, filepath.Base(path))
		}
	}
	slices.Sort(names)
	return names, nil
}

func (m *faultyFiles) makeFolder(string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.call("make folder")
}

func (m *faultyFiles) rename(from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.call("rename"); err != nil {
		return err
	}
	m.change(filepath.Dir(to), func(names map[string]*faultyData) {
		names[to] = names[from]
		delete(names, from)
	})
	return nil
}

func (m *faultyFiles) remove(path string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.call("remove"); err != nil {
		return err
	}
	m.change(filepath.Dir(path), func(names map[string]*faultyData) { delete(names, path) })
	return nil
}

func (m *faultyFiles) syncFolder(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.call("sync folder"); err != nil {
		return err
	}
	m.pending = slices.DeleteFunc(m.pending, func(c nameChange) bool {
		if c.dir == dir {
			c.apply(m.durable)
		}
		return c.dir == dir
	})
	return nil
}

// powerFailure returns the file system as the disk has it: of what was not synced, any
// sector of any write may be there, and a prefix of the changed names.
func (m *faultyFiles) powerFailure(random *rand.Rand) *faultyFiles {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := maps.Clone(m.durable)
	for _, c := range m.pending[:random.IntN(len(m.pending)+1)] {
		c.apply(names)
	}
	after := newFaultyFiles()
	for path, data := range names {
		if data == nil {
			continue // a change of a name that never reached the disk
		}
		contents := slices.Clone(data.synced)
		for _, w := range data.unsynced {
			contents = w.tear(contents, random)
		}
		after.names[path] = &faultyData{owner: after, current: contents, synced: slices.Clone(contents)}
	}
	after.durable = maps.Clone(after.names)
	return after
}

// sector is what is written wholly or not at all: smaller than a disk's, so that records of a small log are torn.
const sector = 64

// tear applies some of the write's sectors.
func (w write) tear(contents []byte, random *rand.Rand) []byte {
	if w.bytes == nil {
		if random.IntN(2) == 0 {
			return contents
		}
		return w.apply(contents)
	}
	whole := random.IntN(3)
	for at := 0; at < len(w.bytes); at += sector {
		if whole == 0 || whole == 1 && random.IntN(2) == 0 {
			contents = write{w.at + int64(at), w.bytes[at:min(at+sector, len(w.bytes))]}.apply(contents)
		}
	}
	return contents
}

func (w write) apply(contents []byte) []byte {
	end := w.at + int64(len(w.bytes))
	if w.bytes == nil {
		return slices.Clone(contents[:min(int64(len(contents)), end)])
	}
	if grow := end - int64(len(contents)); grow > 0 {
		contents = append(contents, make([]byte, grow)...)
	}
	copy(contents[w.at:], w.bytes)
	return contents
}

func (d *faultyData) ReadAt(b []byte, at int64) (int, error) {
	d.owner.mu.Lock()
	defer d.owner.mu.Unlock()
	if d.owner.refuseRead != nil {
		if err := d.owner.refuseRead(d.path, at, at+int64(len(b))); err != nil {
			return 0, &fs.PathError{Op: "read", Path: d.path, Err: err}
		}
	}
	if at >= int64(len(d.current)) {
		return 0, io.EOF
	}
	n := copy(b, d.current[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (d *faultyData) WriteAt(b []byte, at int64) (int, error) {
	d.owner.mu.Lock()
	defer d.owner.mu.Unlock()
	err := d.owner.call("write")
	if err != nil && len(b) <= sector {
		return 0, err
	}
	if err != nil {
		b = b[:len(b)/2]
	}
	w := write{at, append([]byte{}, b...)}
	d.current = w.apply(d.current)
	d.unsynced = append(d.unsynced, w)
	return len(b), err
}

func (d *faultyData) truncate(size int64) error {
	d.owner.mu.Lock()
	defer d.owner.mu.Unlock()
	if err := d.owner.call("truncate"); err != nil {
		return err
	}
	w := write{at: size}
	d.current = w.apply(d.current)
	d.unsynced = append(d.unsynced, w)
	return nil
}

func (d *faultyData) sync() error {
	d.owner.mu.Lock()
	defer d.owner.mu.Unlock()
	writes := d.unsynced
	d.unsynced = nil
	if err := d.owner.call("sync"); err != nil {
		return err // the writes are in the page cache and marked clean, and not on the disk
	}
	for _, w := range writes {
		d.synced = w.apply(d.synced)
	}
	return nil
}

func (d *faultyData) stat() (fileState, error) {
	d.owner.mu.Lock()
	defer d.owner.mu.Unlock()
	return d.state(), nil
}

func (m *faultyFiles) free(string) (int64, error) { return 1 << 40, nil }

func (d *faultyData) state() fileState {
	return fileState{size: int64(len(d.current)), inode: uint64(uintptr(unsafe.Pointer(d)))}
}

func (m *faultyFiles) stat(path string) (fileState, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data := m.names[path]
	if data == nil {
		return fileState{}, &fs.PathError{Op: "stat", Path: path, Err: fs.ErrNotExist}
	}
	return data.state(), nil
}

func (d *faultyData) Close() error { return nil }

// contents returns a copy of every file, by its path below dir.
func (m *faultyFiles) contents(dir string) map[string][]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := map[string][]byte{}
	for path, data := range m.names {
		all[strings.TrimPrefix(path, dir+"/")] = slices.Clone(data.current)
	}
	return all
}

// filesWith is a file system with these contents, durable.
func filesWith(dir string, contents map[string][]byte) *faultyFiles {
	m := newFaultyFiles()
	for name, b := range contents {
		m.names[filepath.Join(dir, name)] = &faultyData{owner: m, current: slices.Clone(b), synced: slices.Clone(b)}
	}
	m.durable = maps.Clone(m.names)
	return m
}

var errFull, errDisk = syscall.ENOSPC, syscall.EIO

// refuseFrom refuses the call with this number, and all after it when for good.
func refuseFrom(number int, forGood bool, err error, operations ...string) func(int, string) error {
	return func(call int, operation string) error {
		if call < number || call > number && !forGood || len(operations) > 0 && !slices.Contains(operations, operation) {
			return nil
		}
		return &fs.PathError{Op: operation, Path: "test", Err: err}
	}
}

var errPowerFailed = errors.New("the power has failed")
