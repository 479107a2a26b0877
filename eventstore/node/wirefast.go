package node

import (
	"unicode/utf8"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/protobuf/encoding/protowire"
)

// Two messages come once for each event: the event of an append, and that of a read. The
// library goes through their metadata, a map, by reflection. They are encoded and decoded here
// field by field (protobuf.dev/programming-guides/encoding); whatever else a message may be is
// left to the library, so that what is accepted, and what it means, is the library's to say.

// decodeProposed decodes a message of an append that holds one event, each field of which comes
// once; nil for any other. The result does not refer to b.
func decodeProposed(b []byte) *streams.AppendReq_ProposedMessage_ {
	const proposedMessage = 2
	field, body, rest := nextBytes(b)
	if field != proposedMessage || len(rest) > 0 {
		return nil
	}
	// one allocation for all parts of fixed size
	parts := &struct {
		content    streams.AppendReq_ProposedMessage_
		message    streams.AppendReq_ProposedMessage
		id         shared.UUID
		structured shared.UUID_Structured_
		number     shared.UUID_Structured
		text       shared.UUID_String_
	}{}
	parts.content.ProposedMessage = &parts.message
	m := &parts.message
	var metadata, data []byte
	for seen := uint(0); len(body) > 0; {
		const id, properties, customMetadata, payload = 1, 2, 3, 4
		var value []byte
		if field, value, body = nextBytes(body); field == 0 || field != properties && seen&(1<<field) != 0 {
			return nil
		}
		seen |= 1 << field
		switch field {
		case id:
			m.Id = &parts.id
			switch {
			case decodeStructured(value, &parts.number):
				parts.structured.Structured = &parts.number
				parts.id.Value = &parts.structured
			case decodeUUIDText(value, &parts.text):
				parts.id.Value = &parts.text
			default:
				return nil
			}
		case properties:
			key, of, ok := decodeProperty(value)
			if !ok {
				return nil
			}
			if m.Metadata == nil {
				m.Metadata = make(map[string]string, 2)
			}
			m.Metadata[key] = of
		case customMetadata:
			metadata = value
		case payload:
			data = value
		default:
			return nil
		}
	}
	both := append(append(make([]byte, 0, len(metadata)+len(data)), metadata...), data...)
	m.CustomMetadata, m.Data = both[:len(metadata):len(metadata)], both[len(metadata):]
	return &parts.content
}

// nextBytes reads a field of bytes; 0 when b does not begin with one of a number below 16.
func nextBytes(b []byte) (field protowire.Number, value, rest []byte) {
	if len(b) == 0 || b[0]&0x87 != byte(protowire.BytesType) {
		return 0, nil, nil
	}
	value, n := protowire.ConsumeBytes(b[1:])
	if n < 0 {
		return 0, nil, nil
	}
	return protowire.Number(b[0] >> 3), value, b[1+n:]
}

// decodeStructured decodes a UUID of two numbers; false for any other.
func decodeStructured(b []byte, to *shared.UUID_Structured) bool {
	const structured, most, least = 1, 1 << 3, 2 << 3 // fields; tags of varints
	field, value, rest := nextBytes(b)
	if field != structured || len(rest) > 0 {
		return false
	}
	for next := byte(most); len(value) > 0; next += least - most {
		number, n := protowire.ConsumeVarint(value[1:])
		if value[0] != next || next > least || n < 0 {
			return false
		}
		if next == most {
			to.MostSignificantBits = int64(number)
		} else {
			to.LeastSignificantBits = int64(number)
		}
		value = value[1+n:]
	}
	return true
}

// decodeUUIDText decodes a UUID that is a text; false for any other.
func decodeUUIDText(b []byte, to *shared.UUID_String_) bool {
	const text = 2
	field, value, rest := nextBytes(b)
	if field != text || len(rest) > 0 || !utf8.Valid(value) {
		return false
	}
	to.String_ = string(value)
	return true
}

// decodeProperty decodes an entry of a map of strings.
func decodeProperty(b []byte) (key, value string, ok bool) {
	const keyField, valueField = 1, 2
	first, k, b := nextBytes(b)
	second, v, b := nextBytes(b)
	if first != keyField || second != valueField || len(b) > 0 || !utf8.Valid(k) || !utf8.Valid(v) {
		return "", "", false
	}
	return commonText(k), commonText(v), true
}

// commonText is string(b) without an allocation for the words that every event has.
func commonText(b []byte) string {
	switch string(b) {
	case typeKey:
		return typeKey
	case contentTypeKey:
		return contentTypeKey
	case contentJSON:
		return contentJSON
	case contentBinary:
		return contentBinary
	}
	return string(b)
}

// Fields of ReadResp, ReadResp.ReadEvent, ReadResp.ReadEvent.RecordedEvent, and of what these hold.
const (
	responseEvent = 1

	readEvent, readLink, readCommitPosition = 1, 2, 3

	recordedID, recordedStream, recordedRevision, recordedPrepare, recordedCommit         = 1, 2, 3, 4, 5
	recordedProperties, recordedMetadata, recordedData                                    = 6, 7, 8
	streamName, uuidStructured, uuidText, uuidMost, uuidLeast, propertyKey, propertyValue = 3, 1, 2, 1, 2, 1, 2
)

