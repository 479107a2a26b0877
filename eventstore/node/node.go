package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/gossip"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/serverfeatures"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"

	"reckon/eventstore/node/eventlog"
	"reckon/eventstore/node/protos/monitoring"
	"reckon/eventstore/node/protos/operations"
	"reckon/eventstore/node/protos/streamsv2"
	"reckon/eventstore/node/protos/users"
	"reckon/internal/openfiles"
)

// Config configures a node. Only Dir is required.
type Config struct {
	Dir           string           // folder of the log; created when it is absent
	Listen        string           // host:port of a loopback address, port 0 for a free one; empty: the socket SocketName in Dir
	AdvertiseHost string           // host that gossip gives to clients; empty: that of Listen
	AdvertisePort int              // port that gossip gives to clients; 0: that of Listen
	Logger        *slog.Logger     // nil: nothing is logged
	Clock         func() time.Time // for creation stamps and $maxAge; nil: time.Now
	ScavengeEvery time.Duration    // time between scavenges by schedule; 0: only when a client asks for one
	Secure        *Secure          // a port for users, with TLS, beside the socket; nil: none
	Stoppable     bool             // operators may end the node by a call: Done receives ErrStopRequested; otherwise that call is refused

	patience patience // zero: defaultPatience
}

// ErrStopRequested is what Node.Done receives when a client asked the node to stop.
var ErrStopRequested = errors.New("a client asked the node to stop")

// Validate returns an error that names the field of c that Open cannot use, or nil.
func (c Config) Validate() error {
	switch {
	case c.Dir == "":
		return errors.New("node.Config.Dir is empty: name the folder of the log")
	case c.Secure != nil && c.Listen != "":
		return errors.New("node.Config has Listen and Secure: an address where everyone is an administrator, and one where users are asked who they are; say one")
	case c.ScavengeEvery < 0 || c.ScavengeEvery > 0 && c.ScavengeEvery < minScavengeEvery:
		return fmt.Errorf("node.Config.ScavengeEvery is %s: it is 0, or at least %s", c.ScavengeEvery, minScavengeEvery)
	case c.AdvertisePort < 0 || c.AdvertisePort > 65535:
		return fmt.Errorf("node.Config.AdvertisePort is %d: a port is 0 to 65535", c.AdvertisePort)
	}
	return c.Secure.validate()
}

// Node is a running node.
type Node struct {
	log      *eventlog.Log
	logger   *slog.Logger
	foreign  *foreignCount
	listener net.Listener // the socket, or the loopback port of Config.Listen
	server   *grpc.Server
	door     *door // nil without Config.Secure
	groups   *groupsService
	memory   *budget
	reads    *turns
	calls    *callCount
	patience patience
	cleaner  *scavenger
	users    *usersService
	plain    *plainHTTP    // of listener
	priority atomic.Int32  // as a client has set it; a cluster of one has no use for it, but shows it
	begun    time.Time     // when the node was opened
	ending   func()        // a client asked for the end
	asked    chan struct{} // closed by ending
	closing  chan struct{} // closed when subscriptions must end
	served   chan error    // receives the result of Serve, once
	close    func(context.Context) error
}

