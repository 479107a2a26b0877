package circuit

import (
	"context"
	"slices"
)

// chunkBits is log2 of the amplitudes whose probabilities are summed together; chunks are added up in order.
const chunkBits = 10

// chunkSum adds |amplitude|² in eight interleaved lanes. The lanes stay apart so that callers can select by the low
// three bits of the index.
func chunkSum[F float](re, im []F) (lanes [8]float64) {
	im = im[:len(re)]
	for i := 0; i+8 <= len(re); i += 8 {
		for l := range 8 {
			a, b := float64(re[i+l]), float64(im[i+l])
			lanes[l] = lanes[l] + (float64(a*a) + float64(b*b))
		}
	}
	return lanes
}

// laneTotal adds the lanes whose index has all bits of mask set to those of value.
func laneTotal(lanes [8]float64, mask, value int) float64 {
	sum := 0.0
	for l, v := range lanes {
		if l&mask == value {
			sum += v
		}
	}
	return sum
}

// chunkTotals returns the probability in each chunk of the state, valid until the next sums.
func (m *machine[F]) chunkTotals(ctx context.Context, s state[F]) ([]float64, error) {
	size := min(1<<chunkBits, len(s.re))
	totals, _ := m.chunkSums(len(s.re) / size)
	err := m.forEachChunk(ctx, len(totals), func(i int) {
		totals[i] = laneTotal(chunkSum(s.re[i*size:(i+1)*size], s.im[i*size:(i+1)*size]), 0, 0)
	})
	return totals, err
}

// forEachChunk visits chunk numbers 0 to count-1 on the machine's threads.
func (m *machine[F]) forEachChunk(ctx context.Context, count int, visit func(i int)) error {
	const checkEvery, worthSharing = 16, 32
	threads := m.threads
	if count < worthSharing {
		threads = 1
	}
	return parallel(threads, func(worker int) error {
		from, to := count*worker/threads, count*(worker+1)/threads
		for i := from; i < to; i++ {
			if i%checkEvery == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			visit(i)
		}
		return nil
	})
}

// sample draws shots basis states by their probabilities and calls found for each in ascending order. The uniform
// numbers are sorted, so that the state is read once however many shots there are.
func (m *machine[F]) sample(ctx context.Context, s state[F], shots int, rng *random, found func(index, times int)) error {
	totals, err := m.chunkTotals(ctx, s)
	if err != nil {
		return err
	}
	sum := 0.0
	for _, t := range totals {
		sum += t
	}
	draws := make([]float64, shots)
	for i := range draws {
		draws[i] = float64(rng.float64() * sum)
	}
	slices.Sort(draws)
	size := len(s.re) / len(totals)
	before, next := 0.0, 0
	for chunk, t := range totals {
		after := before + t
		first := next
		for next < shots && (draws[next] < after || chunk == len(totals)-1) {
			next++
		}
		if next > first {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			sampleChunk(s.re[chunk*size:][:size], s.im[chunk*size:][:size], before, draws[first:next], func(index, times int) {
				found(chunk*size+index, times)
			})
		}
		before = after
	}
	return nil
}

// sampleChunk assigns sorted draws to the amplitudes of a chunk whose cumulative probability starts at before. Draws
// that rounding leaves beyond the last amplitude go to the last one that is not zero.
func sampleChunk[F float](re, im []F, before float64, draws []float64, found func(index, times int)) {
	cumulative, last := before, 0
	for i := range re {
		a, b := float64(re[i]), float64(im[i])
		p := float64(a*a) + float64(b*b)
		if p == 0 {
			continue
		}
		last = i
		cumulative += p
		times := 0
		for times < len(draws) && draws[times] < cumulative {
			times++
		}
		if times > 0 {
			found(i, times)
			draws = draws[times:]
			if len(draws) == 0 {
				return
			}
		}
	}
	found(last, len(draws))
}

// bitWeights returns the probability that the bit at a position of the index is 0, and that it is 1, unnormalised.
func (m *machine[F]) bitWeights(ctx context.Context, s state[F], position int) (zero, one float64, err error) {
	size := min(1<<chunkBits, len(s.re))
	count := len(s.re) / size
	zeros, ones := m.chunkSums(count)
	err = m.forEachChunk(ctx, count, func(i int) {
		re, im := s.re[i*size:(i+1)*size], s.im[i*size:(i+1)*size]
		run := 1 << position
		switch {
		case run < 8:
			lanes := chunkSum(re, im)
			zeros[i], ones[i] = laneTotal(lanes, run, 0), laneTotal(lanes, run, run)
		case run < size:
			for at := 0; at < size; at += 2 * run {
				zeros[i] += laneTotal(chunkSum(re[at:at+run], im[at:at+run]), 0, 0)
				ones[i] += laneTotal(chunkSum(re[at+run:at+2*run], im[at+run:at+2*run]), 0, 0)
			}
		case i*size&run == 0:
			zeros[i] = laneTotal(chunkSum(re, im), 0, 0)
		default:
			ones[i] = laneTotal(chunkSum(re, im), 0, 0)
		}
	})
	for i := range count {
		zero += zeros[i]
		one += ones[i]
	}
	return zero, one, err
}

// collapse keeps the amplitudes whose bit has the value and multiplies them by scale; with clear, the bit becomes 0.
func (m *machine[F]) collapse(ctx context.Context, s state[F], position, value int, scale float64, clearBit bool) error {
	bit := 1 << position
	size := min(1<<chunkBits, len(s.re))
	factor := F(scale)
	return m.forEachChunk(ctx, len(s.re)/size, func(i int) {
		for at := i * size; at < (i+1)*size; at++ {
			if at&bit != 0 {
				continue // each pair of amplitudes is handled at its lower index
			}
			kept := at | value*bit
			re, im := F(s.re[kept]*factor), F(s.im[kept]*factor)
			s.re[at], s.im[at], s.re[at|bit], s.im[at|bit] = 0, 0, 0, 0
			if clearBit {
				kept = at
			}
			s.re[kept], s.im[kept] = re, im
		}
	})
}
