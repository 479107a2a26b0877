package node

import "time"

// Bounds on what one client can make the node do or hold. Those on stored events are in
// package eventlog.
const (
	maxMessageBytes     = 20 << 20  // clients send up to 17 MiB; the append limit must be what refuses
	maxStreamsPerClient = 4096      // concurrent calls of one connection, subscriptions included
	maxHeldBytes        = 256 << 20 // payload of appends not yet durable, all clients together
	maxHeldWait         = 5 * time.Second
	maxDrainBytes       = 64 << 20 // of a refused append that are read so that its reason arrives
	maxOpenBatches      = 256      // unfinished or unanswered batches of one BatchAppend call

	pageRecords = 256 // brought into memory at once for one reader or subscriber
	pageBytes   = 1 << 20

	liveBufferEvents    = 32 // a subscriber this far behind counts as reading again
	defaultFilterWindow = 32
	maxFilterWindow     = 4096
	maxFilterPrefixes   = 1024
	maxRegexBytes       = 4096
	regexMatchTimeout   = 100 * time.Millisecond
)

// Keepalive: clients ping every 10 s even without streams; the node's own pings find
// clients that vanished.
const (
	clientPingMin         = time.Second
	serverPingEvery       = 30 * time.Second
	serverPingTimeout     = 20 * time.Second
	connectionBufferBytes = 64 << 10
)

// advertisedVersion is the version this node behaves like. Clients parse it as int.int.int.
const advertisedVersion = "24.10.0"
