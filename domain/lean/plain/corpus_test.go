package plain

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"

	"testing"
	"time"

	"reckon/domain/lean/export"
	"reckon/domain/lean/internal/leantest"
)

// readFile reads an export. Where the reader refuses it, the file is nil.
func readFile(t testing.TB, path string) *export.File {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return readText(t, text)
}

func readText(t testing.TB, text []byte) *export.File {
	t.Helper()
	file, err := export.Read(context.Background(), bytes.NewReader(text), export.Limits{})
	var bad *export.Error
	if errors.As(err, &bad) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func describe(file *export.File, r Report) string {
	switch {
	case r.Refusal != nil:
		return file.Store.NameString(r.Refusal.Declaration) + ": " + r.Refusal.Error()
	case r.OutOfBudget != nil:
		return file.Store.NameString(r.OutOfBudget.Declaration) + ": " + r.OutOfBudget.Error()
	}
	return "accepted"
}

func TestAcceptsEveryGoodExport(t *testing.T) {
	t.Parallel()
	for _, path := range leantest.AcceptedExports(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			file := readFile(t, path)
			if file == nil {
				return // a format that the reader refuses
			}
			start := time.Now()
			r := Check(context.Background(), file.Store, file.Declarations, Budget{})
			if !r.Accepted() || r.Checked != len(file.Declarations) {
				t.Errorf("%s", describe(file, r))
			}
			if took := time.Since(start); took > time.Second {
				t.Logf("%v, %d steps", took, r.Steps)
			}
		})
	}
}

func TestRefusesEveryBadExport(t *testing.T) {
	t.Parallel()
	refused := func(t *testing.T, path string) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			if file := readFile(t, path); file != nil {
				if r := Check(context.Background(), file.Store, file.Declarations, Budget{}); r.Refusal == nil {
					t.Errorf("not refused: %s", describe(file, r))
				}
			}
		})
	}
	pairs, err := filepath.Glob("../internal/rules/testdata/*.refuse.ndjson")
	if err != nil || len(pairs) < 50 {
		t.Fatalf("%d exports that break a rule: %v", len(pairs), err)
	}
	for _, path := range pairs {
		refused(t, path)
	}
	for _, path := range leantest.SharedFiles(t, "reject") {
		refused(t, path)
	}
}
