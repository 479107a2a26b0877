package verification

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"reckon/domain/verification"
	"reckon/runners/checker"
	"reckon/runners/checker/checkertest"
)

//go:generate go test . -run ^(TestExamples|TestDocument)$ -count=1 -update

var update = flag.Bool("update", false, "write the outcomes of the examples and docs/verification.md")

const examplesFile = "testdata/examples.json"

// The examples in the documentation are what the service answers.
func TestExamples(t *testing.T) {
	c := checkertest.Start(t, checker.Options{Idle: 1})
	var shown []Shown
	for _, rule := range verification.Rules() {
		d := rule.Declare()
		for _, example := range d.Examples {
			result := outcome(t, c, example.Input, example.Answer, checkSteps)
			if result.Method != d.Slug {
				t.Errorf("%s is an example of %s and was checked by %q (%s)", example.Input, d.Slug, result.Method, result.Reason)
			}
			shown = append(shown, Shown{d.Slug, example.Input, example.Answer, string(result.Verdict), string(result.Basis), string(result.Reason), result.Check, result.Residual})
		}
	}
	if *update {
		text, err := json.MarshalIndent(shown, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		write(t, examplesFile, append(text, '\n'))
		return
	}
	stored := examples(t)
	if len(stored) != len(shown) {
		t.Fatalf("%d examples are declared, %d stored: run go generate ./test/verification", len(shown), len(stored))
	}
	for i := range shown {
		if shown[i] != stored[i] {
			t.Errorf("stored %+v\nnow    %+v\nrun go generate ./test/verification", stored[i], shown[i])
		}
	}
}

// docs/verification.md is what the declarations and the stored outcomes say; this needs no engine.
func TestDocument(t *testing.T) {
	file := filepath.Join(root(t), "docs", "verification.md")
	text := Document(verification.Rules(), examples(t))
	if *update {
		write(t, file, []byte(text))
		return
	}
	stored, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(stored) != text {
		t.Error("docs/verification.md is out of date: run go generate ./test/verification")
	}
}

func examples(t *testing.T) []Shown {
	t.Helper()
	text, err := os.ReadFile(examplesFile)
	if err != nil {
		t.Fatal(err)
	}
	var shown []Shown
	if err := json.Unmarshal(text, &shown); err != nil {
		t.Fatal(err)
	}
	return shown
}

func write(t *testing.T, file string, text []byte) {
	t.Helper()
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
}
