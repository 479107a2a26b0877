package circuit

import (
	"fmt"
	"math"
	"testing"
	"unsafe"

	"reckon/test/need"
)

func TestKernelCallLayout(t *testing.T) {
	var call kernelCall
	for name, got := range map[string][2]uintptr{
		"free":      {unsafe.Offsetof(call.free), 0},
		"controls":  {unsafe.Offsetof(call.controls), 8},
		"selectors": {unsafe.Offsetof(call.selectors), 16},
		"table":     {unsafe.Offsetof(call.table), 24},
		"groups":    {unsafe.Offsetof(call.groups), 32},
		"offsets":   {unsafe.Offsetof(call.offsets), 40},
	} {
		if got[0] != got[1] {
			t.Errorf("%s is at %d, the assembly reads it at %d", name, got[0], got[1])
		}
	}
}

// TestKernelsAgree compares every routine the processor can run with the scalar code, bit for bit.
func TestKernelsAgree(t *testing.T) {
	t.Run("double", func(t *testing.T) { kernelsAgree(t, kernels64, math.Float64bits) })
	t.Run("single", func(t *testing.T) { kernelsAgree(t, kernels32, math.Float32bits) })
}

func kernelsAgree[F float, B uint32 | uint64](t *testing.T, at func(instructionSet) kernels[F], bitsOf func(F) B) {
	const stateBits = 11
	geo := geometryOf(stateBits, int(unsafe.Sizeof(F(0))))
	rng := newRandom(7)
	fill := func(n int) []F {
		out := make([]F, n)
		for i := range out {
			out[i] = F(rng.float64() - 0.5)
		}
		return out
	}
	same := func(t *testing.T, want, got []F) {
		t.Helper()
		for i := range want {
			if bitsOf(want[i]) != bitsOf(got[i]) {
				t.Fatalf("component %d is %v, want %v", i, got[i], want[i])
			}
		}
	}
	if detect() == noSIMD {
		need.Skip(t, "a processor with AVX2 or AVX-512", "make test, on one")
	}
	for level := avx2; level <= detect(); level++ {
		for targets := range maxTargets + 1 {
			for round := range 24 {
				t.Run(fmt.Sprintf("level %d, %d targets, %d", level, targets, round), func(t *testing.T) {
					s := step[F]{targets: targets, real: round%2 == 1}
					order := permute(rng, stateBits-geo.laneBits)
					var targetVectors wires
					for _, v := range order[:targets] {
						targetVectors |= 1 << v
					}
					for i := range 1 << targets {
						s.offsets[i] = deposit(i, targetVectors) * vectorBytes
					}
					if round%3 > 0 {
						s.controls = 1 << order[targets]
					}
					for _, v := range order[targets+1 : targets+1+round%3] {
						s.selectors |= 1 << v
					}
					s.free = (1<<(stateBits-geo.laneBits) - 1) &^ uint64(targetVectors) &^ s.controls
					table := fill(2 << (2*targets + geo.laneBits + round%3))
					re, im := fill(1<<stateBits), fill(1<<stateBits)
					gotRe, gotIm := append([]F(nil), re...), append([]F(nil), im...)
					scalarKernels[F]().apply(re, im, &s, table)
					at(level).apply(gotRe, gotIm, &s, table)
					same(t, re, gotRe)
					same(t, im, gotIm)
				})
			}
		}
		for lane := range geo.laneBits {
			for with := geo.laneBits; with < stateBits; with++ {
				want := fill(1 << stateBits)
				got := append([]F(nil), want...)
				scalarKernels[F]().exchange(want, lane, with)
				at(level).exchange(got, lane, with)
				same(t, want, got)
			}
		}
	}
}
