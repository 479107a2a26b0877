package eventstore

import (
	"context"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
)

// KeepNewest sets a stream's $maxCount: reads of the stream return its newest count
// events only, and the server may scavenge older ones. It is idempotent.
func (s *Store) KeepNewest(ctx context.Context, stream string, count int) error {
	if err := s.CheckUsable(ctx); err != nil {
		return err
	}
	var metadata esdb.StreamMetadata
	metadata.SetMaxCount(uint64(count))
	_, err := retry(ctx, s.connection, func(ctx context.Context, client *esdb.Client) (*esdb.WriteResult, error) {
		return client.SetStreamMetadata(ctx, stream, esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}}, metadata)
	})
	return err
}
