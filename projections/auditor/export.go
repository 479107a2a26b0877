package auditor

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"reckon/domain/audit"
	"reckon/domain/event"
	"reckon/eventstore/export"
	"reckon/eventstore/node/eventlog"
)

// Export is a file that `reckon node export` wrote of a whole log.
type Export struct {
	Path    string
	Anchors []eventlog.Anchor // only for the export of a folder: one of a server has no hash chain
}

// Head is Source: the file says it at its end only.
func (x Export) Head(context.Context) (uint64, error) { return 0, nil }

// Read is Source. Errors: that of the file, of visit and of ctx, and one for an export that is no whole log, or has anchors but no chain.
func (x Export) Read(ctx context.Context, visit func(audit.Stored) error) (End, error) {
	file, err := os.Open(x.Path)
	if err != nil {
		return End{}, err
	}
	defer func() { _ = file.Close() }() // it was only read
	is, err := looksLikeExport(file)
	if err == nil && !is {
		err = fmt.Errorf("%s is no export: `reckon node export` writes one", x.Path)
	}
	if err != nil {
		return End{}, err
	}
	reader, err := export.NewReader(file)
	if err != nil {
		end := End{}
		return end, end.damaged(0, err)
	}
	header := reader.Header()
	switch {
	case header.After > 0 || header.Stream != "" || header.Category != "":
		return End{}, fmt.Errorf("%s is a part of a log: an audit needs all of it; export it without --since, --stream and --category", x.Path)
	case !header.Chained() && len(x.Anchors) > 0:
		return End{}, fmt.Errorf("%s was exported from a server, which does not show the hash chain: an anchor needs the export of the log's folder", x.Path)
	}
	anchors := eventlog.NewAnchors(x.Anchors)
	anchors.Reached(0, reader.Link())
	failed := x.visitAll(ctx, reader, anchors, visit)
	end := End{Position: reader.Position(), Chained: header.Chained(), Anchored: len(x.Anchors) > 0}
	if end.Chained {
		link := reader.Link()
		end.Link = hex.EncodeToString(link[:])
	}
	if failed != nil {
		return end, end.damaged(reader.Position(), failed)
	}
	return end, end.anchored(anchors.Check(x.Path, header.LogID, end.Position))
}

// looksLikeExport tells whether a file has a word of an export's first line. One that was changed or cut is damaged; any other file was
// named by mistake.
func looksLikeExport(file io.ReaderAt) (bool, error) {
	begin := make([]byte, len(`{"format":"reckon-export",`))
	n, err := file.ReadAt(begin, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return bytes.Contains(begin[:n], []byte("format")) || bytes.Contains(begin[:n], []byte("reckon-export")), err
}

// visitAll visits the events; its error is that of the reader, of visit or of ctx.
func (x Export) visitAll(ctx context.Context, reader *export.Reader, anchors *eventlog.Anchors, visit func(audit.Stored) error) error {
	for {
		e, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		anchors.Reached(e.Position, reader.Link())
		link := reader.Link() // zero of a server's
		if err := visit(audit.Stored{
			ID: e.ID.String(), Stream: e.Stream, Revision: event.Revision(e.Revision), Position: event.Position{Commit: e.Position, Prepare: e.Position}, //nolint:gosec // revisions are below 2^63, but for a tombstone's
			Name: e.Type, Data: e.Data, Metadata: e.Metadata, Removed: e.Redacted, Created: e.Created(), Link: link,
		}); err != nil {
			return err
		}
	}
}

// damaged makes a finding of a file that is not what was written, after the position up to which it is, and returns any other error.
func (e *End) damaged(upTo uint64, err error) error {
	var format *export.FormatError
	if !errors.As(err, &format) {
		return err
	}
	e.Findings = append(e.Findings, unreadable(audit.KindExport, upTo+1, format.Error()))
	return nil
}
