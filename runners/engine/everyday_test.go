package engine_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"reckon/domain/slips"
	"reckon/runners/engine"
	"reckon/runners/engine/enginetest"
)

var update = flag.Bool("update", false, "write what the engine answers now into testdata; read every changed row before it is kept")

// TestEveryday: what people type, and what they are told. The table has one block for each input, parted by an empty line:
//
//	in    the input
//	is    its status, and the result or the reason of the failure
//	note  a message of the engine, or why there is no answer
//	hint  the input as the suggestions would have it, where they suggest anything
//	then  what that is answered
//
// Lines of one kind that follow each other are one text. Every block was read by a person, who would be told the truth by it.
func TestEveryday(t *testing.T) {
	t.Parallel()
	testTable(t, "testdata/everyday.txt", true)
}

// TestStatusRule: the statuses of docs/engine.md. The table is like everyday's, without hints.
func TestStatusRule(t *testing.T) {
	t.Parallel()
	testTable(t, "testdata/status.txt", false)
}

func testTable(t *testing.T, file string, hints bool) {
	e := enginetest.Start(t, engine.Options{})
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(strings.TrimSpace(string(content)), "\n\n")
	got := make([]string, len(blocks))
	var wait sync.WaitGroup
	places := make(chan struct{}, 4)
	for i, block := range blocks {
		if strings.HasPrefix(block, "#") {
			got[i] = block
			continue
		}
		places <- struct{}{}
		wait.Go(func() {
			got[i] = answered(t, e, inputOf(block), hints)
			<-places
		})
	}
	wait.Wait()
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(got, "\n\n")+"\n"), 0o644); err != nil { //nolint:gosec // a file of the repository
			t.Fatal(err)
		}
		return
	}
	for i, block := range blocks {
		if got[i] != block {
			t.Errorf("now\n%s\nwas\n%s", got[i], block)
		}
	}
}

// inputOf are the lines in of a block.
func inputOf(block string) string {
	var lines []string
	for line := range strings.SplitSeq(block, "\n") {
		if text, found := strings.CutPrefix(line, "in    "); found {
			lines = append(lines, text)
		}
	}
	return strings.Join(lines, "\n")
}

// answered is the block of an input.
func answered(t *testing.T, e *engine.Engine, input string, hints bool) string {
	var block strings.Builder
	write := func(kind, text string) {
		for line := range strings.SplitSeq(text, "\n") {
			fmt.Fprintf(&block, "%-5s %s\n", kind, line)
		}
	}
	write("in", input)
	is, notes := status(t, e, input)
	write("is", is)
	for _, note := range notes {
		write("note", note)
	}
	if found := slips.Find(input); hints && len(found) > 0 {
		hint := mended(input, found)
		write("hint", hint)
		is, _ := status(t, e, hint)
		if strings.HasPrefix(hint, "Random") || hint == "Now" || hint == "Today" {
			is, _, _ = strings.Cut(is, " ")
			is += " one of its own each time"
		}
		write("then", is)
	}
	return strings.TrimSuffix(block.String(), "\n")
}

// status is the status of an input with its result or the reason of its failure, and what is said of it besides.
func status(t *testing.T, e *engine.Engine, input string) (is string, notes []string) {
	outcome, err := e.Evaluate(t.Context(), engine.Request{Code: input, Budget: 20 * time.Second, QueueWait: time.Minute})
	var failed *engine.FailedError
	switch {
	case errors.As(err, &failed):
		return "error: " + string(failed.Reason), []string{failed.Detail}
	case err != nil:
		return "error: " + err.Error(), nil
	}
	is = "success: "
	if outcome.Unevaluated {
		is = "unevaluated: "
	}
	result := outcome.Result
	if len(result) > 200 {
		result = fmt.Sprintf("%s … (%d bytes)", result[:60], len(result))
	}
	if len(outcome.SVG) > 0 {
		result += " (drawn)"
	}
	notes = outcome.Messages
	if outcome.Stdout != "" {
		notes = append(notes, "prints "+strings.TrimSuffix(outcome.Stdout, "\n"))
	}
	return is + result, notes
}

// mended is the text with every suggestion taken.
func mended(text string, found []slips.Suggestion) string {
	runes := []rune(text)
	for i := len(found) - 1; i >= 0; i-- {
		s := found[i]
		runes = append(runes[:s.Range.Start:s.Range.Start], append([]rune(s.Replacement), runes[s.Range.End:]...)...)
	}
	return string(runes)
}