// Open opens the log in c.Dir and serves it. It returns once clients can connect.
// Errors: that of Config.Validate, *eventlog.FolderInUseError (another process has the
// folder open), *eventlog.CorruptError, *eventlog.FormatError, *eventlog.StorageError, *NotLoopbackError,
// *SocketPathError, *openfiles.TooFewError, or an error of the system.
func Open(c Config) (*Node, error) {
	if err := errors.Join(c.Validate(), openfiles.Check()); err != nil {
		return nil, err
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if err := c.preflight(); err != nil {
		return nil, err
	}
	// the log before the listener: the error of a second node on a folder names the folder, not the port
	log, err := eventlog.Open(eventlog.Options{Dir: c.Dir, Clock: c.Clock, Logger: c.Logger})
	if err != nil {
		return nil, err
	}
	if c.patience == (patience{}) {
		c.patience = defaultPatience
	}
	n := &Node{log: log, logger: c.Logger, patience: c.patience, foreign: &foreignCount{}, closing: make(chan struct{}), served: make(chan error, 1), begun: time.Now(), asked: make(chan struct{})}
	n.ending = sync.OnceFunc(func() { close(n.asked) })
	if err := n.open(c); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	var once sync.Once
	n.close = func(ctx context.Context) (err error) {
		once.Do(func() { err = n.shutdown(ctx) })
		return err
	}
	return n, nil
}

// open opens the listeners and serves them.
func (n *Node) open(c Config) error {
	listener, err := listen(c.Dir, c.Listen)
	if err != nil {
		return err
	}
	part := openfiles.Socket
	if c.Listen != "" {
		part = openfiles.Port
	}
	n.listener = &places{Listener: &countingListener{Listener: listener, count: n.foreign}, limit: n.placesOf(part), trusted: true}
	n.memory, n.reads, n.calls = newBudget(maxHeldBytes, n.logger), newTurns(readTurns()), &callCount{logger: n.logger}
	subscriptions := newQuota(maxSubscriptions, maxSubscriptionsPerConnection, errTooManySubscriptions)
	n.groups = newGroupsService(n.log, n.closing, n.memory, n.logger)
	n.users = newUsersService(n.log, n.memory, c.Clock)
	watchers := newQuota(maxStatsCalls, maxStatsCallsPerConnection, errTooManyWatchers)
	services := func(advertise net.Addr) func(registrar) {
		return func(to registrar) {
			streams.RegisterStreamsServer(to, &streamsService{log: n.log, closing: n.closing, memory: n.memory, reads: n.reads, subscriptions: subscriptions, logger: n.logger})
			streamsv2.RegisterStreamsServiceServer(to, &severalService{log: n.log, memory: n.memory})
			serverfeatures.RegisterServerFeaturesServer(to, &featuresService{})
			gossip.RegisterGossipServer(to, &gossipService{instance: n.log.ID(), advertise: c.advertised(advertise)})
			to.RegisterService(groupsServiceDesc(), n.groups)
			users.RegisterUsersServer(to, n.users)
			operations.RegisterOperationsServer(to, &operationsService{node: n, stoppable: c.Stoppable})
			monitoring.RegisterMonitoringServer(to, &monitoringService{node: n, calls: watchers, dir: c.Dir})
			grpc_health_v1.RegisterHealthServer(to, &healthService{node: n, calls: watchers, served: to.GetServiceInfo})
			registerReflection(to, n)
		}
	}
	if n.cleaner, err = newScavenger(n, c.ScavengeEvery, c.Clock); err != nil {
		close(n.closing)
		n.groups.close()
		return errors.Join(err, listener.Close())
	}
	if c.Secure != nil {
		if n.door, err = n.openDoor(context.Background(), c, services); err != nil {
			close(n.closing)
			n.groups.close()
			n.cleaner.close()
			return errors.Join(err, listener.Close())
		}
	}
	n.plain = n.servePlain(listener.Addr(), c)
	n.server = n.newServer(services(listener.Addr()), nil, &inboundCredentials{TransportCredentials: insecure.NewCredentials(), memory: n.memory, calls: n.calls, wait: n.patience.stranger, plain: n.plain})
	go n.serve()
	return nil
}

// placesOf returns how many connections a listener may have, and logs when the limit of open files leaves it
// fewer than maxConnections.
func (n *Node) placesOf(part openfiles.Part) int {
	places := part.AtMost(maxConnections)
	if places < maxConnections {
		n.logger.Info("the limit of open files leaves a listener few connections: raise it (ulimit -n, LimitNOFILE of systemd) for more", "files", openfiles.Limit(), "connections", places)
	}
	return places
}

// newServer makes a gRPC server; g is nil for one whose callers may do everything.
func (n *Node) newServer(services func(registrar), g *guard, creds *inboundCredentials) *grpc.Server {
	var chain []grpc.StreamServerInterceptor // the innermost first
	if g != nil {
		chain = append(chain, g.stream)
	}
	chain = append(chain, countAnswers(n.memory, n.closing), awaitRequest(n.patience.request), refuseCompressed, recoverStream(n.logger))
	server := grpc.NewServer(
		grpc.Creds(creds),
		grpc.InTapHandle(beginCall),
		grpc.StatsHandler(callStats{}),
		// clients ping every 10 s even without streams
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: clientPingMin, PermitWithoutStream: true}),
		// closes the connections of clients that are gone; connections have no maximum age
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: serverPingEvery, Timeout: serverPingTimeout}),
		grpc.ConnectionTimeout(handshakeTimeout),
		grpc.ForceServerCodecV2(newExactCodec()),
		grpc.MaxRecvMsgSize(maxMessageBytes),
		grpc.MaxHeaderListSize(maxHeaderBytes),
		grpc.MaxConcurrentStreams(maxStreamsPerClient),
		grpc.ReadBufferSize(connectionReadBytes),
		grpc.WriteBufferSize(connectionWriteBytes),
	)
	services(registrar{server, chain})
	return server
}

