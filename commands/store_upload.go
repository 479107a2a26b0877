package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/google/uuid"

	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/lean/export"
	"reckon/domain/upload"
)

const (
	// MaxExportBytes is the size of the largest proof export in bytes, on any plan (interface §8).
	MaxExportBytes = 16 << 20
	// MaxInlineExportBytes is the largest export a job or a validation carries itself (interface §8).
	MaxInlineExportBytes = 640 << 10
	// maxMetaBytes bounds each text of the first line, because events hold these texts.
	maxMetaBytes = 200
)

// ErrProofsNotOnPlan means that the account's plan has no proof checking.
var ErrProofsNotOnPlan = errors.New("the plan has no proof checking")

// ExportOverBudgetError means that an export is larger than the plan takes.
type ExportOverBudgetError struct{ Bytes, PlanBytes int64 }

func (e *ExportOverBudgetError) Error() string {
	return fmt.Sprintf("the export has %d bytes; the plan takes up to %d", e.Bytes, e.PlanBytes)
}

// StoreUpload is the command to store an export for one job.
type StoreUpload struct {
	Export io.Reader // on disk or in memory: while it is read, other requests wait for its place in memory
	Bytes  int64
	Plan   account.Plan
}

// StoreUpload reads an export whole and stores it. It returns an *export.Error for one
// that cannot be read, ErrProofsNotOnPlan, an ExportOverBudgetError, ErrSaturated, or an
// error of the blobs or of Handle; nothing is stored then.
func (p *Proofs) StoreUpload(ctx context.Context, in Intent, c StoreUpload) (upload.Stored, event.Position, error) {
	switch {
	case !c.Plan.Proofs:
		return upload.Stored{}, event.Position{}, ErrProofsNotOnPlan
	case c.Bytes > c.Plan.ProofExportBytes:
		return upload.Stored{}, event.Position{}, &ExportOverBudgetError{Bytes: c.Bytes, PlanBytes: c.Plan.ProofExportBytes}
	}
	kept, err := p.storeExport(ctx, c.Export)
	if err != nil {
		return upload.Stored{}, event.Position{}, err
	}
	return p.storeUpload(ctx, in, kept)
}

func (p *Proofs) storeUpload(ctx context.Context, in Intent, kept ProofExport) (upload.Stored, event.Position, error) {
	id := uuid.NewSHA1(uploadNamespace, in.ID[:]).String()
	stored := upload.Stored{UploadID: id, Account: in.Account, Blob: kept.Blob(), Export: kept.Export}
	_, at, err := Create(ctx, p.Store, upload.Decider, upload.Stream(id), in, upload.Command(upload.Store{Stored: stored}))
	return stored, at, err
}

// uploadNamespace is the UUIDv5 namespace of upload ids: one intent stores one upload.
var uploadNamespace = uuid.MustParse("6a0f3c52-8d0b-4b57-9a55-0f4a0c9e7b31")

// ProofExport is an export in the blob store, in its normalised form: the blob's
// name is the export's identity.
type ProofExport struct {
	upload.Export
	Declarations int // how many it has
}

// Blob names the export's bytes.
func (e ProofExport) Blob() event.Blob { return event.Blob{SHA256: e.SHA256, Bytes: e.Bytes} }

// storeExport reads an export while it holds a memory slot, and stores it normalised.
func (p *Proofs) storeExport(ctx context.Context, r io.Reader) (ProofExport, error) {
	leave, err := p.acquireMemorySlot(ctx)
	if err != nil {
		return ProofExport{}, err
	}
	defer leave()
	content, e, err := readExport(ctx, r)
	if err != nil {
		return ProofExport{}, err
	}
	blob, err := p.Blobs.Put(ctx, content)
	if err != nil {
		return ProofExport{}, err
	}
	if blob != e.Blob() {
		return ProofExport{}, fmt.Errorf("the export %s was stored as %s", e.SHA256, blob.SHA256)
	}
	return e, nil
}

// acquireMemorySlot waits for one of the few memorySlots for exports in memory.
func (p *Proofs) acquireMemorySlot(ctx context.Context) (leave func(), err error) {
	select {
	case p.memorySlots <- struct{}{}:
		return func() { <-p.memorySlots }, nil
	case <-ctx.Done():
		return nil, ErrSaturated
	}
}

// readExport normalises an export and reads it whole, so that what is stored is
// known to be well-formed.
func readExport(ctx context.Context, r io.Reader) (content []byte, e ProofExport, err error) {
	raw, err := io.ReadAll(io.LimitReader(r, MaxExportBytes+1))
	if err != nil {
		return nil, e, err
	}
	if len(raw) > MaxExportBytes {
		return nil, e, &export.Error{Class: export.TooLarge, Message: fmt.Sprintf("an export has up to %d bytes", MaxExportBytes)}
	}
	if content, err = normalise(raw); err != nil {
		return nil, e, err
	}
	file, err := export.Read(ctx, bytes.NewReader(content), export.Limits{Bytes: MaxExportBytes + 1, LineBytes: MaxExportBytes + 1})
	if err != nil {
		return nil, e, err
	}
	m := file.Meta
	for _, text := range []string{m.ExporterName, m.ExporterVersion, m.LeanVersion, m.LeanGitHash, m.FormatVersion} {
		if len(text) > maxMetaBytes {
			return nil, e, &export.Error{Line: 1, Class: export.BadMeta, Message: fmt.Sprintf("a text of the meta record is longer than %d bytes", maxMetaBytes)}
		}
	}
	e = ProofExport{Declarations: len(file.Declarations), Export: upload.Export{SHA256: file.SHA256, Bytes: int64(len(content)), FormatVersion: m.FormatVersion}}
	if m.ExporterName != "" || m.ExporterVersion != "" {
		e.Exporter = &upload.Named{Name: m.ExporterName, Version: m.ExporterVersion}
	}
	if m.LeanVersion != "" || m.LeanGitHash != "" {
		e.Lean = &upload.Lean{Version: m.LeanVersion, Githash: m.LeanGitHash}
	}
	return content, e, nil
}

// normalise returns an export with LF line ends and exactly one at its end: the form that
// is hashed and stored. One blank line at the end is dropped; any other is refused. The
// result overwrites raw.
func normalise(raw []byte) ([]byte, error) {
	out := raw[:0]
	for line := 1; len(raw) > 0; line++ {
		var text []byte
		text, raw, _ = bytes.Cut(raw, []byte{'\n'})
		text = bytes.TrimRight(text, "\r")
		if len(bytes.TrimLeft(text, " \t\r")) == 0 {
			if len(raw) > 0 {
				return nil, &export.Error{Line: line, Class: export.BlankLine, Message: "a line is blank"}
			}
			break
		}
		out = append(append(out, text...), '\n')
	}
	return out, nil
}
