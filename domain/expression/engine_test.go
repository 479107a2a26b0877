package expression

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"

	"reckon/test/need"
)

// The comparison with the engine has two stores, both made by
//
//	RECKON_TEST_ENGINE=<python with the engine> go test ./domain/expression -run TestEngineLive -update
//
// engine_fullform.jsonl holds what the engine printed where it reads a text as we do (or both refuse it);
// engine_differences.jsonl holds where it does not, with our tree and a note on who is right and why.
var update = flag.Bool("update", false, "ask the engine again and rewrite the stores of the comparison")

const (
	goldenFile      = "testdata/engine_fullform.jsonl"
	differencesFile = "testdata/engine_differences.jsonl"
	generatedTexts  = 3000
	refused         = "refused"
)

// comparison is one line of a store.
type comparison struct {
	Input  string `json:"input"`
	Engine string `json:"engine"`         // what the engine prints for FullForm, or "refused"
	Ours   string `json:"ours,omitempty"` // our FullForm, or "refused: reason"
	Note   string `json:"note,omitempty"`
}

func readComparisons(t *testing.T, file string) []comparison {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []comparison
	for decoder := json.NewDecoder(bytes.NewReader(content)); decoder.More(); {
		var one comparison
		if err := decoder.Decode(&one); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}

func writeComparisons(t *testing.T, file string, all []comparison) {
	t.Helper()
	var content bytes.Buffer
	encoder := json.NewEncoder(&content)
	encoder.SetEscapeHTML(false)
	for _, one := range all {
		if err := encoder.Encode(one); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, content.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// ours is our reading of a text as a store writes it.
func ours(text string) (*Expr, string) {
	e, err := Parse(text)
	var refusal *SyntaxError
	if errors.As(err, &refusal) {
		return nil, refused + ": " + string(refusal.Reason)
	}
	return e, e.FullForm()
}

// agrees reports whether the engine's answer is our reading.
func agrees(text, engine string) bool {
	e, _ := ours(text)
	if e == nil {
		return engine == refused
	}
	return SameAsEngine(e, engine)
}

func TestEngineGolden(t *testing.T) {
	golden := readComparisons(t, goldenFile)
	if len(golden) < generatedTexts {
		t.Fatalf("only %d texts are stored", len(golden))
	}
	for _, c := range golden {
		if !agrees(c.Input, c.Engine) {
			_, tree := ours(c.Input)
			t.Errorf("%s\n ours   %s\n engine %s", c.Input, tree, c.Engine)
		}
	}
}

// TestEngineDifferences holds our reading of what the engine reads otherwise, and notices when the two come together.
func TestEngineDifferences(t *testing.T) {
	for _, c := range readComparisons(t, differencesFile) {
		if _, tree := ours(c.Input); tree != c.Ours {
			t.Errorf("%s\n now    %s\n stored %s", c.Input, tree, c.Ours)
		}
		if agrees(c.Input, c.Engine) {
			t.Errorf("%s is no difference any more", c.Input)
		}
	}
}

// TestEngineSample finds every expression of the shared sample in the golden store.
func TestEngineSample(t *testing.T) {
	sample := sharedFile(t, "evaluate_sample.tsv")
	stored := map[string]bool{}
	for _, c := range readComparisons(t, goldenFile) {
		stored[c.Input] = true
	}
	for _, line := range strings.Split(strings.TrimSpace(sample), "\n") {
		if input, _, _ := strings.Cut(line, "\t"); !stored[input] {
			t.Errorf("%s: the engine is not known to read it as we do", input)
		}
	}
}

// sharedFile reads a file of ../shared/data beside the repository, or skips the test where there is none.
func sharedFile(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(need.Shared(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// TestEngineLive asks the engine itself about every stored text.
func TestEngineLive(t *testing.T) {
	python := os.Getenv("RECKON_TEST_ENGINE_PYTHON")
	if python == "" {
		need.Skip(t, "a Python that has the engine", "RECKON_TEST_ENGINE_PYTHON=~/.cache/reckon/engine-…/bin/python go test ./domain/expression")
	}
	texts := inputs(t)
	answers := askEngine(t, python, texts)
	if *update {
		store(t, texts, answers)
		return
	}
	stored := map[string]string{}
	for _, c := range append(readComparisons(t, goldenFile), readComparisons(t, differencesFile)...) {
		stored[c.Input] = c.Engine
	}
	for i, text := range texts {
		if engine, ok := stored[text]; !ok || engine != answers[i] {
			t.Errorf("%s\n engine %s\n stored %s", text, answers[i], engine)
		}
	}
}

// inputs are the texts of the comparison: those written by hand and the generated ones.
func inputs(t *testing.T) []string {
	t.Helper()
	content, err := os.ReadFile("testdata/inputs.txt")
	if err != nil {
		t.Fatal(err)
	}
	texts := strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
	seen := map[string]bool{}
	for _, text := range texts {
		seen[text] = true
	}
	for _, text := range newGenerator(1).texts(generatedTexts) {
		if !seen[text] {
			texts = append(texts, text)
		}
	}
	return texts
}

func askEngine(t *testing.T, python string, texts []string) []string {
	t.Helper()
	var questions bytes.Buffer
	for _, text := range texts {
		if err := json.NewEncoder(&questions).Encode(text); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.Command(python, "testdata/fullform.py")
	command.Stdin = &questions
	output, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	var answers []string
	lines := bufio.NewScanner(bytes.NewReader(output))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var answer string
		if err := json.Unmarshal(lines.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, answer)
	}
	if len(answers) != len(texts) {
		t.Fatalf("%d answers to %d texts", len(answers), len(texts))
	}
	return answers
}

// store writes both stores, keeping the notes there are.
func store(t *testing.T, texts, answers []string) {
	t.Helper()
	notes := map[string]string{}
	for _, c := range readComparisons(t, differencesFile) {
		notes[c.Input] = c.Note
	}
	var golden, differences []comparison
	for i, text := range texts {
		if agrees(text, answers[i]) {
			golden = append(golden, comparison{Input: text, Engine: answers[i]})
			continue
		}
		_, tree := ours(text)
		differences = append(differences, comparison{Input: text, Engine: answers[i], Ours: tree, Note: notes[text]})
	}
	writeComparisons(t, goldenFile, golden)
	writeComparisons(t, differencesFile, differences)
	t.Logf("%d texts read alike, %d not", len(golden), len(differences))
}

// TestEngineLiveSource: what Source prints, the engine reads as we do, for every text it reads as we do in the first place.
func TestEngineLiveSource(t *testing.T) {
	python := os.Getenv("RECKON_TEST_ENGINE_PYTHON")
	if python == "" {
		need.Skip(t, "a Python that has the engine", "RECKON_TEST_ENGINE_PYTHON=~/.cache/reckon/engine-…/bin/python go test ./domain/expression")
	}
	var trees []*Expr
	var sources []string
	for _, c := range readComparisons(t, goldenFile) {
		if e, _ := ours(c.Input); e != nil {
			trees, sources = append(trees, e), append(sources, e.Source())
		}
	}
	for i, answer := range askEngine(t, python, sources) {
		if !SameAsEngine(trees[i], answer) {
			t.Errorf("%s\n ours   %s\n engine %s", sources[i], trees[i].FullForm(), answer)
		}
	}
}
