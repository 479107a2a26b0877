package node

import (
	"context"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"

	"reckon/eventstore/node/eventlog"
)

// Delete soft-deletes a stream: reads no longer show its events, and an append continues
// their numbering.
func (s *streamsService) Delete(ctx context.Context, req *streams.DeleteReq) (*streams.DeleteResp, error) {
	expected, err := expectedOfDelete(req.GetOptions())
	if err != nil {
		return nil, statusError(ctx, err)
	}
	result, err := s.log.Delete(ctx, string(req.GetOptions().GetStreamIdentifier().GetStreamName()), expected)
	if err != nil {
		return nil, statusError(ctx, err)
	}
	return &streams.DeleteResp{PositionOption: &streams.DeleteResp_Position_{
		Position: &streams.DeleteResp_Position{CommitPosition: result.Position, PreparePosition: result.Position},
	}}, nil
}

// Tombstone closes a stream: it can never be read or written again.
func (s *streamsService) Tombstone(ctx context.Context, req *streams.TombstoneReq) (*streams.TombstoneResp, error) {
	expected, err := expectedOfTombstone(req.GetOptions())
	if err != nil {
		return nil, statusError(ctx, err)
	}
	result, err := s.log.Tombstone(ctx, string(req.GetOptions().GetStreamIdentifier().GetStreamName()), expected)
	if err != nil {
		return nil, statusError(ctx, err)
	}
	return &streams.TombstoneResp{PositionOption: &streams.TombstoneResp_Position_{
		Position: &streams.TombstoneResp_Position{CommitPosition: result.Position, PreparePosition: result.Position},
	}}, nil
}

func expectedOfDelete(o *streams.DeleteReq_Options) (eventlog.Expected, error) {
	switch e := o.GetExpectedStreamRevision().(type) {
	case *streams.DeleteReq_Options_Revision:
		return expectRevision(e.Revision)
	case *streams.DeleteReq_Options_NoStream:
		return eventlog.NoStream(), nil
	case *streams.DeleteReq_Options_Any:
		return eventlog.Any(), nil
	case *streams.DeleteReq_Options_StreamExists:
		return eventlog.StreamExists(), nil
	default:
		return eventlog.Expected{}, invalid("the expected revision is missing")
	}
}

func expectedOfTombstone(o *streams.TombstoneReq_Options) (eventlog.Expected, error) {
	switch e := o.GetExpectedStreamRevision().(type) {
	case *streams.TombstoneReq_Options_Revision:
		return expectRevision(e.Revision)
	case *streams.TombstoneReq_Options_NoStream:
		return eventlog.NoStream(), nil
	case *streams.TombstoneReq_Options_Any:
		return eventlog.Any(), nil
	case *streams.TombstoneReq_Options_StreamExists:
		return eventlog.StreamExists(), nil
	default:
		return eventlog.Expected{}, invalid("the expected revision is missing")
	}
}
