package eventlog

import (
	"io"
	"os"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// indexFiles is the file system under the index. The storage library answers a write that
// fails with endless repetitions or the end of the process. So it never sees one: when the
// disk refuses a write of the running log, the log is told, and the write waits for the
// log's end, while what is in memory and on disk can be read. From then on writes
// are dropped, so that the library ends in order; the index is built again at the next start.
type indexFiles struct {
	vfs.FS
	refused func(operation string, err error) // called for the first write that fails later
	running chan struct{}                     // closed when the library has opened the index; errors are passed on before
	ending  chan struct{}                     // closed when the log ends
	end     func()                            // closes ending

	mu     sync.Mutex
	failed bool  // a write was refused
	passed error // the newest error that was passed on
}

func newIndexFiles(under vfs.FS, refused func(string, error)) *indexFiles {
	i := &indexFiles{FS: under, refused: refused, running: make(chan struct{}), ending: make(chan struct{})}
	i.end = sync.OnceFunc(func() { close(i.ending) })
	return i
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// write calls do unless writes are dropped. Errors are passed on only while the index is being opened.
func (i *indexFiles) write(operation string, do func() error) error {
	i.mu.Lock()
	dropped := i.failed
	i.mu.Unlock()
	if dropped {
		<-i.ending
		return nil
	}
	err := do()
	if err == nil {
		return nil
	}
	if !isClosed(i.running) {
		i.mu.Lock()
		i.passed = err
		i.mu.Unlock()
		return err
	}
	i.mu.Lock()
	first := !i.failed
	i.failed = true
	i.mu.Unlock()
	if first {
		i.refused(operation, err)
	}
	<-i.ending
	return nil
}

// passedOn is the newest error that the library was told, nil for none.
func (i *indexFiles) passedOn() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.passed
}

// hasFailed reports whether writes were dropped: what is on disk is then not the index.
func (i *indexFiles) hasFailed() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.failed
}

// Lock does nothing: the log's own lock covers the index, and a library that gave up while it
// opened the index would keep its lock.
func (i *indexFiles) Lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }

// Unwrap hides the file system below, for the library would write through it.
func (i *indexFiles) Unwrap() vfs.FS { return nil }

func (i *indexFiles) make(operation string, do func() (vfs.File, error)) (vfs.File, error) {
	var f vfs.File
	err := i.write(operation, func() (err error) {
		f, err = do()
		return err
	})
	if err != nil {
		return nil, err
	}
	if f == nil {
		if f, err = vfs.NewMem().Create("dropped", vfs.WriteCategoryUnspecified); err != nil {
			return nil, err
		}
	}
	return &indexFile{f, i}, nil
}

func (i *indexFiles) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return i.make("create a file of the index", func() (vfs.File, error) { return i.FS.Create(name, category) })
}

func (i *indexFiles) OpenReadWrite(name string, category vfs.DiskWriteCategory, options ...vfs.OpenOption) (vfs.File, error) {
	return i.make("open a file of the index", func() (vfs.File, error) { return i.FS.OpenReadWrite(name, category, options...) })
}

func (i *indexFiles) ReuseForWrite(from, to string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return i.make("reuse a file of the index", func() (vfs.File, error) { return i.FS.ReuseForWrite(from, to, category) })
}

func (i *indexFiles) OpenDir(name string) (vfs.File, error) {
	return i.make("open the folder of the index", func() (vfs.File, error) { return i.FS.OpenDir(name) })
}

func (i *indexFiles) Link(from, to string) error {
	return i.write("link a file of the index", func() error { return i.FS.Link(from, to) })
}

func (i *indexFiles) Rename(from, to string) error {
	return i.write("rename a file of the index", func() error { return i.FS.Rename(from, to) })
}

func (i *indexFiles) MkdirAll(dir string, mode os.FileMode) error {
	return i.write("make the folder of the index", func() error { return i.FS.MkdirAll(dir, mode) })
}

type indexFile struct {
	vfs.File
	files *indexFiles
}

const writeIndex = "write the index"

func (f *indexFile) Write(b []byte) (n int, err error) {
	n = len(b) // when the write is dropped
	err = f.files.write(writeIndex, func() (err error) {
		n, err = f.File.Write(b)
		return err
	})
	if err == nil {
		n = len(b)
	}
	return n, err
}

func (f *indexFile) WriteAt(b []byte, at int64) (n int, err error) {
	err = f.files.write(writeIndex, func() (err error) {
		n, err = f.File.WriteAt(b, at)
		return err
	})
	if err == nil {
		n = len(b)
	}
	return n, err
}

func (f *indexFile) Preallocate(at, length int64) error {
	return f.files.write(writeIndex, func() error { return f.File.Preallocate(at, length) })
}

const syncIndex = "sync the index"

func (f *indexFile) Sync() error { return f.files.write(syncIndex, f.File.Sync) }

func (f *indexFile) SyncData() error { return f.files.write(syncIndex, f.File.SyncData) }

func (f *indexFile) SyncTo(length int64) (full bool, err error) {
	err = f.files.write(syncIndex, func() (err error) {
		full, err = f.File.SyncTo(length)
		return err
	})
	return full, err
}
