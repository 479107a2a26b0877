package node

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/persistent"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"

	"reckon/eventstore/node/eventlog"
	"reckon/eventstore/node/group"
)

// namedRequest is a request that names a group: the options of Read, Delete, GetInfo and ReplayParked.
type namedRequest interface {
	GetStreamIdentifier() *shared.StreamIdentifier
	GetAll() *shared.Empty
	GetGroupName() string
}

func nameFromWire(o namedRequest) groupName {
	n := groupName{Stream: string(o.GetStreamIdentifier().GetStreamName()), Group: o.GetGroupName()}
	if o.GetAll() != nil {
		n.Stream = eventlog.AllStream
	}
	return n
}

// listFromWire returns the stream whose groups are listed, or true for all groups.
func listFromWire(o *persistent.ListReq_Options) (stream string, all bool, err error) {
	switch of := o.GetListOption().(type) {
	case *persistent.ListReq_Options_ListAllSubscriptions:
		return "", true, nil
	case *persistent.ListReq_Options_ListForStream:
		if of.ListForStream.GetAll() != nil {
			return eventlog.AllStream, false, nil
		}
		return string(of.ListForStream.GetStream().GetStreamName()), false, nil
	default:
		return "", false, invalid("the list says neither a stream nor all")
	}
}

// groupStart is where a group starts, as its request says it.
type groupStart struct {
	end     bool
	number  uint64 // revision or commit position, the first to be delivered
	prepare uint64 // position only
}

func startAt(number, prepare uint64) *groupStart {
	if number > math.MaxInt64 {
		return &groupStart{end: true}
	}
	return &groupStart{number: number, prepare: min(prepare, math.MaxInt64)}
}

func configOfCreate(o *persistent.CreateReq_Options) (groupConfig, groupStart, error) {
	c := groupConfig{groupName: groupName{Group: o.GetGroupName()}}
	from := &groupStart{}
	switch source := o.GetStreamOption().(type) {
	case *persistent.CreateReq_Options_All:
		c.Stream = eventlog.AllStream
		switch at := source.All.GetAllOption().(type) {
		case *persistent.CreateReq_AllOptions_Position:
			from = startAt(at.Position.GetCommitPosition(), at.Position.GetPreparePosition())
		case *persistent.CreateReq_AllOptions_End:
			from.end = true
		}
		if wire := source.All.GetFilter(); wire != nil {
			var err error
			if c.Filter, err = filterOfCreate(c.groupName, wire); err != nil {
				return c, *from, err
			}
		}
	case *persistent.CreateReq_Options_Stream:
		c.Stream = string(source.Stream.GetStreamIdentifier().GetStreamName())
		switch at := source.Stream.GetRevisionOption().(type) {
		case *persistent.CreateReq_StreamOptions_Revision:
			from = startAt(at.Revision, 0)
		case *persistent.CreateReq_StreamOptions_End:
			from.end = true
		}
	default:
		// clients of the first protocol
		c.Stream = string(o.GetStreamIdentifier().GetStreamName()) //nolint:staticcheck // deprecated, and still sent
		from = startAt(uint64(o.GetSettings().GetRevision()), 0)   //nolint:staticcheck // likewise
	}
	_, isAll := o.GetStreamOption().(*persistent.CreateReq_Options_All)
	if err := c.checkName(isAll); err != nil {
		return c, *from, err
	}
	strategy := o.GetSettings().GetConsumerStrategy()
	if strategy == "" {
		strategy = o.GetSettings().GetNamedConsumerStrategy().String() //nolint:staticcheck // deprecated, and still sent
	}
	return c, *from, c.setSettings(o.GetSettings(), strategy)
}

// configOfUpdate returns a nil start when the request names none.
func configOfUpdate(o *persistent.UpdateReq_Options) (groupConfig, *groupStart, error) {
	c := groupConfig{groupName: groupName{Group: o.GetGroupName()}}
	var from *groupStart
	switch source := o.GetStreamOption().(type) {
	case *persistent.UpdateReq_Options_All:
		c.Stream = eventlog.AllStream
		switch at := source.All.GetAllOption().(type) {
		case *persistent.UpdateReq_AllOptions_Position:
			from = startAt(at.Position.GetCommitPosition(), at.Position.GetPreparePosition())
		case *persistent.UpdateReq_AllOptions_Start:
			from = &groupStart{}
		case *persistent.UpdateReq_AllOptions_End:
			from = &groupStart{end: true}
		}
	case *persistent.UpdateReq_Options_Stream:
		c.Stream = string(source.Stream.GetStreamIdentifier().GetStreamName())
		switch at := source.Stream.GetRevisionOption().(type) {
		case *persistent.UpdateReq_StreamOptions_Revision:
			from = startAt(at.Revision, 0)
		case *persistent.UpdateReq_StreamOptions_Start:
			from = &groupStart{}
		case *persistent.UpdateReq_StreamOptions_End:
			from = &groupStart{end: true}
		}
	default:
		// clients of the first protocol
		c.Stream = string(o.GetStreamIdentifier().GetStreamName()) //nolint:staticcheck // deprecated, and still sent
		from = startAt(o.GetSettings().GetRevision(), 0)           //nolint:staticcheck // likewise
	}
	return c, from, c.setSettings(o.GetSettings(), o.GetSettings().GetNamedConsumerStrategy().String())
}

