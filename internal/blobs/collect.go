package blobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// MinimumAge is the least age of a blob that Collect removes. A blob is stored, or its time is
// renewed, minutes at most before the event that names it is appended.
const MinimumAge = time.Hour

// maxCandidates is how many blobs are looked for in one reading of the log, 33 bytes of memory each.
const maxCandidates = 1 << 20

// Collection configures Store.Collect. All but DryRun and Progress are required.
type Collection struct {
	LogID     string        // of the log that ReadLog reads
	OlderThan time.Duration // blobs younger than this stay, named or not; at least MinimumAge
	DryRun    bool          // remove nothing
	// ReadLog calls visit with everything that the events of the log hold, all of it: a blob that
	// is mentioned nowhere in it, and in no blob that stays, is removed.
	ReadLog  func(ctx context.Context, visit func([]byte)) error
	Progress func(Collected) // nil: nobody is told
}

// Collected is what Collect has found and done so far.
type Collected struct {
	Step           string `json:"-"`               // what it does now, for people
	Blobs          int64  `json:"blobs"`           // in the store
	Bytes          int64  `json:"bytes"`           // of them
	Young          int64  `json:"young"`           // younger than OlderThan: they stay
	Unnamed        int64  `json:"unnamed"`         // older, and mentioned nowhere: removed, unless it is a dry run
	UnnamedBytes   int64  `json:"unnamed_bytes"`   // of them
	Abandoned      int64  `json:"abandoned"`       // temporary files of uploads that were interrupted: likewise
	AbandonedBytes int64  `json:"abandoned_bytes"` // of them
}

// NotOfLogError is returned by Collect for a store that it may not judge by this log.
type NotOfLogError struct {
	Store, LogID string
	Logs         []string // ids of the logs whose servers have used the store
}

func (e *NotOfLogError) Error() string {
	if len(e.Logs) == 0 {
		return fmt.Sprintf("no server has said which log names the blobs in %s: `reckon serve` does when it starts; then collect again", e.Store)
	}
	return fmt.Sprintf("the blobs in %s are named by log %s, and this is log %s: nothing is removed. Where a log's events are gone for good, remove the file or object %s of its id",
		e.Store, strings.Join(e.Logs, " and "), e.LogID, logMark+"ID")
}

// logMark begins the names of the empty files that say whose events name the folder's blobs.
const logMark = ".log-"

// UsedBy is Store.
func (f *Folder) UsedBy(_ context.Context, logID string) error {
	file, err := os.OpenFile(filepath.Join(f.root, logMark+filepath.Base(logID)), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("blob folder: %w", err)
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("blob folder: %w", err)
	}
	return syncFolder(f.root)
}

func (f *Folder) logs(context.Context) (ids []string, err error) {
	err = f.eachEntry(f.root, func(entry fs.DirEntry) error {
		if id, is := strings.CutPrefix(entry.Name(), logMark); is {
			ids = append(ids, id)
		}
		return nil
	})
	return ids, err
}

func checkLog(ctx context.Context, s shelf, logID string) error {
	logs, err := s.logs(ctx)
	if err != nil {
		return err
	}
	if slices.Sort(logs); !slices.Equal(logs, []string{logID}) {
		return &NotOfLogError{Store: s.String(), LogID: logID, Logs: logs}
	}
	return nil
}

// shelf is what collecting needs of a store.
type shelf interface {
	fmt.Stringer
	// logs returns the ids of the logs whose servers have used the store (UsedBy).
	logs(ctx context.Context) ([]string, error)
	// eachBlob calls do for each blob, in no order. It holds few names in memory, however many there are.
	eachBlob(ctx context.Context, do func(hash, shelved) error) error
	// mentionsOf calls found with the names in a blob's content; none when the blob is gone.
	mentionsOf(ctx context.Context, h hash, found func(hash)) error
	// removeOlder removes a blob, unless it was stored again since `before`: then, and when it is gone, it tells false.
	// A dry run tells what it would do.
	removeOlder(ctx context.Context, h hash, before time.Time, dryRun bool) (removed bool, bytes int64, err error)
	// removeAbandoned removes the temporary files that nobody has written for abandonedAfter.
	removeAbandoned(dryRun bool, removed func(bytes int64)) error
}

// shelved is what a listing tells of a blob.
type shelved struct {
	bytes int64
	at    time.Time // when it was stored, or stored again
}

// Collect is Store.
func (f *Folder) Collect(ctx context.Context, c Collection) (Collected, error) {
	return collect(ctx, f, c)
}

func collect(ctx context.Context, s shelf, c Collection) (Collected, error) {
	if c.OlderThan < MinimumAge {
		return Collected{}, fmt.Errorf("blobs younger than %s may be named any moment: collect those older than that", MinimumAge)
	}
	if err := checkLog(ctx, s, c.LogID); err != nil {
		return Collected{}, err
	}
	r := &collecting{Collection: c, shelf: s, before: time.Now().Add(-c.OlderThan)}
	err := s.removeAbandoned(c.DryRun, func(bytes int64) {
		r.done.Abandoned++
		r.done.AbandonedBytes += bytes
	})
	if err != nil {
		return r.done, err
	}
	var old []hash
	err = s.eachBlob(ctx, func(h hash, b shelved) error {
		r.done.Blobs++
		r.done.Bytes += b.bytes
		if !b.at.Before(r.before) {
			r.done.Young++
		} else if old = append(old, h); len(old) == maxCandidates {
			err := r.judge(ctx, old)
			old = old[:0]
			return err
		}
		r.report("listing blobs")
		return nil
	})
	if err == nil && len(old) > 0 {
		err = r.judge(ctx, old)
	}
	r.report("done")
	return r.done, err
}

