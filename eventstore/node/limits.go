package node

import "time"

// Bounds on the memory and work that one client can cause. The bounds of stored events
// are in package eventlog.
const (
	maxMessageBytes     = 20 << 20        // clients send up to 17 MiB; above this gRPC refuses, below it the append limit
	maxStreamsPerClient = 4096            // concurrent calls of one connection, subscriptions included
	maxHeldBytes        = 256 << 20       // payload of appends not yet durable, all clients together
	maxHeldWait         = 5 * time.Second // longest wait for the bytes of other appends
	maxDrainBytes       = 64 << 20        // read from a refused append, so that the client receives the reason
	maxOpenBatches      = 256             // unfinished or unanswered batches of one BatchAppend call

	pageRecords = 256     // held in memory at once for one reader or subscriber
	pageBytes   = 1 << 20 // likewise

	liveBufferEvents    = 32 // a subscriber further behind is no longer live: CaughtUp is sent again
	defaultFilterWindow = 32
	maxFilterWindow     = 4096
	maxFilterPrefixes   = 1024
	maxRegexBytes       = 4096
	regexMatchTimeout   = 100 * time.Millisecond
)

// Keepalive: clients ping every 10 s even without calls; the node pings too, to close the
// connections of clients that are gone.
const (
	clientPingMin         = time.Second
	serverPingEvery       = 30 * time.Second
	serverPingTimeout     = 20 * time.Second
	connectionBufferBytes = 64 << 10
)

// advertisedVersion is the EventStoreDB version whose behaviour this node has. Clients
// parse it as three integers.
const advertisedVersion = "24.10.0"
