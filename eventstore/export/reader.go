package export

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"reckon/eventstore/node/eventlog"
)

// FormatError says where an export is not what was written.
type FormatError struct {
	Line   uint64 // from 1
	Reason string
	Cut    bool // all lines before are right, the last one is missing
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("line %d of the export: %s", e.Line, e.Reason)
}

// errCut is the reason for an export without its last line.
const errCut = "the export ends before its last line: it was cut, or is not finished"

// Reader reads an export. It holds one line in memory.
type Reader struct {
	from   *bufio.Reader
	line   uint64
	buffer []byte
	bytes  int64 // of whole lines
	sum    hash.Hash

	header   Header
	events   uint64
	gaps     uint64
	position uint64
	link     [32]byte
	end      *End
}

// NewReader reads the first line. Errors: *FormatError, or that of from.
func NewReader(from io.Reader) (*Reader, error) {
	r := &Reader{from: bufio.NewReaderSize(from, 64<<10), sum: sha256.New()}
	text, err := r.readLine()
	if err != nil {
		return nil, err
	}
	if err := r.parseHeader(text); err != nil {
		return nil, r.wrong(err)
	}
	r.took(text)
	r.position, r.link = r.header.After, r.header.Link
	return r, nil
}

// Header returns the first line.
func (r *Reader) Header() Header { return r.header }

// Position is that of the newest event read, Header.After before the first; after io.EOF
// that of the newest record that the source had.
func (r *Reader) Position() uint64 { return r.position }

// Link is the link of the newest record read, when the export has links.
func (r *Reader) Link() [32]byte { return r.link }

// Bytes is how much was read, in whole lines.
func (r *Reader) Bytes() int64 { return r.bytes }

// Events is how many events were read.
func (r *Reader) Events() uint64 { return r.events }

// Gaps is how often damaged records, or something else of the source, were left out so far.
func (r *Reader) Gaps() uint64 { return r.gaps }

// Next returns the next event; io.EOF after the last line, when nothing is missing or
// changed. Errors: *FormatError, or that of the file.
func (r *Reader) Next() (Event, error) {
	if r.end != nil {
		return Event{}, io.EOF
	}
	text, err := r.readLine()
	for err == nil && r.header.Gaps && bytes.HasPrefix(text, []byte(`{"gap":`)) {
		if err := r.parseGap(text); err != nil {
			return Event{}, r.wrong(err)
		}
		r.took(text)
		r.gaps++
		text, err = r.readLine()
	}
	if err != nil {
		return Event{}, err
	}
	if bytes.HasPrefix(text, []byte(`{"end":`)) {
		if err := r.parseEnd(text); err != nil {
			return Event{}, r.wrong(err)
		}
		return Event{}, r.atEnd()
	}
	e, err := parseEvent(text, r.header.LogID != uuid.Nil)
	if err == nil {
		err = r.follows(&e)
	}
	if err != nil {
		return Event{}, r.wrong(err)
	}
	r.took(text)
	r.events++
	return e, nil
}

// follows checks that an event may come here.
func (r *Reader) follows(e *Event) error {
	switch {
	case e.Position <= r.position:
		return fmt.Errorf("position %d does not come after %d", e.Position, r.position)
	case r.header.Chained() && e.Position != r.position+1:
		return fmt.Errorf("position %d is missing", r.position+1)
	case r.header.Chained() && !e.linked().Follows(r.link):
		return fmt.Errorf("the record at position %d does not continue the hash chain: it or the one before it was changed", e.Position)
	case !selected(r.header.Stream, r.header.Category, e.Stream):
		return fmt.Errorf("stream %q is not one that the first line names", e.Stream)
	}
	r.position = e.Position
	if e.Chain != nil {
		r.link = e.Chain.Link
	}
	return nil
}

// atEnd compares the last line with what was read.
func (r *Reader) atEnd() error {
	end := r.end
	r.end = nil
	switch {
	case end.SHA256 != [32]byte(r.sum.Sum(nil)):
		return r.wrong(errors.New("the lines before are not those that were written: their SHA-256 differs"))
	case end.Events != r.events:
		return r.wrong(fmt.Errorf("%d events were written, %d are here", end.Events, r.events))
	case end.Position < r.position, r.header.Chained() && (end.Position != r.position || end.Link != r.link):
		return r.wrong(errors.New("the last line names another record than the one before it"))
	}
	if _, err := r.from.ReadByte(); !errors.Is(err, io.EOF) {
		if err == nil {
			err = &FormatError{Line: r.line + 1, Reason: "something follows the last line"}
		}
		return err
	}
	r.end, r.position, r.link = end, end.Position, end.Link
	return io.EOF
}

func (r *Reader) took(text []byte) {
	r.sum.Write(text)
	r.bytes += int64(len(text))
}

func (r *Reader) wrong(err error) error { return &FormatError{Line: r.line, Reason: err.Error()} }

