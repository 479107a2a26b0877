//go:build !amd64

package circuit

func bestKernels64() kernels[float64] { return scalarKernels[float64]() }
func bestKernels32() kernels[float32] { return scalarKernels[float32]() }
