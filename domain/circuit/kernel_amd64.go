package circuit

import (
	"math/bits"
	"unsafe"
)

// instructionSet is a level of SIMD the processor and the operating system support.
type instructionSet uint8

const (
	noSIMD instructionSet = iota
	avx2
	avx512
)

func cpuid(leaf, subleaf uint32) (eax, ebx, ecx, edx uint32)
func xgetbv() uint32

// detect asks the processor. PEXT (BMI2) is needed at both levels.
func detect() instructionSet {
	const (
		osxsave, avx            = 1 << 27, 1 << 28 // leaf 1, ecx
		hasAVX2, bmi2, avx512f  = 1 << 5, 1 << 8, 1 << 16
		ymmSaved, allZmmSaved   = 0x06, 0xe6
		lastLeaf, featuresLeaf7 = 0, 7
	)
	if highest, _, _, _ := cpuid(lastLeaf, 0); highest < featuresLeaf7 {
		return noSIMD
	}
	_, _, leaf1, _ := cpuid(1, 0)
	if leaf1&osxsave == 0 || leaf1&avx == 0 {
		return noSIMD
	}
	saved := xgetbv()
	_, leaf7, _, _ := cpuid(featuresLeaf7, 0)
	switch {
	case leaf7&bmi2 == 0:
		return noSIMD
	case leaf7&avx512f != 0 && saved&allZmmSaved == allZmmSaved:
		return avx512
	case leaf7&hasAVX2 != 0 && saved&ymmSaved == ymmSaved:
		return avx2
	}
	return noSIMD
}

// kernelCall holds the arguments that the assembly reads; the order of its fields is fixed.
type kernelCall struct {
	free, controls, selectors uint64
	table                     unsafe.Pointer
	groups                    uint64
	offsets                   [1 << maxTargets]uint64
}

type applyFunc func(re, im unsafe.Pointer, call *kernelCall)

// applySIMD wraps the routines for 0 to 3 targets, complex then real.
func applySIMD[F float](routines [2][maxTargets + 1]applyFunc) func(re, im []F, s *step[F], table []F) {
	return func(re, im []F, s *step[F], table []F) {
		call := kernelCall{
			free: s.free, controls: s.controls, selectors: s.selectors,
			table: unsafe.Pointer(&table[0]), groups: uint64(s.groups()), offsets: s.offsets,
		}
		kind := 0
		if s.real {
			kind = 1
		}
		routines[kind][s.targets](unsafe.Pointer(&re[0]), unsafe.Pointer(&im[0]), &call)
	}
}

// exchangePairs prepares an exchange: vector pairs to visit, the mask of their indexes, and their distance in bytes.
func exchangePairs[F float](plane []F, laneBits, with int) (pairs, free, high uint64) {
	vectors := uint64(len(plane)) >> laneBits
	high = 1 << (with - laneBits)
	free = (vectors - 1) &^ high
	return 1 << bits.OnesCount64(free), free, high * vectorBytes
}

func exchange64(plane []float64, lane, with int) {
	const laneBits, lanes = 3, 8
	var choice [2][lanes]uint64
	for l := range uint64(lanes) {
		low := uint64(1) << lane
		if l&low == 0 {
			choice[0][l], choice[1][l] = l, l+low
		} else {
			choice[0][l], choice[1][l] = lanes+l-low, lanes+l
		}
	}
	pairs, free, high := exchangePairs(plane, laneBits, with)
	exchangeAVX512F64(unsafe.Pointer(&plane[0]), pairs, free, high, unsafe.Pointer(&choice))
}

func exchange32(plane []float32, lane, with int) {
	const laneBits, lanes = 4, 16
	var choice [2][lanes]uint32
	for l := range uint32(lanes) {
		low := uint32(1) << lane
		if l&low == 0 {
			choice[0][l], choice[1][l] = l, l+low
		} else {
			choice[0][l], choice[1][l] = lanes+l-low, lanes+l
		}
	}
	pairs, free, high := exchangePairs(plane, laneBits, with)
	exchangeAVX512F32(unsafe.Pointer(&plane[0]), pairs, free, high, unsafe.Pointer(&choice))
}

func bestKernels64() kernels[float64] { return kernels64(detect()) }
func bestKernels32() kernels[float32] { return kernels32(detect()) }

func kernels64(level instructionSet) kernels[float64] {
	switch level {
	case avx512:
		return kernels[float64]{apply: applySIMD[float64]([2][maxTargets + 1]applyFunc{
			{apply0AVX512F64, apply1AVX512F64, apply2AVX512F64, apply3AVX512F64},
			{apply0RealAVX512F64, apply1RealAVX512F64, apply2RealAVX512F64, apply3RealAVX512F64},
		}), exchange: exchange64}
	case avx2:
		return kernels[float64]{apply: applySIMD[float64]([2][maxTargets + 1]applyFunc{
			{apply0AVX2F64, apply1AVX2F64, apply2AVX2F64, apply3AVX2F64},
			{apply0RealAVX2F64, apply1RealAVX2F64, apply2RealAVX2F64, apply3RealAVX2F64},
		}), exchange: exchangeScalar[float64]}
	}
	return scalarKernels[float64]()
}

