package circuit

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// JSON is the result as encoding/json writes it, keys in order. The counts, of which there may be a hundred megabytes, are
// written once, into memory of the right size.
func (r Result) JSON() (string, error) {
	keys := slices.Sorted(maps.Keys(r.Counts))
	counts := r.Counts
	r.Counts = map[string]int{}
	rest, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	const empty = `{"counts":{}`
	size := len(rest)
	for _, key := range keys {
		size += len(key) + len(`"":,`) + len(strconv.Itoa(counts[key]))
	}
	var out strings.Builder
	out.Grow(size)
	out.WriteString(empty[:len(empty)-1])
	for i, key := range keys {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteByte('"')
		out.WriteString(key) // zeros, ones and spaces
		out.WriteString(`":`)
		out.WriteString(strconv.Itoa(counts[key]))
	}
	out.WriteByte('}')
	out.Write(rest[len(empty):])
	return out.String(), nil
}
