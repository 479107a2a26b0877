package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"reckon/eventstore/node"
	"reckon/eventstore/node/eventlog"
	"reckon/internal/disk"
)

// roomPause is how often room is looked for on the full disk of a log.
const roomPause = 5 * time.Second

// isFull tells whether an error says that the disk of a log is full.
func isFull(err error) bool {
	refused, is := errors.AsType[*eventlog.StorageError](err)
	return is && refused.Full()
}

// openWithRoom is openNode, which waits for room while the disk is full. Those who watch the start are told.
func openWithRoom(ctx context.Context, config node.Config, s *starting) (*node.Node, error) {
	defer s.noRoom.Store(false)
	for {
		n, err := openNode(ctx, config)
		if !isFull(err) {
			return n, err
		}
		if !s.noRoom.Swap(true) {
			s.waitsFor("room on the disk of the event log")
			defer s.answered()
			config.Logger.ErrorContext(ctx, "the disk of the event log is full: the start waits for room", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(roomPause):
		}
	}
}

// nodeServes returns why a node in a folder is to be closed, or nil when ctx ends. While the disk is full the node stays open, because it can be
// read. It takes no append again once there is room: only a start tells what of a refused write is on the disk.
func nodeServes(ctx context.Context, n *node.Node, folder string, logger *slog.Logger) error {
	var failed error
	select {
	case failed = <-n.Done():
	case <-ctx.Done():
		return nil
	}
	if !isFull(failed) {
		return failed
	}
	logger.ErrorContext(ctx, "the disk of the event log is full: appends are refused and reads go on; this process ends when there is room, to be started again", "folder", folder)
	for disk.TryRoom(folder) != nil {
		select {
		case <-ctx.Done():
			return failed
		case <-n.StopRequested():
			return failed
		case <-time.After(roomPause):
		}
	}
	return failed
}
