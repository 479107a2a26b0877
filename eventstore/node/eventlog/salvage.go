package eventlog

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"
	"slices"

	"github.com/google/uuid"
)

// Gap is something of a damaged log that a salvage has left out.
type Gap struct {
	First, Last uint64 // positions of records that are lost; both 0 when what is wrong is not a record
	File        string // below the folder
	Offset      int64  // in File
	Reason      string
}

// Records is how many records are lost.
func (g Gap) Records() uint64 {
	if g.First == 0 {
		return 0
	}
	return g.Last - g.First + 1
}

// SalvageFolder is ScanFolder for a damaged log: it calls visit for the records that are sound,
// in order, and lost for what lies between them. A record is sound when its checksum and its
// payload's hash are right, and when it continues the chain of the record before it, unless that
// one is lost. Where a length is damaged too, so that nothing says where the next record
// begins, those are taken from which an unbroken chain leads to the link in the next segment's header
// or in the head file: a record within the payload of another one proves nothing. It needs
// no index, of the head file and the headers of the segments one, and holds a segment in memory. Errors: *FormatError for
// a folder that has none of these, *StorageError, that of ctx, and those of begin, visit and lost.
func SalvageFolder(ctx context.Context, dir string, after uint64, begin func(FolderStart) error, visit func(*Linked) error, lost func(Gap) error) (Anchor, error) {
	s := salvage{ctx: ctx, dir: dir, after: after, visit: visit, lost: lost}
	if err := s.open(); err != nil {
		return Anchor{}, err
	}
	start := FolderStart{LogID: s.id, After: after, Head: max(s.mark.position, s.parts[len(s.parts)-1].base), Segments: len(s.parts)}
	for _, p := range s.parts {
		start.Bytes += p.size
	}
	if err := begin(start); err != nil {
		return Anchor{}, err
	}
	for i := range s.parts {
		if err := s.read(i); err != nil {
			return Anchor{}, err
		}
	}
	if err := s.end(); err != nil {
		return Anchor{}, err
	}
	return Anchor{LogID: s.id, Position: s.position, Link: hex.EncodeToString(s.link[:])}, nil
}

// salvage reads what is sound of a folder.
type salvage struct {
	ctx   context.Context
	dir   string
	after uint64
	visit func(*Linked) error
	lost  func(Gap) error

	id      uuid.UUID
	mark    headMark // zero when the head file is missing or damaged
	markErr error
	parts   []part

	position uint64 // of the newest record that was read or given up
	link     hash   // of that record
	linked   bool   // link is known
	pending  []Linked
}

// part is one segment as its file is.
type part struct {
	path   string
	base   uint64 // by its name
	size   int64
	header header
	reason string // why the header is not right; empty when it is
}

func (p *part) name() string { return filepath.Join(segmentFolder, filepath.Base(p.path)) }

// isForeign reports whether the file holds no record of this log, or those of another file of it.
func (p *part) isForeign(id uuid.UUID) bool {
	return p.reason == "" && (p.header.id != id || p.header.base != p.base)
}

// open reads the head file, and then the headers of the segments.
func (s *salvage) open() error {
	if err := refuseFolder(s.dir); err != nil {
		return err
	}
	files := readOnlyFiles{}
	if s.mark, s.markErr = readHeadMark(files, s.dir); s.markErr != nil && !errors.Is(s.markErr, errNoHeadFile) && !errors.Is(s.markErr, errBadHeadFile) {
		return &StorageError{Dir: s.dir, Operation: "read the head file", Err: s.markErr, Opening: true}
	}
	names, err := files.list(filepath.Join(s.dir, segmentFolder))
	if err != nil {
		return &StorageError{Dir: s.dir, Operation: "list the segments", Err: err, Opening: true}
	}
	slices.Sort(names)
	for _, name := range names {
		base, isSegment := segmentBase(name)
		if !isSegment {
			continue
		}
		p := part{path: filepath.Join(s.dir, segmentFolder, name), base: base}
		b, err := readAround(p.path, segmentHeader)
		if err != nil {
			return &StorageError{Dir: s.dir, Operation: "read a segment", Err: err, Opening: true}
		}
		p.size = b.size
		p.header, p.reason = parseSegmentHeader(b.bytes)
		s.parts = append(s.parts, p)
	}
	if len(s.parts) == 0 {
		return noSegments(s.dir)
	}
	s.id = s.mark.id
	for i := range s.parts {
		if s.id == uuid.Nil && s.parts[i].reason == "" {
			s.id = s.parts[i].header.id
		}
	}
	if s.id == uuid.Nil {
		return &FormatError{Dir: s.dir, Reason: "neither its head file nor the header of a segment can be read, so that no record proves to be of a log"}
	}
	s.link, s.linked = genesisOf(s.id), true
	return nil
}

