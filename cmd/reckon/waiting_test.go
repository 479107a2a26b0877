package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"reckon/commands"
	"reckon/internal/blobs"
	"reckon/internal/database"
)

// TestAStartWaitsForWhatMayComeBack: it says every five seconds what it waits for, and ends on what waiting cannot mend.
func TestAStartWaitsForWhatMayComeBack(t *testing.T) {
	away := func(cause error) error { return &database.UnavailableError{Part: "the database", Err: cause} }
	for name, c := range map[string]struct {
		err  error
		back bool
	}{
		"refused":           {away(errors.New("connection refused")), true},
		"starting up":       {away(&pgconn.PgError{Code: "57P03"}), true},
		"too many clients":  {away(&pgconn.PgError{Code: "53300"}), true},
		"the log":           {fmt.Errorf("read: %w", commands.ErrUnavailable), true},
		"the bucket":        {&blobs.UnavailableError{Err: errors.New("connection refused")}, true},
		"wrong password":    {away(&pgconn.PgError{Code: "28P01"}), false},
		"no such database":  {away(&pgconn.PgError{Code: "3D000"}), false},
		"no rights":         {away(&pgconn.PgError{Code: "42501"}), false},
		"no such bucket":    {&blobs.UnavailableError{Err: &blobs.NoBucketError{Bucket: "b"}}, false},
		"another error":     {errors.New("the schema is of a newer version"), false},
		"cancelled by hand": {commands.ErrCancelled, false},
	} {
		if got := mayComeBack(c.err); got != c.back {
			t.Errorf("%s: %t", name, got)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		p := process{logger: slog.New(slog.NewTextHandler(&said, nil)), starting: new(starting)}
		begun := time.Now()
		open := func(context.Context) (string, error) {
			if time.Since(begun) < time.Minute {
				return "", away(errors.New("connection refused"))
			}
			return "opened", nil
		}
		if got, err := awaiting(t.Context(), p, "the database", open); err != nil || got != "opened" {
			t.Errorf("%q, %v", got, err)
		}
		synctest.Wait()
		if n := strings.Count(said.String(), `part="the database"`); n < 6 || n > 12 {
			t.Errorf("said %d times in a minute:\n%s", n, said.String())
		}
		said.Reset()
		silent, giveUp := context.WithTimeout(t.Context(), time.Minute)
		defer giveUp()
		if _, err := awaiting(silent, p, "the bucket", func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }); err == nil {
			t.Error("opened what says nothing")
		}
		synctest.Wait()
		if n := strings.Count(said.String(), `part="the bucket"`); n < 10 || n > 12 {
			t.Errorf("of a part that says nothing it said %d times in a minute:\n%s", n, said.String())
		}
		refused := away(&pgconn.PgError{Code: "28P01"})
		if _, err := awaiting(t.Context(), p, "the database", func(context.Context) (string, error) { return "", refused }); !errors.Is(err, refused) {
			t.Errorf("refused: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := awaiting(ctx, p, "the database", func(context.Context) (string, error) { return "", away(errors.New("x")) }); err == nil {
			t.Error("told to end, and opened")
		}
	})
}
