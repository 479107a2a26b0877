package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"reckon/eventstore/node/eventlog"
)

// Report is what an export or import did.
type Report struct {
	Events   uint64 `json:"events"`
	Position uint64 `json:"position"` // of the newest record that the source had
	SHA256   string `json:"sha256"`   // of all lines of the export but the last
	Before   uint64 `json:"before"`   // events that an interrupted export had written already
	Gaps     uint64 `json:"gaps"`     // what was left out: runs of damaged records, headers, the head file
	Lost     uint64 `json:"lost"`     // records that were left out
}

// To writes what a source has.
func To(ctx context.Context, out io.Writer, from Source, s Selection, pass func(position, of uint64) error) (Report, error) {
	var w *Writer
	return write(ctx, from, s, pass, func(h Header) (*Writer, error) {
		var err error
		w, err = NewWriter(out, h)
		return w, err
	})
}

func write(ctx context.Context, from Source, s Selection, pass func(position, of uint64) error, begin func(Header) (*Writer, error)) (Report, error) {
	var w *Writer
	var gaps, lost uint64
	reached, err := from(ctx, s, Sink{
		Gap: func(g eventlog.Gap) error {
			gaps++
			lost += g.Records()
			return w.Gap(g)
		},
		Begin: func(h Header) (err error) {
			w, err = begin(h)
			return err
		},
		Event: func(e *Event) error { return w.Write(e) },
		Pass:  pass,
	})
	if err != nil {
		if w != nil {
			err = errors.Join(err, w.Flush()) // an export to a file goes on from there
		}
		return Report{}, err
	}
	end, err := w.End(reached.Position, reached.Link)
	return Report{Events: end.Events, Position: end.Position, SHA256: fmt.Sprintf("%x", end.SHA256), Gaps: gaps, Lost: lost}, err
}

// CompleteError is returned by ToFile for a file that is a whole export.
type CompleteError struct {
	Path     string
	Position uint64
}

func (e *CompleteError) Error() string {
	return fmt.Sprintf("%s is a whole export, up to position %d: name another file, for what came later with --since %d", e.Path, e.Position, e.Position)
}

// OtherExportError is returned by ToFile for a file that another export began.
type OtherExportError struct{ Path, Reason string }

func (e *OtherExportError) Error() string {
	return fmt.Sprintf("%s is not the beginning of this export: %s; name another file", e.Path, e.Reason)
}

// ToFile writes what a source has to a file (0600), and makes it durable. A file that an
// interrupted ToFile left is verified, and the export goes on behind its last whole line.
// Errors: *CompleteError, *OtherExportError, those of To.
func ToFile(ctx context.Context, path string, from Source, s Selection, pass func(position, of uint64) error) (_ Report, err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	written, err := begun(file, path)
	if err != nil {
		return Report{}, err
	}
	var before uint64
	if written != nil {
		if s.SkipDamaged || written.Header().Gaps {
			return Report{}, &OtherExportError{path, "one that leaves out damaged records does not go on where it ended"}
		}
		if h := written.Header(); h.Stream != s.Stream || h.Category != s.Category || h.After != s.Since {
			return Report{}, &OtherExportError{path, "it is of another stream or category, or begins elsewhere"}
		}
		s.Since, before = written.Position(), written.Events()
	}
	report, err := write(ctx, from, s, pass, func(h Header) (*Writer, error) {
		if written == nil {
			return NewWriter(file, h)
		}
		if was := written.Header(); was.LogID != h.LogID || was.Chained() && written.Link() != h.Link {
			return nil, &OtherExportError{path, "it is of another log"}
		}
		return continueWriter(file, written), nil
	})
	report.Before = before
	if err != nil {
		return report, err
	}
	if err := file.Sync(); err != nil {
		return report, err
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return report, err
	}
	return report, errors.Join(folder.Sync(), folder.Close())
}

// begun reads what a file has of an export, and cuts a line that is not whole; nil when it
// has not its first line.
func begun(file *os.File, path string) (*Reader, error) {
	r, err := NewReader(file)
	for err == nil {
		_, err = r.Next()
	}
	var format *FormatError
	switch {
	case errors.Is(err, io.EOF):
		return nil, &CompleteError{path, r.Position()}
	case errors.As(err, &format) && format.Cut:
	case errors.As(err, &format):
		return nil, &OtherExportError{path, err.Error()}
	default:
		var failed *fs.PathError
		if errors.As(err, &failed) {
			return nil, err
		}
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if r == nil { // not even the first line is whole
		if err := beginsAsExport(file, path); err != nil {
			return nil, err
		}
		return nil, rewind(file, 0)
	}
	return r, rewind(file, r.Bytes())
}

// beginsAsExport refuses a file that is neither empty nor the beginning of an export: it
// would be overwritten.
func beginsAsExport(file *os.File, path string) error {
	const begin = `{"format":"` + formatName + `"`
	first := make([]byte, len(begin))
	n, err := file.ReadAt(first, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if string(first[:n]) != begin[:n] {
		return &OtherExportError{path, "it does not begin as one"}
	}
	return nil
}

// rewind cuts a file, and goes there.
func rewind(file *os.File, at int64) error {
	if err := file.Truncate(at); err != nil {
		return err
	}
	_, err := file.Seek(at, io.SeekStart)
	return err
}