// around is a file's content in which bytes that the disk does not give are zero.
type around struct {
	bytes []byte
	size  int64 // of the file
}

// readAround reads up to so many bytes of a file; all of it when most is negative.
func readAround(path string, most int64) (around, error) {
	const block, step = 4 << 10, 1 << 20
	f, err := readOnlyFiles{}.open(path)
	if err != nil {
		return around{}, err
	}
	defer func() { _ = f.Close() }() // it was only read
	state, err := f.stat()
	if err != nil {
		return around{}, err
	}
	if most < 0 || most > state.size {
		most = state.size
	}
	b := make([]byte, most)
	for at := int64(0); at < most; at += step {
		run := b[at:min(at+step, most)]
		_, err := f.ReadAt(run, at)
		if mayPass(err) {
			return around{}, err
		}
		for i := 0; err != nil && !errors.Is(err, io.EOF) && i < len(run); i += block {
			part := run[i:min(i+block, len(run))]
			if _, refused := f.ReadAt(part, at+int64(i)); refused != nil && !errors.Is(refused, io.EOF) {
				clear(part)
			}
		}
	}
	return around{b, state.size}, nil
}

// limit is the position of the last record that the segment may hold; 0 when nothing says it.
func (s *salvage) limit(i int) uint64 {
	for _, later := range s.parts[i+1:] {
		if !later.isForeign(s.id) {
			return later.base
		}
	}
	return 0
}

// read reads one segment.
func (s *salvage) read(i int) error {
	p := &s.parts[i]
	switch {
	case p.reason != "":
		if err := s.leaveOut(Gap{File: p.name(), Reason: p.reason}); err != nil {
			return err
		}
	case p.header.id != s.id:
		return s.leaveOut(Gap{File: p.name(), Reason: "the segment is one of another log"})
	case p.header.base != p.base:
		return s.leaveOut(Gap{File: p.name(), Reason: fmt.Sprintf("the segment's header says base %d", p.header.base)})
	}
	if p.base < s.position {
		return s.leaveOut(Gap{File: p.name(), Reason: fmt.Sprintf("the segment begins after position %d, which is before the end of the one before it", p.base)})
	}
	if err := s.giveUp(p.base, Gap{File: p.name(), Reason: "no file holds the records"}); err != nil {
		return err
	}
	if p.reason == "" {
		if s.linked && p.header.link != s.link {
			if err := s.leaveOut(Gap{File: p.name(), Reason: "the segment continues another record than the one before it"}); err != nil {
				return err
			}
		}
		s.link, s.linked = p.header.link, true
	}
	content, err := readAround(p.path, -1)
	if err != nil {
		return &StorageError{Dir: s.dir, Operation: "read a segment", Err: err, Opening: true}
	}
	b := salvagedSegment{salvage: s, part: p, bytes: content.bytes, limit: s.limit(i), isTail: i == len(s.parts)-1}
	if len(b.bytes) < segmentHeader {
		return s.giveUp(b.limit, Gap{File: p.name(), Reason: "the file is cut short"})
	}
	b.goal, b.goalLink, b.goalKnown = s.goal(i)
	b.chooseSeed()
	return b.read()
}

