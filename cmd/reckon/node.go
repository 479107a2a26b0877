package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"reckon/eventstore/node"
)

// nodeCloseTimeout is how long calls in flight may take when the node is told to stop.
const nodeCloseTimeout = 10 * time.Second

// nodeCmd runs the event store alone.
type nodeCmd struct {
	Listen string `help:"Loopback address to listen on; port 0 takes any free one." default:"127.0.0.1:2113" env:"RECKON_NODE_LISTEN"`
	Data   string `help:"Folder that holds the event log." default:"reckon-data/eventstore" env:"RECKON_NODE_DATA" placeholder:"DIR"`
}

// Run serves until SIGINT or SIGTERM.
func (c *nodeCmd) Run() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	n, err := node.Open(node.Config{Dir: c.Data, Listen: c.Listen, Logger: slog.Default()})
	if err != nil {
		fmt.Fprintln(os.Stderr, "reckon node:", err)
		return exitStatus(2)
	}
	fmt.Println("ready", n.ConnectionString())
	select {
	case <-ctx.Done():
	case err := <-n.Done():
		return errors.Join(fmt.Errorf("the node stopped serving: %w", err), n.Close(context.Background()))
	}
	stop() // a second signal ends the process at once
	closeCtx, cancel := context.WithTimeout(context.Background(), nodeCloseTimeout)
	defer cancel()
	return n.Close(closeCtx)
}
