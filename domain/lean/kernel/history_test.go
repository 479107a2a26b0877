package kernel_test

import (
	"os"
	"path/filepath"
	"testing"

	"reckon/domain/lean/internal/attack"
	"reckon/domain/lean/internal/histories"
	"reckon/domain/lean/internal/leantest"
)

// No answer depends on what was asked before. Every export below is checked as ever, with all caches off, and with
// questions in between that nobody asked: accepted, or refused at the same declaration for the same reason. A part of them
// is in a plain run; QUESTIONS=all takes all. Traps and mutants come here through checkText and mutate.

// sampled says whether a text is compared: one in n, or every one.
func sampled(text []byte, n uint32) bool { return allCompared() || histories.Sampled(text, n) }

func allCompared() bool { return os.Getenv("QUESTIONS") == "all" }

func compare(t testing.TB, name string, text []byte) histories.Count {
	t.Helper()
	difference, count := histories.Compare(text)
	if difference != "" {
		t.Errorf("%s: %s", name, difference)
	}
	return count
}

// largestCompared is the size of the largest export that is compared unless all are.
const largestCompared = 1 << 15

func TestAnswersHaveNoHistory(t *testing.T) {
	t.Parallel()
	folders := []string{filepath.Join("..", "internal", "rules", "testdata"), filepath.Join("..", "internal", "attack", "testdata", "hunted"), filepath.Join("testdata", "cost")}
	for _, folder := range []string{"accept", "judge", "reject"} {
		t.Run(folder, func(t *testing.T) { compareFiles(t, leantest.SharedDir(t, folder)) })
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) { compareFiles(t, folder) })
	}
	t.Run("attacks", func(t *testing.T) {
		var count histories.Count
		for family, recipes := range attack.Recipes() {
			for _, r := range recipes {
				text := []byte(r.Export("4.29.1"))
				if family == "histories" || sampled(text, 4) {
					count.Add(compare(t, family+"/"+r.Name, text))
				}
			}
		}
		t.Log(count)
	})
}

func compareFiles(t *testing.T, folder string) {
	files, err := filepath.Glob(filepath.Join(folder, "*.ndjson"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no exports in %s: %v", folder, err)
	}
	var count histories.Count
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if allCompared() || len(text) <= largestCompared && histories.Sampled(text, 4) {
			count.Add(compare(t, filepath.Base(path), text))
		}
	}
	t.Log(count)
}