// checkName refuses names that the streams of a group, or the answers about it, cannot have.
func (n groupName) checkName(isAll bool) error {
	switch {
	case n.Stream == "" || n.Group == "":
		return n.refused("a persistent subscription needs a stream and a name")
	case !isAll && n.ofAll():
		return n.refused("$all is not a stream: create it with the option all")
	case !utf8.ValidString(n.Stream) || !utf8.ValidString(n.Group):
		return n.refused("the names of its stream and of the group must be UTF-8")
	case len(n.checkpointStream()) > eventlog.MaxStreamNameBytes:
		return n.refused("the names of its stream and of the group are too long")
	}
	return nil
}

// wireSettings are the settings of a Create or of an Update.
type wireSettings interface {
	GetResolveLinks() bool
	GetExtraStatistics() bool
	GetMaxRetryCount() int32
	GetMinCheckpointCount() int32
	GetMaxCheckpointCount() int32
	GetMaxSubscriberCount() int32
	GetLiveBufferSize() int32
	GetReadBatchSize() int32
	GetHistoryBufferSize() int32
	GetMessageTimeoutTicks() int64
	GetMessageTimeoutMs() int32
	GetCheckpointAfterTicks() int64
	GetCheckpointAfterMs() int32
}

func (c *groupConfig) setSettings(w wireSettings, strategy string) error {
	c.Settings = groupSettings{
		ResolveLinks:    w.GetResolveLinks(),
		ExtraStatistics: w.GetExtraStatistics(),
		MessageTimeout:  milliseconds(w.GetMessageTimeoutTicks(), w.GetMessageTimeoutMs()),
		MaxRetries:      w.GetMaxRetryCount(),
		LiveBuffer:      w.GetLiveBufferSize(),
		ReadBatch:       w.GetReadBatchSize(),
		HistoryBuffer:   w.GetHistoryBufferSize(),
		CheckpointAfter: milliseconds(w.GetCheckpointAfterTicks(), w.GetCheckpointAfterMs()),
		CheckpointMin:   w.GetMinCheckpointCount(),
		CheckpointMax:   w.GetMaxCheckpointCount(),
		MaxConsumers:    w.GetMaxSubscriberCount(),
		Strategy:        strategy,
	}
	return c.checkSettings()
}

// valid refuses a configuration that no request can have made.
func (c *groupConfig) valid() error {
	if err := errors.Join(c.checkName(c.ofAll()), c.checkSettings()); err != nil {
		return err
	}
	if c.After < -1 || c.Filter != nil && !c.ofAll() {
		return c.refused("its start or its filter is none")
	}
	_, err := c.Filter.compile()
	return err
}

func (c *groupConfig) checkSettings() error {
	s := &c.Settings
	switch {
	case min(s.MessageTimeout, s.MaxRetries, s.LiveBuffer, s.ReadBatch, s.HistoryBuffer, s.CheckpointAfter, s.CheckpointMin, s.CheckpointMax, s.MaxConsumers) < 0:
		return c.refused("a setting is negative")
	case s.ReadBatch >= s.HistoryBuffer:
		return c.refused("the read batch must be smaller than the history buffer")
	case groupStrategies[s.Strategy] == 0:
		return c.refused("there is no strategy " + strconv.Quote(s.Strategy[:min(len(s.Strategy), 64)]) + ": use RoundRobin, DispatchToSingle, Pinned or PinnedByCorrelation")
	}
	return nil
}

// pinnedByCorrelation is the strategy that pins by the $correlationId in an event's metadata.
const pinnedByCorrelation = "PinnedByCorrelation"

var groupStrategies = map[string]group.Strategy{
	"RoundRobin": group.RoundRobin, "DispatchToSingle": group.DispatchToSingle, "Pinned": group.Pinned, pinnedByCorrelation: group.Pinned,
}