// LogID returns the id of the log, made when the log was created. Clients read the same
// id from the first event of $all, in stream eventlog.IdentityStream.
func (n *Node) LogID() uuid.UUID { return n.log.ID() }

// Verify recomputes the hash chain and checks the indexes of the whole log while readers
// and writers go on. A *eventlog.CorruptError names the first wrong position.
func (n *Node) Verify(ctx context.Context) (eventlog.Report, error) { return n.log.Verify(ctx) }

// serve answers calls until Close. When the log takes no more appends it goes on, so that
// what is stored can be read until then.
func (n *Node) serve() {
	ended := make(chan error, 2)
	go func() { ended <- n.server.Serve(n.listener) }()
	if n.door != nil {
		go func() { ended <- n.door.server.Serve(n.door.listener) }()
	}
	select {
	case err := <-ended:
		n.served <- err
	case <-n.log.Failed():
		n.served <- n.log.Err()
	case <-n.asked:
		n.served <- ErrStopRequested
	}
}

// isClosing reports whether Close was called.
func (n *Node) isClosing() bool {
	select {
	case <-n.closing:
		return true
	default:
		return false
	}
}

// takesAppends reports whether the node is not closing, and its log takes appends.
func (n *Node) takesAppends() bool { return n.log.Err() == nil && !n.isClosing() }

// Health returns the state of the log.
func (n *Node) Health() eventlog.Health { return n.log.Health() }

// Done returns a channel that receives, once, why the node must be closed: the error that
// ended serving, nil after Close, ErrStopRequested, or why the log takes no more appends
// (*eventlog.StorageError, *eventlog.CorruptError, *eventlog.IndexError). After the last two
// calls are still answered.
func (n *Node) Done() <-chan error { return n.served }

// StopRequested returns a channel that is closed when a client asks the node to stop.
func (n *Node) StopRequested() <-chan struct{} { return n.asked }

// Close ends subscriptions, waits for the calls in progress, and closes the log. When ctx
// ends first the remaining calls are cancelled; appends that the log has accepted are
// made durable before Close returns in any case.
func (n *Node) Close(ctx context.Context) error { return n.close(ctx) }

func (n *Node) shutdown(ctx context.Context) error {
	close(n.closing)
	n.cleaner.cancel()
	servers := []*grpc.Server{n.server}
	if n.door != nil {
		servers = append(servers, n.door.server)
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		var stopping sync.WaitGroup
		for _, server := range servers {
			stopping.Go(server.GracefulStop)
		}
		stopping.Wait()
	}()
	select {
	case <-stopped:
	case <-ctx.Done():
		for _, server := range servers {
			server.Stop()
		}
		<-stopped
	}
	n.plain.end()
	if n.door != nil {
		n.door.plain.end()
	}
	n.groups.close()
	n.cleaner.close()
	before := n.log.Err()
	err := n.log.Close()
	if err == nil && before == nil {
		err = n.log.Err() // the disk refused what is written at the end
	}
	return err
}
