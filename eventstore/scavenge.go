package eventstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"

	"reckon/eventstore/node"
)

// RequestScavenge asks the node at the socket, an address unix:PATH, to scavenge its log, and
// waits for the result. The node goes on when ctx ends.
func RequestScavenge(ctx context.Context, address string, logger *slog.Logger) (node.ScavengeResult, error) {
	users, err := OpenUsers(address, logger)
	if err != nil {
		return node.ScavengeResult{}, err
	}
	defer users.Close()
	request := esdb.EventData{EventID: uuid.New(), EventType: node.ScavengeRequestedType, ContentType: esdb.ContentTypeJson, Data: []byte("{}")}
	written, err := users.client.AppendToStream(ctx, node.ScavengeStream, esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}}, request)
	if err != nil {
		return node.ScavengeResult{}, err
	}
	following, err := users.client.SubscribeToStream(ctx, node.ScavengeStream, esdb.SubscribeToStreamOptions{From: esdb.Revision(written.NextExpectedVersion)})
	if err != nil {
		return node.ScavengeResult{}, err
	}
	defer func() { _ = following.Close() }() // it was only read
	for {
		e := following.Recv()
		if e.SubscriptionDropped != nil {
			return node.ScavengeResult{}, errors.Join(ctx.Err(), fmt.Errorf("the node stopped answering before its scavenge ended: %w", e.SubscriptionDropped.Error))
		}
		if e.EventAppeared == nil || e.EventAppeared.OriginalEvent().EventType != node.ScavengeEndedType {
			continue
		}
		var result node.ScavengeResult
		if err := json.Unmarshal(e.EventAppeared.OriginalEvent().Data, &result); err != nil {
			return result, err
		}
		if result.Request == request.EventID {
			return result, nil
		}
	}
}
