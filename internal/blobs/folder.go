package blobs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"reckon/domain/event"
	"reckon/internal/disk"
)

// Folder is a Store in a local folder.
type Folder struct {
	root    string
	refused atomic.Bool // its disk took no write, until it takes a trial
}

// abandonedAfter is the age at which a temporary file was left by a crash and is removed.
const abandonedAfter = time.Hour

// OpenFolder opens or creates a folder and removes the temporary files that a crash left in it.
func OpenFolder(root string) (*Folder, error) {
	if err := disk.MakeFolder(root); err != nil {
		return nil, fmt.Errorf("blob folder: %w", err)
	}
	f := ExistingFolder(root)
	return f, f.eachAbandoned(func(path string, _ int64) error {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("blob folder: %w", err)
		}
		return nil
	})
}

// ExistingFolder returns a folder as it is; a missing one has no blobs.
func ExistingFolder(root string) *Folder { return &Folder{root: root} }

// Put is Store.
func (f *Folder) Put(ctx context.Context, content []byte) (event.Blob, error) {
	named := nameOf(content)
	if reused, err := f.reuse(named); err != nil {
		return event.Blob{}, err
	} else if reused {
		return named, f.syncFolders(named)
	}
	return f.PutStream(ctx, bytes.NewReader(content), named.Bytes)
}

// PutStream is Store: temporary file in the same file system, sync, rename, sync of the folder.
func (f *Folder) PutStream(ctx context.Context, r io.Reader, maxBytes int64) (named event.Blob, err error) {
	defer func() {
		if disk.Refuses(err) {
			f.refused.Store(true)
			err = &UnavailableError{Err: err, Refuses: true}
		}
	}()
	if err := ctx.Err(); err != nil {
		return event.Blob{}, err
	}
	incoming, err := os.CreateTemp(f.root, temporaryPrefix)
	if err != nil {
		return event.Blob{}, fmt.Errorf("blob folder: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(incoming.Name())
		}
	}()
	named, err = copyHashed(incoming, r, maxBytes)
	if err != nil {
		return event.Blob{}, errors.Join(err, incoming.Close())
	}
	if err := errors.Join(incoming.Sync(), incoming.Close()); err != nil {
		return event.Blob{}, fmt.Errorf("blob folder: %w", err)
	}
	return named, f.renameDurably(incoming.Name(), named)
}

// renameDurably renames a synced temporary file to its blob's name and syncs the folders.
func (f *Folder) renameDurably(temporary string, named event.Blob) error {
	path, err := f.path(named)
	if err != nil {
		return err
	}
	folder := filepath.Dir(path)
	if err := disk.MakeFolder(folder); err != nil {
		return fmt.Errorf("blob folder: %w", err)
	}
	// Renaming over an existing blob replaces it by the same bytes, and by a file of this moment.
	if err := f.locked(unix.LOCK_SH, func() error { return os.Rename(temporary, path) }); err != nil {
		return fmt.Errorf("blob folder: %w", err)
	}
	return syncFolder(folder)
}

// syncFolders makes a blob durable that another writer has just renamed.
func (f *Folder) syncFolders(named event.Blob) error {
	path, err := f.path(named)
	if err != nil {
		return err
	}
	return errors.Join(syncFolder(filepath.Dir(path)), syncFolder(f.root))
}

// reuse renews the time of a blob that is there, which keeps it from being collected before an
// event names it (MinimumAge). false: there is none, or none whose time can be renewed.
func (f *Folder) reuse(b event.Blob) (reused bool, err error) {
	if !f.contains(b) {
		return false, nil
	}
	path, err := f.path(b)
	if err != nil {
		return false, err
	}
	err = f.locked(unix.LOCK_SH, func() error {
		reused = f.contains(b) && os.Chtimes(path, time.Time{}, time.Now()) == nil
		return nil
	})
	return reused, err
}

func (f *Folder) contains(b event.Blob) bool {
	path, err := f.path(b)
	if err != nil {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() == b.Bytes
}

// Get is Store.
func (f *Folder) Get(_ context.Context, b event.Blob) ([]byte, error) {
	path, err := f.path(b)
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNotFound, b.SHA256)
	}
	if err != nil {
		return nil, fmt.Errorf("blob folder: %w", err)
	}
	return content, verifyContent(content, b)
}

// Ready is Store. Nothing is written unless a write was refused: a quota that is used up, or a disk that fails, is not seen otherwise.
func (f *Folder) Ready(context.Context) error {
	if !f.refused.Load() {
		return disk.CheckRoom(f.root)
	}
	if err := disk.TryRoom(f.root); err != nil {
		return &UnavailableError{Err: err, Refuses: true}
	}
	f.refused.Store(false)
	return nil
}

// Close is Store; a folder needs none.
func (f *Folder) Close() error { return nil }

func (f *Folder) path(b event.Blob) (string, error) {
	k, err := relativePath(b.SHA256)
	return filepath.Join(f.root, filepath.FromSlash(k)), err
}

func syncFolder(path string) error {
	if err := disk.SyncFolder(path); err != nil {
		return fmt.Errorf("blob folder: %w", err)
	}
	return nil
}
