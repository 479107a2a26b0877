package verification

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reckon/domain/expression"
	"reckon/domain/verification"
	"reckon/runners/engine"
	"reckon/runners/engine/enginetest"
	"reckon/test/sweep"
)

// A search that cannot look has not found that there is nothing: each module's evaluation, derivatives and normal forms are made blind in
// turn (runners/checker/python/tests/blinded.py), and no wrong answer is verified. Wrong answers of rules that may verify, drawn at random.
func TestBlindSearchesVerifyNothing(t *testing.T) {
	t.Parallel()
	verifies := map[string]bool{}
	for _, rule := range verification.Rules() {
		_, residual := rule.(verification.ResidualRule)
		_, sampled := rule.(verification.SampledRule)
		verifies[rule.Declare().Slug] = residual || sampled
	}
	var tasks [][]byte
	always := 0 // those made against blind searches come first
	for i, load := range []func() ([]Pair, error){Blind, Proofs, Battery, Independent, Forms, Classes, Stranger} {
		pairs, err := load()
		if err != nil {
			t.Fatal(err)
		}
		for _, pair := range pairs {
			if task := taskOf(t, pair); !pair.Right && task != nil && verifies[task.slug] {
				tasks = append(tasks, task.line)
			}
		}
		if i == 0 {
			always = len(tasks)
		}
	}
	drawn := tasks[always:] // by their own hashes, so that a pair more or less changes none of the other draws
	slices.SortFunc(drawn, func(a, b []byte) int {
		x, y := sha256.Sum256(a), sha256.Sum256(b)
		return bytes.Compare(x[:], y[:])
	})
	size := sweep.Size(t, "RECKON_BLINDED", 6, 240)
	command := exec.CommandContext(t.Context(), engine.Python(enginetest.Environment(t)), "-I", "-B",
		filepath.Join(root(t), "runners/checker/python/tests/blinded.py"))
	command.Stdin = bytes.NewReader(bytes.Join(tasks[:min(size, len(tasks))], []byte("\n")))
	var complaint bytes.Buffer
	command.Stderr = &complaint
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, complaint.String())
	}
	for line := range strings.Lines(string(output)) {
		t.Errorf("WRONG VERIFIED blind: %s", strings.TrimSpace(line))
	}
	t.Logf("%d wrong answers", min(size, len(tasks)))
}

type blindTask struct {
	slug string
	line []byte
}

// taskOf is the plan of a pair as a line for blinded.py; nil where there is none.
func taskOf(t *testing.T, pair Pair) *blindTask {
	t.Helper()
	input, err := expression.Parse(pair.Input)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := expression.Parse(pair.Answer)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := verification.Derive(input, answer)
	if err != nil {
		return nil
	}
	line, err := json.Marshal(map[string]any{"task": plan.Task, "what": plan.Slug + " | " + pair.Input + " | " + pair.Answer})
	if err != nil {
		t.Fatal(err)
	}
	return &blindTask{plan.Slug, line}
}
