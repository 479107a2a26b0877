package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"

	"reckon/eventstore/node"
	"reckon/eventstore/node/eventlog"
	"reckon/eventstore/node/protos/operations"
	"reckon/test/wait"
)

// TestNodeEndsWithTwo removes files of the log under a running node: its orderly end says so.
func TestNodeEndsWithTwo(t *testing.T) {
	t.Parallel()
	for _, lost := range []string{"HEAD", filepath.Join("segments", "00000000000000000000.seg")} {
		folder := filepath.Join(t.TempDir(), "events")
		node, _, _ := startedNode(t, nil, "--data", folder)
		if err := os.Remove(filepath.Join(folder, lost)); err != nil {
			t.Fatal(err)
		}
		if err := node.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		var ended *exec.ExitError
		if err := node.Wait(); !errors.As(err, &ended) || ended.ExitCode() != 2 {
			t.Errorf("%s: %v", lost, err)
		}
		if said, isBuffer := node.Stderr.(*bytes.Buffer); isBuffer && !strings.Contains(said.String(), lost) {
			t.Errorf("%s: %s", lost, said)
		}
		if status, _, said := reckon(t, "", nil, "node", "--data", folder); status != 2 || !strings.Contains(said, "damaged") {
			t.Errorf("%s: the next start: %d, %s", lost, status, said)
		}
	}
}

// TestNodeBackupWithinTheLog is refused.
func TestNodeBackupWithinTheLog(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "events")
	_, _, stop := startedNode(t, nil, "--data", folder)
	stop()
	if status, _, said := reckon(t, "", nil, "node", "backup", filepath.Join(folder, "segments", "b"), "--data", folder); status != 2 || !strings.Contains(said, "name one elsewhere") {
		t.Errorf("%d, %s", status, said)
	}
}

// heldLogger calls met for a line of the log, which waits until it returns.
type heldLogger struct {
	slog.Handler
	met func()
}

func (h heldLogger) Handle(ctx context.Context, r slog.Record) error {
	h.met()
	return h.Handler.Handle(ctx, r)
}

// TestStartIsInterrupted interrupts a start that is at work on the log: it returns at once, and
// the folder is free when the work has ended.
func TestStartIsInterrupted(t *testing.T) {
	t.Parallel()
	config := node.Config{Dir: filepath.Join(t.TempDir(), "events"), Logger: slog.New(slog.DiscardHandler)}
	n, err := openNode(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	segment, err := os.OpenFile(filepath.Join(config.Dir, "segments", "00000000000000000000.seg"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	// a write that was never finished, whose removal is logged
	if _, err := segment.WriteString("unfinished"); err != nil {
		t.Fatal(err)
	}
	if err := segment.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	returned := make(chan struct{})
	held := config
	held.Logger = slog.New(heldLogger{slog.NewTextHandler(t.Output(), nil), func() {
		interrupt()
		<-returned
	}})
	if _, err := openNode(ctx, held); !errors.Is(err, context.Canceled) {
		t.Errorf("the start: %v", err)
	}
	var inUse *eventlog.FolderInUseError
	if _, err := openNode(t.Context(), config); !errors.As(err, &inUse) {
		t.Errorf("while the work goes on: %v", err)
	}
	close(returned)
	wait.Until(t, "the folder is free", func() bool {
		n, err = openNode(t.Context(), config)
		return !errors.As(err, &inUse)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestNodeIsStoppedByAClient: an operator's call ends it in order.
func TestNodeIsStoppedByAClient(t *testing.T) {
	t.Parallel()
	process, address, _ := startedNode(t, nil, "--data", filepath.Join(t.TempDir(), "events"))
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), wait.Longest)
	defer cancel()
	if _, err := operations.NewOperationsClient(conn).Shutdown(ctx, &emptypb.Empty{}); err != nil {
		t.Fatal(err)
	}
	if err := process.Wait(); err != nil {
		t.Errorf("it ends with %v", err)
	}
}
