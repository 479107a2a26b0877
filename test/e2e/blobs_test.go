package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"reckon/domain/event"
	"reckon/internal/blobs"
)

// TestBlobsAreCollectedBesideTheServer: while a server answers, and stores contents again that nobody named until then,
// what no event names is removed and nothing else: every receipt is served, and history is built again from the blobs.
func TestBlobsAreCollectedBesideTheServer(t *testing.T) {
	t.Parallel()
	data := DataFolder(t)
	server := Start(t, data, "--config", GenerousPlans(t, data))
	account := server.NewAccount("blobs@example.com")
	folder, err := blobs.OpenFolder(filepath.Join(data, "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	orphan, err := folder.Put(t.Context(), []byte("no event names it"))
	if err != nil {
		t.Fatal(err)
	}
	runs := []int64{evaluateLong(t, account, 0)}
	ageBlobs(t, data)
	leftover := filepath.Join(data, "blobs", ".incoming-left")
	if err := os.WriteFile(leftover, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(leftover, time.Time{}, time.Now().Add(-48*time.Hour)); err != nil {
		t.Fatal(err)
	}
	collect := func(arguments ...string) (c blobs.Collected) {
		t.Helper()
		said := server.Command("", append([]string{"blobs", "collect", "--json"}, arguments...)...)
		if err := json.Unmarshal([]byte(said[strings.Index(said, "{"):]), &c); err != nil {
			t.Fatalf("%v in %s", err, said)
		}
		return c
	}
	if c := collect("--dry-run"); c.Unnamed != 1 || c.UnnamedBytes != orphan.Bytes || c.Abandoned != 1 || c.Blobs < 3 || c.Young != 0 {
		t.Errorf("a dry run found %+v", c)
	}
	if _, err := folder.Get(t.Context(), orphan); err != nil {
		t.Errorf("after the dry run: %v", err)
	}

	// Contents that are there, old and named by nobody when the server stores them again.
	const again = 8
	for i := range again {
		for _, name := range []string{expressionOf(i + 1), answerOf(i + 1)} {
			if _, err := folder.Put(t.Context(), []byte(name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	ageBlobs(t, data)
	var evaluating sync.WaitGroup
	evaluating.Go(func() {
		for i := range again {
			runs = append(runs, evaluateLong(t, account, i+1))
		}
	})
	removed := int64(0)
	for range 4 {
		removed += collect().Unnamed
	}
	evaluating.Wait()
	ageBlobs(t, data)
	removed += collect().Unnamed
	if removed < 1 {
		t.Error("nothing was removed")
	}
	if _, err := folder.Get(t.Context(), orphan); !errors.Is(err, blobs.ErrNotFound) {
		t.Errorf("what no event names: %v", err)
	}
	if _, err := os.Stat(leftover); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a temporary file: %v", err)
	}
	if c := collect(); c.Unnamed != 0 || c.Abandoned != 0 {
		t.Errorf("collected again: %+v", c)
	}
	for i, runID := range runs {
		var receipt struct {
			Record struct {
				Expression string `json:"expression"`
			} `json:"record"`
		}
		if err := account.JSON("GET", fmt.Sprintf("/api/receipts/%d", runID), nil, &receipt); err != nil || receipt.Record.Expression != expressionOf(i) {
			t.Errorf("receipt of run %d: %v", runID, err)
		}
	}
	server.Command("", "projections", "boot", "history")
}

// expressionOf is an expression, and answerOf its answer, both longer than an event holds.
func expressionOf(i int) string { return answerOf(i) }

func answerOf(i int) string {
	return "{" + strings.TrimSuffix(strings.Repeat(fmt.Sprintf("%d, ", 1000+i), event.MaxInlineBytes/6+100), ", ") + "}"
}

func evaluateLong(t *testing.T, account *Account, i int) int64 {
	t.Helper()
	var e evaluation
	if err := account.JSON("POST", "/api/evaluate", map[string]string{"expression": expressionOf(i)}, &e); err != nil || e.Result != answerOf(i) {
		t.Errorf("evaluation %d: %.100s, %v", i, e.Result, err)
	}
	return e.RunID
}

// ageBlobs makes all blobs two days old.
func ageBlobs(t *testing.T, data string) {
	t.Helper()
	then := time.Now().Add(-48 * time.Hour)
	err := filepath.WalkDir(filepath.Join(data, "blobs"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if err := os.Chtimes(path, time.Time{}, then); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
