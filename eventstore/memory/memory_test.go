package memory_test

import (
	"testing"

	"reckon/eventstore/memory"
	"reckon/eventstore/storetest"
)

func TestContract(t *testing.T) {
	storetest.Run(t, func(*testing.T) storetest.Opened {
		store := memory.New(storetest.Catalogue())
		return storetest.Opened{Store: store, Newer: store.WithCatalogue(storetest.WiderCatalogue())}
	})
}
