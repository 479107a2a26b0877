package node

import (
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"
)

func anyUUID() *rapid.Generator[*shared.UUID] {
	return rapid.Custom(func(t *rapid.T) *shared.UUID {
		if rapid.Bool().Draw(t, "text") {
			return &shared.UUID{Value: &shared.UUID_String_{String_: rapid.String().Draw(t, "id")}}
		}
		return &shared.UUID{Value: &shared.UUID_Structured_{Structured: &shared.UUID_Structured{
			MostSignificantBits:  rapid.Int64().Draw(t, "most"),
			LeastSignificantBits: rapid.Int64().Draw(t, "least"),
		}}}
	})
}

func anyProperties() *rapid.Generator[map[string]string] {
	key := rapid.OneOf(rapid.SampledFrom([]string{typeKey, contentTypeKey, createdKey}), rapid.String())
	return rapid.MapOfN(key, rapid.OneOf(rapid.SampledFrom([]string{contentJSON, contentBinary}), rapid.String()), 0, 5)
}

func anyBytes() *rapid.Generator[[]byte] { return rapid.SliceOfN(rapid.Byte(), 0, 300) }

func TestEventsOfReadsAreEncodedAsTheLibraryReadsThem(t *testing.T) {
	t.Parallel()
	record := rapid.Custom(func(t *rapid.T) *recorded {
		return &recorded{
			Id: anyUUID().Draw(t, "id"), StreamIdentifier: streamToWire(rapid.String().Draw(t, "stream")),
			StreamRevision: rapid.Uint64().Draw(t, "revision"), PreparePosition: rapid.Uint64().Draw(t, "prepare"), CommitPosition: rapid.Uint64().Draw(t, "commit"),
			Metadata: anyProperties().Draw(t, "properties"), CustomMetadata: anyBytes().Draw(t, "metadata"), Data: anyBytes().Draw(t, "data"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		event := &streams.ReadResp_ReadEvent{}
		if rapid.Bool().Draw(t, "has an event") {
			event.Event = record.Draw(t, "event")
		}
		if rapid.Bool().Draw(t, "has a link") {
			event.Link = record.Draw(t, "link")
		}
		if rapid.Bool().Draw(t, "has a position") {
			event.Position = &streams.ReadResp_ReadEvent_CommitPosition{CommitPosition: rapid.Uint64().Draw(t, "position")}
		}
		want := &streams.ReadResp{Content: &streams.ReadResp_Event{Event: event}}
		encoded := encodeRead(want)
		if encoded == nil {
			t.Fatal("it is left to the library")
		}
		if cap(encoded) != proto.Size(want) || len(encoded) != proto.Size(want) {
			t.Fatalf("%d bytes of %d, the library needs %d", len(encoded), cap(encoded), proto.Size(want))
		}
		got := new(streams.ReadResp)
		if err := proto.Unmarshal(encoded, got); err != nil || !proto.Equal(got, want) {
			t.Fatalf("%v, not %v (%v)", got, want, err)
		}
	})
}

func TestReadsThatTheLibraryMustEncode(t *testing.T) {
	t.Parallel()
	wrong := &recorded{Id: &shared.UUID{Value: &shared.UUID_String_{}}, Metadata: map[string]string{typeKey: "\xff"}}
	for _, m := range []*streams.ReadResp{
		{},
		{Content: &streams.ReadResp_CaughtUp_{CaughtUp: &streams.ReadResp_CaughtUp{}}},
		{Content: &streams.ReadResp_Event{}},
		{Content: &streams.ReadResp_Event{Event: &streams.ReadResp_ReadEvent{Position: &streams.ReadResp_ReadEvent_NoPosition{NoPosition: &shared.Empty{}}}}},
		{Content: &streams.ReadResp_Event{Event: &streams.ReadResp_ReadEvent{Event: wrong}}},
		{Content: &streams.ReadResp_Event{Event: &streams.ReadResp_ReadEvent{Link: wrong}}},
		{Content: &streams.ReadResp_Event{Event: &streams.ReadResp_ReadEvent{Event: &recorded{}}}},
	} {
		if b := encodeRead(m); b != nil {
			t.Errorf("%v is encoded as %x", m, b)
		}
		got, err := newExactCodec().Marshal(m)
		want, wantErr := proto.Marshal(m)
		if (err == nil) != (wantErr == nil) || string(got.Materialize()) != string(want) {
			t.Errorf("%v: %x, %v; the library: %x, %v", m, got.Materialize(), err, want, wantErr)
		}
	}
}

func proposedMessageOf(t *rapid.T) *streams.AppendReq {
	return &streams.AppendReq{Content: &streams.AppendReq_ProposedMessage_{ProposedMessage: &streams.AppendReq_ProposedMessage{
		Id: anyUUID().Draw(t, "id"), Metadata: anyProperties().Draw(t, "properties"), CustomMetadata: anyBytes().Draw(t, "metadata"), Data: anyBytes().Draw(t, "data"),
	}}}
}

func TestEventsOfAppendsAreDecodedAsTheLibraryWroteThem(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := proposedMessageOf(t)
		b, err := proto.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		cut := rapid.IntRange(0, len(b)).Draw(t, "cut") // as it comes in frames
		got := new(streams.AppendReq)
		if err := newExactCodec().Unmarshal(mem.BufferSlice{mem.SliceBuffer(b[:cut]), mem.SliceBuffer(b[cut:])}, got); err != nil || !proto.Equal(got, want) {
			t.Fatalf("%v, not %v (%v)", got, want, err)
		}
		id := want.GetProposedMessage().Id.GetStructured()
		if decodeProposed(b) == nil && (id == nil || id.MostSignificantBits != 0) {
			t.Fatal("it is left to the library")
		}
		clear(b)
		if !proto.Equal(got, want) {
			t.Fatal("it refers to the bytes that it came from")
		}
	})
}

func FuzzProposedIsDecodedAsTheLibraryDoes(f *testing.F) {
	for _, example := range []*streams.AppendReq_ProposedMessage{
		{},
		{Id: uuidToWire([16]byte{1}, true), Metadata: map[string]string{typeKey: "t"}, Data: []byte("{}")},
		{Id: uuidToWire([16]byte{1, 9: 2}, false), Metadata: map[string]string{typeKey: "t", contentTypeKey: contentJSON}, CustomMetadata: []byte("m")},
	} {
		b, err := proto.Marshal(&streams.AppendReq{Content: &streams.AppendReq_ProposedMessage_{ProposedMessage: example}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(append(b, b...)) // the library merges them
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got := decodeProposed(b)
		if got == nil {
			return
		}
		want := new(streams.AppendReq)
		if err := proto.Unmarshal(b, want); err != nil {
			t.Fatalf("%x is decoded, but %v", b, err)
		}
		if !proto.Equal(&streams.AppendReq{Content: got}, want) {
			t.Fatalf("%v, the library has %v", got, want)
		}
	})
}
