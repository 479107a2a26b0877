package export

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"reckon/eventstore/node/eventlog"
)

// Bounds of a line. An event of another server has at most 16 MiB.
const (
	maxLineBytes = 32 << 20
	maxDepth     = 128 // of JSON that stands in a line as it is, and of a line in all
)

// formatName and formatVersion stand in the first line.
const (
	formatName    = "reckon-export"
	formatVersion = 1
)

// Header is the first line.
type Header struct {
	LogID    uuid.UUID // uuid.Nil when the source is another server
	After    uint64    // position before the first event
	Link     [32]byte  // of the record there; only with LogID
	Stream   string    // of which alone the events are; empty: of all
	Category string    // likewise
	Gaps     bool      // damaged records were left out; lines name them
}

// Chained reports whether the export has every record of a log from Header.After on, so
// that its hash chain can be verified.
func (h Header) Chained() bool {
	return h.LogID != uuid.Nil && h.Stream == "" && h.Category == "" && !h.Gaps
}

// Event is an event, with Chain when the source is the folder of a log.
type Event struct {
	eventlog.Record
	Chain *Chain
}

// Created is the event's stamp.
func (e *Event) Created() time.Time {
	return eventlog.TimeOf(e.CreatedTicks)
}

// Chain is what ties a record to the hash chain of its log.
type Chain struct {
	Link          [32]byte
	PayloadHash   [32]byte
	Salt          [16]byte // zero when the payload was removed
	MetadataBytes uint32   // of the payload as it was written
	DataBytes     uint32   // likewise
	LastOfAppend  bool
}

func (e *Event) linked() *eventlog.Linked {
	c := e.Chain
	record := e.Record
	record.Link = c.Link
	return &eventlog.Linked{Record: record, PayloadHash: c.PayloadHash, Salt: c.Salt, MetadataBytes: c.MetadataBytes, DataBytes: c.DataBytes, LastOfAppend: c.LastOfAppend}
}

func eventOf(l *eventlog.Linked) Event {
	return Event{l.Record, &Chain{l.Link, l.PayloadHash, l.Salt, l.MetadataBytes, l.DataBytes, l.LastOfAppend}}
}

// End is the last line.
type End struct {
	Events   uint64
	Position uint64   // of the newest record that the source had
	Link     [32]byte // of that record; only with Header.LogID
	SHA256   [32]byte // of all bytes before the line
}

const (
	jsonType  = "application/json"
	bytesType = "application/octet-stream"
	// createdLayout is RFC 3339 with the 100 ns that stamps count.
	createdLayout = "2006-01-02T15:04:05.0000000Z07:00"
)

// line builds a JSON object. Fields are written in the order of the calls.
type line struct{ b []byte }

func (l *line) key(name string) {
	if len(l.b) == 0 {
		l.b = append(l.b, '{')
	} else {
		l.b = append(l.b, ',')
	}
	l.b = append(append(append(l.b, '"'), name...), '"', ':')
}

func (l *line) number(name string, n uint64) {
	l.key(name)
	l.b = strconv.AppendUint(l.b, n, 10)
}

func (l *line) raw(name string, value string) {
	l.key(name)
	l.b = append(l.b, value...)
}

func (l *line) string(name, value string) {
	l.key(name)
	l.b = appendString(l.b, value)
}

// name writes a name, in base64 when it is no UTF-8.
func (l *line) name(name, value string) {
	if utf8.ValidString(value) {
		l.string(name, value)
		return
	}
	l.base64(name+"_base64", []byte(value))
}

func (l *line) base64(name string, value []byte) {
	l.key(name)
	l.b = append(base64.StdEncoding.AppendEncode(append(l.b, '"'), value), '"')
}

func (l *line) hex(name string, value []byte) {
	l.key(name)
	l.b = append(hex.AppendEncode(append(l.b, '"'), value), '"')
}

