package export_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
)

// countedReader counts the bytes and calls by which an export is read.
type countedReader struct {
	from  io.Reader
	bytes int
	calls int
}

func (r *countedReader) Read(b []byte) (int, error) {
	n, err := r.from.Read(b)
	r.bytes += n
	r.calls++
	return n, err
}

// Reading costs what the bytes cost, whatever they are: each shape, made four times as long,
// takes about four times the allocations and the allocated bytes, and no byte is read twice. Shapes: many members,
// deep nesting, one long text, escapes, numbers, white space, many short lines, base64.
func TestReadingIsLinear(t *testing.T) {
	const header = `{"format":"reckon-export","version":1,"after":0}` + "\n"
	event := func(rest string) string {
		return `{"position":9,"stream":"s","revision":0,"id":"00000000-0000-0000-0000-000000000001","type":"t","created":"2026-11-22T21:17:34.3610286Z","content_type":"application/json",` + rest + "}\n"
	}
	members := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"m%d":%d`, i, i)
		}
		return b.String()[1:]
	}
	shapes := map[string]func(n int) string{
		"members of a line":    func(n int) string { return header + event(members(n/10)) },
		"members of a payload": func(n int) string { return header + event(`"data":{`+members(n/10)+`}`) },
		"nesting":              func(n int) string { return header + event(`"data":`+strings.Repeat("[", n)+strings.Repeat("]", n)) },
		"nested shallowly":     func(n int) string { return header + event(`"data":[`+strings.Repeat(`[[[]]],`, n/7)+`1]`) },
		"one text":             func(n int) string { return header + event(`"data":"`+strings.Repeat("x", n)+`"`) },
		"escapes":              func(n int) string { return header + event(`"data":"`+strings.Repeat(`\u0041`, n/6)+`"`) },
		"a long stream": func(n int) string {
			return header + event(`"data":1,"stream_base64":"`+strings.Repeat("AAAA", n/4)+`"`)
		},
		"a long number":     func(n int) string { return header + event(`"data":`+strings.Repeat("9", n)) },
		"space":             func(n int) string { return header + event(strings.Repeat(" ", n)+`"data":1`) },
		"base64":            func(n int) string { return header + event(`"data_base64":"`+strings.Repeat("AAAA", n/4)+`"`) },
		"unclosed":          func(n int) string { return header + `{"position":[` + strings.Repeat(`{"a":`, n/5) + "\n" },
		"no line end":       func(n int) string { return header + strings.Repeat("x", n) },
		"a long first line": func(n int) string { return strings.Repeat("{", n) + "\n" },
		"short lines": func(n int) string {
			var b strings.Builder
			b.WriteString(header)
			for i := range n / 250 {
				b.WriteString(strings.Replace(event(`"data":1`), `"position":9`, fmt.Sprintf(`"position":%d`, i+1), 1))
			}
			return b.String()
		},
	}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			cost := func(n int) (allocations float64, allocated uint64) {
				text := []byte(shape(n))
				from := &countedReader{from: bytes.NewReader(text)}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, _, _ = read(from) // most shapes are no export
				runtime.ReadMemStats(&after)
				if from.bytes > len(text) || from.calls > len(text)/1024+4 {
					t.Errorf("%d bytes were read in %d calls as %d bytes", len(text), from.calls, from.bytes)
				}
				return testing.AllocsPerRun(1, func() { _, _, _ = read(bytes.NewReader(text)) }), after.TotalAlloc - before.TotalAlloc
			}
			const small, slack = 1 << 17, 1 << 20
			calls, allocated := cost(small)
			moreCalls, moreAllocated := cost(4 * small)
			if moreCalls > 5*calls+200 || moreAllocated > 8*allocated+slack {
				t.Errorf("%d bytes take %v allocations of %d bytes together, four times as many %v of %d", small, calls, allocated, moreCalls, moreAllocated)
			}
		})
	}
}
