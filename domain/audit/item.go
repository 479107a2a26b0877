package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/run"
	"reckon/domain/upload"
)

// Stored is an event as a source reads it.
type Stored struct {
	ID       string // UUID
	Stream   string
	Revision event.Revision
	Position event.Position
	Name     string
	Data     []byte    // not kept
	Metadata []byte    // not kept
	Created  time.Time // the record's stamp; zero: not known
	Removed  bool      // the payload was removed after it was written
}

// Item is an event ready to be judged in its turn: decoded, its own bytes checked, its texts loaded.
type Item struct {
	event.Recorded           // Event is nil for what is not one of the service's, or cannot be decoded
	Name           string    // stored name
	DataBytes      int       // length of the data as stored
	Created        time.Time // Stored.Created
	id             eventID   // zero: it is no UUID
	digest         [sha256.Size]byte
	facts          *event.Facts  // of Event's type
	address        event.Address // of Event
	named          named         // of a migration's events
	published      string        // hash of name, version and data of an event that jobs publish
	problems       []problem
	texts          texts
	noExport       bool // the export of a proof job was not looked at
}

// eventID is a UUID.
type eventID [16]byte

// problem is a finding about an item alone, before its place in the log is judged.
type problem struct {
	check           string
	kind            Kind
	expected, found string
}

func (it *Item) problem(check string, kind Kind, expected, found string) {
	it.problems = append(it.problems, problem{check, kind, expected, found})
}

// texts are the long texts of an event that checks need. Missing is what could not be loaded.
type texts struct {
	expression, answer, inputForm, stdout, canonical, payload, output, result string
	findings                                                                  certificate.Findings
	missing                                                                   string // why one of them is not known; empty: all are
}

// Reader prepares items. Its method may be called concurrently.
type Reader struct {
	Catalogue event.Catalogue
	Unmarshal event.Unmarshal  // of event.Catalogue.DecodeWith
	Blobs     event.BlobReader // nil: blobs are not looked at, and what lies in them is counted as not checked
	// NotFound tells whether an error of Blobs says that there is no such blob, Corrupt that it is another; other errors end the audit.
	NotFound, Corrupt func(error) bool
}

// Prepare decodes an event strictly and loads its texts. Its error is one of Blobs that says nothing of a blob, or the context's.
func (r Reader) Prepare(ctx context.Context, s Stored) (*Item, error) {
	it := &Item{Recorded: event.Recorded{ID: s.ID, Stream: s.Stream, Revision: s.Revision, Position: s.Position}, Name: s.Name, DataBytes: len(s.Data), Created: s.Created}
	id, isUUID := parseID(s.ID)
	if it.id = id; !isUUID {
		it.problem(checkSchema, KindEventID, "a UUID", shown(s.ID))
	}
	if strings.HasPrefix(s.Stream, "$") {
		return it, nil // the store's own
	}
	if s.Stream == identityStream {
		it.readNamed(s)
		return it, nil
	}
	it.digest = eventDigest(s)
	if s.Removed || s.Name == removedName {
		if !strings.HasPrefix(s.Stream, "runner-") {
			it.problem(checkSchema, KindPayloadRemoved, "an event with its payload: only streams runner-… lose theirs", "the payload was removed")
		}
		return it, nil
	}
	r.decode(it, s)
	if it.Event == nil {
		return it, nil
	}
	return it, r.load(ctx, it)
}

// parseID reads a UUID in its canonical form.
func parseID(s string) (id eventID, ok bool) {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' || strings.ToLower(s) != s {
		return id, false
	}
	_, err := hex.Decode(id[:], []byte(s[:8]+s[9:13]+s[14:18]+s[19:23]+s[24:]))
	return id, err == nil
}

