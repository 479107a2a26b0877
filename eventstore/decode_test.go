package eventstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"sync"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"reckon/domain"
	"reckon/domain/event"
	"reckon/domain/run"
)

// TestDecodesAsEncodingJSON: whatever bytes are stored, the decoder of the log and encoding/json, which decodes events
// within events, make the same of them or both refuse.
func TestDecodesAsEncodingJSON(t *testing.T) {
	t.Parallel()
	catalogue := domain.Catalogue()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(catalogue.Names()).Draw(t, "type")
		data, err := event.Marshal(catalogue[name].Sample)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			at := rapid.IntRange(0, len(data)-1).Draw(t, "at")
			piece := rapid.SampledFrom([]string{"", "null", `"`, "1", "-", "e", ".5", "true", "{}", "[]", ",", ":", "\\u0000", "\\ud800", "\xff", "\n", " ", `"Account":"x",`, `"account":"y",`, "}", "x"}).Draw(t, "piece")
			until := min(len(data), at+rapid.IntRange(0, 3).Draw(t, "removed"))
			data = []byte(string(data[:at]) + piece + string(data[until:]))
			if len(data) == 0 {
				return
			}
		}
		version := catalogue[name].Version
		want, wantErr := catalogue.Decode(name, version, data)
		got, gotErr := catalogue.DecodeWith(Unmarshal, name, version, data)
		if (wantErr == nil) != (gotErr == nil) || wantErr == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\ngot  %+v, %v\nwant %+v, %v", data, got, gotErr, want, wantErr)
		}
	})
}

// source returns n events, then an error.
func source(t *testing.T, n int, end error) func() (Raw, error) {
	data, err := event.Marshal(run.Reserved{Process: "p"})
	if err != nil {
		t.Fatal(err)
	}
	next := 0
	return func() (Raw, error) {
		if next == n {
			return Raw{}, end
		}
		next++
		metadata := fmt.Appendf(nil, `{"v":1,"agent":"%d"}`, next)
		return Raw{ID: uuid.New(), Name: "runids.reserved", Stream: "s", Data: data, Metadata: metadata, Position: event.Position{Commit: uint64(next)}}, nil
	}
}

// TestDecodeAheadKeepsTheOrder: what is read ahead is yielded whole and in order, then the error that ended it.
func TestDecodeAheadKeepsTheOrder(t *testing.T) {
	t.Parallel()
	codec := NewCodec(domain.Catalogue())
	for _, n := range []int{0, 1, chunkEvents, 20*chunkEvents + 7} {
		var reading sync.WaitGroup
		seen := 0
		wanted, err := decodeAhead(codec)(t.Context(), &reading, source(t, n, io.ErrUnexpectedEOF), func(r event.Recorded, err error) bool {
			seen++
			if err != nil || r.Position.Commit != uint64(seen) || r.Metadata.Agent != fmt.Sprint(seen) {
				t.Fatalf("event %d: %+v %v", seen, r, err)
			}
			return true
		})
		reading.Wait()
		if !wanted || !errors.Is(err, io.ErrUnexpectedEOF) || seen != n {
			t.Errorf("%d of %d events, %t %v", seen, n, wanted, err)
		}
	}
}

// TestDecodeAheadEnds: when the consumer stops, or the context ends, nothing goes on.
func TestDecodeAheadEnds(t *testing.T) {
	t.Parallel()
	codec := NewCodec(domain.Catalogue())
	ctx, cancel := context.WithCancel(t.Context())
	var reading sync.WaitGroup
	seen := 0
	wanted, err := decodeAhead(codec)(ctx, &reading, source(t, 1<<40, io.EOF), func(event.Recorded, error) bool { seen++; return seen < 3 })
	if wanted || err != nil || seen != 3 {
		t.Errorf("%d events, %t %v", seen, wanted, err)
	}
	cancel()
	reading.Wait()

	ctx, cancel = context.WithCancel(t.Context())
	endless := source(t, 1<<40, io.EOF)
	wanted, err = decodeAhead(codec)(ctx, &reading, func() (Raw, error) { return endless() }, func(r event.Recorded, _ error) bool {
		if r.Position.Commit == 5000 {
			cancel()
		}
		return true
	})
	if !wanted || !errors.Is(err, context.Canceled) {
		t.Errorf("%t %v", wanted, err)
	}
	reading.Wait()
}
