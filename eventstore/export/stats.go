package export

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
)

// Stats is what a log holds.
type Stats struct {
	LogID          uuid.UUID `json:"log_id,omitzero"`
	Position       uint64    `json:"position"` // of the newest event
	Events         uint64    `json:"events"`
	Removed        uint64    `json:"removed"` // of events, those whose payload was removed
	Streams        uint64    `json:"streams"`
	Types          uint64    `json:"types"`
	PayloadBytes   uint64    `json:"payload_bytes"` // data and metadata
	First          time.Time `json:"first_created,omitzero"`
	Last           time.Time `json:"last_created,omitzero"`
	Segments       int       `json:"segments,omitempty"`
	SegmentBytes   int64     `json:"segment_bytes,omitempty"`
	IndexBytes     int64     `json:"index_bytes,omitempty"`
	BytesPerEvent  float64   `json:"bytes_per_event,omitempty"` // of segments and index
	LargestStreams []Share   `json:"largest_streams"`
	LargestTypes   []Share   `json:"largest_types"`
}

// Share is what one stream, or one type, has.
type Share struct {
	Name   string `json:"name"`
	Events uint64 `json:"events"`
	Bytes  uint64 `json:"bytes"` // data and metadata
}

// Count counts what a source has, with the shares of the largest streams and types. It keeps
// about 0.15 kB for each stream and type.
func Count(ctx context.Context, from Source, largest int, pass func(position, of uint64) error) (Stats, error) {
	s := Stats{}
	streams, types := map[string]*Share{}, map[string]*Share{}
	reached, err := from(ctx, Selection{}, Sink{
		Begin: func(h Header) error {
			s.LogID = h.LogID
			return ctx.Err()
		},
		Event: func(e *Event) error {
			size := uint64(len(e.Data) + len(e.Metadata))
			s.Events++
			s.PayloadBytes += size
			if e.Redacted {
				s.Removed++
			}
			if s.Events == 1 {
				s.First = e.Created()
			}
			s.Last = e.Created()
			count(streams, e.Stream, size)
			count(types, e.Type, size)
			return nil
		},
		Pass: pass,
	})
	s.Position = reached.Position
	s.Streams, s.Types = uint64(len(streams)), uint64(len(types))
	s.LargestStreams, s.LargestTypes = most(streams, largest), most(types, largest)
	return s, err
}

func count(in map[string]*Share, name string, size uint64) {
	s := in[name]
	if s == nil {
		s = &Share{Name: name}
		in[name] = s
	}
	s.Events++
	s.Bytes += size
}

// most returns the shares with most bytes, the largest first.
func most(of map[string]*Share, n int) []Share {
	all := make([]Share, 0, len(of))
	for _, s := range of {
		all = append(all, *s)
	}
	slices.SortFunc(all, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Events, a.Events), cmp.Compare(a.Name, b.Name))
	})
	return slices.Clip(all[:min(n, len(all))])
}
