// Package eventstore is the log: the official EventStoreDB client wrapped so
// that what the client leaves to a zero value must be said here.
//
// It promises that every append names the revision it expects (the client
// reads a nil revision as "any"), that every subscription names its start (the
// client reads nil as "from the end"), that a transport failure is retried with
// the same bytes and therefore the same event ids, and that an append whose
// outcome is unknown is reported as commands.ErrUnavailable and never as done.
//
// It never interprets an event, and nothing else in Reckon imports the client.
// The embedded server is in node/, a store in memory for tests in memory/, and
// the contract all of them keep in storetest/.
package eventstore
