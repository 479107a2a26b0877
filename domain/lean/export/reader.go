package export

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"unicode/utf8"

	"reckon/domain/lean/term"
)

// Read reads an export. The error is an *Error, or the error of r. The File is never nil: with an error it holds the
// records before the wrong one.
//
// Unless limits.Threads is 1, lines are parsed on a goroutine of their own while earlier records are added to the file. r
// is not used after Read has returned.
func Read(ctx context.Context, r io.Reader, limits Limits) (*File, error) {
	limits = limits.withDefaults()
	d := &decoder{limits: limits, sizes: map[term.Name]nameSize{}, file: &File{Store: term.NewStore(), types: map[term.Name]ordinal{},
		values: map[term.Name]ordinal{}}}
	d.file.Store.SetRoom(limits.Room)
	d.names.room, d.levels.room, d.exprs.room = limits.Room, limits.Room, limits.Room
	d.names.define(0, uint32(term.Anonymous))
	d.levels.define(0, uint32(term.Zero))
	l := &lines{ctx: ctx, limits: limits, in: bufio.NewReaderSize(r, 256<<10), hash: sha256.New(),
		parser: parser{limits: limits, scan: scanner{max: limits.Depth}}}
	if limits.Threads == 1 {
		return d.file, d.readInTurn(l)
	}
	return d.file, d.readAhead(l)
}

// linesPerCheck and bytesPerCheck are the most lines, and bytes, read between two checks of the context.
const (
	linesPerCheck = 1024
	bytesPerCheck = 256 << 10
)

// batch holds consecutive records; the last batch of a file also says why reading ended.
type batch struct {
	records [256]record
	count   int
	last    bool
	err     error  // after the records; nil at the end of a good file
	lines   int    // of the file, read so far
	bytes   int64  // of the file, read so far
	sha256  string // of a good file
}

// bytesPerBatch bounds what the records of one batch hold.
const bytesPerBatch = 128 << 10

// readInTurn parses and defines one batch after the other on the caller's goroutine.
func (d *decoder) readInTurn(l *lines) error {
	b := &batch{}
	for {
		l.fill(b)
		if end, err := d.defineBatch(b); end {
			return err
		}
	}
}

// readAhead parses up to two batches ahead on a goroutine of its own, while the caller's goroutine defines them.
func (d *decoder) readAhead(l *lines) error {
	const ahead = 2
	empty, full := make(chan *batch, ahead), make(chan *batch, ahead)
	for range ahead {
		empty <- &batch{}
	}
	go func() {
		defer close(full)
		for b := range empty {
			l.fill(b)
			full <- b
			if b.last {
				return
			}
		}
	}()
	var result error
	ended := false
	for b := range full {
		if ended {
			continue // drain the channel until the parser has stopped
		}
		if ended, result = d.defineBatch(b); ended {
			close(empty)
		} else {
			empty <- b
		}
	}
	return result
}

// defineBatch adds the records of a batch to the file, up to the first wrong one. end is true at the end of the file and
// at an error.
func (d *decoder) defineBatch(b *batch) (end bool, err error) {
	f := d.file
	for i := range b.records[:b.count] {
		d.record = &b.records[i]
		f.Lines, f.Bytes = d.line, d.bytes
		if err := d.defineWithin(); err != nil {
			err.Line = d.line
			return true, err
		}
	}
	f.Lines, f.Bytes = b.lines, b.bytes
	if b.last && b.err == nil {
		f.SHA256 = b.sha256
	}
	return b.last, b.err
}

// defineWithin adds the current record to the file. A store that is full or out of memory becomes an Error.
func (d *decoder) defineWithin() (err *Error) {
	defer func() { err = limitError(recover(), err) }()
	switch {
	case d.err != nil:
		return d.err
	case d.line == 1:
		return d.readMeta()
	}
	return d.define()
}

// limitError turns the recovered panic p of a full store, or of one out of memory, into an Error of class TooLarge; any
// other panic continues. Without a panic it returns err.
func limitError(p any, err *Error) *Error {
	switch p := p.(type) {
	case nil:
		return err
	case term.OutOfMemory:
		return fail(TooLarge, "%s", p.Error())
	case term.StoreFull:
		return fail(TooLarge, "%s", p.Error())
	default:
		panic(p)
	}
}

// lines reads and parses the lines of a file.
type lines struct {
	ctx    context.Context
	limits Limits
	in     *bufio.Reader
	hash   hash.Hash
	parser parser

	longLine        []byte // a line longer than the reader's buffer
	count           int
	bytes           int64
	bytesSinceCheck int // bytes read since the context was last checked
	blank           int // line number of a blank line; fine only if nothing follows
}

// fill parses the next lines into b.
func (l *lines) fill(b *batch) {
	b.count, b.last, b.err = 0, false, nil
	start := l.bytes
	for !b.last && b.count < len(b.records) && l.bytes-start < bytesPerBatch {
		b.last, b.err = l.parseLine(b)
	}
	b.lines, b.bytes = l.count, l.bytes
	if b.last && b.err == nil {
		b.sha256 = hex.EncodeToString(l.hash.Sum(nil))
	}
}