// encodeRead encodes the answer of a read that holds an event, in exactly as many bytes as it
// has; nil for any other, and for what the library refuses. It must have no unknown fields.
func encodeRead(m *streams.ReadResp) []byte {
	content, ok := m.GetContent().(*streams.ReadResp_Event)
	if !ok || content.Event == nil || !encodable(content.Event.Event) || !encodable(content.Event.Link) {
		return nil
	}
	event := content.Event
	eventBytes, linkBytes := sizeRecorded(event.Event), sizeRecorded(event.Link)
	size := 0
	if event.Event != nil {
		size += sizeBytes(eventBytes)
	}
	if event.Link != nil {
		size += sizeBytes(linkBytes)
	}
	position, atPosition := event.Position.(*streams.ReadResp_ReadEvent_CommitPosition)
	switch {
	case atPosition:
		size += 1 + protowire.SizeVarint(position.CommitPosition)
	case event.Position != nil:
		return nil
	}
	b := appendHead(make([]byte, 0, sizeBytes(size)), responseEvent, size)
	if event.Event != nil {
		b = appendRecorded(appendHead(b, readEvent, eventBytes), event.Event)
	}
	if event.Link != nil {
		b = appendRecorded(appendHead(b, readLink, linkBytes), event.Link)
	}
	if atPosition {
		b = protowire.AppendVarint(append(b, readCommitPosition<<3), position.CommitPosition)
	}
	return b
}

// recorded is an event in the answer of a read.
type recorded = streams.ReadResp_ReadEvent_RecordedEvent

// encodable reports whether all strings of the event are UTF-8, and its id is one.
func encodable(r *recorded) bool {
	if r == nil {
		return true
	}
	for key, value := range r.Metadata {
		if !utf8.ValidString(key) || !utf8.ValidString(value) {
			return false
		}
	}
	switch id := r.Id.GetValue().(type) {
	case *shared.UUID_Structured_:
		return id.Structured != nil
	case *shared.UUID_String_:
		return utf8.ValidString(id.String_)
	default:
		return false
	}
}

// sizeBytes is the size of a field that holds n bytes.
func sizeBytes(n int) int { return 1 + protowire.SizeBytes(n) }

// sizeNumber is the size of a field that holds a number; 0 is left out.
func sizeNumber(n uint64) int {
	if n == 0 {
		return 0
	}
	return 1 + protowire.SizeVarint(n)
}

// sizeUnlessEmpty is sizeBytes where no bytes are left out.
func sizeUnlessEmpty(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	return sizeBytes(len(b))
}

func sizeRecorded(r *recorded) int {
	if r == nil {
		return 0
	}
	n := sizeBytes(sizeUUID(r.Id)) + sizeNumber(r.StreamRevision) + sizeNumber(r.PreparePosition) + sizeNumber(r.CommitPosition)
	if r.StreamIdentifier != nil {
		n += sizeBytes(sizeUnlessEmpty(r.StreamIdentifier.StreamName))
	}
	for key, value := range r.Metadata {
		n += sizeBytes(sizeBytes(len(key)) + sizeBytes(len(value)))
	}
	return n + sizeUnlessEmpty(r.CustomMetadata) + sizeUnlessEmpty(r.Data)
}

func sizeUUID(id *shared.UUID) int {
	if s := id.GetStructured(); s != nil {
		return sizeBytes(sizeStructured(s))
	}
	return sizeBytes(len(id.GetString_()))
}

func sizeStructured(s *shared.UUID_Structured) int {
	return sizeNumber(uint64(s.MostSignificantBits)) + sizeNumber(uint64(s.LeastSignificantBits))
}

// appendHead begins a field of n bytes.
func appendHead(b []byte, field byte, n int) []byte {
	return protowire.AppendVarint(append(b, field<<3|byte(protowire.BytesType)), uint64(n))
}

func appendNumber(b []byte, field byte, n uint64) []byte {
	if n == 0 {
		return b
	}
	return protowire.AppendVarint(append(b, field<<3), n)
}

func appendUnlessEmpty(b []byte, field byte, value []byte) []byte {
	if len(value) == 0 {
		return b
	}
	return append(appendHead(b, field, len(value)), value...)
}

func appendText(b []byte, field byte, text string) []byte {
	return append(appendHead(b, field, len(text)), text...)
}

func appendRecorded(b []byte, r *recorded) []byte {
	b = appendHead(b, recordedID, sizeUUID(r.Id))
	if s := r.Id.GetStructured(); s != nil {
		b = appendHead(b, uuidStructured, sizeStructured(s))
		b = appendNumber(b, uuidMost, uint64(s.MostSignificantBits))
		b = appendNumber(b, uuidLeast, uint64(s.LeastSignificantBits))
	} else {
		b = appendText(b, uuidText, r.Id.GetString_())
	}
	if r.StreamIdentifier != nil {
		name := r.StreamIdentifier.StreamName
		b = appendUnlessEmpty(appendHead(b, recordedStream, sizeUnlessEmpty(name)), streamName, name)
	}
	b = appendNumber(b, recordedRevision, r.StreamRevision)
	b = appendNumber(b, recordedPrepare, r.PreparePosition)
	b = appendNumber(b, recordedCommit, r.CommitPosition)
	for key, value := range r.Metadata {
		b = appendHead(b, recordedProperties, sizeBytes(len(key))+sizeBytes(len(value)))
		b = appendText(appendText(b, propertyKey, key), propertyValue, value)
	}
	b = appendUnlessEmpty(b, recordedMetadata, r.CustomMetadata)
	return appendUnlessEmpty(b, recordedData, r.Data)
}
