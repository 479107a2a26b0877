package group

import "time"

// Strategy chooses the consumer that an event is given to.
type Strategy uint8

const (
	// RoundRobin goes to the next consumer after each event and passes by those that are full.
	RoundRobin Strategy = iota + 1
	// DispatchToSingle stays with one consumer until it is full, then goes to the next.
	DispatchToSingle
	// Pinned gives events of the same Event.Pin to the same consumer while the consumers stay the same.
	// Events of a consumer that is full wait; others overtake them.
	Pinned
)

// Settings are the rules of a group. Durations and counts are at least 0.
type Settings struct {
	Strategy        Strategy
	MessageTimeout  time.Duration // an event not acknowledged for this long is delivered again; 0: at the next Tick
	MaxRetries      int           // repetitions before an event is parked
	HistoryBuffer   int           // events waiting for a consumer while the group is behind the end of the log
	LiveBuffer      int           // the same at the end of the log
	ReadBatch       int           // events to feed at once
	CheckpointAfter time.Duration // 0: only CheckpointMax decides
	CheckpointMin   int           // settled events before a checkpoint by time
	CheckpointMax   int           // settled events before a checkpoint at once
	Measured        bool          // keep how long consumers had the events that they acknowledged
}

// Bounds on what settings can make a group hold. Larger settings count as these.
const (
	MaxBuffer         = 1 << 16 // events waiting for a consumer, but for those that are delivered again
	MaxBatch          = 256     // events fed at once
	MaxConsumerBuffer = 8192    // events given to one consumer and not settled
	maxParking        = 1024    // events to be parked, beyond which none are fed
	maxMeasured       = 1000    // acknowledgements whose times are kept for a consumer
)

func (s *Settings) normalize() {
	s.HistoryBuffer = min(max(s.HistoryBuffer, 1), MaxBuffer)
	s.LiveBuffer = min(max(s.LiveBuffer, 1), MaxBuffer)
	s.ReadBatch = min(max(s.ReadBatch, 1), MaxBatch)
	s.CheckpointMax = max(s.CheckpointMax, 1)
}
