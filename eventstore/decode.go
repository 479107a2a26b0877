package eventstore

import (
	"context"
	"runtime"
	"sync"

	"reckon/domain/event"
)

// decoding yields what next returns, decoded and in its order, until next fails, whose error it
// returns, or yield returns false; wanted is false then. It starts goroutines on reading only,
// and they end when ctx does and next returns.
type decoding func(ctx context.Context, reading *sync.WaitGroup, next func() (Raw, error), yield func(event.Recorded, error) bool) (wanted bool, err error)

// decodeEach yields each event as it comes.
func decodeEach(codec Codec) decoding {
	return func(_ context.Context, _ *sync.WaitGroup, next func() (Raw, error), yield func(event.Recorded, error) bool) (bool, error) {
		for {
			raw, err := next()
			if err != nil {
				return true, err
			}
			if !yield(codec.DecodeAny(raw)) {
				return false, nil
			}
		}
	}
}

// A chunk of events is decoded together, so that handing it over costs little an event.
const (
	chunkEvents = 256
	chunkBytes  = 256 << 10
	chunksAhead = 8 // held in memory at once, at most
)

type chunk struct {
	raws    []Raw
	err     error // why there is none after it
	decoded []decodedEvent
	ready   chan struct{} // closed when decoded is set
}

type decodedEvent struct {
	recorded event.Recorded
	err      error
}

// decodeAhead reads and decodes while the consumer works, on every core: for events that are in
// the log already. An event may wait until its chunk is full or next fails.
func decodeAhead(codec Codec) decoding {
	return func(ctx context.Context, reading *sync.WaitGroup, next func() (Raw, error), yield func(event.Recorded, error) bool) (bool, error) {
		read, ordered := make(chan *chunk), make(chan *chunk, chunksAhead)
		reading.Go(func() { readChunks(ctx, next, read, ordered) })
		for range runtime.GOMAXPROCS(0) {
			reading.Go(func() {
				for c := range read {
					c.decode(codec)
				}
			})
		}
		for c := range ordered {
			select {
			case <-c.ready:
			case <-ctx.Done():
				return true, ctx.Err()
			}
			for _, d := range c.decoded {
				if !yield(d.recorded, d.err) {
					return false, nil
				}
			}
			if c.err != nil {
				return true, c.err
			}
		}
		return true, ctx.Err()
	}
}

// readChunks sends every chunk first to ordered, which keeps their order, and then to be decoded.
func readChunks(ctx context.Context, next func() (Raw, error), read, ordered chan<- *chunk) {
	defer close(read)
	defer close(ordered)
	for {
		c := &chunk{ready: make(chan struct{})}
		for size := 0; c.err == nil && len(c.raws) < chunkEvents && size < chunkBytes; {
			var raw Raw
			if raw, c.err = next(); c.err == nil {
				c.raws = append(c.raws, raw)
				size += len(raw.Data) + len(raw.Metadata)
			}
		}
		for _, to := range []chan<- *chunk{ordered, read} {
			select {
			case to <- c:
			case <-ctx.Done():
				return
			}
		}
		if c.err != nil {
			return
		}
	}
}

func (c *chunk) decode(codec Codec) {
	c.decoded = make([]decodedEvent, len(c.raws))
	for i, raw := range c.raws {
		c.decoded[i].recorded, c.decoded[i].err = codec.DecodeAny(raw)
	}
	c.raws = nil
	close(c.ready)
}