// goal is a record of the segment whose link is known from elsewhere: by the header of the next one, or the head file.
func (s *salvage) goal(i int) (uint64, hash, bool) {
	for _, later := range s.parts[i+1:] {
		if !later.isForeign(s.id) {
			return later.base, later.header.link, later.reason == ""
		}
	}
	return s.mark.position, s.mark.link, s.mark.position > 0
}

// giveUp leaves out every record up to a position.
func (s *salvage) giveUp(last uint64, g Gap) error {
	if last <= s.position {
		return nil
	}
	g.First, g.Last = s.position+1, last
	s.position, s.linked = last, false
	return s.leaveOut(g)
}

// leaveOut tells of a gap, unless it lies before what was asked for.
func (s *salvage) leaveOut(g Gap) error {
	s.pending = nil // of an append that is not whole
	if g.First > 0 {
		if g.Last <= s.after {
			return nil
		}
		g.First = max(g.First, s.after+1)
	}
	return s.lost(g)
}

// end tells what is missing behind the last segment.
func (s *salvage) end() error {
	if s.markErr != nil {
		return s.leaveOut(Gap{File: headFileName, Reason: s.markErr.Error() + ", so that nobody knows whether acknowledged records are missing at the end"})
	}
	return s.giveUp(s.mark.position, Gap{File: headFileName, Reason: "acknowledged records are missing at the end of the log"})
}

// salvagedSegment is a segment in memory.
type salvagedSegment struct {
	*salvage
	part      *part
	bytes     []byte
	seed      uint32
	limit     uint64 // position of its last record; 0 for the newest segment
	isTail    bool
	goal      uint64 // position of a record whose link is known
	goalLink  hash
	goalKnown bool
}

// chooseSeed takes the checksum of the header, or what it must be, whichever the first frame was made with.
func (b *salvagedSegment) chooseSeed() {
	b.seed = checksumOf(b.bytes)
	if computed := crc32.ChecksumIEEE(b.bytes[:segmentHeader-4]); computed != b.seed {
		if _, _, reason := b.frame(segmentHeader); reason != "" {
			stored := b.seed
			b.seed = computed
			if _, _, reason := b.frame(segmentHeader); reason != "" {
				b.seed = stored
			}
		}
	}
}

// frame parses the frame at an offset.
func (b *salvagedSegment) frame(at int) (r stored, next int, reason string) {
	length, ok := frameLength(b.bytes[at:])
	switch {
	case !ok:
		return r, 0, "no record begins here"
	case length > int64(len(b.bytes)-at):
		return r, 0, "the record is cut short"
	}
	next = at + int(length)
	r, reason = parseFrame(b.seed, b.bytes[at:next:next])
	switch {
	case reason != "":
	case !r.payloadIntact():
		reason = "the payload is not the one that was written"
	case r.Redacted && b.part.reason == "" && !b.part.header.scavenged:
		reason = "the payload is missing from a segment that was not scavenged"
	}
	return r, next, reason
}

// read visits the sound records of the segment.
func (b *salvagedSegment) read() error {
	for at := segmentHeader; at < len(b.bytes); {
		if err := b.ctx.Err(); err != nil {
			return err
		}
		r, next, reason := b.frame(at)
		switch {
		case reason != "":
			if b.isUnfinished(at) {
				return nil
			}
			var err error
			if next, err = b.skip(at, reason); err != nil || next == 0 {
				return err
			}
			at = next
			continue
		case r.Position <= b.position:
			reason = fmt.Sprintf("the record says position %d, which was before", r.Position)
			if b.isTail && b.mark.position > 0 && b.position >= b.mark.position {
				return nil // the rest of a write that was acknowledged to nobody
			}
			if err := b.leaveOut(Gap{File: b.part.name(), Offset: int64(at), Reason: reason}); err != nil {
				return err
			}
			at = next
			continue
		case b.limit > 0 && r.Position > b.limit:
			return b.giveUp(b.limit, Gap{File: b.part.name(), Offset: int64(at), Reason: fmt.Sprintf("the record says position %d, and the next segment begins after %d", r.Position, b.limit)})
		}
		if err := b.giveUp(r.Position-1, Gap{File: b.part.name(), Offset: int64(at), Reason: fmt.Sprintf("the record is missing; the next one says position %d", r.Position)}); err != nil {
			return err
		}
		if b.linked && chainLink(b.link, r.header) != r.Link {
			if err := b.giveUp(r.Position, Gap{File: b.part.name(), Offset: int64(at), Reason: "the hash chain breaks: this record or the one before it was changed"}); err != nil {
				return err
			}
		} else if err := b.take(&r); err != nil {
			return err
		}
		b.position, b.link, b.linked = r.Position, r.Link, true
		at = next
	}
	return b.giveUp(b.limit, Gap{File: b.part.name(), Offset: int64(len(b.bytes)), Reason: "the segment ends before the next one begins"})
}

