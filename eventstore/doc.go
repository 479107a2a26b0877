// Package eventstore is the log: the official EventStoreDB client wrapped so that
// no argument with a dangerous zero value can be left out.
//
// It promises that every append names the revision it expects (the client reads a
// nil revision as "any"), that every subscription names its start (the client reads
// nil as "from the end"), that a transport failure is retried for up to RetryTimeout
// with the same bytes and therefore the same event ids, and that an append whose
// outcome is unknown is reported as commands.ErrUnavailable and never as a success.
//
// It never interprets an event, and no other package of Reckon imports the client.
// The embedded server is in node/, a store in memory for tests in memory/, and the
// test of the contract that all stores keep in storetest/.
package eventstore