// load reads the blobs that an event names, and keeps the texts that checks need.
func (r Reader) load(ctx context.Context, it *Item) error {
	text := func(into *string, t event.Text) error {
		content, err := r.loadText(ctx, it, t)
		if into != nil {
			*into = content
		}
		return err
	}
	switch e := it.Event.(type) {
	case run.Evaluated:
		var stdout event.Text
		if e.Stdout != nil {
			stdout = *e.Stdout
		}
		err := errors.Join(text(&it.texts.expression, e.Expression), text(&it.texts.answer, e.Answer), text(&it.texts.stdout, stdout), text(&it.texts.inputForm, e.InputForm))
		if e.Plot != nil && err == nil {
			_, err = r.loadBlob(ctx, it, *e.Plot)
		}
		return err
	case run.Sealed:
		return text(&it.texts.canonical, e.Canonical)
	case job.WasQueued:
		if err := text(&it.texts.payload, e.Payload); err != nil || e.CertificateID == "" {
			return err
		}
		return r.loadExport(ctx, it)
	case upload.Stored:
		_, err := r.loadBlob(ctx, it, e.Blob)
		return err
	case certificate.Issued:
		return r.loadFindings(ctx, it, e)
	}
	if end, ends := job.EndOf(it.Event); ends {
		return errors.Join(text(&it.texts.output, end.Output), text(&it.texts.result, end.Result))
	}
	subject, _ := run.SubjectOf(it.Event) // without an answer
	return text(nil, subject.Expression)
}

// loadExport looks at the export of a proof job, which its payload names. One that was sent with the submission stands in no upload.
func (r Reader) loadExport(ctx context.Context, it *Item) error {
	var work proofWork
	if it.texts.missing != "" || json.Unmarshal([]byte(it.texts.payload), &work) != nil {
		return nil // the check of proofs reports a payload that is none
	}
	_, err := r.loadBlob(ctx, it, event.Blob{SHA256: work.Export.SHA256, Bytes: work.Export.Bytes})
	it.noExport, it.texts.missing = it.texts.missing != "", "" // the payload itself is known
	return err
}

func (r Reader) loadText(ctx context.Context, it *Item, t event.Text) (string, error) {
	if t.Blob == nil {
		if len(t.Inline) > event.MaxInlineBytes {
			it.problem(CheckBlobs, KindTextTooLong, fmt.Sprintf("texts over %d bytes in the blob store", event.MaxInlineBytes), fmt.Sprintf("%d bytes in the event", len(t.Inline)))
		}
		return t.Inline, nil
	}
	if t.Inline != "" {
		it.problem(CheckBlobs, KindTextTwice, "a text in the event or in a blob", "both")
	}
	return r.loadBlob(ctx, it, *t.Blob)
}

func (r Reader) loadBlob(ctx context.Context, it *Item, b event.Blob) (string, error) {
	if r.Blobs == nil {
		it.texts.missing = "blob " + b.SHA256
		return "", nil
	}
	content, err := r.Blobs.Get(ctx, b)
	switch {
	case err == nil:
		return string(content), nil
	case r.NotFound(err):
		it.problem(CheckBlobs, KindBlobMissing, fmt.Sprintf("a blob %s of %d bytes", b.SHA256, b.Bytes), err.Error())
	case r.Corrupt(err):
		it.problem(CheckBlobs, KindBlobDiffers, fmt.Sprintf("bytes with SHA-256 %s, %d of them", b.SHA256, b.Bytes), err.Error())
	default:
		return "", err
	}
	it.texts.missing = "blob " + b.SHA256
	return "", nil
}

func (r Reader) loadFindings(ctx context.Context, it *Item, e certificate.Issued) error {
	it.texts.findings = e.Findings
	if e.FindingsBlob == nil {
		return nil
	}
	content, err := r.loadBlob(ctx, it, *e.FindingsBlob)
	if err != nil || it.texts.missing != "" {
		return err
	}
	var findings certificate.Findings
	if err := strictUnmarshal([]byte(content), &findings); err != nil {
		it.problem(checkSchema, KindSchema, "findings in JSON", err.Error())
		it.texts.missing = "blob " + e.FindingsBlob.SHA256
		return nil
	}
	it.texts.findings = findings
	return nil
}
