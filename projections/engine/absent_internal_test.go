package engine

import (
	"testing"

	"pgregory.net/rapid"
)

// TestKeySetForgetsNothing: every key that was added is in the set, whatever was added besides.
func TestKeySetForgetsNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		set := newKeySet[string]()
		keys := rapid.SliceOf(rapid.String()).Draw(t, "keys")
		for i, key := range keys {
			set.add(key)
			for _, before := range keys[:i+1] {
				if !set.has(before) {
					t.Fatalf("%q is forgotten", before)
				}
			}
		}
	})
}

// TestKeySetGrows: over several filters no key is forgotten, few others are taken for keys, and a set that is too large takes every key for one.
func TestKeySetGrows(t *testing.T) {
	t.Parallel()
	set := newKeySet[int]()
	const count = firstKeys * 5
	for key := range count {
		set.add(key)
	}
	if len(set.filters) != 3 {
		t.Errorf("%d filters", len(set.filters))
	}
	wrong := 0
	for key := range count {
		if !set.has(key) {
			t.Fatalf("key %d is forgotten", key)
		}
		if set.has(count + key) {
			wrong++
		}
	}
	if share := float64(wrong) / count; share > 0.015 {
		t.Errorf("%.2f %% of other keys are taken for one", 100*share)
	}
	set.bytes = maxFilterBytes
	for key := count; !set.full; key++ {
		if set.add(key); key > 20*firstKeys {
			t.Fatal("the set grows without a bound")
		}
	}
	if !set.has(-1) || len(set.filters) != 0 {
		t.Error("a set that is full tells keys apart")
	}
}
