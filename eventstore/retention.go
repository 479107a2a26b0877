package eventstore

import (
	"context"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
)

// KeepNewest makes a stream keep its newest events only: the older ones are no
// longer read and may be scavenged. Saying so again changes nothing.
func (s *Store) KeepNewest(ctx context.Context, stream string, count int) error {
	var metadata esdb.StreamMetadata
	metadata.SetMaxCount(uint64(count))
	_, err := retry(ctx, s.connection, func(ctx context.Context, client *esdb.Client) (*esdb.WriteResult, error) {
		return client.SetStreamMetadata(ctx, stream, esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}}, metadata)
	})
	return err
}