// take visits a record. Of the newest segment, behind what the head file names, only whole appends are.
func (b *salvagedSegment) take(r *stored) error {
	if r.Position <= b.after {
		return nil
	}
	l := r.linked()
	if !b.isTail || r.Position <= b.mark.position {
		return b.visit(&l)
	}
	b.pending = append(b.pending, l)
	if !r.last {
		return nil
	}
	whole := b.pending
	b.pending = nil
	for i := range whole {
		if err := b.visit(&whole[i]); err != nil {
			return err
		}
	}
	return nil
}

// isUnfinished reports whether what is at the offset is the rest of a write that was acknowledged to nobody.
func (b *salvagedSegment) isUnfinished(at int) bool {
	return b.isTail && b.position >= b.mark.position && !provesDurable(b.seed, b.bytes[at:], b.position+1)
}

// skip gives up what is damaged at an offset, and returns where the next record begins; 0 when none is proven to.
func (b *salvagedSegment) skip(at int, reason string) (int, error) {
	gap := Gap{File: b.part.name(), Offset: int64(at), Reason: reason}
	// the lengths may be right
	next, position := at, b.position
	for {
		length, ok := frameLength(b.bytes[next:])
		if !ok || length > int64(len(b.bytes)-next) {
			break
		}
		next += int(length)
		position++
		if next == len(b.bytes) {
			if position == b.limit || b.limit == 0 && position >= b.mark.position {
				return 0, b.giveUp(position, gap)
			}
			break
		}
		if r, _, reason := b.frame(next); reason == "" {
			if r.Position == position+1 {
				return next, b.giveUp(position, gap)
			}
			break
		}
	}
	next, first := b.proven(at + 1)
	if next > 0 {
		return next, b.giveUp(first-1, gap)
	}
	gap.Reason += "; and nothing proves where the records behind it begin"
	last := b.limit
	if last == 0 {
		last = max(b.mark.position, b.position+1)
	}
	return 0, b.giveUp(last, gap)
}

// proven finds the first record, at an offset or behind it, from which the chain leads to the goal without a break.
func (b *salvagedSegment) proven(from int) (at int, position uint64) {
	if !b.goalKnown {
		return 0, 0
	}
	for from < len(b.bytes) {
		found := bytes.Index(b.bytes[from:], []byte(frameMagic))
		if found < 0 {
			return 0, 0
		}
		at = from + found
		reaches, stopped, first := b.follow(at)
		if reaches && first > b.position+1 {
			return at, first
		}
		from = max(at+1, stopped) // what was followed leads nowhere from any of its records
	}
	return 0, 0
}

// follow follows the chain from an offset, and reports whether it reaches the goal, where it stopped, and the position it began with.
func (b *salvagedSegment) follow(at int) (reaches bool, stopped int, first uint64) {
	var link hash
	for position := uint64(0); at < len(b.bytes); position++ {
		r, next, reason := b.frame(at)
		switch {
		case reason != "":
			return false, at, first
		case first == 0:
			first, position = r.Position, r.Position
		case r.Position != position, chainLink(link, r.header) != r.Link:
			return false, at, first
		}
		if r.Position == b.goal {
			return r.Link == b.goalLink, at, first
		}
		link, at = r.Link, next
	}
	return false, at, first
}
