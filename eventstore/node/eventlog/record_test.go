package eventlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

func anyRecord(t *rapid.T) Record {
	return Record{
		Position:     rapid.Uint64().Draw(t, "position"),
		Stream:       rapid.StringN(1, 40, 200).Draw(t, "stream"),
		Revision:     rapid.Uint64().Draw(t, "revision"),
		ID:           uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id")),
		Type:         rapid.String().Draw(t, "type"),
		JSON:         rapid.Bool().Draw(t, "json"),
		CreatedTicks: rapid.Int64().Draw(t, "created"),
		Metadata:     rapid.SliceOf(rapid.Byte()).Draw(t, "metadata"),
		Data:         rapid.SliceOf(rapid.Byte()).Draw(t, "data"),
	}
}

func TestRecordRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := anyRecord(t)
		salt := [saltBytes]byte(rapid.SliceOfN(rapid.Byte(), saltBytes, saltBytes).Draw(t, "salt"))
		previous := sha256.Sum256([]byte("before"))
		encoded, link := appendRecord(nil, &r, rapid.Bool().Draw(t, "last"), salt, previous)
		s, err := parseRecord(encoded)
		if err != nil {
			t.Fatal(err)
		}
		if !sameRecord(&s.Record, &r) {
			t.Fatalf("got %+v, want %+v", s.Record, r)
		}
		if s.Link != link || chainLink(previous, s.header) != link || !s.payloadIntact() {
			t.Fatal("the record does not verify")
		}
	})
}

func TestEveryChangedByteIsNoticed(t *testing.T) {
	t.Parallel()
	r := Record{Position: 7, Stream: "s", Revision: 3, ID: uuid.New(), Type: "t", JSON: true, CreatedTicks: 9, Metadata: []byte("m"), Data: []byte("data")}
	previous := sha256.Sum256(nil)
	encoded, _ := appendRecord(nil, &r, true, [saltBytes]byte{1, 2, 3}, previous)
	for i := range encoded {
		changed := bytes.Clone(encoded)
		changed[i] ^= 0x40
		s, err := parseRecord(changed)
		if err == nil && linkBreak(&s, r.Position, &previous) == "" {
			t.Errorf("byte %d can be changed unnoticed", i)
		}
	}
	for i := range encoded {
		if s, err := parseRecord(encoded[:i]); err == nil && linkBreak(&s, r.Position, &previous) == "" {
			t.Errorf("%d bytes of %d pass as a record", i, len(encoded))
		}
	}
}

func FuzzParseRecord(f *testing.F) {
	r := Record{Position: 7, Stream: "s", Revision: 3, ID: uuid.UUID{1}, Type: "t", Metadata: []byte("m"), Data: []byte("data")}
	encoded, _ := appendRecord(nil, &r, true, [saltBytes]byte{}, hash{})
	f.Add(encoded)
	f.Add(redacted(encoded))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := parseRecord(b)
		if err != nil {
			return
		}
		if s.Redacted {
			if s.Data != nil || s.Metadata != nil {
				t.Fatal("a redacted record has a payload")
			}
			return
		}
		// what parses is exactly what encoding makes of it, but for the two hashes
		again, _ := appendRecord(nil, &s.Record, s.last, [saltBytes]byte(s.payload[:saltBytes]), hash{})
		copy(again[56:], b[56:56+sha256.Size])
		copy(again[len(s.header):], b[len(s.header):len(s.header)+sha256.Size])
		if !bytes.Equal(again, b) {
			t.Fatalf("%x is read as %x", b, again)
		}
	})
}

// redacted takes the payload out of an encoded record, as a redaction does.
func redacted(encoded []byte) []byte {
	s, err := parseRecord(encoded)
	if err != nil {
		panic(err)
	}
	without := bytes.Clone(encoded[:len(s.header)+sha256.Size])
	return append(without, payloadRedacted)
}

func sameRecord(a, b *Record) bool {
	return a.Position == b.Position && a.Stream == b.Stream && a.Revision == b.Revision && a.ID == b.ID && a.Type == b.Type &&
		a.JSON == b.JSON && a.CreatedTicks == b.CreatedTicks && a.Redacted == b.Redacted &&
		bytes.Equal(a.Metadata, b.Metadata) && bytes.Equal(a.Data, b.Data)
}

// What stands behind the header of the newest segment may be anything: it is read as whole
// appends and the rest of one, or as damage.
func FuzzScanTail(f *testing.F) {
	id := uuid.UUID{7}
	header := encodeSegmentHeader(segmentFormat, id, 0, genesisOf(id))
	seed := binary.BigEndian.Uint32(header[segmentHeader-4:])
	r := Record{Position: 1, Stream: "s", ID: uuid.UUID{1}, Type: "t", Data: []byte("data")}
	frame, link := appendFrame(nil, seed, 0, &r, true, [saltBytes]byte{}, genesisOf(id))
	r = Record{Position: 2, Stream: "s", Revision: 1, ID: uuid.UUID{2}, Type: "t"}
	two, _ := appendFrame(bytes.Clone(frame), seed, 1, &r, false, [saltBytes]byte{}, link)
	f.Add(frame)
	f.Add(two)
	f.Add(two[len(frame):])
	f.Add(two[:len(two)-1])
	f.Fuzz(func(t *testing.T, b []byte) {
		files := filesWith("/log", map[string][]byte{filepath.Join(segmentFolder, segmentName(0)): append(bytes.Clone(header), b...)})
		_, segments, _, err := loadSegments(files, "/log")
		if err != nil {
			t.Fatal(err)
		}
		visited := uint64(0)
		found, err := scanTail("/log", segments.tail(), headMark{id: id, link: genesisOf(id)}, func(s stored, at place) {
			if visited++; s.Position != visited || at.end() > int64(len(header)+len(b)) {
				t.Fatalf("position %d at %+v", s.Position, at)
			}
		})
		var damage *CorruptError
		switch {
		case err != nil && !errors.As(err, &damage):
			t.Fatal(err)
		case err == nil && (found.end.position != visited || found.torn != int64(len(header)+len(b))-found.end.offset):
			t.Fatalf("%+v after %d records", found, visited)
		}
	})
}
