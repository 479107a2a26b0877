// Package reference tests that what the function reference says is true of the engine in force.
package reference

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"reckon/domain/reference"
	"reckon/runners/engine"
	"reckon/runners/engine/enginetest"
	"reckon/runners/proof"
	running "reckon/runners/reference"
	"reckon/test/sweep"
)

// sampled is how many entries a short run leaves out for each that it runs.
const sampled = 10

// budget is far more than an example may take of an account, so that a busy machine makes nothing wrong; alone an example has thrice that.
const budget = time.Minute

// TestMain lets the test binary be the child that judges proofs, as the service's binary is.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == judgeChild {
		proof.Serve(os.Stdin, os.Stdout)
		return
	}
	os.Exit(m.Run())
}

const judgeChild = "judge"

// TestBuiltIsTrue runs the examples again and probes the names again: each status, each answer and each state must be what built.json says.
// Rows that differ are made once more alone before they are called changed, so that what else the machine does fails nothing.
// Where it fails after a change of the engine, of the checker or of the data, `reckon reference build` writes what is true now; look at the
// difference before you commit it.
func TestBuiltIsTrue(t *testing.T) {
	t.Parallel()
	about, err := reference.Current()
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bench, err := running.Start(t.Context(), enginetest.Environment(t), engine.SandboxRequired, budget, []string{self, judgeChild})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bench.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	entries, names := about.Entries, []string(nil)
	if sweep.Size(t, "RECKON_REFERENCE", len(entries)/sampled, len(entries)) < len(entries) {
		entries = everyTenth(entries)
		for _, e := range entries {
			names = append(names, e.Name)
		}
	} else if names, err = bench.Names(t.Context()); err != nil {
		t.Fatal(err)
	}
	built, err := bench.Build(t.Context(), entries, names, about.CheckedAt, func(running.Building) {})
	if err != nil {
		t.Fatal(err)
	}
	if built.Engine != about.Engine {
		t.Errorf("the engine is %v, and built.json was made with %v", built.Engine, about.Engine)
	}
	said := map[string]reference.Row{}
	for _, row := range about.Rows {
		said[key(row)] = row
	}
	var doubtful []reference.Row
	for _, row := range built.Rows {
		if differs(said[key(row)], row) {
			doubtful = append(doubtful, row)
		}
	}
	for _, row := range again(t, bench, about, doubtful) {
		if differs(said[key(row)], row) {
			t.Errorf("%s\nbuilt.json says %s\nand it is       %s", key(row), text(t, said[key(row)]), text(t, row))
		}
	}
	for _, row := range built.Rows {
		delete(said, key(row))
	}
	if len(entries) < len(about.Entries) {
		return
	}
	for name := range said {
		t.Errorf("built.json has %s, which neither the source nor the engine has", name)
	}
}

// again makes rows once more, alone.
func again(t *testing.T, bench *running.Bench, about *reference.Reference, rows []reference.Row) []reference.Row {
	t.Helper()
	if len(rows) == 0 {
		return nil
	}
	var entries []reference.Entry
	var names []string
	for _, row := range rows {
		t.Logf("%s differs at first: %s", key(row), text(t, row))
		if row.Kind == reference.Function {
			names = append(names, row.Name)
		}
		if i := slices.IndexFunc(about.Entries, func(e reference.Entry) bool { return e.Kind == row.Kind && e.Name == row.Name }); i >= 0 {
			entries = append(entries, about.Entries[i])
		}
	}
	built, err := bench.Alone().Build(t.Context(), entries, names, about.CheckedAt, func(running.Building) {})
	if err != nil {
		t.Fatal(err)
	}
	return built.Rows
}

func key(row reference.Row) string { return string(row.Kind) + " " + row.Name }

func everyTenth(entries []reference.Entry) (some []reference.Entry) {
	for i := 0; i < len(entries); i += sampled {
		some = append(some, entries[i])
	}
	return some
}

// differs compares what is served of a row, but for the words of why.
func differs(said, is reference.Row) bool {
	return said.Status != is.Status || said.Right != is.Right || said.NotImplemented != is.NotImplemented || !slices.Equal(said.Attributes, is.Attributes) ||
		!slices.EqualFunc(said.Examples, is.Examples, func(a, b reference.BuiltExample) bool {
			return a.Input == b.Input && a.Output == b.Output && a.State == b.State && a.Trivial == b.Trivial && slices.Equal(a.Messages, b.Messages)
		})
}

func text(t *testing.T, row reference.Row) string {
	t.Helper()
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(row); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}