// collecting is one run of Collect.
type collecting struct {
	Collection
	shelf  shelf
	before time.Time // what was stored or renewed later stays
	done   Collected
}

func (r *collecting) report(step string) {
	if r.done.Step = step; r.Progress != nil {
		r.Progress(r.done)
	}
}

// judge removes those of the blobs that nobody names. A blob is listed before the log is read, so
// that what named it while it was young is read.
func (r *collecting) judge(ctx context.Context, old []hash) error {
	c := newCandidates(old)
	err := r.ReadLog(ctx, func(data []byte) {
		mentions(data, func(h hash) { c.mark(h) })
		r.report("reading the log")
	})
	if err != nil {
		return err
	}
	if err := r.markByBlobs(ctx, c); err != nil {
		return err
	}
	for i, h := range c.hashes {
		if c.named[i] {
			continue
		}
		if err := errors.Join(ctx.Err(), r.removeUnnamed(ctx, h)); err != nil {
			return err
		}
	}
	return nil
}

// markByBlobs marks what blobs that stay mention: a long submission is a blob itself.
func (r *collecting) markByBlobs(ctx context.Context, c *candidates) error {
	if !slices.Contains(c.named, false) {
		return nil
	}
	var named []hash // by a blob; their own mentions are not read yet
	read := func(h hash) error {
		r.report("reading blobs")
		return r.shelf.mentionsOf(ctx, h, func(m hash) {
			if c.mark(m) {
				named = append(named, m)
			}
		})
	}
	err := r.shelf.eachBlob(ctx, func(h hash, _ shelved) error {
		if c.isUnnamed(h) {
			return nil
		}
		return read(h)
	})
	for err == nil && len(named) > 0 {
		h := named[len(named)-1]
		named = named[:len(named)-1]
		err = errors.Join(ctx.Err(), read(h))
	}
	return err
}

// removeUnnamed removes a blob, unless it was stored again since it was listed.
func (r *collecting) removeUnnamed(ctx context.Context, h hash) error {
	removed, bytes, err := r.shelf.removeOlder(ctx, h, r.before, r.DryRun)
	if err != nil || !removed {
		return err
	}
	r.done.Unnamed++
	r.done.UnnamedBytes += bytes
	r.report("removing")
	return nil
}

func (f *Folder) removeOlder(_ context.Context, h hash, before time.Time, dryRun bool) (removed bool, bytes int64, err error) {
	path := f.pathOf(h)
	err = f.locked(unix.LOCK_EX, func() error {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.ModTime().Before(before) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("blob folder: %w", err)
		}
		removed, bytes = true, info.Size()
		if dryRun {
			return nil
		}
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("blob folder: %w", err)
		}
		return nil
	})
	return removed, bytes, err
}

func (f *Folder) removeAbandoned(dryRun bool, removed func(bytes int64)) error {
	return f.eachAbandoned(func(path string, size int64) error {
		if !dryRun {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("blob folder: %w", err)
			}
		}
		removed(size)
		return nil
	})
}

func (f *Folder) String() string { return f.root }

// eachAbandoned calls do for each temporary file that a crash left.
func (f *Folder) eachAbandoned(do func(path string, size int64) error) error {
	return f.eachEntry(f.root, func(entry fs.DirEntry) error {
		if !strings.HasPrefix(entry.Name(), temporaryPrefix) {
			return nil
		}
		info, err := entry.Info()
		if err != nil || time.Since(info.ModTime()) < abandonedAfter {
			return nil // it is gone, or another process may be writing it
		}
		return do(filepath.Join(f.root, entry.Name()), info.Size())
	})
}

func (f *Folder) eachBlob(ctx context.Context, do func(hash, shelved) error) error {
	return f.eachEntry(f.root, func(folder fs.DirEntry) error {
		if !folder.IsDir() || len(folder.Name()) != 2 {
			return nil
		}
		return f.eachEntry(filepath.Join(f.root, folder.Name()), func(entry fs.DirEntry) error {
			h, is := hashOf(folder.Name() + "/" + entry.Name())
			if !is {
				return ctx.Err()
			}
			info, err := entry.Info()
			if errors.Is(err, fs.ErrNotExist) {
				return ctx.Err() // another collector removed it
			}
			if err != nil {
				return fmt.Errorf("blob folder: %w", err)
			}
			return errors.Join(ctx.Err(), do(h, shelved{bytes: info.Size(), at: info.ModTime()}))
		})
	})
}

// entriesAtOnce is how many names of a folder are held in memory.
const entriesAtOnce = 1024

func (f *Folder) eachEntry(path string, do func(fs.DirEntry) error) error {
	folder, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("blob folder: %w", err)
	}
	defer func() { _ = folder.Close() }()
	for {
		entries, err := folder.ReadDir(entriesAtOnce)
		for _, entry := range entries {
			if err := do(entry); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("blob folder: %w", err)
		}
	}
}

func (f *Folder) mentionsOf(_ context.Context, h hash, found func(hash)) error {
	file, err := os.Open(f.pathOf(h))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("blob folder: %w", err)
	}
	defer func() { _ = file.Close() }()
	if err := mentionsIn(file, found); err != nil {
		return fmt.Errorf("blob folder: %w", err)
	}
	return nil
}

func (f *Folder) pathOf(h hash) string { return filepath.Join(f.root, filepath.FromSlash(h.path())) }
