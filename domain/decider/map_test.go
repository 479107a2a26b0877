package decider

import (
	"fmt"
	"maps"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// TestAMapIsAMap: whatever is put into it and taken out, it holds what a Go map holds, and so does every map that it was before.
func TestAMapIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type version struct {
			m    Map[int]
			want map[string]int
		}
		versions := []version{{want: map[string]int{}}}
		for i := range rapid.IntRange(1, 120).Draw(t, "steps") {
			from := rapid.SampledFrom(versions).Draw(t, "from")
			key := fmt.Sprint(rapid.IntRange(0, 60).Draw(t, "key"))
			next := version{from.m, maps.Clone(from.want)}
			if rapid.IntRange(0, 2).Draw(t, "without") == 0 {
				next.m = from.m.Without(key)
				delete(next.want, key)
			} else {
				next.m = from.m.With(key, i)
				next.want[key] = i
			}
			versions = append(versions, next)
		}
		for _, v := range versions {
			if got := maps.Collect(v.m.All()); !maps.Equal(got, v.want) || v.m.Len() != len(v.want) {
				t.Fatalf("%d keys %v, want %v", v.m.Len(), got, v.want)
			}
			for key := range 61 {
				got, found := v.m.Get(fmt.Sprint(key))
				if want, wanted := v.want[fmt.Sprint(key)]; got != want || found != wanted || v.m.Has(fmt.Sprint(key)) != found {
					t.Fatalf("%d: %d %v, want %d %v", key, got, found, want, wanted)
				}
			}
		}
		// What is equal looks equal: the same keys and values in any order of arrival.
		last := versions[len(versions)-1]
		var again Map[int]
		for key, value := range last.want {
			again = again.With(key, value)
		}
		if len(last.want) > 0 && !reflect.DeepEqual(again, last.m) {
			t.Fatalf("%v was built as another tree", last.want)
		}
	})
}

// TestKeysOfOneHash share a list below the last level.
func TestKeysOfOneHash(t *testing.T) {
	deep := &branch[int]{}
	for i, key := range []string{"a", "b", "c"} {
		var added bool
		if deep, added = deep.with(7, hashBits+1, &leaf[int]{key, i}); !added {
			t.Errorf("%s was there", key)
		}
	}
	if deep, added := deep.with(7, hashBits+1, &leaf[int]{"b", 9}); added || len(deep.ways) != 3 || deep.ways[1].leaf.value != 9 {
		t.Errorf("b was not replaced: %+v", deep)
	}
	if i, exists := deep.find("d", 7, hashBits+1); exists || i != 3 {
		t.Errorf("d is at %d", i)
	}
	left := deep.without("a", 7, hashBits+1)
	if left.next == nil || len(left.next.ways) != 2 {
		t.Fatalf("without a: %+v", left)
	}
	if left = left.next.without("c", 7, hashBits+1); left.leaf == nil || left.leaf.key != "b" {
		t.Errorf("without a and c: %+v", left)
	}
}

func TestManyKeys(t *testing.T) {
	const n = 20_000
	var m Map[int]
	for i := range n {
		m = m.With(fmt.Sprint("key-", i), i)
	}
	for i := range n {
		if got, found := m.Get(fmt.Sprint("key-", i)); !found || got != i {
			t.Fatalf("key %d: %d %v", i, got, found)
		}
	}
	for i := range n {
		m = m.Without(fmt.Sprint("key-", i))
	}
	if m != (Map[int]{}) {
		t.Errorf("%d keys are left", m.Len())
	}
}
