package blobs_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"reckon/domain/event"
	"reckon/internal/blobs"
)

const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

// TestStore is the contract of every store.
func TestStore(t *testing.T) {
	t.Parallel()
	shelves(t, func(t *testing.T, store blobs.Store, _ func(...event.Blob)) { testStore(t, store) })
}

func testStore(t *testing.T, store blobs.Store) {
	ctx := t.Context()
	if err := store.Ready(ctx); err != nil {
		t.Error(err)
	}
	want := event.Blob{SHA256: abc, Bytes: 3}
	for range 2 { // the second finds it there
		if got, err := store.Put(ctx, []byte("abc")); err != nil || got != want {
			t.Fatalf("%+v %v", got, err)
		}
	}
	if got, err := store.PutStream(ctx, strings.NewReader("abc"), 3); err != nil || got != want {
		t.Errorf("%+v %v", got, err)
	}
	if got, err := store.Get(ctx, want); err != nil || string(got) != "abc" {
		t.Errorf("%q %v", got, err)
	}
	if empty, err := store.Put(ctx, nil); err != nil || empty.Bytes != 0 {
		t.Errorf("%+v %v", empty, err)
	}
	if _, err := store.Get(ctx, event.Blob{SHA256: abc, Bytes: 4}); !errors.Is(err, blobs.ErrCorrupt) {
		t.Errorf("another size: %v", err)
	}
	for _, sha := range []string{strings.Repeat("0", 64), "", "../../etc/passwd", strings.ToUpper(abc)} {
		if _, err := store.Get(ctx, event.Blob{SHA256: sha}); !errors.Is(err, blobs.ErrNotFound) {
			t.Errorf("%q: %v", sha, err)
		}
	}
	if _, err := store.PutStream(ctx, strings.NewReader("abcd"), 3); !errors.Is(err, blobs.ErrTooLarge) {
		t.Errorf("over the bound: %v", err)
	}
	broken := io.MultiReader(strings.NewReader("ab"), brokenReader{})
	if _, err := store.PutStream(ctx, broken, 10); !errors.Is(err, errBroken) {
		t.Errorf("broken stream: %v", err)
	}
}

var errBroken = errors.New("broken")

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errBroken }

func TestFolderAfterACrash(t *testing.T) {
	t.Parallel()
	root, ctx := t.TempDir(), context.Background()
	folder, err := blobs.OpenFolder(root)
	if err != nil {
		t.Fatal(err)
	}
	content := bytes.Repeat([]byte("x"), 100_000)
	named, err := folder.Put(ctx, content)
	if err != nil {
		t.Fatal(err)
	}
	leftover := filepath.Join(root, ".incoming-1")
	if err := os.WriteFile(leftover, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := blobs.OpenFolder(root); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(leftover); err != nil {
		t.Error("a file that may be in use was removed")
	}
	if err := os.Chtimes(leftover, time.Time{}, time.Now().Add(-2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if folder, err = blobs.OpenFolder(root); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(leftover); !os.IsNotExist(err) {
		t.Error("a temporary file was left")
	}
	path := filepath.Join(root, named.SHA256[:2], named.SHA256)
	if err := os.WriteFile(path, append([]byte("y"), content[1:]...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Get(ctx, named); !errors.Is(err, blobs.ErrCorrupt) {
		t.Errorf("changed bytes: %v", err)
	}
	if err := os.WriteFile(path, content[1:], 0o600); err != nil { // cut short by a dying disk
		t.Fatal(err)
	}
	if _, err := folder.Put(ctx, content); err != nil {
		t.Fatal(err)
	}
	if got, err := folder.Get(ctx, named); err != nil || !bytes.Equal(got, content) {
		t.Errorf("not repaired: %v", err)
	}
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) != 2 { // the lock and the blob's folder
		t.Errorf("%v %v", entries, err)
	}
}

func TestFolderUnderConcurrentWriters(t *testing.T) {
	t.Parallel()
	folder, err := blobs.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			content := bytes.Repeat([]byte{byte(i % 4)}, 50_000)
			named, err := folder.Put(context.Background(), content)
			if err != nil {
				t.Error(err)
				return
			}
			if got, err := folder.Get(context.Background(), named); err != nil || !bytes.Equal(got, content) {
				t.Error(err)
			}
		})
	}
	group.Wait()
}