func kernels32(level instructionSet) kernels[float32] {
	switch level {
	case avx512:
		return kernels[float32]{apply: applySIMD[float32]([2][maxTargets + 1]applyFunc{
			{apply0AVX512F32, apply1AVX512F32, apply2AVX512F32, apply3AVX512F32},
			{apply0RealAVX512F32, apply1RealAVX512F32, apply2RealAVX512F32, apply3RealAVX512F32},
		}), exchange: exchange32}
	case avx2:
		return kernels[float32]{apply: applySIMD[float32]([2][maxTargets + 1]applyFunc{
			{apply0AVX2F32, apply1AVX2F32, apply2AVX2F32, apply3AVX2F32},
			{apply0RealAVX2F32, apply1RealAVX2F32, apply2RealAVX2F32, apply3RealAVX2F32},
		}), exchange: exchangeScalar[float32]}
	}
	return scalarKernels[float32]()
}

// AVX512 routines, double precision.

//go:noescape
func apply0AVX512F64(re, im unsafe.Pointer, call *kernelCall)

//go:noescape
func apply1AVX512F64(re, im unsafe.Pointer, call *kernelCall)

//go:noescape
func apply2AVX512F64(re, im unsafe.Pointer, call *kernelCall)

//go:noescape
func apply3AVX512F64(re, im unsafe.Pointer, call *kernelCall)

//go:noescape
func apply0RealAVX512F64(re, im unsafe.Pointer, call *kernelCall)

//go:noescape
func apply1RealAVX512F64(re, im unsafe.Pointer, call *kernelCall)

//go:noescape
func apply2RealAVX512F64(re, im unsafe.Pointer, call *kernelCall)

//go:noescape
func apply3RealAVX512F64(re, im unsafe.Pointer, call *kernelCall)

// AVX512 routines, single precision.

//go:noescape
func apply0AVX512F32(re, im unsafe.Pointer, call *kernelCall)

//go:noescape
func apply1AVX512F32(re, im unsafe.Pointer, call *kernelCall)

//go:noescape
func apply2AVX512F32(re, im unsafe.Pointer, call *kernelCall)

//go:noescape
func apply3AVX512F32(re, im unsafe.Pointer, call *kernelCall)

//go:noescape
func apply0RealAVX512F32(re, im unsafe.Pointer, call *kernelCall)

//go:noescape
func apply1RealAVX512F32(re, im unsafe.Pointer, call *kernelCall)

//go:noescape
func apply2RealAVX512F32(re, im unsafe.Pointer, call *kernelCall)

//go:noescape
func apply3RealAVX512F32(re, im unsafe.Pointer, call *kernelCall)

// AVX2 routines, double precision.

//go:noescape
func apply0AVX2F64(re, im unsafe.Pointer, call *kernelCall)

//go:noescape
func apply1AVX2F64(re, im unsafe.Pointer, call *kernelCall)

//go:noescape
func apply2AVX2F64(re, im unsafe.Pointer, call *kernelCall)

//go:noescape
func apply3AVX2F64(re, im unsafe.Pointer, call *kernelCall)

//go:noescape
func apply0RealAVX2F64(re, im unsafe.Pointer, call *kernelCall)

//go:noescape
func apply1RealAVX2F64(re, im unsafe.Pointer, call *kernelCall)

//go:noescape
func apply2RealAVX2F64(re, im unsafe.Pointer, call *kernelCall)

//go:noescape
func apply3RealAVX2F64(re, im unsafe.Pointer, call *kernelCall)

// AVX2 routines, single precision.

//go:noescape
func apply0AVX2F32(re, im unsafe.Pointer, call *kernelCall)

//go:noescape
func apply1AVX2F32(re, im unsafe.Pointer, call *kernelCall)

//go:noescape
func apply2AVX2F32(re, im unsafe.Pointer, call *kernelCall)

//go:noescape
func apply3AVX2F32(re, im unsafe.Pointer, call *kernelCall)

//go:noescape
func apply0RealAVX2F32(re, im unsafe.Pointer, call *kernelCall)

//go:noescape
func apply1RealAVX2F32(re, im unsafe.Pointer, call *kernelCall)

//go:noescape
func apply2RealAVX2F32(re, im unsafe.Pointer, call *kernelCall)

//go:noescape
func apply3RealAVX2F32(re, im unsafe.Pointer, call *kernelCall)

//go:noescape
func exchangeAVX512F64(plane unsafe.Pointer, pairs, free, high uint64, choice unsafe.Pointer)

//go:noescape
func exchangeAVX512F32(plane unsafe.Pointer, pairs, free, high uint64, choice unsafe.Pointer)