// parseLine parses one line into b. last is true at the end of the file and at an error.
func (l *lines) parseLine(b *batch) (last bool, err error) {
	line, err := l.nextLine()
	if err != nil && !errors.Is(err, io.EOF) {
		return true, err
	}
	if len(line) == 0 { // end of file
		if l.count == 0 || l.count == 1 && l.blank == 1 {
			return true, &Error{Line: 1, Class: BadMeta, Message: "the file is empty"}
		}
		return true, nil
	}
	l.count++
	l.bytes += int64(len(line))
	switch {
	case l.blank > 0:
		return true, &Error{Line: l.blank, Class: BlankLine, Message: "a line is blank"}
	case l.bytes > l.limits.Bytes:
		return true, &Error{Line: l.count, Class: TooLarge, Message: "the file has too many bytes"}
	case l.count > l.limits.Records:
		return true, &Error{Line: l.count, Class: TooLarge, Message: "the file has too many lines"}
	}
	if l.bytesSinceCheck += len(line); l.count%linesPerCheck == 0 || l.bytesSinceCheck >= bytesPerCheck {
		if l.ctx.Err() != nil {
			return true, contextError(l.ctx, l.count)
		}
		l.bytesSinceCheck = 0
	}
	line = bytes.TrimSuffix(line, []byte{'\n'})
	line = bytes.TrimSuffix(line, []byte{'\r'})
	if len(bytes.TrimLeft(line, " \t\r")) == 0 {
		l.blank = l.count
		return false, nil
	}
	l.hash.Write(line)
	l.hash.Write([]byte{'\n'})
	r := &b.records[b.count]
	b.count++
	l.parser.record = r
	r.line, r.bytes = l.count, l.bytes
	r.err = l.parser.parseWithin(line)
	return r.err != nil, nil
}

// nextLine returns the next line, its line end included; at the end of the file it returns an empty line.
func (l *lines) nextLine() ([]byte, error) {
	l.longLine = l.longLine[:0]
	for {
		line, err := l.in.ReadSlice('\n')
		if len(l.longLine)+len(line) > l.limits.LineBytes {
			return nil, &Error{Line: l.count + 1, Class: TooLarge, Message: "a line is too long"}
		}
		more := errors.Is(err, bufio.ErrBufferFull)
		if len(l.longLine) == 0 && !more {
			return line, err
		}
		if need := len(l.longLine) + len(line); need > cap(l.longLine) {
			grown, err := l.growLine(2 * need)
			if err != nil {
				return nil, err
			}
			l.longLine = grown
		}
		l.longLine = append(l.longLine, line...)
		if !more {
			return l.longLine, err
		}
	}
}

// growLine makes room for a longer line.
func (l *lines) growLine(capacity int) (grown []byte, err error) {
	defer func() {
		if full := limitError(recover(), nil); full != nil {
			full.Line = l.count + 1
			err = full
		}
	}()
	return term.Grow(l.limits.Room, l.longLine, len(l.longLine), capacity), nil
}

// contextError is the Error for a context that has ended: TooLarge when its cause is term.OutOfMemory, as a watcher of
// memory sets it, Stopped otherwise.
func contextError(ctx context.Context, line int) *Error {
	if out, ok := errors.AsType[term.OutOfMemory](context.Cause(ctx)); ok {
		return &Error{Line: line, Class: TooLarge, Message: out.Error()}
	}
	return &Error{Line: line, Class: Stopped, Message: "the time given ran out"}
}

// parseWithin parses one line. Running out of memory becomes an Error.
func (d *parser) parseWithin(line []byte) (err *Error) {
	defer func() { err = limitError(recover(), err) }()
	if !utf8.Valid(line) {
		return fail(BadJSON, "the line is not UTF-8")
	}
	d.scan.reset(line)
	if d.scan.peek() != '{' {
		return fail(BadJSON, "the line is not a JSON object: an export is what lean4export writes; Lean source is for POST /api/proofs/elaborate, as its source")
	}
	return d.readRecord()
}

// indexMap maps the file's indices to handles: a slice for indices near the dense range, a map for all others.
type indexMap struct {
	room   *term.Room
	dense  []uint32 // handle+1; 0 when undefined
	sparse map[uint64]uint32
}

// denseSlack is the distance by which an index may exceed twice the number of defined indices and still go to the slice.
const denseSlack = 1 << 12

func (m *indexMap) get(i uint64) (uint32, bool) {
	if i >= beyond {
		return 0, false
	}
	if i < uint64(len(m.dense)) {
		v := m.dense[i]
		return v - 1, v != 0
	}
	v, ok := m.sparse[i]
	return v, ok
}

// define maps index i to handle. The caller has checked that i is not defined.
func (m *indexMap) define(i uint64, handle uint32) {
	switch {
	case i < uint64(len(m.dense)):
		m.dense[i] = handle + 1
	case i < uint64(2*len(m.dense)+denseSlack):
		length := max(int(i)+1, len(m.dense)+len(m.dense)/2+64)
		grown := term.Grow(m.room, m.dense, length, length)
		for j, v := range m.sparse {
			if j < uint64(len(grown)) {
				grown[j] = v + 1
				delete(m.sparse, j)
			}
		}
		grown[i] = handle + 1
		m.dense = grown
	default:
		if m.sparse == nil {
			m.sparse = map[uint64]uint32{}
		}
		m.sparse[i] = handle
	}
}
