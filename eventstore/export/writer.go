package export

import (
	"bufio"
	"crypto/sha256"
	"hash"
	"io"

	"github.com/google/uuid"

	"reckon/eventstore/node/eventlog"
)

// Writer writes an export.
type Writer struct {
	to     *bufio.Writer
	sum    hash.Hash
	header Header
	events uint64
}

// NewWriter writes the first line. Errors: that of to.
func NewWriter(to io.Writer, header Header) (*Writer, error) {
	w := &Writer{to: bufio.NewWriterSize(to, 256<<10), sum: sha256.New(), header: header}
	return w, w.line(header.encode())
}

// continueWriter goes on behind the whole lines that a reader has read.
func continueWriter(to io.Writer, r *Reader) *Writer {
	return &Writer{to: bufio.NewWriterSize(to, 256<<10), sum: r.sum, header: r.header, events: r.events}
}

func (w *Writer) line(text []byte) error {
	w.sum.Write(text)
	_, err := w.to.Write(text)
	return err
}

// Write writes the next event. Errors: one for an event that no line can have, or that of
// the file.
func (w *Writer) Write(e *Event) error {
	text, err := e.encode()
	if err != nil {
		return err
	}
	w.events++
	return w.line(text)
}

// Gap writes the line of what was left out.
func (w *Writer) Gap(g eventlog.Gap) error { return w.line(encodeGap(g)) }

// Events is how many events were written.
func (w *Writer) Events() uint64 { return w.events }

// End writes the last line, which names the newest record that the source had.
func (w *Writer) End(position uint64, link [32]byte) (End, error) {
	end := End{Events: w.events, Position: position, Link: link, SHA256: [32]byte(w.sum.Sum(nil))}
	if err := w.line(end.encode(w.header.LogID != uuid.Nil)); err != nil {
		return end, err
	}
	return end, w.to.Flush()
}

// Flush hands what was written to the file.
func (w *Writer) Flush() error { return w.to.Flush() }
