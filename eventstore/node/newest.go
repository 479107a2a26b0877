package node

import (
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// Newer protocols have fields that the messages of the official Go client lack. They are encoded here, and sent as
// fields that those messages do not know. Numbers are those of kurrent-io/KurrentDB, src/Protos/Grpc/streams.proto, of 2026.

// progress is how far a subscription has come: the number behind which it would go on.
type progress struct {
	number uint64
	some   bool // false at the beginning
	ofAll  bool // the number is a position of $all, else a revision
}

// progressBefore is the progress of a subscription whose next event has this number at least.
func progressBefore(next uint64, ofAll bool) progress {
	if next == 0 {
		return progress{ofAll: ofAll}
	}
	return progress{number: next - 1, some: true, ofAll: ofAll}
}

func caughtUpAt(p progress, now time.Time) *streams.ReadResp {
	m := &streams.ReadResp_CaughtUp{}
	addFields(m, p.appendTo(now))
	return &streams.ReadResp{Content: &streams.ReadResp_CaughtUp_{CaughtUp: m}}
}

func fellBehindAt(p progress, now time.Time) *streams.ReadResp {
	m := &streams.ReadResp_FellBehind{}
	addFields(m, p.appendTo(now))
	return &streams.ReadResp{Content: &streams.ReadResp_FellBehind_{FellBehind: m}}
}

func checkpointAt(position uint64, now time.Time) *streams.ReadResp {
	const timestamp = 3
	m := &streams.ReadResp_Checkpoint{CommitPosition: position, PreparePosition: position}
	addFields(m, appendTime(nil, timestamp, now))
	return &streams.ReadResp{Content: &streams.ReadResp_Checkpoint_{Checkpoint: m}}
}

// appendTo encodes the fields of CaughtUp and FellBehind.
func (p progress) appendTo(now time.Time) []byte {
	const timestamp, revision, position = 1, 2, 3
	b := appendTime(nil, timestamp, now)
	switch {
	case p.some && p.ofAll:
		b = protowire.AppendTag(b, position, protowire.BytesType)
		return protowire.AppendBytes(b, appendPosition(p.number))
	case p.some:
		b = protowire.AppendTag(b, revision, protowire.VarintType)
		return protowire.AppendVarint(b, p.number)
	}
	return b
}

func appendPosition(number uint64) (b []byte) {
	for field := protowire.Number(1); field <= 2; field++ { // commit and prepare
		b = protowire.AppendTag(b, field, protowire.VarintType)
		b = protowire.AppendVarint(b, number)
	}
	return b
}

// appendTime encodes a google.protobuf.Timestamp.
func appendTime(b []byte, field protowire.Number, at time.Time) []byte {
	const seconds, nanos = 1, 2
	of := protowire.AppendTag(nil, seconds, protowire.VarintType)
	of = protowire.AppendVarint(of, uint64(at.Unix()))
	of = protowire.AppendTag(of, nanos, protowire.VarintType)
	of = protowire.AppendVarint(of, uint64(at.Nanosecond()))
	b = protowire.AppendTag(b, field, protowire.BytesType)
	return protowire.AppendBytes(b, of)
}

func addFields(m proto.Message, fields []byte) { m.ProtoReflect().SetUnknown(fields) }
