package blobs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"reckon/domain/event"
	"reckon/internal/blobs"
	"reckon/test/wait"
)

const logID = "0198a1b2-0000-7000-8000-000000000001"

func openFolder(t *testing.T, root string) *blobs.Folder {
	t.Helper()
	folder, err := blobs.OpenFolder(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := folder.UsedBy(t.Context(), logID); err != nil {
		t.Fatal(err)
	}
	return folder
}

func put(t *testing.T, store blobs.Store, content string) event.Blob {
	t.Helper()
	named, err := store.Put(t.Context(), []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	return named
}

// age makes blobs two days old.
func age(t *testing.T, root string, named ...event.Blob) {
	t.Helper()
	for _, b := range named {
		if err := os.Chtimes(filepath.Join(root, b.SHA256[:2], b.SHA256), time.Time{}, time.Now().Add(-48*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
}

func has(t *testing.T, store blobs.Store, b event.Blob) bool {
	t.Helper()
	_, err := store.Get(t.Context(), b)
	if err != nil && !errors.Is(err, blobs.ErrNotFound) {
		t.Fatal(err)
	}
	return err == nil
}

// logOf is a log whose events hold these texts.
func logOf(texts ...string) func(context.Context, func([]byte)) error {
	return func(_ context.Context, visit func([]byte)) error {
		for _, text := range texts {
			visit([]byte(text))
		}
		return nil
	}
}

func TestCollect(t *testing.T) {
	t.Parallel()
	shelves(t, func(t *testing.T, store blobs.Store, age func(...event.Blob)) {
		inEvent, inText := put(t, store, "an event names it"), put(t, store, "a text within an event names it")
		deepest := put(t, store, "a blob that a blob names names it")
		deeper := put(t, store, strings.Repeat("x", 300_000)+deepest.SHA256)
		carrier := put(t, store, `{"export":{"sha256":"`+deeper.SHA256+`"}}`)
		unnamed := put(t, store, "nobody names it")
		byUnnamed := put(t, store, "a blob that nobody names names it")
		idle := put(t, store, "nobody names it, and it names "+byUnnamed.SHA256)
		young := put(t, store, "nobody names it yet")
		age(inEvent, inText, deepest, deeper, carrier, unnamed, byUnnamed, idle)
		nested, err := json.Marshal(`{"sha256":"` + inText.SHA256 + `"}`)
		if err != nil {
			t.Fatal(err)
		}
		c := blobs.Collection{LogID: logID, OlderThan: 24 * time.Hour, DryRun: true, ReadLog: logOf(
			`{"blob":{"sha256":"`+inEvent.SHA256+`","bytes":3}}`, `{"payload":`+string(nested)+`}`, `{"payload":{"blob":"`+carrier.SHA256+`"}}`)}
		for _, dryRun := range []bool{true, false} {
			c.DryRun = dryRun
			got, err := store.Collect(t.Context(), c)
			got.Step = ""
			want := blobs.Collected{Blobs: 9, Bytes: got.Bytes, Young: 1, Unnamed: 3, UnnamedBytes: unnamed.Bytes + byUnnamed.Bytes + idle.Bytes}
			if err != nil || got != want {
				t.Errorf("%+v, want %+v (%v)", got, want, err)
			}
			for _, b := range []event.Blob{inEvent, inText, deepest, deeper, carrier, young} {
				if !has(t, store, b) {
					t.Errorf("%+v was removed", b)
				}
			}
			for _, b := range []event.Blob{unnamed, byUnnamed, idle} {
				if has(t, store, b) != dryRun {
					t.Errorf("%+v is there: %t", b, !dryRun)
				}
			}
		}
		if got, err := store.Collect(t.Context(), c); err != nil || got.Blobs != 6 || got.Unnamed != 0 {
			t.Errorf("collected again: %+v %v", got, err)
		}
	})
}

// TestCollectAbandoned: what an interrupted upload left in a folder goes, and a dry run leaves it.
func TestCollectAbandoned(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	folder := openFolder(t, root)
	leftover := filepath.Join(root, ".incoming-1")
	if err := os.WriteFile(leftover, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(leftover, time.Time{}, time.Now().Add(-2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	for _, dryRun := range []bool{true, false} {
		got, err := folder.Collect(t.Context(), blobs.Collection{LogID: logID, OlderThan: 24 * time.Hour, DryRun: dryRun, ReadLog: logOf()})
		if err != nil || got.Abandoned != 1 || got.AbandonedBytes != 4 {
			t.Errorf("%+v %v", got, err)
		}
		if _, err := os.Stat(leftover); os.IsNotExist(err) == dryRun {
			t.Errorf("the temporary file: %v", err)
		}
	}
}

// TestCollectRefuses: where it is not certain whose events name the blobs, or what is young, nothing is removed.
func TestCollectRefuses(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	folder, err := blobs.OpenFolder(root)
	if err != nil {
		t.Fatal(err)
	}
	unnamed := put(t, folder, "nobody names it")
	age(t, root, unnamed)
	collection := blobs.Collection{LogID: logID, OlderThan: 24 * time.Hour, ReadLog: logOf()}
	refused := func(because string) {
		t.Helper()
		var foreign *blobs.NotOfLogError
		if _, err := folder.Collect(t.Context(), collection); !errors.As(err, &foreign) {
			t.Errorf("%s: %v", because, err)
		}
	}
	refused("no log is known")
	if err := folder.UsedBy(t.Context(), "another"); err != nil {
		t.Fatal(err)
	}
	refused("another log")
	if err := folder.UsedBy(t.Context(), logID); err != nil {
		t.Fatal(err)
	}
	refused("two logs")
	if err := os.Remove(filepath.Join(root, ".log-another")); err != nil {
		t.Fatal(err)
	}
	broken := collection
	broken.ReadLog = func(context.Context, func([]byte)) error { return errBroken }
	if _, err := folder.Collect(t.Context(), broken); !errors.Is(err, errBroken) {
		t.Errorf("a log that cannot be read: %v", err)
	}
	hasty := collection
	hasty.OlderThan = time.Minute
	if _, err := folder.Collect(t.Context(), hasty); err == nil {
		t.Error("collected what may be named any moment")
	}
	if !has(t, folder, unnamed) {
		t.Error("a refusal removed a blob")
	}
	if got, err := folder.Collect(t.Context(), collection); err != nil || got.Unnamed != 1 || has(t, folder, unnamed) {
		t.Errorf("%+v %v", got, err)
	}
}

// TestStoredAgainMeanwhile: a content that is stored again after the log was read stays, whether it was found or written.
func TestStoredAgainMeanwhile(t *testing.T) {
	t.Parallel()
	shelves(t, func(t *testing.T, store blobs.Store, age func(...event.Blob)) {
		found, streamed := put(t, store, "found"), put(t, store, "streamed")
		age(found, streamed)
		got, err := store.Collect(t.Context(), blobs.Collection{LogID: logID, OlderThan: 24 * time.Hour, ReadLog: func(ctx context.Context, _ func([]byte)) error {
			put(t, store, "found")
			_, err := store.PutStream(ctx, strings.NewReader("streamed"), 100)
			return err
		}})
		if err != nil || got.Unnamed != 0 || !has(t, store, found) || !has(t, store, streamed) {
			t.Errorf("%+v %v", got, err)
		}
	})
}

// TestTwoCollectors: what another collector removed in between, and was stored again, stays.
func TestTwoCollectors(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	folder := openFolder(t, root)
	written := put(t, folder, "written")
	age(t, root, written)
	got, err := folder.Collect(t.Context(), blobs.Collection{LogID: logID, OlderThan: 24 * time.Hour, ReadLog: func(context.Context, func([]byte)) error {
		if err := os.Remove(filepath.Join(root, written.SHA256[:2], written.SHA256)); err != nil {
			return err
		}
		put(t, folder, "written")
		return nil
	}})
	if err != nil || got.Unnamed != 0 || !has(t, folder, written) {
		t.Errorf("%+v %v", got, err)
	}
}

// TestEveryMentionIsFound compares with a search for each name, over streams cut anywhere.
func TestEveryMentionIsFound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		root := t.TempDir()
		folder := openFolder(t, root)
		a, b := put(t, folder, "a"), put(t, folder, "b")
		age(t, root, a, b)
		piece := rapid.SampledFrom([]string{a.SHA256, a.SHA256[1:], a.SHA256[:63], b.SHA256, "a", "f0", `"`, " ", strings.ToUpper(b.SHA256), strings.Repeat("0", 64)})
		text := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(rt, "text"), "")
		inBlob := rapid.Bool().Draw(rt, "in a blob")
		read := logOf(text)
		if inBlob {
			padding := strings.Repeat("z", rapid.IntRange(262_144-200, 262_144+10).Draw(rt, "padding")) // around the end of a window
			put(t, folder, padding+text)
			read = logOf()
		}
		if _, err := folder.Collect(t.Context(), blobs.Collection{LogID: logID, OlderThan: time.Hour, ReadLog: read}); err != nil {
			rt.Fatal(err)
		}
		for _, named := range []event.Blob{a, b} {
			if has(t, folder, named) != strings.Contains(text, named.SHA256) {
				rt.Errorf("%s in %q: it is there: %t", named.SHA256, text, has(t, folder, named))
			}
		}
	})
}

// Processes of TestCollectBesideUploads; each is this test's binary.
const (
	roleVariable = "BLOBS_TEST_ROLE" // upload or collect
	rootVariable = "BLOBS_TEST_ROOT"
	contents     = 400 // each is there at first, old, and named by nobody; the even ones are uploaded again
)

func TestMain(m *testing.M) {
	role, root := os.Getenv(roleVariable), os.Getenv(rootVariable)
	if role == "" {
		os.Exit(m.Run())
	}
	folder, err := blobs.OpenFolder(root)
	if err == nil {
		err = map[string]func(*blobs.Folder, string) error{"upload": uploadAll, "collect": collectOnce}[role](folder, root+".log")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, role, err)
		os.Exit(1)
	}
}

func contentOf(i int) []byte { return []byte("content " + strconv.Itoa(i)) }

// uploadAll stores the even contents in some order and appends the name of each to the log.
func uploadAll(folder *blobs.Folder, log string) error {
	file, err := os.OpenFile(log, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	for _, i := range rand.Perm(contents / 2) {
		named, err := folder.Put(context.Background(), contentOf(2*i))
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(file, named.SHA256); err != nil {
			return err
		}
	}
	return file.Close()
}

func collectOnce(folder *blobs.Folder, log string) error {
	_, err := folder.Collect(context.Background(), blobs.Collection{LogID: logID, OlderThan: 24 * time.Hour, ReadLog: func(_ context.Context, visit func([]byte)) error {
		data, err := os.ReadFile(log)
		visit(data)
		return err
	}})
	return err
}

// TestCollectBesideUploads: processes upload contents that are there, old and unnamed, while others collect and are
// killed at any moment: whatever the log names is there, and in the end nothing else is.
func TestCollectBesideUploads(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "blobs")
	folder := openFolder(t, root)
	for i := range contents {
		age(t, root, put(t, folder, string(contentOf(i))))
	}
	if err := os.WriteFile(root+".log", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	start := func(role string) *exec.Cmd {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		command := exec.CommandContext(t.Context(), self)
		command.Env = append(os.Environ(), roleVariable+"="+role, rootVariable+"="+root)
		command.Stderr = os.Stderr
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		return command
	}
	var uploads, collections sync.WaitGroup
	uploaded := make(chan struct{})
	for range 2 {
		collections.Go(func() {
			for killed := false; ; killed = !killed {
				select {
				case <-uploaded:
					return
				default:
				}
				c := start("collect")
				if killed {
					wait.Pace(rand.N(20 * time.Millisecond))
					_ = c.Process.Kill() // it may have ended
				}
				if err := c.Wait(); err != nil && !killed {
					t.Error(err)
				}
			}
		})
	}
	for range 3 {
		uploads.Go(func() {
			if err := start("upload").Wait(); err != nil {
				t.Error(err)
			}
		})
	}
	uploads.Wait()
	close(uploaded)
	collections.Wait()
	if err := start("collect").Wait(); err != nil {
		t.Fatal(err)
	}
	named, err := os.ReadFile(root + ".log")
	if err != nil || bytes.Count(named, []byte("\n")) != 3*contents/2 {
		t.Fatalf("%d names, %v", bytes.Count(named, []byte("\n")), err)
	}
	there := 0
	for i := range contents {
		b := put(t, openFolder(t, t.TempDir()), string(contentOf(i)))
		switch is := has(t, folder, b); {
		case is != (i%2 == 0):
			t.Errorf("content %d is there: %t", i, is)
		case is:
			there++
		}
	}
	if there != contents/2 {
		t.Errorf("%d contents are there", there)
	}
}
