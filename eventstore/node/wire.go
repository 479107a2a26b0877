package node

import (
	"encoding/binary"
	"strconv"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/google/uuid"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"

	"reckon/eventstore/node/eventlog"
)

const (
	typeKey         = "type"
	contentTypeKey  = "content-type"
	createdKey      = "created"
	chainKey        = "reckon-chain" // the log's id and the event's link of the hash chain, of an event that was asked for alone
	contentJSON     = "application/json"
	contentBinary   = "application/octet-stream"
	maxUUIDTextSize = 64
)

// proposedMessage is an event in Append or in BatchAppend.
type proposedMessage interface {
	GetId() *shared.UUID
	GetMetadata() map[string]string
	GetCustomMetadata() []byte
	GetData() []byte
}

func proposedFromWire(m proposedMessage) (eventlog.Proposed, error) {
	id, err := uuidFromWire(m.GetId())
	if err != nil {
		return eventlog.Proposed{}, err
	}
	eventType, hasType := m.GetMetadata()[typeKey]
	contentType, hasContent := m.GetMetadata()[contentTypeKey]
	if !hasType || !hasContent {
		return eventlog.Proposed{}, &failure{
			code:     codes.InvalidArgument,
			message:  "an event lacks its type or content-type",
			trailers: metadata.Pairs("exception", "missing-required-metadata-property", "required-metadata-properties", typeKey+","+contentTypeKey),
		}
	}
	return eventlog.Proposed{ID: id, Type: eventType, JSON: contentType == contentJSON, Data: m.GetData(), Metadata: m.GetCustomMetadata()}, nil
}

func uuidFromWire(id *shared.UUID) (uuid.UUID, error) {
	switch value := id.GetValue().(type) {
	case *shared.UUID_Structured_:
		var u uuid.UUID
		binary.BigEndian.PutUint64(u[:8], uint64(value.Structured.GetMostSignificantBits()))
		binary.BigEndian.PutUint64(u[8:], uint64(value.Structured.GetLeastSignificantBits()))
		return u, nil
	case *shared.UUID_String_:
		if len(value.String_) > maxUUIDTextSize {
			return uuid.Nil, invalid("an id is not a UUID")
		}
		u, err := uuid.Parse(value.String_)
		if err != nil {
			return uuid.Nil, invalid("an id is not a UUID")
		}
		return u, nil
	default:
		return uuid.Nil, invalid("an id is missing")
	}
}

func uuidToWire(u uuid.UUID, asText bool) *shared.UUID {
	if asText {
		return &shared.UUID{Value: &shared.UUID_String_{String_: u.String()}}
	}
	return &shared.UUID{Value: &shared.UUID_Structured_{Structured: &shared.UUID_Structured{
		MostSignificantBits:  int64(binary.BigEndian.Uint64(u[:8])),
		LeastSignificantBits: int64(binary.BigEndian.Uint64(u[8:])),
	}}}
}

func streamToWire(stream string) *shared.StreamIdentifier {
	return &shared.StreamIdentifier{StreamName: []byte(stream)}
}

func recordToWire(r *eventlog.Record, idAsText bool) *streams.ReadResp_ReadEvent_RecordedEvent {
	contentType := contentBinary
	if r.JSON {
		contentType = contentJSON
	}
	return &streams.ReadResp_ReadEvent_RecordedEvent{
		Id:               uuidToWire(r.ID, idAsText),
		StreamIdentifier: streamToWire(r.Stream),
		StreamRevision:   r.Revision,
		PreparePosition:  r.Position,
		CommitPosition:   r.Position,
		Metadata: map[string]string{
			typeKey:        r.Type,
			contentTypeKey: contentType,
			createdKey:     strconv.FormatInt(r.CreatedTicks, 10),
		},
		CustomMetadata: r.Metadata,
		Data:           r.Data,
	}
}