// milliseconds returns a time that was given in ticks or in milliseconds (the other is 0), at most 2^31-1 ms.
func milliseconds(ticks int64, ms int32) int32 {
	const ticksPerMillisecond = 10_000
	return int32(max(min(ticks/ticksPerMillisecond, math.MaxInt32), math.MinInt32)) + ms
}

func (s *groupSettings) rules() group.Settings {
	return group.Settings{
		Strategy:        groupStrategies[s.Strategy],
		MessageTimeout:  time.Duration(s.MessageTimeout) * time.Millisecond,
		MaxRetries:      int(s.MaxRetries),
		HistoryBuffer:   int(s.HistoryBuffer),
		LiveBuffer:      int(s.LiveBuffer),
		ReadBatch:       int(s.ReadBatch),
		CheckpointAfter: time.Duration(s.CheckpointAfter) * time.Millisecond,
		CheckpointMin:   int(s.CheckpointMin),
		CheckpointMax:   int(s.CheckpointMax),
		Measured:        s.ExtraStatistics,
	}
}

func filterOfCreate(n groupName, wire *persistent.CreateReq_AllOptions_FilterOptions) (*groupFilter, error) {
	f := &groupFilter{}
	var expression *persistent.CreateReq_AllOptions_FilterOptions_Expression
	switch by := wire.GetFilter().(type) {
	case *persistent.CreateReq_AllOptions_FilterOptions_EventType:
		f.ByType, expression = true, by.EventType
	case *persistent.CreateReq_AllOptions_FilterOptions_StreamIdentifier:
		expression = by.StreamIdentifier
	default:
		return nil, invalid("the filter says neither event type nor stream")
	}
	f.Regex, f.Prefixes = expression.GetRegex(), expression.GetPrefix()
	if f.Regex != "" {
		f.Prefixes = nil
	}
	size := 0
	for _, prefix := range f.Prefixes {
		size += len(prefix)
	}
	if size > maxGroupFilterBytes {
		return nil, invalid(fmt.Sprintf("the prefixes of the filter have %d bytes together, and may have %d: use a regular expression", size, maxGroupFilterBytes))
	}
	_, err := f.compile()
	return f, err
}

// compile returns the filter; nil for one that lets every event pass.
func (f *groupFilter) compile() (*filter, error) {
	if f == nil {
		return nil, nil
	}
	compiled := &filter{byType: f.ByType}
	return compiled, compiled.compile(f.Regex, f.Prefixes)
}

// position returns the string form of a number in the group's source, as information about groups has it.
func (n groupName) position(number int64) string {
	text := strconv.FormatInt(number, 10)
	if n.ofAll() {
		return "C:" + text + "/P:" + text
	}
	return text
}

// parsePosition is the inverse of position; false for anything else.
func (n groupName) parsePosition(text string) (int64, bool) {
	if n.ofAll() {
		commit, rest, found := strings.Cut(text, "/P:")
		commit, isPosition := strings.CutPrefix(commit, "C:")
		if !found || !isPosition || rest == "" {
			return 0, false
		}
		text = commit
	}
	number, err := strconv.ParseInt(text, 10, 64)
	return number, err == nil && number >= 0
}

func groupEventToWire(e resolved, retries int, idAsText bool) *persistent.ReadResp {
	message := &persistent.ReadResp_ReadEvent{
		Position: &persistent.ReadResp_ReadEvent_CommitPosition{CommitPosition: e.position()},
		Count:    &persistent.ReadResp_ReadEvent_RetryCount{RetryCount: int32(min(retries, math.MaxInt32))},
	}
	if e.event != nil {
		message.Event = groupRecordToWire(e.event, idAsText)
	}
	if e.link != nil {
		message.Link = groupRecordToWire(e.link, idAsText)
	}
	return &persistent.ReadResp{Content: &persistent.ReadResp_Event{Event: message}}
}

func groupRecordToWire(r *eventlog.Record, idAsText bool) *persistent.ReadResp_ReadEvent_RecordedEvent {
	w := recordToWire(r, idAsText)
	return &persistent.ReadResp_ReadEvent_RecordedEvent{
		Id: w.Id, StreamIdentifier: w.StreamIdentifier, StreamRevision: w.StreamRevision, PreparePosition: w.PreparePosition,
		CommitPosition: w.CommitPosition, Metadata: w.Metadata, CustomMetadata: w.CustomMetadata, Data: w.Data,
	}
}