// bytes writes a payload: verbatim when it is JSON that survives in a line, else in base64;
// nothing when it is empty.
func (l *line) bytes(name string, value []byte) {
	switch {
	case len(value) == 0:
	case standsInLine(value):
		l.key(name)
		l.b = append(l.b, value...)
	default:
		l.base64(name+"_base64", value)
	}
}

func (l *line) end() []byte { return append(l.b, '}', '\n') }

// standsInLine reports whether the bytes are JSON that every reader finds again as they are.
func standsInLine(b []byte) bool {
	first, last := b[0], b[len(b)-1]
	return first > ' ' && last > ' ' && !bytes.ContainsAny(b, "\r\n") && depth(b) < maxDepth && utf8.Valid(b) && !bytes.Equal(b, []byte("null")) && json.Valid(b)
}

// depth is how deep brackets stand in each other outside of strings.
func depth(b []byte) int {
	deepest, now, text := 0, 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == '{' || c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return deepest
}

// appendString appends a JSON string of valid UTF-8 with the escapes that JSON demands only.
func appendString(dst []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

func (h *Header) encode() []byte {
	l := &line{}
	l.string("format", formatName)
	l.number("version", formatVersion)
	if h.LogID != uuid.Nil {
		l.string("log_id", h.LogID.String())
	}
	l.number("after", h.After)
	switch {
	case h.Gaps: // the record that has the link may be lost
		l.raw("gaps", "true")
	case h.LogID != uuid.Nil:
		l.hex("link", h.Link[:])
	}
	if h.Stream != "" {
		l.name("stream", h.Stream)
	}
	if h.Category != "" {
		l.name("category", h.Category)
	}
	return l.end()
}

// encodeGap returns the line of what was left out.
func encodeGap(g eventlog.Gap) []byte {
	l := &line{}
	l.raw("gap", "true")
	if g.First > 0 {
		l.number("first", g.First)
		l.number("last", g.Last)
	}
	l.string("file", g.File)
	l.number("byte", uint64(g.Offset))
	l.string("reason", g.Reason)
	return l.end()
}

// encode returns the line of an event.
func (e *Event) encode() ([]byte, error) {
	created := e.Created()
	if y := created.Year(); y < 0 || y > 9999 {
		return nil, fmt.Errorf("the event at position %d is stamped with the year %d, which cannot be written", e.Position, y)
	}
	l := &line{b: make([]byte, 0, 512+len(e.Stream)+len(e.Type)+2*(len(e.Data)+len(e.Metadata)))}
	l.number("position", e.Position)
	l.name("stream", e.Stream)
	l.number("revision", e.Revision)
	l.string("id", e.ID.String())
	l.name("type", e.Type)
	l.string("created", created.Format(createdLayout))
	if e.JSON {
		l.string("content_type", jsonType)
	} else {
		l.string("content_type", bytesType)
	}
	if e.Redacted {
		l.raw("removed", "true")
	} else {
		l.bytes("data", e.Data)
		l.bytes("metadata", e.Metadata)
	}
	if c := e.Chain; c != nil {
		if e.Redacted {
			l.number("data_bytes", uint64(c.DataBytes))
			l.number("metadata_bytes", uint64(c.MetadataBytes))
			l.hex("payload_sha256", c.PayloadHash[:])
		} else {
			l.hex("salt", c.Salt[:])
		}
		l.raw("last", strconv.FormatBool(c.LastOfAppend))
		l.hex("link", c.Link[:])
	}
	out := l.end()
	if len(out) > maxLineBytes {
		return nil, fmt.Errorf("the event at position %d takes a line of %d bytes; an export's have at most %d", e.Position, len(out), maxLineBytes)
	}
	return out, nil
}

func (e *End) encode(linked bool) []byte {
	l := &line{}
	l.raw("end", "true")
	l.number("events", e.Events)
	l.number("position", e.Position)
	if linked {
		l.hex("link", e.Link[:])
	}
	l.hex("sha256", e.SHA256[:])
	return l.end()
}
