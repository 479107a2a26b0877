package circuit

import (
	"math"
	"runtime"
)

// Cost bounds the memory and the work of running a circuit.
type Cost struct {
	MemoryBytes int64 // bytes that Run allocates at least; Run refuses a smaller limit
	// Operations counts complex multiplications, an upper bound that ignores fusion. A core with AVX-512 does about
	// 2e9 a second, one without SIMD about 2e8.
	Operations int64
}

// Estimate bounds memory and work without simulating. It takes time linear in the circuit's text.
func Estimate(c Circuit) Cost {
	engine, err := c.engine(EngineAuto)
	if err != nil {
		return Cost{}
	}
	return c.cost(engine, runtime.GOMAXPROCS(0))
}

func (c Circuit) cost(engine Engine, threads int) Cost {
	const perCount = 96 // a map entry and its share of the table
	var cost Cost
	cost.MemoryBytes = 1<<20 + int64(c.shots)*int64(c.slots+perCount)
	events, mid := 0, 0 // measurements and resets; those that may need branches
	multiplications := 0.0
	touched := make([]bool, c.qubits)
	for _, g := range c.gates {
		switch {
		case g.kind == kindMeasure || g.kind == kindReset:
			for _, q := range g.targets {
				events++
				if touched[q] {
					mid++
				}
			}
		case g.kind != kindBarrier:
			multiplications += float64(uint64(1) << (2 * len(g.targets)))
			for _, q := range g.targets {
				touched[q] = true
			}
		}
	}
	if engine == EngineStabilizer {
		return c.stabilizerCost(cost, events)
	}
	amplitudeBytes := int64(16)
	if c.precision == Single {
		amplitudeBytes = 8
	}
	geo := geometryOf(c.qubits, int(amplitudeBytes)/2)
	stateBytes := amplitudeBytes << geo.stateBits
	mid = int(lower(c).eventCount())
	cost.MemoryBytes += stateBytes
	if geo.blockBits < geo.stateBits {
		cost.MemoryBytes += amplitudeBytes << geo.blockBits * int64(threads)
	}
	cost.MemoryBytes += int64(len(c.gates)+mid) * (tableBytes + 1024)
	cost.MemoryBytes += 8 << geo.stateBits >> min(chunkBits, geo.stateBits) * 2
	branches := math.Min(float64(c.shots), math.Pow(2, float64(min(mid, 60))))
	work := (multiplications + float64(mid) + 2) * math.Pow(2, float64(geo.stateBits)) * branches
	cost.Operations = int64(math.Min(work, math.MaxInt64/2))
	return cost
}

// tableBytes bounds the kernel table an operator can have.
const tableBytes = 2 * vectorBytes << maxTableBits
