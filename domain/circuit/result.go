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

// textOf is what a WriteJSON writes, in memory of the right size.
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

// WriteJSON writes the result as encoding/json does, keys in order, over several lines unless indent is empty. Of the counts no more
// than one is held as text at a time: w should be buffered.
func (r Result) WriteJSON(w io.Writer, indent string) error {
	keys := slices.Sorted(maps.Keys(r.Counts))
	counts := r.Counts
	r.Counts = map[string]int{}
	marshal, first, next, colon, last := json.Marshal, "", ",", `":`, ""
	if indent != "" {
		marshal = func(v any) ([]byte, error) { return json.MarshalIndent(v, "", indent) }
		line := "\n" + indent + indent
		first, next, colon, last = line, ","+line, `": `, "\n"+indent
	}
	rest, err := marshal(r)
	if err != nil || len(keys) == 0 {
		return firstError(err, write(w, rest))
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
	return firstError(write(w, []byte(last+"}")), write(w, after))
}

func write(w io.Writer, data []byte) error {
	_, err := w.Write(data)
	return err
}
