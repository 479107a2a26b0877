package node

import (
	"time"

	"reckon/internal/httpserver"
)

// Bounds on the memory and work that one client can cause. The bounds of stored events
// are in package eventlog.
const (
	maxMessageBytes       = 20 << 20         // clients send up to 17 MiB; above this gRPC refuses, below it the append limit
	maxHeaderBytes        = 16 << 10         // of a call
	maxConnections        = 1024             // of one listener
	maxStrangeBytes       = 512 << 10        // received from a connection of users before a password was verified
	maxStreamsPerClient   = 2048             // concurrent calls of one connection, subscriptions included
	maxCalls              = 8192             // open calls of all connections
	requestWait           = 30 * time.Second // for a call's first message, and for each of a request that must be whole before it is answered
	maxHeldBytes          = 256 << 20        // in memory: messages being received, appends not yet durable, pages of reads and subscriptions, all clients together
	inboundBytesPerSecond = 1 << 20          // a client that sends a message more slowly has stalled
	maxHeldWait           = 5 * time.Second  // longest wait for memory that others hold
	stalledAfter          = time.Second      // a client that does not send or receive for this long may lose its connection when memory is short
	maxAppendEvents       = 16_384           // of one append
	maxDrainBytes         = 64 << 20         // read from a refused append, so that the client receives the reason
	maxRefusedBytes       = 4 << 20          // likewise of one whose caller has no right to it
	refusedWait           = 5 * time.Second  // longest reading of a refused request
	maxOpenBatches        = 256              // unfinished or unanswered batches of one BatchAppend call

	maxSubscriptions              = 4096 // of all clients
	maxSubscriptionsPerConnection = 1024

	pageRecords             = 256                    // held in memory at once for one reader
	pageBytes               = 1 << 20                // likewise
	subscriptionPageRecords = 32                     // likewise for a subscriber
	subscriptionPageBytes   = 16 << 10               // likewise
	queuedBytes             = 16 << 10               // of a call's answers that gRPC has before the call waits for the client
	answerOverheadBytes     = 256                    // what an answer is counted for beyond its bytes
	pagePatience            = 100 * time.Millisecond // a subscriber that takes nothing for this long is waited for without a page

	liveBufferEvents    = 32 // a subscriber further behind is no longer live: CaughtUp is sent again
	defaultFilterWindow = 32
	maxFilterWindow     = 4096
	maxFilterPrefixes   = 1024
	maxRegexBytes       = 4096
	regexMatchTimeout   = time.Second      // for one event
	regexTime           = 5 * time.Second  // for one call, and
	regexTimePerEvent   = time.Millisecond // for each of its events
)

// Bounds on a connection of users before a password was verified. What comes beyond stays with its sender.
const (
	maxStrangeCalls   = 4                // at a time
	maxStrangeUnread  = 16 << 10         // of messages that no call has read
	maxStrangeMessage = 4 << 10          // of a call that is open to everybody
	strangeWait       = 10 * time.Second // for calls to end, or a password to be verified
)

// patience is how long the node waits for what a client has begun to send.
type patience struct{ request, refused, stranger time.Duration }

var defaultPatience = patience{requestWait, refusedWait, strangeWait}

// Bounds on persistent subscriptions. A group holds no content of events; what it holds of
// an event is counted as 256 bytes. Package group has the bounds of one group.
const (
	maxGroups              = 1024
	maxGroupConsumers      = 1024    // of one group
	maxConsumers           = 2048    // of all groups
	maxUnsettled           = 1 << 18 // events held by all groups, beyond which each reads groupRoom at most
	groupRoom              = 32
	maxGroupReads          = 8        // pages being read for groups at a time
	smallEventBytes        = 32 << 10 // sent to a consumer without regard to maxHeldBytes
	maxGroupMessageIDs     = 16384    // ids in one acknowledgement
	maxParkReasonBytes     = 1024
	maxParkedPerAppend     = 32
	maxGroupFilterBytes    = 64 << 10 // prefixes of one filter
	groupConfigSlack       = 256      // outdated events in the stream of configurations before it is shortened
	groupTick              = time.Second
	keptGroupCheckpoints   = 2 // $maxCount of the checkpoint streams
	maxConnectionNameBytes = 256
)

// Bounds on the management of users. Package access has those of a user.
const (
	maxUserCalls   = 8       // that hash a password, at a time
	usersListBytes = 2 << 20 // reserved while the names of all users are in memory
)

// Bounds on figures that are followed.
const (
	maxStatsCalls              = 64
	maxStatsCallsPerConnection = 16
	minStatsEvery              = 100 * time.Millisecond
	maxStatsEvery              = time.Hour
	defaultStatsEvery          = time.Second // where a request names none
)

// Bounds on plain requests beside gRPC. internal/httpserver has that of a head by HTTP/1.1.
const (
	plainTimeout     = 5 * time.Second // to send a request, and to take its answer
	maxFirstCall     = 16 << 10        // bytes of a connection of HTTP/2 before and with the head of its first call, which are looked at
	plainLinger      = 2 * time.Second // for a client of HTTP/2 to take an answer and leave
	maxPlainDiscards = 64 << 10        // bytes received meanwhile
)

var plainLimits = httpserver.Limits{Header: plainTimeout, Idle: plainTimeout, MaxSilence: plainTimeout, MinBytesPerSecond: 1 << 10, DiscardWait: time.Second, Connections: maxConnections}

// Keepalive: clients ping every 10 s even without calls; the node pings too, to close the
// connections of clients that are gone.
const (
	clientPingMin        = time.Second
	serverPingEvery      = 30 * time.Second
	serverPingTimeout    = 20 * time.Second
	handshakeTimeout     = 10 * time.Second
	connectionReadBytes  = 8 << 10  // of memory for each connection, so that 1,000 subscriptions on as many take less than 256 MB
	connectionWriteBytes = 16 << 10 // likewise, while something is being sent
)

// advertisedVersion is the EventStoreDB version whose behaviour this node has. Clients
// parse it as three integers.
const advertisedVersion = "24.10.0"
