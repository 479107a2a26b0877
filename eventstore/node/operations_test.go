package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"reckon/eventstore/node/eventlog"
	"reckon/eventstore/node/protos/operations"
)

// pausing is a log handler that says when a scavenge begins, and holds it until it is let go.
type pausing struct {
	slog.Handler
	begun chan struct{}
	letGo chan struct{}
}

func (p pausing) Enabled(context.Context, slog.Level) bool { return true }

func (p pausing) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "scavenging the event log" && r.NumAttrs() == 0 {
		p.begun <- struct{}{}
		<-p.letGo
	}
	return nil
}

// lastScavenge returns the newest result in the log.
func lastScavenge(t *testing.T, n *Node) (result ScavengeResult) {
	t.Helper()
	newest, found, err := logStore{n.log}.Newest(t.Context(), ScavengeStream)
	if err != nil || !found || json.Unmarshal(newest.Data, &result) != nil {
		t.Fatal(found, err)
	}
	return result
}

// TestScavengeByCalls: one at a time, by id; a stopped one stops, and the next one does the rest.
func TestScavengeByCalls(t *testing.T) {
	t.Parallel()
	hold := pausing{slog.DiscardHandler, make(chan struct{}), make(chan struct{})}
	n, err := Open(Config{Dir: t.TempDir(), Listen: "127.0.0.1:0", Logger: slog.New(hold)})
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, n)
	for range 66 { // MiB: the first segment is sealed
		event := eventlog.Proposed{ID: uuid.New(), Type: "noted", Data: make([]byte, eventlog.MaxAppendBytes-100)}
		if _, err := n.log.Append(t.Context(), "old", eventlog.Any(), []eventlog.Proposed{event}); err != nil {
			t.Fatal(err)
		}
	}
	newest := eventlog.Proposed{ID: uuid.New(), Type: eventlog.MetadataType, JSON: true, Data: []byte(`{"$maxCount":1}`)}
	if _, err := n.log.Append(t.Context(), eventlog.MetaStream("old"), eventlog.Any(), []eventlog.Proposed{newest}); err != nil {
		t.Fatal(err)
	}
	client, ctx := operations.NewOperationsClient((&running{Node: n}).raw(t)), testCtx(t)
	start := func(want operations.ScavengeResp_ScavengeResult) string {
		t.Helper()
		r, err := client.StartScavenge(ctx, &operations.StartScavengeReq{Options: &operations.StartScavengeReq_Options{ThreadCount: 1}})
		if err != nil || r.GetScavengeResult() != want {
			t.Fatal(r, err)
		}
		return r.GetScavengeId()
	}
	stopped := make(chan error)
	end := func(id string) {
		r, err := client.StopScavenge(ctx, &operations.StopScavengeReq{Options: &operations.StopScavengeReq_Options{ScavengeId: id}})
		if err == nil && (r.GetScavengeId() != id || r.GetScavengeResult() != operations.ScavengeResp_Stopped) {
			err = fmt.Errorf("answered %v", r)
		}
		stopped <- err
	}

	id := start(operations.ScavengeResp_Started)
	<-hold.begun
	if same := start(operations.ScavengeResp_InProgress); same != id {
		t.Errorf("%s runs, and %s is said to", id, same)
	}
	run := n.cleaner.current
	for _, unknown := range []string{uuid.NewString(), uuid.Nil.String(), "", "no id", strings.Repeat("x", 1<<20)} {
		var trailer metadata.MD
		_, err := client.StopScavenge(ctx, &operations.StopScavengeReq{Options: &operations.StopScavengeReq_Options{ScavengeId: unknown}}, grpc.Trailer(&trailer))
		if status.Code(err) != codes.NotFound || !slices.Equal(trailer.Get("exception"), []string{"scavenge-not-found"}) || !slices.Equal(trailer.Get("scavenge-id"), []string{encodedName(unknown, maxTrailerBytes)}) {
			t.Errorf("%.50q: %v, %v", unknown, err, trailer)
		}
	}
	go end(id)
	<-run.ctx.Done()
	hold.letGo <- struct{}{}
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	if last := lastScavenge(t, n); last.Request.String() != id || last.Error != errScavengeStopped.Error() || last.Removed != 0 {
		t.Errorf("%+v", last)
	}

	id = start(operations.ScavengeResp_Started)
	<-hold.begun
	run = n.cleaner.current
	hold.letGo <- struct{}{}
	<-run.ended
	if last := lastScavenge(t, n); last.Request.String() != id || last.Error != "" || last.Removed < 60 {
		t.Errorf("%+v", last)
	}
	go end(id) // it has ended, and is known
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	for _, bad := range []*operations.StartScavengeReq_Options{{ThreadCount: -1}, {StartFromChunk: 1}, {StartFromChunk: -1}} {
		if _, err := client.StartScavenge(ctx, &operations.StartScavengeReq{Options: bad}); status.Code(err) != codes.InvalidArgument {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

// TestNodeEndsWithAScavengeThatWasStarted: a close does not wait for one that nobody lets begin.
func TestNodeEndsWithAScavengeThatWasStarted(t *testing.T) {
	t.Parallel()
	for range 20 {
		n, err := Open(Config{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
		if err != nil {
			t.Fatal(err)
		}
		id, begun, err := n.cleaner.start()
		if err != nil || !begun {
			t.Fatal(id, err)
		}
		stop(t, n)
		if _, _, err := n.cleaner.start(); err == nil {
			t.Error("a scavenge begins in a closed node")
		}
	}
}

// TestShutdownByCalls: a node that was made so tells its owner; any other one, as that of `serve`, refuses.
func TestShutdownByCalls(t *testing.T) {
	t.Parallel()
	for _, stoppable := range []bool{false, true} {
		n, err := Open(Config{Dir: t.TempDir(), Stoppable: stoppable})
		if err != nil {
			t.Fatal(err)
		}
		conn := dialInsecure(t, "unix:"+n.listener.Addr().String())
		var trailer metadata.MD
		_, err = operations.NewOperationsClient(conn).Shutdown(testCtx(t), &emptypb.Empty{}, grpc.Trailer(&trailer))
		switch {
		case stoppable:
			if err != nil {
				t.Error(err)
			}
			if why := <-n.Done(); !errors.Is(why, ErrStopRequested) {
				t.Error(why)
			}
			if _, err = operations.NewOperationsClient(conn).Shutdown(testCtx(t), &emptypb.Empty{}); err != nil {
				t.Errorf("again: %v", err)
			}
		default:
			if status.Code(err) != codes.PermissionDenied || !slices.Equal(trailer.Get("exception"), []string{"access-denied"}) {
				t.Errorf("%v, %v", err, trailer)
			}
			select {
			case why := <-n.Done():
				t.Error(why)
			default:
			}
		}
		stop(t, n)
	}
}
