package group

import (
	"slices"
	"time"
)

// Consumer is a member of a group.
type Consumer struct {
	buffer int
	held   int        // messages given and not settled
	outbox []*message // of these, those not taken yet, in the order in which they were given
	pins   int        // buckets of Pinned that are its own
	total  int64      // messages taken

	measured []time.Duration // of the newest acknowledgements, a ring of maxMeasured
	oldest   int             // in the ring, once it is full
}

// Held returns how many events are given to the consumer and not settled.
func (c *Consumer) Held() int { return c.held }

// Free returns how many more events can be given to it.
func (c *Consumer) Free() int { return c.buffer - c.held }

// Total returns how many events it has taken, repetitions included.
func (c *Consumer) Total() int64 { return c.total }

// Waiting reports whether Take would return an event.
func (c *Consumer) Waiting() bool { return len(c.outbox) > 0 }

// Measured returns how long the consumer had each of the events that it acknowledged last, shortest first; none without
// Settings.Measured.
func (c *Consumer) Measured() []time.Duration { return slices.Sorted(slices.Values(c.measured)) }

func (c *Consumer) measure(had time.Duration) {
	if len(c.measured) < maxMeasured {
		c.measured = append(c.measured, had)
		return
	}
	c.measured[c.oldest] = had
	c.oldest = (c.oldest + 1) % maxMeasured
}

// Join adds a consumer that takes at most buffer events without settling one.
func (g *Group) Join(now time.Time, buffer int) *Consumer {
	c := &Consumer{buffer: min(max(buffer, 1), MaxConsumerBuffer)}
	g.consumers = append(g.consumers, c)
	g.free += c.buffer
	if g.giveBuckets(c); g.settings.Strategy == Pinned {
		// pins have moved, with what their consumers have not seen yet
		for _, other := range g.consumers {
			g.empty(other)
		}
	}
	g.dispatch(now)
	return c
}

// Leave removes a consumer. What it had taken is delivered again, with a repetition counted;
// it is not parked for that, because nobody said that it failed.
func (g *Group) Leave(now time.Time, c *Consumer) {
	at := slices.Index(g.consumers, c)
	if at < 0 {
		return
	}
	for _, l := range g.lines {
		for m := l.oldest; m != nil; m = m.newer {
			if m.state == given && m.consumer == c {
				if m.taken {
					m.retries++
				}
				g.takeBack(m)
				g.wait(m)
			}
		}
	}
	g.consumers = slices.Delete(g.consumers, at, at+1)
	g.free -= c.buffer
	if g.turn > at {
		g.turn--
	}
	g.takeBuckets(c)
	g.dispatch(now)
}

// choose returns the consumer that the message is given to, nil when it has to wait.
func (g *Group) choose(m *message) *Consumer {
	if g.settings.Strategy == Pinned {
		if c := g.buckets[m.Pin%buckets]; c != nil && c.Free() > 0 {
			return c
		}
		return nil
	}
	for i := range g.consumers {
		at := (g.turn + i) % len(g.consumers)
		if g.consumers[at].Free() == 0 {
			continue
		}
		if g.turn = at; g.settings.Strategy == RoundRobin {
			g.turn = at + 1
		}
		return g.consumers[at]
	}
	return nil
}

// dispatch gives waiting messages to consumers that have room.
func (g *Group) dispatch(now time.Time) {
	if g.settings.Strategy == Pinned {
		g.dispatchPinned(now)
		return
	}
	n := 0
	for ; n < len(g.waiting) && g.free > 0; n++ {
		g.give(now, g.waiting[n], g.choose(g.waiting[n]))
	}
	g.waiting = slices.Delete(g.waiting, 0, n)
}

func (g *Group) dispatchPinned(now time.Time) {
	kept, i := 0, 0
	for ; i < len(g.waiting) && g.free > 0; i++ {
		m := g.waiting[i]
		if c := g.choose(m); c != nil {
			g.give(now, m, c)
			continue
		}
		g.waiting[kept] = m
		kept++
	}
	g.waiting = slices.Delete(g.waiting, kept, i)
}

func (g *Group) give(now time.Time, m *message, c *Consumer) {
	m.state, m.consumer, m.taken = given, c, false
	m.due = now.Add(g.settings.MessageTimeout)
	c.held++
	g.free--
	c.outbox = append(c.outbox, m)
}

// takeBack ends the message's stay with its consumer.
func (g *Group) takeBack(m *message) {
	c := m.consumer
	if !m.taken {
		at := slices.Index(c.outbox, m)
		c.outbox = slices.Delete(c.outbox, at, at+1)
	}
	m.consumer, m.taken = nil, false
	c.held--
	g.free++
}

// empty takes back what the consumer has not taken yet.
func (g *Group) empty(c *Consumer) {
	for _, m := range slices.Clone(c.outbox) {
		g.takeBack(m)
		g.wait(m)
	}
}

// wait puts a message among those that wait.
func (g *Group) wait(m *message) {
	m.state = waiting
	g.waiting = insert(g.waiting, m)
}

// insert puts a message at its place in the order.
func insert(messages []*message, m *message) []*message {
	if n := len(messages); n == 0 || compare(messages[n-1], m) < 0 {
		return append(messages, m)
	}
	at, _ := slices.BinarySearchFunc(messages, m, compare)
	return slices.Insert(messages, at, m)
}

// buckets is how many sets of pins are spread over the consumers of a Pinned group.
const buckets = 1024

// giveBuckets gives a new consumer its share, from those that have most.
func (g *Group) giveBuckets(c *Consumer) {
	if len(g.consumers) == 1 {
		for i := range g.buckets {
			g.buckets[i] = c
		}
		c.pins = buckets
		return
	}
	for share := buckets / len(g.consumers); c.pins < share; {
		richest := g.consumers[0]
		for _, other := range g.consumers {
			if other.pins > richest.pins {
				richest = other
			}
		}
		at := slices.Index(g.buckets[:], richest)
		g.buckets[at] = c
		richest.pins--
		c.pins++
	}
}

// takeBuckets gives the buckets of a consumer that left to those that have fewest.
func (g *Group) takeBuckets(c *Consumer) {
	for i, owner := range g.buckets {
		if owner != c {
			continue
		}
		g.buckets[i] = nil
		if len(g.consumers) == 0 {
			continue
		}
		poorest := g.consumers[0]
		for _, other := range g.consumers {
			if other.pins < poorest.pins {
				poorest = other
			}
		}
		g.buckets[i] = poorest
		poorest.pins++
	}
}
