// Package runner is the heartbeat of a process that runs jobs or owns sessions.
//
// It promises nothing about time: a beat says what its runner holds, and each
// observer measures on its own clock how long ago it saw the beat.
package runner

import (
	"reckon/domain/decider"
	"reckon/domain/event"
)

// Stream names a runner's stream. It keeps its newest beat only ($maxCount 1).
func Stream(runnerID string) string { return "runner-" + runnerID }

// Beat says that a runner is alive and which attempts it holds.
type Beat struct {
	Runner  string   `json:"runner" format:"uuid" doc:"Id of the runner; new in every process"`
	Seq     int64    `json:"seq" unit:"beats" doc:"Number of the beat, from 1"`
	Nonces  []string `json:"nonces,omitempty" doc:"The attempts the runner holds; absent: none"`
	Address string   `json:"address,omitempty" doc:"Host and port where other processes reach it"`
	Leaving bool     `json:"leaving,omitempty" doc:"True on the last beat of a runner that hands back what it holds and ends"`
}

// EventName is the stored name.
func (Beat) EventName() string { return "runner.beat" }

// Events declares this package's event types.
func Events() []event.Type {
	return []event.Type{decider.Undecided(
		Beat{Runner: "0198a1b2-0000-7000-8000-0000000000ff", Seq: 7, Nonces: []string{"0198a1b2-0000-7000-8000-00000000abcd"}, Address: "127.0.0.1:9090"},
		func(e Beat) event.Address { return event.Address{Stream: Stream(e.Runner)} },
		event.Free{"address": event.OfProcess, "nonces[]": "what a runner said it was at; only its newest heartbeat is kept", "seq": "only the newest heartbeat is kept"})}
}
