package node

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/gossip"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/persistent"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/serverfeatures"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"

	"reckon/eventstore/node/eventlog"
)

// Config of a node. Only Dir is required.
type Config struct {
	Dir           string
	Listen        string // host:port on a loopback address, port 0 for any; if empty, SocketName in Dir
	AdvertiseHost string // what gossip tells clients to dial; the listening address if empty
	AdvertisePort int    // the listening port if 0
	Logger        *slog.Logger
	Clock         func() time.Time // creation stamps and $maxAge; time.Now if nil
}

// Node is a running node.
type Node struct {
	log      *eventlog.Log
	logger   *slog.Logger
	listener net.Listener
	server   *grpc.Server
	closing  chan struct{} // closed when subscriptions must end
	served   chan error
	close    func(context.Context) error
}

// Open opens the log in c.Dir and serves it. It returns once clients can connect.
// Errors: *eventlog.FolderInUseError (the folder belongs to a running process),
// *eventlog.CorruptError, *eventlog.FormatError, *NotLoopbackError, *SocketPathError, or
// of the system.
func Open(c Config) (*Node, error) {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	// the log first: whoever starts a second node wants to hear about the folder, not the port
	log, err := eventlog.Open(eventlog.Options{Dir: c.Dir, Clock: c.Clock, Logger: c.Logger})
	if err != nil {
		return nil, err
	}
	listener, err := listen(c.Dir, c.Listen)
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	n := &Node{log: log, logger: c.Logger, listener: listener, closing: make(chan struct{}), served: make(chan error, 1)}
	n.server = n.newServer(n.advertised(c))
	var once sync.Once
	n.close = func(ctx context.Context) (err error) {
		once.Do(func() { err = n.shutdown(ctx) })
		return err
	}
	go func() { n.served <- n.server.Serve(listener) }()
	return n, nil
}

func (n *Node) newServer(advertise endpoint) *grpc.Server {
	server := grpc.NewServer(
		// clients ping every 10 s even without streams
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: clientPingMin, PermitWithoutStream: true}),
		// finds clients that vanished; no connection is ever too old
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: serverPingEvery, Timeout: serverPingTimeout}),
		grpc.MaxRecvMsgSize(maxMessageBytes),
		grpc.MaxConcurrentStreams(maxStreamsPerClient),
		grpc.ReadBufferSize(connectionBufferBytes),
		grpc.WriteBufferSize(connectionBufferBytes),
		grpc.ChainUnaryInterceptor(recoverUnary(n.logger)),
		grpc.ChainStreamInterceptor(recoverStream(n.logger)),
	)
	streams.RegisterStreamsServer(server, &streamsService{log: n.log, closing: n.closing, held: newBudget(maxHeldBytes), logger: n.logger})
	serverfeatures.RegisterServerFeaturesServer(server, &featuresService{})
	gossip.RegisterGossipServer(server, &gossipService{instance: n.log.ID(), advertise: advertise})
	persistent.RegisterPersistentSubscriptionsServer(server, &groupsService{log: n.log})
	return server
}

// LogID is the identity of the log, made with it. Clients read the same id in the first
// event of $all, in stream eventlog.IdentityStream.
func (n *Node) LogID() uuid.UUID { return n.log.ID() }

// Verify recomputes the hash chain and the indexes over the whole log. It runs beside
// readers and writers. A *eventlog.CorruptError names the first wrong position.
func (n *Node) Verify(ctx context.Context) (eventlog.Report, error) { return n.log.Verify(ctx) }

// Done yields, once, the error that ended serving; nil after Close.
func (n *Node) Done() <-chan error { return n.served }

// Close ends subscriptions, lets the calls in flight finish, and closes the log. When
// ctx ends first the remaining calls are cut off; appends already taken are still made
// durable before Close returns.
func (n *Node) Close(ctx context.Context) error { return n.close(ctx) }

func (n *Node) shutdown(ctx context.Context) error {
	close(n.closing)
	stopped := make(chan struct{})
	go func() {
		n.server.GracefulStop()
		close(stopped)
	}()
	select {
	case <-stopped:
	case <-ctx.Done():
		n.server.Stop()
		<-stopped
	}
	return n.log.Close()
}
