//go:build bench

package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"reckon/domain/lean/export"
	"reckon/domain/lean/kernel"
)

// The kernel is measured on init-prelude (3.7 MB) against encoding/json parsing the same lines in the same run, and
// for growth on the same file joined with renamed copies of itself. Times are the best of several.

const leanRounds = 5

func leanExport(b *testing.B, name string) []byte {
	b.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "data", "lean-exports", "accept", name))
	if err != nil {
		b.Skipf("the shared exports are absent: %v", err)
	}
	return text
}

func best(rounds int, f func()) time.Duration {
	least := time.Duration(1 << 62)
	for range rounds {
		runtime.GC()
		start := time.Now()
		f()
		least = min(least, time.Since(start))
	}
	return least
}

func leanCheck(b *testing.B, text []byte, workers int) *export.File {
	b.Helper()
	file, err := export.Read(context.Background(), bytes.NewReader(text), export.Limits{})
	if err != nil {
		b.Fatal(err)
	}
	r := kernel.Check(context.Background(), file.Store, file.Declarations, kernel.Options{Workers: workers})
	if !r.Accepted() {
		b.Fatalf("not accepted: %v %v", r.Refusal, r.Exhausted)
	}
	return file
}

func BenchmarkLeanInitPrelude(b *testing.B) {
	text := leanExport(b, "init-prelude.ndjson")
	var file *export.File
	for range b.N {
		parse := best(leanRounds, func() { parseLines(b, text) })
		read := best(leanRounds, func() {
			if _, err := export.Read(context.Background(), bytes.NewReader(text), export.Limits{}); err != nil {
				b.Fatal(err)
			}
		})
		one := best(leanRounds, func() { file = leanCheck(b, text, 1) })
		two := best(leanRounds, func() { file = leanCheck(b, text, 2) })
		b.ReportMetric(float64(parse.Microseconds())/1000, "json-ms")
		b.ReportMetric(float64(read.Microseconds())/1000, "read-ms")
		b.ReportMetric(float64(one.Microseconds())/1000, "one-core-ms")
		b.ReportMetric(float64(two.Microseconds())/1000, "two-cores-ms")
		b.ReportMetric(one.Seconds()/parse.Seconds(), "one-core/json")
		b.ReportMetric(two.Seconds()/parse.Seconds(), "two-cores/json")
		b.ReportMetric(float64(len(file.Declarations))/one.Seconds(), "declarations/s")
	}
}

// parseLines is the yardstick: every line through encoding/json, into nothing in particular.
func parseLines(b *testing.B, text []byte) {
	for line := range bytes.Lines(text) {
		var v any
		if err := json.Unmarshal(line, &v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLeanShiftCascade(b *testing.B) {
	text := leanExport(b, "shift-cascade.ndjson")
	for range b.N {
		b.ReportMetric(float64(best(leanRounds, func() { leanCheck(b, text, 1) }).Microseconds())/1000, "ms")
	}
}

// BenchmarkLeanCosts checks small exports that were out of all proportion once: each is measured against encoding/json parsing 1 MB in the same run.
func BenchmarkLeanCosts(b *testing.B) {
	yardstick := bytes.Repeat([]byte(`{"ie":1,"app":{"fn":123,"arg":456}}`+"\n"), 1<<20/36)
	for range b.N {
		parse := best(leanRounds, func() { parseLines(b, yardstick) })
		for _, name := range []string{"large-numbers", "remainder", "levels-22", "levels-200"} {
			text, err := os.ReadFile(filepath.Join("..", "..", "domain", "lean", "kernel", "testdata", "cost", name+".ndjson"))
			if err != nil {
				b.Fatal(err)
			}
			took := best(leanRounds, func() { leanCheck(b, text, 1) })
			b.ReportMetric(took.Seconds()/parse.Seconds(), name+"/json-MB")
		}
	}
}

// BenchmarkLeanGrowth checks 1, 2 and 6 copies (16 MiB) and reports time and memory per byte relative to one copy.
func BenchmarkLeanGrowth(b *testing.B) {
	text := leanExport(b, "init-prelude.ndjson")
	for range b.N {
		var one float64
		for _, copies := range []int{1, 2, 6} {
			joined := renamedCopies(b, text, copies)
			perByte := best(3, func() { leanCheck(b, joined, 1) }).Seconds() / float64(len(joined))
			if copies == 1 {
				one = perByte
			}
			b.ReportMetric(perByte/one, fmt.Sprintf("time/byte-x%d", copies))
			b.ReportMetric(peakBytes(func() { leanCheck(b, joined, 2) })/float64(len(joined)), fmt.Sprintf("bytes/byte-x%d", copies))
		}
	}
}

// peakBytes watches the memory the process holds while f runs.
func peakBytes(f func()) float64 {
	runtime.GC()
	done, peak := make(chan struct{}), make(chan uint64)
	go func() {
		var most uint64
		var m runtime.MemStats
		for {
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapInuse+m.StackInuse)
			select {
			case <-done:
				peak <- most
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	f()
	close(done)
	return float64(<-peak)
}

// renamedCopies joins an export with copies of its definitions and theorems under other names. What is below Nat keeps
// its name: the kernel computes with it. Inductive types, axioms, levels and names are shared by all copies.
func renamedCopies(b *testing.B, text []byte, copies int) []byte {
	b.Helper()
	const stride = 1 << 20
	out := bytes.Clone(text)
	var records []map[string]any
	renamed := map[int]bool{}
	underNat := map[int]bool{}
	for line := range bytes.Lines(text) {
		var r map[string]any
		if err := json.Unmarshal(line, &r); err != nil {
			b.Fatal(err)
		}
		records = append(records, r)
		if s, ok := r["str"].(map[string]any); ok {
			underNat[number(r["in"])] = s["str"] == "Nat" && number(s["pre"]) == 0 || underNat[number(s["pre"])]
		}
		for _, kind := range []string{"def", "thm"} {
			if d, ok := r[kind].(map[string]any); ok && !underNat[number(d["name"])] {
				renamed[number(d["name"])] = true
			}
		}
	}
	for k := 1; k < copies; k++ {
		shift := func(m map[string]any, keys ...string) {
			for _, key := range keys {
				if v, ok := m[key]; ok {
					m[key] = number(v)%stride + k*stride
				}
			}
		}
		out = fmt.Appendf(out, `{"in":%d,"str":{"pre":0,"str":"Copy%d"}}`+"\n", k*stride, k)
		for n := range renamed {
			out = fmt.Appendf(out, `{"in":%d,"num":{"pre":%d,"i":%d}}`+"\n", k*stride+n, k*stride, n)
		}
		for _, r := range records {
			part := func(key string) map[string]any { m, _ := r[key].(map[string]any); return m }
			d := part("def")
			if d == nil {
				d = part("thm")
			}
			switch {
			case r["ie"] != nil:
				shift(r, "ie")
				shift(part("app"), "fn", "arg")
				shift(part("lam"), "type", "body")
				shift(part("forallE"), "type", "body")
				shift(part("letE"), "type", "value", "body")
				shift(part("proj"), "struct")
				if c := part("const"); c != nil && renamed[number(c["name"])%stride] {
					shift(c, "name")
				}
			case d != nil && renamed[number(d["name"])%stride]:
				shift(d, "name", "type", "value")
				d["all"] = []any{d["name"]}
			default:
				continue
			}
			line, err := json.Marshal(r)
			if err != nil {
				b.Fatal(err)
			}
			out = append(append(out, line...), '\n')
		}
	}
	return out
}

func number(v any) int {
	switch v := v.(type) {
	case float64:
		return int(v)
	case int:
		return v
	}
	return -1
}
