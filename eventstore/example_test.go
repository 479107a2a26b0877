package eventstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/eventstore"
	"reckon/eventstore/node"
	"reckon/eventstore/storetest"
)

// An append names the revision it was decided at; whoever is late gets commands.ErrConflict, reads and decides again.
func ExampleStore_Append() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "reckon-example-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	server, err := node.Open(node.Config{Dir: folder})
	if err != nil {
		panic(err)
	}
	defer func() { _ = server.Close(ctx) }()
	store, err := eventstore.Connect(ctx, eventstore.Config{Connection: server.ConnectionString(), Catalogue: storetest.Catalogue()})
	if err != nil {
		panic(err)
	}
	defer store.Close()

	note := func(text string) []event.Proposed {
		return []event.Proposed{{ID: uuid.NewString(), Event: storetest.Noted{Text: text}}}
	}
	appended, err := store.Append(ctx, "notes-1", event.NoStream, note("first"))
	fmt.Println(appended.Revision, err)
	_, err = store.Append(ctx, "notes-1", event.NoStream, note("too late"))
	fmt.Println(errors.Is(err, commands.ErrConflict))
	history, err := store.Read(ctx, "notes-1")
	fmt.Println(len(history.Events), history.Revision, err)
	// Output:
	// 0 <nil>
	// true
	// 1 0 <nil>
}
