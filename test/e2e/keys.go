package e2e

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain"
	"reckon/domain/keys"
	"reckon/eventstore"
	"reckon/internal/keyring"
)

// PublishedEarlier puts a key into a folder of keys, published ten minutes ago in a log: the first half of a rotation.
func PublishedEarlier(t testing.TB, connection, folder string) (kid string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	log, err := eventstore.Connect(t.Context(), eventstore.Config{Connection: connection, Catalogue: domain.Catalogue(), Logger: slog.New(slog.DiscardHandler)})
	must(err)
	defer log.Close()
	ring, err := keyring.Open(folder)
	must(err)
	public, err := ring.Generate()
	must(err)
	_, err = commands.PublishKey(t.Context(), log, commands.Intent{ID: uuid.New(), At: time.Now().Add(-keys.MinPublished), Actor: "operator", Build: "test"}, public)
	must(err)
	return keys.Thumbprint(public)
}
