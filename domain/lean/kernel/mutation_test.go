package kernel_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reckon/domain/lean/export"
	"reckon/domain/lean/internal/leantest"
	"reckon/domain/lean/kernel"
	"reckon/test/sweep"
)

// place is one value inside a JSON line, with the keys that lead to it ("recs", "numParams") and a way to change it.
type place struct {
	path  string
	value any
	set   func(any)
}

func places(path string, v any, set func(any)) []place {
	out := []place{{path, v, set}}
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			out = append(out, places(path+"."+key, v[key], func(n any) { v[key] = n })...)
		}
	case []any:
		for i := range v {
			out = append(out, places(path, v[i], func(n any) { v[i] = n })...)
		}
	}
	return out
}

// changes are the ways to change a value that leave its kind.
func changes(v any) []any {
	switch v := v.(type) {
	case bool:
		return []any{!v}
	case json.Number:
		n, _ := v.Int64()
		return []any{json.Number(fmt.Sprint(n + 1)), json.Number(fmt.Sprint(max(n-1, 0))), json.Number("0")}
	case []any:
		if len(v) == 0 {
			return nil
		}
		return []any{v[1:], append(slices.Clone(v), v[0])}
	}
	return nil
}

// derived are the fields of an inductive record that the kernel regenerates: whatever else they say is refused. Fields
// that hold the index of a name or an expression are among them, because another index is another name or expression.
var derived = []string{
	".inductive.types.numParams", ".inductive.types.numIndices", ".inductive.types.numNested", ".inductive.types.isRec",
	".inductive.types.isReflexive", ".inductive.types.isUnsafe", ".inductive.types.all", ".inductive.types.ctors",
	".inductive.ctors", ".inductive.ctors.name", ".inductive.ctors.induct", ".inductive.ctors.cidx", ".inductive.ctors.numParams",
	".inductive.ctors.numFields", ".inductive.ctors.isUnsafe", ".inductive.ctors.levelParams",
	".inductive.recs", ".inductive.recs.name", ".inductive.recs.type", ".inductive.recs.all", ".inductive.recs.numParams",
	".inductive.recs.numIndices", ".inductive.recs.numMotives", ".inductive.recs.numMinors", ".inductive.recs.k",
	".inductive.recs.isUnsafe", ".inductive.recs.levelParams", ".inductive.recs.rules", ".inductive.recs.rules.ctor",
	".inductive.recs.rules.nfields", ".inductive.recs.rules.rhs",
	".thm.levelParams", ".quot.name", ".quot.kind", ".quot.levelParams", ".quot.type", ".axiom.isUnsafe",
}

// harmless are the fields that mean nothing to the kernel.
var harmless = []string{".lam.binderInfo", ".forallE.binderInfo", ".letE.nondep", ".def.hints.regular", ".def.hints"}

// mutate shows every changed file in which one of the given fields is changed.
func mutate(t *testing.T, path string, fields []string, visit func(name string, text []byte)) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	for i, line := range lines {
		var record any
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.UseNumber()
		if err := decoder.Decode(&record); err != nil {
			t.Fatal(err)
		}
		for _, p := range places("", record, nil) {
			if !slices.Contains(fields, p.path) {
				continue
			}
			options := changes(p.value)
			if strings.HasSuffix(p.path, ".binderInfo") {
				options = []any{"implicit", "instImplicit"}
			}
			if strings.HasSuffix(p.path, ".hints") {
				options = []any{"abbrev", "opaque", map[string]any{"regular": 77}}
			}
			for _, option := range options {
				if fmt.Sprint(option) == fmt.Sprint(p.value) {
					continue
				}
				p.set(option)
				changed, err := json.Marshal(record)
				p.set(p.value)
				if err != nil {
					t.Fatal(err)
				}
				mutant := slices.Clone(lines)
				mutant[i] = changed
				visit(fmt.Sprintf("%s:%d %s = %v", filepath.Base(path), i+1, p.path, option), bytes.Join(mutant, []byte("\n")))
			}
		}
	}
}

// smallExports are the good exports but the large ones, and those of the reader's rules, which differ in nothing else.
func smallExports(t *testing.T) []string {
	return slices.DeleteFunc(leantest.AcceptedExports(t), func(path string) bool {
		info, err := os.Stat(path)
		return err != nil || info.Size() > 64<<10 || strings.Contains(path, "3.0.0") || strings.Contains(path, "strLit")
	})
}

// everyNth of the mutants is checked; the exports repeat the same few types.
func everyNth(t *testing.T) int { return sweep.Size(t, "MUTANTS_EVERY", 16, 4) }

func TestEveryChangeOfADerivedFieldIsRefused(t *testing.T) {
	t.Parallel()
	count, every := 0, everyNth(t)
	for _, path := range smallExports(t) {
		mutate(t, path, derived, func(name string, text []byte) {
			if count++; count%every != 0 {
				return
			}
			file, err := export.Read(context.Background(), bytes.NewReader(text), export.Limits{})
			var bad *export.Error
			if errors.As(err, &bad) {
				return // the changed index is not defined
			}
			if sampled(text, 64) {
				compare(t, name, text)
			}
			if r := kernel.Check(context.Background(), file.Store, file.Declarations, kernel.Options{Workers: 1}); r.Refusal == nil && !sameFile(t, path, file) {
				t.Errorf("%s: accepted %v, %v", name, r.Accepted(), r.Exhausted)
			}
		})
	}
	if count < 3000 {
		t.Errorf("only %d mutants", count)
	}
}

// sameFile says whether a mutant declares just what the original does: the changed index names an equal thing.
func sameFile(t *testing.T, path string, mutant *export.File) bool {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := export.Read(context.Background(), bytes.NewReader(text), export.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(file.Declarations)
	b, _ := json.Marshal(mutant.Declarations)
	return bytes.Equal(a, b)
}

func TestChangesThatMeanNothingAreAccepted(t *testing.T) {
	t.Parallel()
	count, every := 0, everyNth(t)
	for _, path := range smallExports(t) {
		mutate(t, path, harmless, func(name string, text []byte) {
			if count++; count%every != 0 {
				return
			}
			if _, r := checkText(t, name, text, kernel.Options{Workers: 1}); !r.Accepted() {
				t.Errorf("%s: %v %v", name, r.Refusal, r.Exhausted)
			}
		})
	}
}

// FuzzCheck changes good files byte by byte: never a panic, and a verdict or an honest none.
func FuzzCheck(f *testing.F) {
	for _, rule := range []string{"iota", "nested-types", "k", "structure-eta", "quotient-lift", "reflexive-types", "universe-scope"} {
		text, err := os.ReadFile(leantest.AcceptedExport(f, rule))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := export.Read(context.Background(), bytes.NewReader(text), export.Limits{Bytes: 1 << 20})
		if err != nil {
			return
		}
		r := kernel.Check(context.Background(), file.Store, file.Declarations, kernel.Options{Workers: 1, MaxDepth: 5000, MaxExprs: 1 << 18})
		if r.Exhausted != nil && strings.Contains(r.Exhausted.Reason, "internal error") {
			t.Fatal(r.Exhausted.Reason)
		}
	})
}
