package kernel_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"reckon/domain/lean/export"
	"reckon/domain/lean/internal/leandata"
	"reckon/domain/lean/kernel"
)

func check(t testing.TB, path string) (*export.File, kernel.Result) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	file, err := export.Read(context.Background(), f, export.Limits{})
	if err != nil {
		t.Fatalf("%s: %v", filepath.Base(path), err)
	}
	return file, kernel.Check(context.Background(), file.Store, file.Declarations, kernel.Options{})
}

func TestAcceptsEveryGoodExport(t *testing.T) {
	for _, path := range leandata.Files(t, "accept") {
		file, r := check(t, path)
		if r.Refusal != nil {
			t.Errorf("%s: %s: %v", filepath.Base(path), file.Store.NameString(r.Refusal.Declaration), r.Refusal)
		} else if r.Exhausted != nil {
			t.Errorf("%s: %v", filepath.Base(path), r.Exhausted)
		}
	}
}

func TestRefusesEveryBadExport(t *testing.T) {
	for _, path := range leandata.Files(t, "reject") {
		file, r := check(t, path)
		if r.Refusal == nil {
			t.Errorf("%s is not refused: %+v", filepath.Base(path), r)
			continue
		}
		t.Logf("%s: %s: %v", filepath.Base(path), file.Store.NameString(r.Refusal.Declaration), r.Refusal)
	}
}
