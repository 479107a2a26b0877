package eventlog

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
)

// damagesIn reads a sealed segment and returns its damage in the order of the records; nothing
// for one that is right. Behind the first damaged record the others are found by the lengths of the frames. Where these do
// not lead to the end that the next segment begins with, nothing says which records they are, and the first alone is
// returned. Errors: those of scanSegments but *CorruptError.
func damagesIn(ctx context.Context, dir string, segments segmentList, s *segment) ([]*CorruptError, error) {
	last := segments[slices.Index(segments, s)+1].base
	_, err := scanSegments(ctx, dir, segments, afresh, cursor{s.base, s.link, segmentHeader}, last, func(*stored, place) error { return nil })
	var first *CorruptError
	if !errors.As(err, &first) {
		return nil, err
	}
	found := []*CorruptError{first}
	err = s.use(afresh, func(o opened) error {
		bad, err := o.badRecords(ctx, last)
		for _, b := range bad {
			var damage *CorruptError
			if b.position > first.Position && len(found) < maxDamagePlaces && errors.As(s.damage(dir, b), &damage) {
				found = append(found, damage)
			}
		}
		return err
	})
	var bad *badRecord
	if errors.As(err, &bad) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, io.EOF) {
		err = nil // the first one says it
	}
	return found, err
}

// badRecords returns the records of a sealed segment that do not verify, when the lengths of
// the frames lead to the position last at the segment's end; else none.
func (o opened) badRecords(ctx context.Context, last uint64) ([]*badRecord, error) {
	scan := o.scanner(o.end.Load())
	var found []*badRecord
	link := &o.segment.link // nil behind a bad record
	for ; scan.offset < scan.limit; scan.position++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		bad := &badRecord{position: scan.position + 1, offset: scan.offset}
		frame, err := scan.frame()
		var unread *badRecord
		switch {
		case errors.As(err, &unread) && unread.cause != nil:
			bad.reason, bad.cause = unread.reason, unread.cause
			if err := scan.skip(); err != nil {
				return nil, err
			}
		case err != nil:
			return nil, err
		default:
			var r stored
			if r, bad.reason = scan.parse(frame, link); bad.reason == "" {
				link = &r.Link
				continue
			}
		}
		found, link = append(found, bad), nil
	}
	if scan.position != last {
		return nil, nil
	}
	return found, nil
}

// damageOf is the damage of the record at a position, when a read of its segment from the
// beginning has met damage at or before it. All that can be told of the segment is remembered.
func (l *Log) damageOf(segments segmentList, position uint64, met *CorruptError) error {
	s := segments.find(position)
	if met.Position >= position || s == segments.tail() {
		l.fail(met)
		return met
	}
	all, err := damagesIn(context.Background(), l.dir, segments, s)
	if err != nil {
		return err
	}
	named := met
	for _, damage := range all {
		l.fail(damage)
		if damage.Position == position {
			named = damage
		}
	}
	l.fail(met) // when it was not met again
	return named
}
