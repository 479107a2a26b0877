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
	"time"

	"reckon/domain/event"
)

// Folder is a Store in a local folder.
type Folder struct{ root string }

// abandonedAfter is the age at which a temporary file was left by a crash and is removed.
const abandonedAfter = time.Hour

// OpenFolder opens or creates a folder and removes the temporary files that a crash left in it.
func OpenFolder(root string) (*Folder, error) {
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, fmt.Errorf("blob folder: %w", err)
	}
	leftovers, err := filepath.Glob(filepath.Join(root, temporaryPrefix+"*"))
	if err != nil {
		return nil, fmt.Errorf("blob folder: %w", err)
	}
	for _, leftover := range leftovers {
		info, err := os.Stat(leftover)
		if err != nil || time.Since(info.ModTime()) < abandonedAfter {
			continue // another process may be writing it
		}
		if err := os.Remove(leftover); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("blob folder: %w", err)
		}
	}
	return &Folder{root: root}, nil
}

// Put is Store.
func (f *Folder) Put(ctx context.Context, content []byte) (event.Blob, error) {
	named := nameOf(content)
	if f.contains(named) {
		return named, f.syncFolders(named)
	}
	return f.PutStream(ctx, bytes.NewReader(content), named.Bytes)
}

// PutStream is Store: temporary file in the same file system, sync, rename, sync of the folder.
func (f *Folder) PutStream(ctx context.Context, r io.Reader, maxBytes int64) (named event.Blob, err error) {
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
	switch err := os.Mkdir(folder, 0o700); {
	case err == nil:
		if err := syncFolder(f.root); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrExist):
		return fmt.Errorf("blob folder: %w", err)
	}
	// Renaming over an existing blob replaces it by the same bytes.
	if err := os.Rename(temporary, path); err != nil {
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

// Ready is Store.
func (f *Folder) Ready(context.Context) error {
	_, err := os.Stat(f.root)
	return err
}

// Close is Store; a folder needs none.
func (f *Folder) Close() error { return nil }

func (f *Folder) path(b event.Blob) (string, error) {
	k, err := relativePath(b.SHA256)
	return filepath.Join(f.root, filepath.FromSlash(k)), err
}

func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("blob folder: %w", err)
	}
	if err := errors.Join(folder.Sync(), folder.Close()); err != nil {
		return fmt.Errorf("blob folder: %w", err)
	}
	return nil
}
