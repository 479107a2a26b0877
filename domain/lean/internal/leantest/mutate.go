package leantest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
)

// Mutate changes one number, or one flag, of a random record. The result often has ill-typed declarations. what says what was changed; it is empty where nothing was.
func Mutate(r *rand.Rand, text []byte) (mutant []byte, what string) {
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	at := 1 + r.IntN(max(1, len(lines)-1))
	if at >= len(lines) {
		return text, ""
	}
	var record map[string]any
	decoder := json.NewDecoder(bytes.NewReader(lines[at]))
	decoder.UseNumber()
	if decoder.Decode(&record) != nil {
		return text, ""
	}
	var sets []func()
	var walk func(path string, v any, set func(any))
	walk = func(path string, v any, set func(any)) {
		switch v := v.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				part := v[key]
				if key != "ie" && key != "il" && key != "in" {
					walk(path+"."+key, part, func(n any) { v[key] = n })
				}
			}
		case []any:
			for i := range v {
				walk(path, v[i], func(n any) { v[i] = n })
			}
		case json.Number:
			n, _ := strconv.Atoi(v.String())
			change := max(0, n+[]int{-2, -1, 1, 2, -7}[r.IntN(5)])
			sets = append(sets, func() {
				set(json.Number(strconv.Itoa(change)))
				what = fmt.Sprintf("line %d, %s = %d", at+1, path, change)
			})
		case bool:
			sets = append(sets, func() { set(!v); what = fmt.Sprintf("line %d, %s = %v", at+1, path, !v) })
		}
	}
	walk("", record, nil)
	if len(sets) == 0 {
		return text, ""
	}
	sets[r.IntN(len(sets))]()
	changed, err := json.Marshal(record)
	if err != nil {
		return text, ""
	}
	lines[at] = changed
	return bytes.Join(lines, []byte("\n")), what
}
