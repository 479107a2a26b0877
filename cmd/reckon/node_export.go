package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"reckon/eventstore"
	"reckon/eventstore/export"
	"reckon/eventstore/node/eventlog"
	"reckon/internal/progress"
)

// nodeSource is where events are read.
type nodeSource struct {
	nodeFolder
	From string `help:"Read from this server instead of a folder: unix:PATH or esdb://…, any EventStoreDB." placeholder:"ADDRESS"`
}

// with calls f with the source.
func (n nodeSource) with(f func(export.Source) error) error {
	if n.From == "" {
		return f(export.Folder(n.log()))
	}
	client, err := eventstore.OpenClient(n.From, slog.Default())
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }() // it never fails
	return f(export.Server(client))
}

// nodeExportCmd writes events as lines of JSON.
type nodeExportCmd struct {
	nodeSource
	Ndjson   bool   `help:"Write lines of JSON, the only format there is." default:"true"`
	Since    uint64 `help:"Only events at later positions than this." placeholder:"POSITION"`
	Stream   string `help:"Only events of this stream." placeholder:"NAME" xor:"selection"`
	Category string `help:"Only events of streams whose name has this before its first dash." placeholder:"NAME" xor:"selection"`
	File     string `arg:"" optional:"" help:"File to write; one that an interrupted export left is continued. Without it, standard output." type:"path"`

	SkipDamaged bool `help:"Leave out the damaged records of a folder instead of ending at the first, and name each gap on standard error and in a line of the export; exit status 1 when there are any. Neither HEAD nor the index is needed."`
}

// Validate refuses what only a folder can give.
func (c *nodeExportCmd) Validate() error {
	if c.SkipDamaged && c.From != "" {
		return errors.New("--skip-damaged reads the files of a log: it does not go with --from")
	}
	return nil
}

// maxNamedGaps is how many gaps are named on standard error; the export has all.
const maxNamedGaps = 100

// Run prints what was written to a file.
func (c *nodeExportCmd) Run() error {
	ctx, stop := untilSignal()
	defer stop()
	display, pass := showPositions("export")
	selection := export.Selection{Since: c.Since, Stream: c.Stream, Category: c.Category, SkipDamaged: c.SkipDamaged}
	var report export.Report
	err := c.with(func(from export.Source) (err error) {
		defer display.Close()
		if c.SkipDamaged {
			from = namingGaps(from)
		}
		if c.File == "" {
			report, err = export.To(ctx, os.Stdout, from, selection, pass)
		} else {
			report, err = export.ToFile(ctx, c.File, from, selection, pass)
		}
		return err
	})
	if err == nil && c.File != "" {
		err = printJSON(report)
	}
	if err == nil && report.Gaps > 0 {
		fmt.Fprintf(os.Stderr, "reckon node export: %d records of the log are damaged or missing, in %d places; the other %d were written\n", report.Lost, report.Gaps, report.Events)
		return exitStatus(1)
	}
	return c.reportTransfer(ctx, "export", err)
}

// namingGaps is a source whose first gaps are named on standard error.
func namingGaps(from export.Source) export.Source {
	return func(ctx context.Context, s export.Selection, to export.Sink) (export.Reached, error) {
		named, write := 0, to.Gap
		to.Gap = func(g eventlog.Gap) error {
			if named++; named <= maxNamedGaps {
				fmt.Fprintln(os.Stderr, "reckon node export: left out:", gapInWords(g))
			}
			return write(g)
		}
		return from(ctx, s, to)
	}
}

// gapInWords names the records of a gap, where it is, and why.
func gapInWords(g eventlog.Gap) string {
	which := "no record"
	switch {
	case g.First > 0 && g.First == g.Last:
		which = fmt.Sprintf("position %d", g.First)
	case g.First > 0:
		which = fmt.Sprintf("positions %d to %d", g.First, g.Last)
	}
	return fmt.Sprintf("%s (%s, byte %d): %s", which, g.File, g.Offset, g.Reason)
}

// nodeImportCmd makes a log of an export, or appends it to a server.
type nodeImportCmd struct {
	nodeFolder
	To   string `help:"Append to this server instead of making a folder: unix:PATH or esdb://…, any EventStoreDB. Its stamps are its own. It can be repeated after an interruption." placeholder:"ADDRESS"`
	File string `arg:"" help:"The export." type:"existingfile"`
}

// Run prints what was imported.
func (c *nodeImportCmd) Run() error {
	ctx, stop := untilSignal()
	defer stop()
	file, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	done, err := c.load(ctx, file)
	if err != nil {
		return reportTransfer("import", err)
	}
	return printJSON(done)
}

func (c *nodeImportCmd) load(ctx context.Context, file *os.File) (done export.Imported, err error) {
	display, pass, err := showBytes(file)
	if err != nil {
		return done, err
	}
	defer display.Close()
	reader, err := export.NewReader(file)
	if err != nil {
		return done, err
	}
	if c.To == "" {
		return export.ToFolder(ctx, reader, c.Data, pass("import"))
	}
	// nothing of an export that is cut or changed goes to a server
	if err := export.Check(ctx, reader, pass("check")); err != nil {
		return done, err
	}
	if _, err := file.Seek(0, 0); err != nil {
		return done, err
	}
	if reader, err = export.NewReader(file); err != nil {
		return done, err
	}
	client, err := eventstore.OpenClient(c.To, slog.Default())
	if err != nil {
		return done, err
	}
	defer func() { _ = client.Close() }() // it never fails
	return export.ToServer(ctx, reader, client, pass("import"))
}

