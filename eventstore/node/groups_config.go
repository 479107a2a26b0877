package node

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/google/uuid"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"

	"reckon/eventstore/node/eventlog"
)

// The configuration of groups is the stream groupConfigStream: one event for each group that
// was created or changed, whose JSON is the whole groupConfig, and one for each that was
// removed, whose JSON is its groupName. The newest event of a group counts. When most events
// are outdated, those of all groups are written again and the older ones truncated.
const (
	groupConfigStream  = "$persistentSubscriptionConfig"
	groupConfiguredKey = "$PersistentSubscriptionConfigured"
	groupRemovedKey    = "$PersistentSubscriptionRemoved"
)

// groupName says which group it is.
type groupName struct {
	Stream string `json:"stream"` // eventlog.AllStream for $all
	Group  string `json:"group"`
}

func (n groupName) id() string               { return n.Stream + "::" + n.Group }
func (n groupName) ofAll() bool              { return n.Stream == eventlog.AllStream }
func (n groupName) checkpointStream() string { return groupStreams + n.id() + "-checkpoint" }
func (n groupName) parkedStream() string     { return groupStreams + n.id() + "-parked" }

const groupStreams = "$persistentsubscription-"

// inMessage is the id as a message names it.
func (n groupName) inMessage() string {
	return inMessage(n.Stream, maxNamesInMessage) + "::" + inMessage(n.Group, maxNamesInMessage)
}

func (n groupName) failure(code codes.Code, exception, reason string) error {
	return &failure{code: code, message: "persistent subscription " + n.inMessage() + ": " + reason, trailers: metadata.Pairs("exception", exception,
		"stream-name", n.Stream, "group-name", n.Group, "reason", reason)}
}

func (n groupName) missing() error {
	return missingGroup(n.Stream, n.Group)
}

// missingGroup says it in the words that tests of official clients compare. The group is empty when none of the stream exists.
func missingGroup(stream, group string) error {
	return &failure{code: codes.NotFound, message: "Subscription group " + inMessage(group, maxNamesInMessage) + " on stream " + inMessage(stream, maxNamesInMessage) + " does not exist.",
		trailers: metadata.Pairs("exception", "persistent-subscription-does-not-exist", "stream-name", stream, "group-name", group)}
}

func (n groupName) dropped() error {
	return n.failure(codes.Canceled, "persistent-subscription-dropped", "it was changed or deleted: subscribe again if it is to go on")
}

func (n groupName) full() error {
	// clients of other languages parse the first words
	return &failure{code: codes.FailedPrecondition, message: "Maximum subscriptions reached: persistent subscription " + n.inMessage() + " has as many consumers as it may have",
		trailers: metadata.Pairs("exception", "maximum-subscribers-reached", "stream-name", n.Stream, "group-name", n.Group)}
}

func (n groupName) refused(reason string) error {
	return n.failure(codes.Internal, "persistent-subscription-failed", reason)
}

// groupConfig is a group as it is stored.
type groupConfig struct {
	groupName
	Start    string        `json:"start"` // as its creator said it: a revision, or C:commit/P:prepare; -1 for the end
	After    int64         `json:"after"` // number of the last event before the start, -1 for none
	Filter   *groupFilter  `json:"filter,omitempty"`
	Settings groupSettings `json:"settings"`
}

// groupFilter selects events of $all.
type groupFilter struct {
	ByType   bool     `json:"byType"`
	Regex    string   `json:"regex,omitempty"`
	Prefixes []string `json:"prefixes,omitempty"`
}

// groupSettings are the settings as its creator said them. Times are milliseconds.
type groupSettings struct {
	ResolveLinks    bool   `json:"resolveLinks"`
	ExtraStatistics bool   `json:"extraStatistics"`
	MessageTimeout  int32  `json:"messageTimeout"`
	MaxRetries      int32  `json:"maxRetries"`
	LiveBuffer      int32  `json:"liveBuffer"`
	ReadBatch       int32  `json:"readBatch"`
	HistoryBuffer   int32  `json:"historyBuffer"`
	CheckpointAfter int32  `json:"checkpointAfter"`
	CheckpointMin   int32  `json:"checkpointMin"`
	CheckpointMax   int32  `json:"checkpointMax"`
	MaxConsumers    int32  `json:"maxConsumers"` // 0: as many as the node allows
	Strategy        string `json:"strategy"`
}

// setStart resolves where the group starts. The end is the end of now: it is stored as a
// number, so that a group without a checkpoint starts there again after a restart.
func (c *groupConfig) setStart(log *eventlog.Log, from groupStart) error {
	c.After = math.MaxInt64
	if from.number <= math.MaxInt64 {
		c.After = int64(from.number) - 1
	}
	switch {
	case !c.ofAll() && from.end:
		c.Start = "-1"
	case !c.ofAll():
		c.Start = fmt.Sprint(from.number)
	case from.end:
		c.Start = "C:-1/P:-1"
	default:
		c.Start = fmt.Sprintf("C:%d/P:%d", from.number, from.prepare)
	}
	if !from.end {
		return nil
	}
	view, err := log.View()
	if err != nil {
		return err
	}
	defer view.Close()
	if c.ofAll() {
		c.After = int64(view.Head())
		return nil
	}
	info, err := view.Stream(c.Stream)
	c.After = info.Last
	return err
}

