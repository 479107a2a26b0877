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
	"reckon/internal/private"
)

// nodeCloseTimeout is how long calls in flight may take when the node is told to stop.
const nodeCloseTimeout = 10 * time.Second

// nodeCmd runs the event store alone.
type nodeCmd struct {
	Data           string `help:"Folder that holds the event log, and the socket through which processes of its owner reach it." default:"reckon-data/eventstore" env:"RECKON_NODE_DATA" placeholder:"DIR"`
	InsecureListen string `help:"Listen on this loopback address instead of the socket; port 0 takes any free one. Every user of this machine is then an administrator of the log: nobody is asked who they are, and nothing is encrypted." env:"RECKON_NODE_INSECURE_LISTEN" placeholder:"HOST:PORT"`
}

// Run serves until SIGINT or SIGTERM.
func (c *nodeCmd) Run() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	n, err := openNode(c.Data, c.InsecureListen, slog.Default())
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

// openNode opens the node of a folder that is its owner's only.
func openNode(folder, listen string, logger *slog.Logger) (*node.Node, error) {
	if err := private.MakeFolder(folder, logger); err != nil {
		return nil, err
	}
	return node.Open(node.Config{Dir: folder, Listen: listen, Logger: logger})
}
