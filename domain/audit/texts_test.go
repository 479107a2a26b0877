package audit_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"reckon/domain/audit"
	"reckon/domain/audit/audittest"
)

// textsOf visits every text and every blob of a decoded event, by their forms; set puts another one in its place.
func textsOf(v any, visit func(text map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		if slices.Equal(names, []string{"bytes", "sha256"}) || !slices.ContainsFunc(names, func(name string) bool { return name != "inline" && name != "blob" }) {
			visit(v)
			return
		}
		for _, name := range names {
			if name == "publish" { // embedded events, which are compared with those that are published
				continue
			}
			textsOf(v[name], visit)
		}
	case []any:
		for i := range v {
			textsOf(v[i], visit)
		}
	}
}

// TestEveryTextIsLookedAt: given the true log, when any text or file of any event is in no blob, then that is found at the event.
func TestEveryTextIsLookedAt(t *testing.T) {
	t.Parallel()
	absent := map[string]any{"sha256": strings.Repeat("0", 64), "bytes": 1}
	tried := map[string]int{}
	for i, e := range audittest.True().Events {
		if strings.HasPrefix(e.Stream, "$") || e.Stream == "reckon-log" || tried[e.Name] > 0 {
			continue
		}
		for n := 0; ; n++ {
			v, at := decoded(t, e.Event), 0
			textsOf(v, func(text map[string]any) {
				if at++; at != n+1 {
					return
				}
				alone := text["sha256"] != nil
				clear(text)
				if text["blob"] = absent; alone {
					maps.Copy(text, absent)
					delete(text, "blob")
				}
			})
			if n >= at {
				break
			}
			l := audittest.True()
			l.Events[i].Event = encoded(t, v, e.Event)
			tried[e.Name]++
			if !has(audittest.Audit(t, l, nil), audit.KindBlobMissing, uint64(i+1)) {
				t.Errorf("%s without text number %d: not found", e.Name, n+1)
			}
		}
	}
	if len(tried) < 9 {
		t.Errorf("tried only %v", tried)
	}
	t.Logf("%v", tried)
}
