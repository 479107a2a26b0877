package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/run"
)

// Stored is an event as a source reads it.
type Stored struct {
	ID       string // UUID
	Stream   string
	Revision event.Revision
	Position event.Position
	Name     string
	Data     []byte            // not kept
	Metadata []byte            // not kept
	Created  time.Time         // the record's stamp; zero: not known
	Removed  bool              // the payload was removed after it was written
	Link     [sha256.Size]byte // of the hash chain; zero: the source shows none
}

// Item is an event ready to be judged in its turn: decoded, its own bytes checked, its texts loaded.
type Item struct {
	event.Recorded                   // Event is nil for what is not one of the service's, or cannot be decoded
	Name           string            // stored name
	DataBytes      int               // length of the data as stored
	Created        time.Time         // Stored.Created
	link           [sha256.Size]byte // Stored.Link
	id             eventID           // zero: it is no UUID
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
	expression, answer, inputForm, stdout, canonical, payload string
	findings                                                  certificate.Findings
	missing                                                   string // why one of them is not known; empty: all are
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
	it := &Item{Recorded: event.Recorded{ID: s.ID, Stream: s.Stream, Revision: s.Revision, Position: s.Position}, Name: s.Name, DataBytes: len(s.Data), Created: s.Created, link: s.Link}
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

// load reads every text and blob of an event, and keeps the texts that checks need.
func (r Reader) load(ctx context.Context, it *Item) error {
	blobs := map[string]string{} // by SHA-256
	for _, t := range event.Texts(it.Event) {
		content, err := r.loadText(ctx, it, t)
		if err != nil {
			return err
		}
		if t.Blob != nil {
			blobs[t.Blob.SHA256] = content
		}
	}
	text := func(t event.Text) string {
		if t.Blob == nil {
			return t.Inline
		}
		return blobs[t.Blob.SHA256]
	}
	switch e := it.Event.(type) {
	case run.Evaluated:
		it.texts.expression, it.texts.answer, it.texts.inputForm = text(e.Expression), text(e.Answer), text(e.InputForm)
		if e.Stdout != nil {
			it.texts.stdout = text(*e.Stdout)
		}
	case run.Sealed:
		it.texts.canonical = text(e.Canonical)
	case job.WasQueued:
		it.texts.payload = text(e.Payload)
		if e.CertificateID != "" {
			return r.loadExport(ctx, it)
		}
	case certificate.Issued:
		it.texts.findings = e.Findings
		if e.FindingsBlob != nil && it.texts.missing == "" {
			it.readFindings(*e.FindingsBlob, blobs[e.FindingsBlob.SHA256])
		}
	}
	return nil
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

func (it *Item) readFindings(blob event.Blob, content string) {
	var findings certificate.Findings
	if err := strictUnmarshal([]byte(content), &findings); err != nil {
		it.problem(checkSchema, KindSchema, "findings in JSON", err.Error())
		it.texts.missing = "blob " + blob.SHA256
		return
	}
	it.texts.findings = findings
}
