package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"reckon/domain"
	"reckon/domain/event"
	domainrun "reckon/domain/run"
	"reckon/eventstore"
	"reckon/eventstore/node"
	"reckon/internal/config"
	"reckon/projections"
	projecting "reckon/projections/engine"
)

// TestProjectionCommandsWithoutServer runs the operator's commands on a data
// folder no server uses.
func TestProjectionCommandsWithoutServer(t *testing.T) {
	t.Parallel()
	where := installation{config.Installation{Data: filepath.Join(t.TempDir(), "data")}}
	if err := os.Mkdir(where.Data, 0o700); err != nil {
		t.Fatal(err)
	}
	writeRun(t, where.Data)

	ctx := t.Context()
	if err := (&projectionsBootCmd{installation: where, Name: "history"}).Run(); err != nil {
		t.Fatal(err)
	}
	found, err := where.settings(ctx)
	if err != nil {
		t.Fatal(err)
	}
	db, closeDatabase, err := found.openDatabase(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer closeDatabase()
	version := (&projections.History{}).Projection().Version
	var n int
	if err := db.NewSelect().Table(fmt.Sprintf("history_v%d", version)).ColumnExpr("count(*)").Scan(ctx, &n); err != nil || n != 1 {
		t.Fatalf("%d rows after a boot, %v", n, err)
	}
	phase := func(name string) projecting.Phase {
		t.Helper()
		list, err := found.readStatus(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			if s.Name == name {
				return s.Phase
			}
		}
		t.Fatalf("no status of %s", name)
		return ""
	}
	if err := (&projectionsPauseCmd{installation: where, Name: "history"}).Run(); err != nil {
		t.Fatal(err)
	}
	if got := phase("history"); got != projecting.Paused {
		t.Errorf("after pause: %s", got)
	}
	if err := (&projectionsResumeCmd{installation: where, Name: "history"}).Run(); err != nil {
		t.Fatal(err)
	}
	if got := phase("history"); got != projecting.Unwritten {
		t.Errorf("after resume, with no server: %s", got)
	}
	if err := (&projectionsPauseCmd{installation: where, Name: "nothing"}).Run(); !errors.Is(err, projecting.ErrNotFound) {
		t.Errorf("a read model that does not exist: %v", err)
	}
	if err := (&projectionsStatusCmd{installation: where, JSON: true}).Run(); err != nil {
		t.Errorf("status: %v", err)
	}
	if err := (&parkedListCmd{installation: where}).Run(); err != nil {
		t.Errorf("parked: %v", err)
	}
	if err := (&parkedRetryCmd{installation: where, Name: "complete_submission"}).Run(); err != nil {
		t.Errorf("retrying nothing: %v", err)
	}
	if err := (&projectionsTeardownCmd{installation: where, Name: "history", Version: version}).Run(); err != nil {
		t.Fatal(err)
	}
	if err := (&projectionsTeardownCmd{installation: where, Name: "history", Version: version}).Run(); !errors.Is(err, projecting.ErrNotFound) {
		t.Errorf("a version that does not exist: %v", err)
	}
}

// writeRun puts one evaluation into the log of a data folder.
func writeRun(t *testing.T, data string) {
	t.Helper()
	n, err := node.Open(node.Config{Dir: filepath.Join(data, "eventstore")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := n.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	store, err := eventstore.Connect(t.Context(), eventstore.Config{Connection: n.ConnectionString(), Catalogue: domain.Catalogue(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	evaluated := domainrun.Evaluated{Subject: domainrun.Subject{RunID: 1, Account: "a", Expression: event.Inline("1+1"), Source: event.SourceWeb}, Answer: event.Inline("2"), Status: domainrun.Success}
	if _, err := store.Append(t.Context(), domainrun.Stream(1), event.NoStream, []event.Proposed{{ID: uuid.NewString(), Event: evaluated}}); err != nil {
		t.Fatal(err)
	}
}

// TestBootEndsWhereAnotherProcessWrites: boot that was asked of a process in standby ends when the tables are there.
func TestBootEndsWhereAnotherProcessWrites(t *testing.T) {
	t.Parallel()
	states := []projecting.Status{{Name: "history", Phase: projecting.Starting}, {Name: "history", Phase: projecting.Standby}, {Name: "history", Phase: projecting.Standby, Ready: true}}
	asked := 0
	err := (&projectionsBootCmd{Name: "history"}).progress(t.Context(), func() ([]projecting.Status, error) {
		asked++
		return []projecting.Status{states[min(asked, len(states))-1]}, nil
	})
	if err != nil || asked != len(states) {
		t.Errorf("asked %d times, %v", asked, err)
	}
}
