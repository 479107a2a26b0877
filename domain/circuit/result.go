package circuit

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// JSON is the result as encoding/json writes it, keys in order. The counts, of which there may be a hundred megabytes, are
// written once, into memory of the right size.
func (r Result) JSON() (string, error) { return textOf(r.WriteJSON) }

// textOf is the output of a WriteJSON, in memory of the right size.
func textOf(writeJSON func(w io.Writer, indent string) error) (string, error) {
	var size counter
	if err := writeJSON(&size, ""); err != nil {
		return "", err
	}
	var out strings.Builder
	out.Grow(int(size))
	err := writeJSON(&out, "")
	return out.String(), err
}

// counter counts what is written.
type counter int

func (c *counter) Write(data []byte) (int, error) {
	*c += counter(len(data))
	return len(data), nil
}

// WriteJSON writes the result as encoding/json does, keys in order, over several lines unless indent is empty. Of the counts
// and shots no more than one is held as text at a time: w should be buffered.
func (r Result) WriteJSON(w io.Writer, indent string) error {
	keys := slices.Sorted(maps.Keys(r.Counts))
	counts, memory := r.Counts, r.Memory
	r.Counts, r.Memory = map[string]int{}, nil
	marshal, first, next, colon, last := json.Marshal, "", ",", `":`, ""
	if indent != "" {
		marshal = func(v any) ([]byte, error) { return json.MarshalIndent(v, "", indent) }
		line := "\n" + indent + indent
		first, next, colon, last = line, ","+line, `": `, "\n"+indent
	}
	rest, err := marshal(r)
	if err != nil {
		return err
	}
	if len(memory) > 0 {
		rest = beforeBrace(rest)
	}
	if len(keys) == 0 { // no shots either
		return write(w, rest)
	}
	before, after, _ := bytes.Cut(rest, []byte("{}")) // counts is the first field
	if err := write(w, rest[:len(before)+1]); err != nil {
		return err
	}
	entry := []byte(first)
	for _, key := range keys {
		entry = append(append(append(entry, '"'), key...), colon...) // zeros, ones and spaces
		entry = strconv.AppendInt(entry, int64(counts[key]), 10)
		if err := write(w, entry); err != nil {
			return err
		}
		entry = append(entry[:0], next...)
	}
	if err := firstError(write(w, []byte(last+"}")), write(w, after)); err != nil || len(memory) == 0 {
		return err
	}
	return writeMemory(w, memory, indent)
}

func write(w io.Writer, data []byte) error {
	_, err := w.Write(data)
	return err
}
