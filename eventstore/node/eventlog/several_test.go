package eventlog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"
)

func in(stream, text string) ProposedIn { return ProposedIn{stream, event(text)} }

// Streams are written to together, in the order of the events, or not at all.
func TestAppendSeveral(t *testing.T) {
	t.Parallel()
	l, ctx := openLog(t, Options{}), context.Background()
	if _, err := l.Append(ctx, "a", NoStream(), []Proposed{event("a0")}); err != nil {
		t.Fatal(err)
	}
	events := []ProposedIn{in("a", "a1"), in("b", "b0"), in("a", "a2")}
	checks := []Check{{"a", Revision(0)}, {"b", NoStream()}, {"other", NoStream()}}
	want := []Written{{"a", 2}, {"b", 0}}
	written, position, err := l.AppendSeveral(ctx, checks, events)
	if err != nil || position != 5 || !slices.Equal(written, want) {
		t.Fatalf("%v at %d, %v", written, position, err)
	}
	var got []string
	for _, r := range all(t, l)[2:] {
		got = append(got, fmt.Sprintf("%d@%s %s", r.Revision, r.Stream, r.Data))
	}
	if want := []string{`1@a a1`, `0@b b0`, `2@a a2`}; !slices.Equal(got, want) {
		t.Fatalf("the log has %q, want %q", got, want)
	}
	// a repetition gets the same answer, whatever became of the streams that it only checks
	if _, err := l.Append(ctx, "other", NoStream(), []Proposed{event("x")}); err != nil {
		t.Fatal(err)
	}
	if again, at, err := l.AppendSeveral(ctx, checks, events); err != nil || at != position || !slices.Equal(again, want) {
		t.Fatalf("repeated: %v at %d, %v", again, at, err)
	}
	// part of it is no repetition
	if _, _, err := l.AppendSeveral(ctx, nil, []ProposedIn{events[0], in("c", "new")}); !errors.As(err, new(*ChecksError)) {
		t.Fatal(err)
	}
	// every stream that is not as expected is named, and nothing is written
	if _, err := l.Tombstone(ctx, "gone", Any()); err != nil {
		t.Fatal(err)
	}
	before := headOf(t, l)
	var failed *ChecksError
	_, _, err = l.AppendSeveral(ctx, []Check{{"a", Revision(0)}, {"b", Any()}, {"never", StreamExists()}}, []ProposedIn{in("gone", "x"), in("a", "x"), in("b", "x")})
	if !errors.As(err, &failed) {
		t.Fatal(err)
	}
	wantFailed := []FailedCheck{
		{Check: Check{"gone", Any()}, Index: -1, Actual: -1, Tombstoned: true},
		{Check: Check{"a", Revision(0)}, Index: 0, Actual: 2},
		{Check: Check{"never", StreamExists()}, Index: 2, Actual: -1},
	}
	if !slices.Equal(failed.Failed, wantFailed) || headOf(t, l) != before {
		t.Errorf("got %+v, want %+v", failed.Failed, wantFailed)
	}
	verify(t, l)
}

// A deleted stream, and the metadata of one, come back by an append to several streams as by one to them alone.
func TestAppendSeveralRevives(t *testing.T) {
	t.Parallel()
	l, ctx := openLog(t, Options{}), context.Background()
	for _, stream := range []string{"a", "b", "c"} {
		if _, err := l.Append(ctx, stream, NoStream(), []Proposed{event("0"), event("1")}); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Delete(ctx, stream, Any()); err != nil {
			t.Fatal(err)
		}
	}
	metadata := func(stream string) ProposedIn {
		return ProposedIn{MetaStream(stream), Proposed{ID: uuid.New(), Type: MetadataType, JSON: true, Data: []byte(`{"custom":1}`)}}
	}
	if _, _, err := l.AppendSeveral(ctx, []Check{{"a", NoStream()}}, []ProposedIn{in("a", "2"), metadata("b"), metadata("c"), in("c", "2")}); err != nil {
		t.Fatal(err)
	}
	view, err := l.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	for stream, last := range map[string]int64{"a": 2, "b": 1, "c": 2} {
		info, err := view.Stream(stream)
		if err != nil || info.SoftDeleted || info.First != 2 || info.Last != last {
			t.Errorf("%s: %+v, %v", stream, info, err)
		}
	}
	verify(t, l)
}

func TestAppendSeveralRefused(t *testing.T) {
	t.Parallel()
	l, ctx := openLog(t, Options{}), context.Background()
	many := make([]ProposedIn, MaxAppendStreams+1)
	for i := range many {
		many[i] = in(fmt.Sprint("s", i), "x")
	}
	big := in("s", "x")
	big.Data = make([]byte, MaxAppendBytes/2)
	other := big
	other.Stream, other.ID = "t", uuid.New()
	for name, c := range map[string]struct {
		checks []Check
		events []ProposedIn
		want   any
	}{
		"no event":       {nil, nil, new(*InvalidRequestError)},
		"no stream":      {nil, []ProposedIn{in("", "x")}, new(*InvalidRequestError)},
		"index stream":   {nil, []ProposedIn{in("$ce-x", "x")}, new(*AccessDeniedError)},
		"checked twice":  {[]Check{{"a", Any()}, {"a", NoStream()}}, []ProposedIn{in("a", "x")}, new(*InvalidRequestError)},
		"no expectation": {[]Check{{Stream: "a"}}, []ProposedIn{in("a", "x")}, new(*InvalidRequestError)},
		"many":           {nil, many, new(*InvalidRequestError)},
		"large":          {nil, []ProposedIn{big, other, in("u", "x")}, new(*AppendTooLargeError)},
	} {
		if _, _, err := l.AppendSeveral(ctx, c.checks, c.events); !errors.As(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if written, _, err := l.AppendSeveral(ctx, nil, many[1:]); err != nil || len(written) != MaxAppendStreams {
		t.Errorf("as many streams as there may be: %d, %v", len(written), err)
	}
	verify(t, l)
}
