package circuit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// TestShotMemory: the list is the counts, asking for it changes no count, the same seed gives the same order, and neighbours are
// independent.
func TestShotMemory(t *testing.T) {
	for _, qubits := range []int{2, 40} { // on either engine
		text := `{"qubits":%d,"shots":20000,"seed":5,"memory":%v,"gates":[{"gate":"h","target":0},{"gate":"measure","target":0},{"gate":"h","target":0},{"gate":"measure","target":[0,1]}]}`
		without := mustRun(t, parseText(t, fmt.Sprintf(text, qubits, false)), Options{})
		got := mustRun(t, parseText(t, fmt.Sprintf(text, qubits, true)), Options{})
		again := mustRun(t, parseText(t, fmt.Sprintf(text, qubits, true)), Options{Threads: 3})
		counts, pairs := map[string]int{}, map[string]int{}
		for i, key := range got.Memory {
			counts[key]++
			if i%2 == 1 {
				pairs[got.Memory[i-1]+key]++
			}
		}
		if !reflect.DeepEqual(counts, without.Counts) || !reflect.DeepEqual(counts, got.Counts) || without.Memory != nil {
			t.Errorf("%d qubits: memory has %v, counts are %v and %v", qubits, counts, got.Counts, without.Counts)
		}
		if !reflect.DeepEqual(got.Memory, again.Memory) {
			t.Errorf("%d qubits: the order differs between runs", qubits)
		}
		if p := chiSquareP(pairs, map[string]float64{"0000": 0.25, "0001": 0.25, "0100": 0.25, "0101": 0.25}); p < 1e-6 {
			t.Errorf("%d qubits: pairs of neighbours %v: p = %g", qubits, pairs, p)
		}
	}
}

// TestShotMemoryAsJSON: the list is written as encoding/json would write it.
func TestShotMemoryAsJSON(t *testing.T) {
	c := parseText(t, `{"qubits":2,"shots":5,"seed":5,"memory":true,"gates":[{"gate":"h","target":0}]}`)
	got := mustRun(t, c, Options{})
	for _, indent := range []string{"", "  "} {
		var out strings.Builder
		if err := got.WriteJSON(&out, indent); err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(got)
		if indent != "" {
			want, err = json.MarshalIndent(got, "", indent)
		}
		if err != nil || !bytes.Equal(want, []byte(out.String())) {
			t.Errorf("%s, want %s", out.String(), want)
		}
	}
}

func TestShotMemoryIsBounded(t *testing.T) {
	text := `{"qubits":1000,"shots":%d,"memory":true,"gates":[]}`
	parseText(t, fmt.Sprintf(text, 60_000))
	_, err := Parse(fmt.Appendf(nil, text, 100_000), Limits{CliffordQubits: MaxCliffordQubits})
	var refused *Refusal
	if !errors.As(err, &refused) || refused.Code != CodeShotMemory {
		t.Errorf("95 MiB of keys: %v", err)
	}
	small := parseText(t, `{"qubits":1000,"shots":60000,"gates":[]}`)
	if _, err := small.WithMemory(); err != nil {
		t.Errorf("57 MiB of keys: %v", err)
	}
	if cost, with := Estimate(small), Estimate(parseText(t, fmt.Sprintf(text, 60_000))); with.ResultBytes < cost.ResultBytes+60_000*1003 || with.MemoryBytes < cost.MemoryBytes+60_000*16 {
		t.Errorf("without %+v, with %+v", cost, with)
	}
}
