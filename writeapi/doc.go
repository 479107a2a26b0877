// Package writeapi is the half of the HTTP API that changes something: one file
// per group of POST and DELETE routes. A handler reads its input, counts it
// against its limit, calls one command and words the answer.
//
// It promises that what it answers with an id is durable, and that a refusal has
// changed nothing. It decides nothing itself and reads no read model; of a job that
// was just queued it is told the place in the queue.
package writeapi