func appendGroupConfig(ctx context.Context, log *eventlog.Log, c groupConfig) error {
	event, err := groupEvent(groupConfiguredKey, c)
	if err != nil {
		return err
	}
	_, err = log.Append(ctx, groupConfigStream, eventlog.Any(), []eventlog.Proposed{event})
	return err
}

func appendGroupRemoved(ctx context.Context, log *eventlog.Log, n groupName) error {
	event, err := groupEvent(groupRemovedKey, n)
	if err != nil {
		return err
	}
	_, err = log.Append(ctx, groupConfigStream, eventlog.Any(), []eventlog.Proposed{event})
	return err
}

func groupEvent(eventType string, content any) (eventlog.Proposed, error) {
	data, err := json.Marshal(content)
	return eventlog.Proposed{ID: uuid.New(), Type: eventType, JSON: true, Data: data}, err
}

// readGroupConfigs returns the groups that exist. passed is called for each event that is no configuration, which counts for nothing.
func readGroupConfigs(log *eventlog.Log, passed func(revision uint64, reason error)) ([]groupConfig, error) {
	view, err := log.View()
	if err != nil {
		return nil, err
	}
	defer view.Close()
	info, err := view.Stream(groupConfigStream)
	if err != nil || !info.Exists() || info.Tombstoned {
		return nil, err
	}
	found := map[string]groupConfig{}
	for next := info.First; next <= uint64(info.Last); {
		records, err := view.ReadStream(context.Background(), groupConfigStream, next, uint64(info.Last), false, eventlog.Page{Records: pageRecords, Bytes: pageBytes})
		if err != nil {
			return nil, err
		}
		if len(records) == 0 {
			break
		}
		for i := range records {
			if err := applyGroupEvent(found, &records[i]); err != nil {
				passed(records[i].Revision, err)
			}
		}
		next = records[len(records)-1].Revision + 1
	}
	configs := make([]groupConfig, 0, len(found))
	for _, c := range found {
		configs = append(configs, c)
	}
	return configs, nil
}

func applyGroupEvent(found map[string]groupConfig, r *eventlog.Record) error {
	var c groupConfig
	if r.Type != groupConfiguredKey && r.Type != groupRemovedKey {
		return nil
	}
	if err := json.Unmarshal(r.Data, &c); err != nil {
		return err
	}
	if err := c.valid(); r.Type == groupConfiguredKey && err != nil {
		return err
	}
	if delete(found, c.id()); r.Type == groupConfiguredKey {
		found[c.id()] = c
	}
	return nil
}

// compactGroupConfigs shortens the stream when most of it is outdated. groups are all there are.
func compactGroupConfigs(ctx context.Context, log *eventlog.Log, groups []groupConfig) error {
	info, err := streamInfoOf(log, groupConfigStream)
	if err != nil || info.Last-int64(info.First)+1 < 2*int64(len(groups))+groupConfigSlack {
		return err
	}
	for _, c := range groups {
		if err := appendGroupConfig(ctx, log, c); err != nil {
			return err
		}
	}
	return setTruncation(ctx, log, groupConfigStream, info.Last+1)
}

// setTruncation hides the events of a stream below a revision, and keeps its other metadata.
func setTruncation(ctx context.Context, log *eventlog.Log, stream string, before int64) error {
	meta := eventlog.MetaStream(stream)
	keys, expected, err := readMetadata(ctx, log, meta)
	if err != nil {
		return err
	}
	if keys["$tb"], err = json.Marshal(before); err != nil {
		return err
	}
	event, err := groupEvent(eventlog.MetadataType, keys)
	if err != nil {
		return err
	}
	_, err = log.Append(ctx, meta, expected, []eventlog.Proposed{event})
	return err
}

// readMetadata returns the keys of a meta-stream, and the expectation under which they can be replaced.
func readMetadata(ctx context.Context, log *eventlog.Log, meta string) (map[string]json.RawMessage, eventlog.Expected, error) {
	keys := map[string]json.RawMessage{}
	view, err := log.View()
	if err != nil {
		return keys, eventlog.Expected{}, err
	}
	defer view.Close()
	info, err := view.Stream(meta)
	if err != nil || info.Last < 0 {
		return keys, eventlog.NoStream(), err
	}
	records, err := view.ReadStream(ctx, meta, uint64(info.Last), uint64(info.Last), false, eventlog.Page{Records: 1, Bytes: pageBytes})
	for i := range records {
		// what is no JSON object counts as empty metadata
		if json.Unmarshal(records[i].Data, &keys) != nil || keys == nil {
			keys = map[string]json.RawMessage{}
		}
	}
	return keys, eventlog.Revision(uint64(info.Last)), err
}
