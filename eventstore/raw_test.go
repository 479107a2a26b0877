package eventstore_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"reckon/domain/event"
	"reckon/eventstore"
	"reckon/eventstore/storetest"
)

// rawTexts are the streams and revisions of raw events.
func rawTexts(t *testing.T, events func(func(eventstore.Raw, error) bool), most int) (texts []string) {
	t.Helper()
	for raw, err := range events {
		if err != nil {
			t.Fatal(err)
		}
		if raw.Name == "" || raw.Data == nil {
			t.Errorf("not whole: %+v", raw)
		}
		if texts = append(texts, fmt.Sprintf("%s@%d", raw.Stream, raw.Revision)); len(texts) == most {
			break
		}
	}
	return texts
}

// TestRawReads: events come as they are stored, those outside the catalogue too, from either end, and narrowed while live.
func TestRawReads(t *testing.T) {
	t.Parallel()
	store := connect(t, startNode(t, t.TempDir(), "").ConnectionString(), storetest.WiderCatalogue())
	if _, err := store.LogID(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{"$reckon-log@0", eventstore.IdentityStream + "@0"} // the first is the node's own
	for i := range 150 {                                                // more than one page backwards
		stream := []string{"a-1", "b-1", "a-2"}[i%3]
		if _, err := store.Append(t.Context(), stream, event.Revision(i/3-1), note("text")); err != nil {
			t.Fatal(err)
		}
		want = append(want, fmt.Sprintf("%s@%d", stream, i/3))
	}
	all := rawTexts(t, store.RawAll(t.Context(), event.Position{}), -1)
	if !slices.Equal(all, want) {
		t.Errorf("forwards: %v", all)
	}
	back := rawTexts(t, store.RawBackwards(t.Context()), -1)
	slices.Reverse(back)
	if !slices.Equal(back, want) {
		t.Errorf("backwards: %v", back)
	}
	narrowed := func(n eventstore.Narrow, keep func(string) bool) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		expected := slices.DeleteFunc(slices.Clone(want), func(s string) bool { return !keep(s) })
		if got := rawTexts(t, store.RawLive(ctx, event.Position{}, n), len(expected)); !slices.Equal(got, expected) {
			t.Errorf("%+v: %v, want %v", n, got, expected)
		}
	}
	narrowed(eventstore.Narrow{}, func(string) bool { return true })
	narrowed(eventstore.Narrow{Streams: []string{"a-"}}, func(s string) bool { return s[0] == 'a' })
	narrowed(eventstore.Narrow{Types: []string{"storetest."}}, func(s string) bool { return !slices.Contains(want[:2], s) })
	page, err := store.RawStream(t.Context(), "a-1", 48, 10)
	if err != nil || len(page) != 2 || page[1].Revision != 49 {
		t.Errorf("%v, %v", page, err)
	}
	if none, err := store.RawStream(t.Context(), "none", 0, 1); err != nil || len(none) != 0 {
		t.Errorf("%v, %v", none, err)
	}
	if _, err := store.RawStream(t.Context(), "a-1", -1, 1); err == nil {
		t.Error("a revision before the first was accepted")
	}
}