// readLine returns the next line with its end. It is overwritten by the next call.
func (r *Reader) readLine() ([]byte, error) {
	r.line++
	r.buffer = r.buffer[:0]
	for {
		part, err := r.from.ReadSlice('\n')
		if len(r.buffer)+len(part) > maxLineBytes {
			return nil, &FormatError{Line: r.line, Reason: fmt.Sprintf("it has more than %d bytes", maxLineBytes)}
		}
		r.buffer = append(r.buffer, part...)
		switch {
		case err == nil:
			return r.buffer, nil
		case errors.Is(err, io.EOF):
			return nil, &FormatError{Line: r.line, Reason: errCut, Cut: true}
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// fields are the members of a line's object, as they stand there.
type fields map[string]json.RawMessage

// parseFields reads a line that is one JSON object without double members.
func parseFields(text []byte) (fields, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("it is no UTF-8")
	}
	if depth(text) > maxDepth {
		return nil, fmt.Errorf("it is nested deeper than %d", maxDepth)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return nil, errors.New("it is no JSON object")
	}
	f := fields{}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, fmt.Errorf("it is no JSON: %w", err)
		}
		key := token.(string) // More is true: the decoder is before a key
		if _, double := f[key]; double {
			return nil, fmt.Errorf("it has %q twice", key)
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, fmt.Errorf("it is no JSON: %w", err)
		}
		f[key] = value
	}
	if _, err := decoder.Token(); err != nil {
		return nil, fmt.Errorf("it is no JSON: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows its object")
	}
	return f, nil
}

// take reads a member into value and removes it; false when it is absent.
func (f fields) take(key string, value any) (bool, error) {
	raw, there := f[key]
	if !there {
		return false, nil
	}
	delete(f, key)
	if string(raw) == "null" {
		return true, fmt.Errorf("%s is null", key)
	}
	if err := json.Unmarshal(raw, value); err != nil {
		return true, fmt.Errorf("%s: %w", key, err)
	}
	return true, nil
}

// need reads a member that must be there.
func (f fields) need(key string, value any) error {
	there, err := f.take(key, value)
	if err == nil && !there {
		err = fmt.Errorf("%s is missing", key)
	}
	return err
}

// name reads a name, or its base64.
func (f fields) name(key string) (string, error) {
	var s string
	there, err := f.take(key, &s)
	if err != nil {
		return "", err
	}
	b, encoded, err := f.base64(key + "_base64")
	switch {
	case err != nil:
		return "", err
	case there && encoded:
		return "", fmt.Errorf("%s is there twice", key)
	case !encoded:
		return s, nil
	case utf8.Valid(b):
		return "", fmt.Errorf("%s_base64 holds UTF-8, which stands in %s", key, key)
	}
	return string(b), nil
}

func (f fields) base64(key string) ([]byte, bool, error) {
	var text string
	there, err := f.take(key, &text)
	if err != nil || !there {
		return nil, there, err
	}
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") {
		return nil, true, fmt.Errorf("%s is no base64", key)
	}
	return b, true, nil
}

func (f fields) hex(key string, into []byte) error {
	var text string
	if err := f.need(key, &text); err != nil {
		return err
	}
	if len(text) != 2*len(into) {
		return fmt.Errorf("%s has not %d hexadecimal digits", key, 2*len(into))
	}
	if _, err := hex.Decode(into, []byte(text)); err != nil || hex.EncodeToString(into) != text {
		return fmt.Errorf("%s is not hexadecimal in small letters", key)
	}
	return nil
}

// bytes reads a payload.
func (f fields) bytes(key string) ([]byte, error) {
	raw, verbatim := f[key]
	delete(f, key)
	decoded, encoded, err := f.base64(key + "_base64")
	switch {
	case err != nil:
		return nil, err
	case verbatim && encoded:
		return nil, fmt.Errorf("%s is there twice", key)
	case encoded:
		return decoded, nil
	case verbatim && string(raw) == "null":
		return nil, fmt.Errorf("%s is null, which stands in %s_base64; empty bytes are left out", key, key)
	}
	return bytes.Clone(raw), nil
}

func (f fields) id(key string) (uuid.UUID, error) {
	var text string
	if err := f.need(key, &text); err != nil {
		return uuid.Nil, err
	}
	id, err := uuid.Parse(text)
	if err != nil || id.String() != text {
		return uuid.Nil, fmt.Errorf("%s is no UUID in small letters", key)
	}
	return id, nil
}

// none returns an error when a member was not taken.
func (f fields) none() error {
	for key := range f {
		return fmt.Errorf("it has %q, which is unknown", key)
	}
	return nil
}

