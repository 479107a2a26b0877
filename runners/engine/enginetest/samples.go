package enginetest

import (
	"bufio"
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reckon/domain/expression"
	"reckon/runners/engine"
	"reckon/test/need"
)

// Sample is one line of evaluate_sample.tsv: an input, what the Wolfram Language answers and how to compare.
type Sample struct {
	Input    string
	Expected string // alternatives separated by " || "
	Area     string
	How      string // exact, equiv, num:T, numlist, set, svg, msg:Sym::tag, stdout:text, manual, unscored

	comparer *comparer // one for all of a test's samples
}

// Answer is what came back for a Sample.
type Answer struct {
	Result   string
	Stdout   string
	Warnings []string
	SVG      []byte
}

// Samples reads the shared sample, or skips the test where the shared folder is absent.
func Samples(t testing.TB) []Sample {
	t.Helper()
	content, err := os.ReadFile(need.Shared(t, "evaluate_sample.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var samples []Sample
	one := &comparer{}
	t.Cleanup(one.close)
	for line := range strings.Lines(string(content)) {
		fields := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(fields) != 3 {
			t.Fatalf("not input, expected, how: %q", line)
		}
		area, how, _ := strings.Cut(fields[2], ";")
		samples = append(samples, Sample{Input: fields[0], Expected: fields[1], Area: area, How: how, comparer: one})
	}
	return samples
}

// Scored tells whether the sample counts.
func (s Sample) Scored() bool { return s.How != "unscored" }

// Right compares an answer as the sample says. The text says why it is wrong.
func (s Sample) Right(t testing.TB, answer Answer) (bool, string) {
	t.Helper()
	how, argument, _ := strings.Cut(s.How, ":")
	for alternative := range strings.SplitSeq(s.Expected, " || ") {
		if s.matches(t, how, argument, alternative, answer) {
			return true, ""
		}
	}
	return false, fmt.Sprintf("%s: got %q, want %q", s.How, answer.Result, s.Expected)
}

func (s Sample) matches(t testing.TB, how, argument, expected string, answer Answer) bool {
	switch how {
	case "unscored":
		return true
	case "svg":
		return bytes.Contains(answer.SVG, []byte("<svg")) && bytes.Count(answer.SVG, []byte("<")) > 4
	case "num":
		return closeTo(answer.Result, expected, argument)
	case "numlist":
		return closeLists(answer.Result, expected)
	case "set":
		return slices.Equal(elements(answer.Result), elements(expected))
	case "equiv":
		return bare(answer.Result) == bare(expected) || s.comparer.equivalent(t, answer.Result, expected)
	case "msg":
		named := func(warning string) bool { return strings.HasPrefix(warning, argument+":") }
		return bare(answer.Result) == bare(expected) && slices.ContainsFunc(answer.Warnings, named)
	case "stdout":
		return bare(answer.Result) == bare(expected) && strings.Contains(answer.Stdout, argument)
	case "exact", "manual", "pat":
		return bare(answer.Result) == bare(expected)
	}
	t.Fatalf("an unknown way to compare: %q", s.How)
	return false
}

// bare drops what an exact comparison ignores: spaces and string quotes.
func bare(text string) string {
	return strings.NewReplacer(" ", "", "\n", "", "\t", "", `"`, "").Replace(text)
}

var numbers = regexp.MustCompile("-?[0-9]+\\.?[0-9]*(?:`[0-9.]*)?(?:\\*\\^-?[0-9]+)?")

// parseNumber reads one InputForm number.
func parseNumber(text string) (*big.Float, bool) {
	text = regexp.MustCompile("`[0-9.]*").ReplaceAllString(strings.ReplaceAll(text, " ", ""), "")
	number, _, err := big.ParseFloat(strings.Replace(text, "*^", "e", 1), 10, 400, big.ToNearestEven)
	return number, err == nil
}

// closeTo tells whether two numbers differ by no more than the tolerance, relative to the expected one where that is over 1.
func closeTo(got, expected, tolerance string) bool {
	a, ok := parseNumber(got)
	b, ok2 := parseNumber(expected)
	limit, ok3 := parseNumber(strings.Replace(tolerance, "e", "*^", 1))
	if !ok || !ok2 || !ok3 {
		return false
	}
	if size := new(big.Float).Abs(b); size.Cmp(big.NewFloat(1)) > 0 {
		limit.Mul(limit, size)
	}
	difference := new(big.Float).Sub(a, b)
	return difference.Abs(difference).Cmp(limit) <= 0
}

func closeLists(got, expected string) bool {
	read := func(text string) []float64 {
		var list []float64
		for _, match := range numbers.FindAllString(text, -1) {
			number, _ := parseNumber(match)
			value, _ := number.Float64()
			list = append(list, value)
		}
		slices.Sort(list)
		return list
	}
	return slices.EqualFunc(read(got), read(expected), func(a, b float64) bool { return max(a-b, b-a) <= 1e-5 })
}

// elements of a list in InputForm, sorted.
func elements(text string) []string {
	tree, err := expression.Parse(text)
	if err != nil || !tree.IsCall("List") {
		return []string{bare(text)}
	}
	var list []string
	for _, element := range tree.Args {
		list = append(list, element.FullForm())
	}
	slices.SortFunc(list, cmp.Compare[string])
	return list
}

//go:embed equivalent.py
var equivalentSource string

// comparer is one process that compares by enclosures, started by the first question.
type comparer struct {
	process   *exec.Cmd
	questions io.WriteCloser
	answers   *bufio.Reader
}

// equivalent asks whether two InputForm expressions are mathematically equal.
func (c *comparer) equivalent(t testing.TB, got, expected string) bool {
	t.Helper()
	a, err := expression.Parse(got)
	if err != nil {
		return false
	}
	b, err := expression.Parse(expected)
	if err != nil {
		t.Fatalf("the sample's own answer %q: %v", expected, err)
	}
	question, err := json.Marshal([]any{jsonTree(a), jsonTree(b)})
	if err != nil {
		t.Fatal(err)
	}
	if c.process == nil {
		c.start(t)
	}
	_, err = c.questions.Write(append(question, '\n'))
	answer, readErr := c.answers.ReadString('\n')
	if err = errors.Join(err, readErr); err != nil {
		t.Fatalf("compare: %v", err)
	}
	return strings.TrimSpace(answer) == "true"
}

func (c *comparer) start(t testing.TB) {
	t.Helper()
	process := exec.Command(engine.Python(Environment(t)), "-I", "-c", equivalentSource)
	process.Stderr = os.Stderr
	questions, err := process.StdinPipe()
	answers, answersErr := process.StdoutPipe()
	if err = errors.Join(err, answersErr); err == nil {
		err = process.Start()
	}
	if err != nil {
		t.Fatalf("compare: %v", err)
	}
	c.process, c.questions, c.answers = process, questions, bufio.NewReader(answers)
}

// close ends the process by ending its input.
func (c *comparer) close() {
	if c.process != nil {
		_ = c.questions.Close()
		_ = c.process.Wait()
	}
}

// jsonTree is the shape equivalent.py reads.
func jsonTree(e *expression.Expr) any {
	switch e.Kind {
	case expression.Symbol:
		return "s:" + e.Text
	case expression.Integer:
		return "i:" + e.Text
	case expression.Real:
		return "r:" + e.Text
	case expression.String:
		return "t:" + e.Text
	default:
		tree := []any{jsonTree(e.Head)}
		for _, argument := range e.Args {
			tree = append(tree, jsonTree(argument))
		}
		return tree
	}
}
