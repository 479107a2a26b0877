package export

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"unicode/utf8"

	"reckon/domain/lean/term"
)

// Read reads an export. The error is an *Error, or what r returned; with it, the file holds what was read before.
func Read(ctx context.Context, r io.Reader, limits Limits) (*File, error) {
	d := &decoder{limits: limits.withDefaults(), file: &File{
		Store: term.NewStore(), types: map[term.Name]ordinal{}, values: map[term.Name]ordinal{},
	}}
	d.file.Store.SetRoom(limits.Room)
	d.names.room, d.levels.room, d.exprs.room = limits.Room, limits.Room, limits.Room
	d.scan.max = d.limits.Depth
	d.names.define(0, uint32(term.Anonymous))
	d.levels.define(0, uint32(term.Zero))
	return d.file, d.readLines(ctx, r)
}

// linesPerLook and bytesPerLook are how many lines, or bytes, pass at most between looks at the deadline.
const (
	linesPerLook = 1024
	bytesPerLook = 256 << 10
)

func (d *decoder) readLines(ctx context.Context, r io.Reader) error {
	hash := sha256.New()
	in := bufio.NewReaderSize(r, 256<<10)
	var long []byte // a line longer than the reader's buffer
	unlooked := 0   // bytes since the last look at the deadline
	blank := 0      // line number of a blank line; fine only if nothing follows
	f := d.file
	for {
		line, err := d.nextLine(in, &long)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(line) == 0 { // end of file
			break
		}
		f.Lines++
		f.Bytes += int64(len(line))
		switch {
		case blank > 0:
			return &Error{Line: blank, Class: BlankLine, Message: "a line is blank"}
		case f.Bytes > d.limits.Bytes:
			return &Error{Line: f.Lines, Class: TooLarge, Message: "the file has too many bytes"}
		case f.Lines > d.limits.Records:
			return &Error{Line: f.Lines, Class: TooLarge, Message: "the file has too many lines"}
		}
		if unlooked += len(line); f.Lines%linesPerLook == 0 || unlooked >= bytesPerLook {
			if ctx.Err() != nil {
				return stoppedBy(ctx, f.Lines)
			}
			unlooked = 0
		}
		line = bytes.TrimSuffix(line, []byte{'\n'})
		line = bytes.TrimSuffix(line, []byte{'\r'})
		if len(bytes.TrimLeft(line, " \t\r")) == 0 {
			blank = f.Lines
			continue
		}
		hash.Write(line)
		hash.Write([]byte{'\n'})
		if lineErr := d.lineWithin(line); lineErr != nil {
			lineErr.Line = f.Lines
			return lineErr
		}
	}
	if f.Lines == 0 || f.Lines == 1 && blank == 1 {
		return &Error{Line: 1, Class: BadMeta, Message: "the file is empty"}
	}
	f.SHA256 = hex.EncodeToString(hash.Sum(nil))
	return nil
}

// nextLine returns the next line with its end, or nothing at the end of the file.
func (d *decoder) nextLine(in *bufio.Reader, long *[]byte) ([]byte, error) {
	*long = (*long)[:0]
	for {
		line, err := in.ReadSlice('\n')
		if len(*long)+len(line) > d.limits.LineBytes {
			return nil, &Error{Line: d.file.Lines + 1, Class: TooLarge, Message: "a line is too long"}
		}
		more := errors.Is(err, bufio.ErrBufferFull)
		if len(*long) == 0 && !more {
			return line, err
		}
		if need := len(*long) + len(line); need > cap(*long) {
			grown, err := d.growLine(*long, 2*need)
			if err != nil {
				return nil, err
			}
			*long = grown
		}
		*long = append(*long, line...)
		if !more {
			return *long, err
		}
	}
}

// growLine makes room for a longer line.
func (d *decoder) growLine(line []byte, capacity int) (grown []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, ok := p.(term.OutOfMemory)
			if !ok {
				panic(p)
			}
			err = &Error{Line: d.file.Lines + 1, Class: TooLarge, Message: out.Error()}
		}
	}()
	return term.Grow(d.limits.Room, line, len(line), capacity), nil
}

// stoppedBy says why the context has ended: in time, or with the memory, which whoever watches it gives as the cause.
func stoppedBy(ctx context.Context, line int) *Error {
	if out, ok := errors.AsType[term.OutOfMemory](context.Cause(ctx)); ok {
		return &Error{Line: line, Class: TooLarge, Message: out.Error()}
	}
	return &Error{Line: line, Class: Stopped, Message: "the time given ran out"}
}

// lineWithin reads one record, if there is room for it.
func (d *decoder) lineWithin(line []byte) (err *Error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case term.OutOfMemory:
			err = fail(TooLarge, "%s", p.Error())
		case term.OutOfRoom:
			err = fail(TooLarge, "%s", p.Error())
		default:
			panic(p)
		}
	}()
	return d.line(line)
}

// line reads one record.
func (d *decoder) line(line []byte) *Error {
	if !utf8.Valid(line) {
		return fail(BadJSON, "the line is not UTF-8")
	}
	d.scan.reset(line)
	if d.scan.peek() != '{' {
		return fail(BadJSON, "the line is not a JSON object")
	}
	if err := d.readRecord(); err != nil {
		return err
	}
	if d.file.Lines == 1 {
		return d.readMeta()
	}
	return d.define()
}

// indexMap maps the file's indices to handles. Indices are mostly dense; wild ones go to a map.
type indexMap struct {
	room   *term.Room
	dense  []uint32 // handle+1; 0 when undefined
	sparse map[uint64]uint32
}

// slack is how far beyond twice the defined indices the dense part may reach.
const slack = 1 << 12

func (m *indexMap) get(i uint64) (uint32, bool) {
	if i < uint64(len(m.dense)) {
		v := m.dense[i]
		return v - 1, v != 0
	}
	v, ok := m.sparse[i]
	return v, ok
}

// define enters an index; the caller knows it is free.
func (m *indexMap) define(i uint64, handle uint32) {
	switch {
	case i < uint64(len(m.dense)):
		m.dense[i] = handle + 1
	case i < uint64(2*len(m.dense)+slack):
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