// nodeStatsCmd counts what a log holds.
type nodeStatsCmd struct {
	nodeSource
	Largest int  `help:"How many of the largest streams and types to name." default:"10" placeholder:"N"`
	JSON    bool `help:"Print JSON." name:"json"`
}

// Run prints the counts.
func (c *nodeStatsCmd) Run() error {
	ctx, stop := untilSignal()
	defer stop()
	display, pass := showPositions("stats")
	var stats export.Stats
	err := c.with(func(from export.Source) (err error) {
		defer display.Close()
		stats, err = export.Count(ctx, from, max(c.Largest, 0), pass)
		return err
	})
	if err == nil && c.From == "" {
		err = addSizes(&stats, c.log())
	}
	if err != nil {
		return c.reportTransfer(ctx, "stats", err)
	}
	if c.JSON {
		return printJSON(stats)
	}
	return printStats(stats)
}

// addSizes adds the sizes of a log's files.
func addSizes(s *export.Stats, dir string) error {
	var err error
	if s.Segments, s.SegmentBytes, err = filesIn(filepath.Join(dir, "segments")); err != nil {
		return err
	}
	if _, s.IndexBytes, err = filesIn(filepath.Join(dir, "index")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if s.Events > 0 {
		s.BytesPerEvent = float64(s.SegmentBytes+s.IndexBytes) / float64(s.Events)
	}
	return nil
}

// filesIn counts the files of a folder and their bytes; a node may be writing and removing them.
func filesIn(dir string) (n int, size int64, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, 0, err
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, 0, err
		}
		n, size = n+1, size+info.Size()
	}
	return n, size, nil
}

func printStats(s export.Stats) error {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	row := func(name string, value any) { _, _ = fmt.Fprintf(table, "%s\t%v\n", name, value) } // Flush says what went wrong
	if s.Segments > 0 {
		row("log", s.LogID)
	}
	row("newest position", s.Position)
	row("events", s.Events)
	if s.Removed > 0 {
		row("of which without payload", s.Removed)
	}
	row("streams", s.Streams)
	row("types", s.Types)
	row("data and metadata", fmt.Sprintf("%d bytes", s.PayloadBytes))
	if s.Events > 0 {
		row("first created", s.First.Format(time.RFC3339Nano))
		row("last created", s.Last.Format(time.RFC3339Nano))
	}
	if s.Segments > 0 {
		row("segments", fmt.Sprintf("%d with %d bytes", s.Segments, s.SegmentBytes))
		row("index", fmt.Sprintf("%d bytes", s.IndexBytes))
		row("bytes of files per event", fmt.Sprintf("%.1f", s.BytesPerEvent))
	}
	for _, of := range []struct {
		name   string
		shares []export.Share
	}{{"stream", s.LargestStreams}, {"type", s.LargestTypes}} {
		_, _ = fmt.Fprintf(table, "\nlargest %ss\tevents\tbytes\n", of.name)
		for _, share := range of.shares {
			_, _ = fmt.Fprintf(table, "%q\t%d\t%d\n", share.Name, share.Events, share.Bytes)
		}
	}
	return table.Flush()
}

// showPositions shows how far a source was read.
func showPositions(name string) (*progress.Display, func(position, of uint64) error) {
	display := progress.New(os.Stderr, slog.Default())
	began, first := time.Now(), uint64(0)
	return display, func(position, of uint64) error {
		if first == 0 {
			first = position
		}
		display.Show(func() []progress.Task {
			return []progress.Task{advance(name, "positions", began, position-first+1, of-first+1)}
		})
		return nil
	}
}

// showBytes shows how far a file was read.
func showBytes(file *os.File) (*progress.Display, func(name string) func(int64) error, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	display := progress.New(os.Stderr, slog.Default())
	return display, func(name string) func(int64) error {
		began := time.Now()
		return func(read int64) error {
			display.Show(func() []progress.Task {
				return []progress.Task{advance(name, "bytes", began, uint64(read), uint64(info.Size()))}
			})
			return nil
		}
	}, nil
}

// advance is how far work is that did so much of all in the time since it began.
func advance(name, unit string, began time.Time, done, of uint64) progress.Task {
	passed := time.Since(began).Seconds()
	t := progress.Task{Name: name, Done: float64(done) / float64(max(of, 1)), Rate: float64(done) / passed, Unit: unit}
	t.Left = time.Duration(passed * (1/t.Done - 1) * float64(time.Second))
	return t
}

// reportTransfer is the function of that name, and says of a damaged log how far it is right.
func (n nodeSource) reportTransfer(ctx context.Context, command string, err error) error {
	status := reportTransfer(command, err)
	if n.From == "" {
		sayHowFar(ctx, command, n.Data, err)
	}
	return status
}

// reportTransfer says what went wrong; exit status 1 when a log, a file or a server does not
// hold what it should.
func reportTransfer(command string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	fmt.Fprintf(os.Stderr, "reckon node %s: %v\n", command, err)
	var damage *eventlog.CorruptError
	var format *export.FormatError
	var conflict *export.ConflictError
	if errors.As(err, &damage) || errors.As(err, &format) || errors.As(err, &conflict) {
		return exitStatus(1)
	}
	return exitStatus(2)
}
