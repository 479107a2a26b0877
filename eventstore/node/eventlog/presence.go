package eventlog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"
)

// A file that is removed, replaced or cut under a running log stays open, and takes writes that
// nobody will find again. So the newest segment and the head file are looked at by their names
// before every acknowledgement, and all files again and again.

// watchEvery is how long a file of the log may be gone from the folder unnoticed while nothing is appended.
const watchEvery = 5 * time.Second

// checkNewest checks that the newest segment and the head file are in the folder, and that
// nobody else has changed their lengths.
func (l *Log) checkNewest() error {
	if err := l.checkTail(); err != nil {
		return err
	}
	return l.checkFile(filepath.Join(l.dir, headFileName), l.headState, headFileBytes, 0)
}

func (l *Log) checkTail() error {
	tail := l.segments.Load().tail()
	c := tail.current()
	return l.checkFile(tail.path, c.state, c.end.Load(), tail.base+1)
}

// checkFile checks that the file of this name is the one that was opened, and has size bytes.
func (l *Log) checkFile(path string, was fileState, size int64, position uint64) error {
	name, _ := filepath.Rel(l.dir, path) // it is below
	now, err := l.files.stat(path)
	reason := ""
	switch {
	case errors.Is(err, fs.ErrNotExist):
		reason = "the file was removed while the log was open"
	case err != nil:
		return l.storageError("look at "+name, err)
	case !now.isSame(was):
		reason = "another file was put in its place while the log was open"
	case now.size != size:
		reason = fmt.Sprintf("the file has %d bytes, the log wrote %d: it was changed while the log was open", now.size, size)
	default:
		return nil
	}
	damage := &CorruptError{Dir: l.dir, Position: position, File: name, Reason: reason}
	if name == headFileName {
		damage.Advice = acceptEndAdvice
	}
	return damage
}

// checkFiles checks that every file of the log is in the folder; nil when the log has ended
// the taking of appends before, and the error that ends it now.
func (l *Log) checkFiles() error {
	before := l.Err()
	segments := *l.segments.Load()
	for _, s := range segments[:len(segments)-1] {
		if err := l.checkSealed(s); err != nil {
			l.fail(err)
			if l.known == nil {
				break
			}
		}
	}
	// the writer may be at work: then it looks itself before it acknowledges
	if err := l.checkNewestBetweenGroups(); err != nil {
		l.fail(err)
	}
	if before != nil {
		return nil
	}
	return l.Err()
}

func (l *Log) checkSealed(s *segment) error {
	s.mu.Lock() // a scavenge renames under it
	defer s.mu.Unlock()
	return l.checkFile(s.path, s.now.state, s.now.end.Load(), s.base+1)
}

func (l *Log) checkNewestBetweenGroups() error {
	l.writing.Lock()
	defer l.writing.Unlock()
	return l.checkNewest()
}

// watcher looks at the files of a log from time to time.
type watcher struct {
	cancel context.CancelFunc
	done   chan struct{}
}

func (w *watcher) start(l *Log, every time.Duration) {
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel, w.done = cancel, make(chan struct{})
	go func() {
		defer close(w.done)
		for sleep(ctx, every) == nil && (l.Err() == nil || l.known != nil) && l.checkFiles() == nil {
		}
	}()
}

func (w *watcher) stop() {
	w.cancel()
	<-w.done
}
