// Package node is an EventStoreDB-compatible single node inside this process: the gRPC
// services Streams, ServerFeatures and Gossip on a Unix socket, over the log of package
// eventlog. Any official client can use it; the rest of Reckon does so through
// EventStore-Client-Go and nothing else, so a real cluster can take its place.
//
// It promises what version 24.10 of the real server does for these services, with the
// differences listed in docs/node.md. An append is answered after it is durable, and
// readers and subscribers see nothing earlier.
//
// It never authenticates anyone: everyone who can reach it is an administrator, so it
// listens on a socket in its folder that only the folder's owner can connect to, and
// on a loopback port only when it is told to. It never holds a slow subscriber's events
// in memory: every subscription reads the log at its own pace. It advertises neither
// persistent subscriptions (a group can be declared, not read) nor projections.
package node
