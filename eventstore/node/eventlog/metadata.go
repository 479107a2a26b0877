package eventlog

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
)

// Names and types the protocol reserves.
const (
	AllStream                = "$all"
	MetadataType             = "$metadata"
	TombstoneType            = "$streamDeleted"
	LinkType                 = "$>"
	metaPrefix               = "$$"
	DeletedBefore            = math.MaxInt64 // the $tb of a soft-deleted stream
	TombstoneRevision uint64 = math.MaxInt64 // the revision of a tombstone
	maxAgeSeconds            = 1 << 38       // larger ages hide nothing
)

// IsMetaStream reports whether the stream holds the metadata of another one.
func IsMetaStream(stream string) bool { return strings.HasPrefix(stream, metaPrefix) }

// MetaStream is the name of the stream that holds the metadata of stream.
func MetaStream(stream string) string { return metaPrefix + stream }

// baseStream returns the stream whose metadata the meta-stream holds.
func baseStream(metaStream string) string { return metaStream[len(metaPrefix):] }

// isTooLong reports whether no stream may have the name: that of its metadata may be as much longer as its prefix is.
func isTooLong(stream string) bool {
	if IsMetaStream(stream) {
		stream = baseStream(stream)
	}
	return len(stream) > MaxStreamNameBytes
}

// Metadata is the part of a stream's metadata that decides what a read shows.
// Zero values mean "not set".
type Metadata struct {
	MaxCount       int64 // events
	MaxAgeSeconds  int64
	TruncateBefore int64 // first visible revision
}

func (m Metadata) softDeleted() bool { return m.TruncateBefore == DeletedBefore }

// parseMetadata reads the JSON of a $metadata event. Anything that is not a JSON object
// with sensible values counts as empty metadata, as the protocol demands. Keys are matched
// exactly, so that the object is not decoded into fields: these would match without case.
func parseMetadata(data []byte) Metadata {
	var keys map[string]json.RawMessage
	if json.Unmarshal(data, &keys) != nil {
		return Metadata{}
	}
	var m Metadata
	for key, field := range map[string]*int64{"$maxCount": &m.MaxCount, "$maxAge": &m.MaxAgeSeconds, "$tb": &m.TruncateBefore} {
		raw, isSet := keys[key]
		if !isSet {
			continue
		}
		if json.Unmarshal(raw, field) != nil {
			return Metadata{}
		}
		*field = max(0, *field)
	}
	m.MaxAgeSeconds = min(m.MaxAgeSeconds, maxAgeSeconds)
	return m
}

// metadataBytes returns the metadata in an event of a meta-stream: its data for the type
// $metadata, nil for other types.
func metadataBytes(eventType string, data []byte) []byte {
	if eventType != MetadataType {
		return nil
	}
	return data
}

// withTruncateBefore returns the metadata with $tb set and every other key kept.
// Metadata that is not a JSON object becomes one that holds only $tb.
func withTruncateBefore(data []byte, revision int64) []byte {
	keys := map[string]json.RawMessage{}
	if json.Unmarshal(data, &keys) != nil || keys == nil {
		keys = map[string]json.RawMessage{}
	}
	number, _ := json.Marshal(revision) // an int64 always encodes
	keys["$tb"] = number
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(keys) != nil {
		return append([]byte(`{"$tb":`), append(number, '}')...)
	}
	return bytes.TrimRight(out.Bytes(), "\n")
}