func (r *Reader) parseHeader(text []byte) error {
	f, err := parseFields(text)
	if err != nil {
		return err
	}
	var format string
	var version int
	if err := errors.Join(f.need("format", &format), f.need("version", &version)); err != nil || format != formatName {
		return errors.New("it does not begin an export of `reckon node export`")
	}
	if version != formatVersion {
		return fmt.Errorf("the export has version %d, this reads %d", version, formatVersion)
	}
	h := Header{}
	if err := f.need("after", &h.After); err != nil {
		return err
	}
	if _, there := f["log_id"]; there {
		if h.LogID, err = f.id("log_id"); err != nil {
			return err
		}
		if _, err := f.take("gaps", &h.Gaps); err != nil {
			return err
		}
		if h.Gaps {
			h.Link = eventlog.Genesis(h.LogID)
		} else if err := f.hex("link", h.Link[:]); err != nil {
			return err
		}
		if h.After == 0 && h.Link != eventlog.Genesis(h.LogID) {
			return errors.New("the link is not the one before the first record of that log")
		}
	}
	if h.Stream, err = f.name("stream"); err != nil {
		return err
	}
	if h.Category, err = f.name("category"); err != nil {
		return err
	}
	r.header = h
	return f.none()
}

func (r *Reader) parseGap(text []byte) error {
	f, err := parseFields(text)
	if err != nil {
		return err
	}
	var is bool
	var file, reason string
	var first, last, at uint64
	_, firstErr := f.take("first", &first)
	_, lastErr := f.take("last", &last)
	if err := errors.Join(f.need("gap", &is), firstErr, lastErr, f.need("file", &file), f.need("byte", &at), f.need("reason", &reason), f.none()); err != nil {
		return err
	}
	if !is || last < first || first == 0 && last > 0 || first > 0 && first <= r.position {
		return fmt.Errorf("a gap of positions %d to %d does not come after position %d", first, last, r.position)
	}
	r.position = max(r.position, last)
	return nil
}

func (r *Reader) parseEnd(text []byte) error {
	f, err := parseFields(text)
	if err != nil {
		return err
	}
	var is bool
	end := &End{}
	if err := errors.Join(f.need("end", &is), f.need("events", &end.Events), f.need("position", &end.Position), f.hex("sha256", end.SHA256[:])); err != nil {
		return err
	}
	if !is {
		return errors.New("end is not true")
	}
	if r.header.LogID != uuid.Nil {
		if err := f.hex("link", end.Link[:]); err != nil {
			return err
		}
	}
	r.end = end
	return f.none()
}

// parseEvent reads the line of an event; linked says that its source has a hash chain.
func parseEvent(text []byte, linked bool) (e Event, err error) {
	f, err := parseFields(text)
	if err != nil {
		return e, err
	}
	var created, contentType string
	if err := errors.Join(f.need("position", &e.Position), f.need("revision", &e.Revision), f.need("created", &created), f.need("content_type", &contentType)); err != nil {
		return e, err
	}
	if e.Stream, err = f.name("stream"); err != nil {
		return e, err
	}
	if e.Type, err = f.name("type"); err != nil {
		return e, err
	}
	if e.ID, err = f.id("id"); err != nil {
		return e, err
	}
	switch contentType {
	case jsonType:
		e.JSON = true
	case bytesType:
	default:
		return e, fmt.Errorf("content_type is neither %s nor %s", jsonType, bytesType)
	}
	at, err := time.Parse(createdLayout, created)
	if err != nil || at.UTC().Format(createdLayout) != created {
		return e, errors.New("created is no moment in UTC with seven digits of a second")
	}
	e.CreatedTicks = at.Unix()*eventlog.TicksPerSecond + int64(at.Nanosecond())/100
	if _, err := f.take("removed", &e.Redacted); err != nil {
		return e, err
	}
	if e.Redacted {
		if !linked {
			return e, errors.New("only a record of a log has its payload removed")
		}
	} else {
		if e.Data, err = f.bytes("data"); err != nil {
			return e, err
		}
		if e.Metadata, err = f.bytes("metadata"); err != nil {
			return e, err
		}
	}
	if linked {
		if err := e.parseChain(f); err != nil {
			return e, err
		}
	}
	return e, f.none()
}

func (e *Event) parseChain(f fields) error {
	c := &Chain{}
	e.Chain = c
	if err := errors.Join(f.need("last", &c.LastOfAppend), f.hex("link", c.Link[:])); err != nil {
		return err
	}
	if e.Redacted {
		return errors.Join(f.need("data_bytes", &c.DataBytes), f.need("metadata_bytes", &c.MetadataBytes), f.hex("payload_sha256", c.PayloadHash[:]))
	}
	if err := f.hex("salt", c.Salt[:]); err != nil {
		return err
	}
	if len(e.Data) > math.MaxUint32 || len(e.Metadata) > math.MaxUint32 {
		return errors.New("its payload is too large for a log")
	}
	c.DataBytes, c.MetadataBytes = uint32(len(e.Data)), uint32(len(e.Metadata))
	c.PayloadHash = eventlog.PayloadHash(c.Salt, e.Metadata, e.Data)
	return nil
}
