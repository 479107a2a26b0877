// Package node is an EventStoreDB-compatible single node inside this process: the gRPC
// services Streams, PersistentSubscriptions, ServerFeatures and Gossip on a Unix socket, over
// the log of package eventlog. Any official client can use it. The rest of Reckon uses EventStore-Client-Go
// only, so that an EventStoreDB cluster can replace the node.
//
// It promises the behaviour of EventStoreDB 24.10 for these services, with the
// differences listed in docs/node-protocol.md. An append is answered after its events are durable,
// and readers and subscribers see events only once they are durable.
//
// It listens on a socket in its folder that only the folder's owner can connect to; every client there is an
// administrator. With Config.Secure it also serves users with passwords over TLS, with the rights that the log gives
// them; with Config.Listen it serves everyone on a loopback port, without authentication. It never holds a slow
// subscriber's events in memory: every subscription reads the log at its own pace, and a
// persistent one keeps numbers and ids only (package group). It advertises no projections.
package node
