package circuit

import (
	"context"
	"sync"
	"sync/atomic"
)

// state is 2^bits amplitudes in split planes.
type state[F float] struct{ re, im []F }

// machine runs plans on a state.
type machine[F float] struct {
	kernels  kernels[F]
	threads  int
	buffers  []state[F] // one block per thread when the state has several
	progress *progress
	sums     [2][]float64 // of chunks, reused
}

// chunkSums returns two lists of zeros that the next call overwrites.
func (m *machine[F]) chunkSums(length int) (a, b []float64) {
	for i := range m.sums {
		if len(m.sums[i]) != length {
			m.sums[i] = make([]float64, length)
		}
		clear(m.sums[i])
	}
	return m.sums[0], m.sums[1]
}

func newMachine[F float](geo geometry, threads int, k kernels[F], progress *progress) *machine[F] {
	m := &machine[F]{kernels: k, threads: threads, progress: progress}
	if geo.blockBits < geo.stateBits {
		for range threads {
			m.buffers = append(m.buffers, state[F]{re: make([]F, 1<<geo.blockBits), im: make([]F, 1<<geo.blockBits)})
		}
	}
	return m
}

func (m *machine[F]) run(ctx context.Context, p plan[F], s state[F]) error {
	for i := range p.sweeps {
		if err := m.sweep(ctx, &p.sweeps[i], s); err != nil {
			return err
		}
	}
	return nil
}

func (m *machine[F]) sweep(ctx context.Context, sw *sweep[F], s state[F]) error {
	if sw.inPlace {
		return m.steps(ctx, sw, s, 0)
	}
	all := uint64(1)<<sw.outer.count() - 1
	live := all &^ sw.zero // block indexes are the subsets of live
	total := int64(1) << wires(live).count()
	var next atomic.Int64
	return parallel(m.threads, func(worker int) error {
		buffer := m.buffers[worker]
		for {
			i := next.Add(1) - 1
			if i >= total {
				return nil
			}
			block := deposit(int(i), wires(live))
			base := int(deposit(int(block), sw.outer))
			sw.gather(s, buffer, base)
			if err := m.steps(ctx, sw, buffer, block); err != nil {
				return err
			}
			sw.scatter(s, buffer, base)
		}
	})
}

// stepsBetweenChecks bounds how long a block runs without looking at the context.
const stepsBetweenChecks = 16

func (m *machine[F]) steps(ctx context.Context, sw *sweep[F], s state[F], block uint64) error {
	for i := range sw.steps {
		if i%stepsBetweenChecks == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		st := &sw.steps[i]
		switch {
		case st.exchange:
			m.kernels.exchange(s.re, st.lane, st.with)
			m.kernels.exchange(s.im, st.lane, st.with)
		case block&st.outerControls == st.outerControls:
			part := extract(block, wires(st.outerSelect))
			m.kernels.apply(s.re, s.im, st, st.table[part*st.tableStride:][:st.tableStride])
		}
	}
	m.progress.add(sw.weight)
	return nil
}

// forEachRun calls visit for every contiguous run of a block: its place in the block and in the state.
func (sw *sweep[F]) forEachRun(base int, visit func(local, memory, length int)) {
	contiguous := 0
	for contiguous < len(sw.active) && sw.active[contiguous] == contiguous {
		contiguous++
	}
	length := 1 << contiguous
	var set wires
	for _, position := range sw.active[contiguous:] {
		set |= 1 << position
	}
	offset := uint64(0)
	for local := 0; local < 1<<len(sw.active); local += length {
		visit(local, base+int(offset), length)
		offset = (offset - uint64(set)) & uint64(set)
	}
}

func (sw *sweep[F]) gather(s, buffer state[F], base int) {
	sw.forEachRun(base, func(local, memory, length int) {
		copy(buffer.re[local:local+length], s.re[memory:])
		copy(buffer.im[local:local+length], s.im[memory:])
	})
}

func (sw *sweep[F]) scatter(s, buffer state[F], base int) {
	sw.forEachRun(base, func(local, memory, length int) {
		copy(s.re[memory:], buffer.re[local:local+length])
		copy(s.im[memory:], buffer.im[local:local+length])
	})
}

// parallel runs work on the given number of goroutines and returns the first error by worker number.
func parallel(threads int, work func(worker int) error) error {
	if threads == 1 {
		return work(0)
	}
	errs := make([]error, threads)
	var group sync.WaitGroup
	for worker := range threads {
		group.Go(func() { errs[worker] = work(worker) })
	}
	group.Wait()
	return firstError(errs...)
}

// progress counts work done and reports it; safe for concurrent use.
type progress struct {
	done, total atomic.Int64
	lock        sync.Mutex
	reported    int64 // thousandths
	report      func(fraction float64)
}

func (p *progress) add(work int64) {
	done := p.done.Add(work)
	if p.report == nil {
		return
	}
	thousandths := min(done*1000/max(p.total.Load(), 1), 1000)
	p.lock.Lock()
	defer p.lock.Unlock()
	if thousandths > p.reported {
		p.reported = thousandths
		p.report(float64(thousandths) / 1000)
	}
}
