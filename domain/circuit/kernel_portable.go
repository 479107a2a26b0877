package circuit

func scalarKernels[F float]() kernels[F] {
	return kernels[F]{apply: applyScalar[F], exchange: exchangeScalar[F]}
}

func bestKernels64() kernels[float64] { return scalarKernels[float64]() }
func bestKernels32() kernels[float32] { return scalarKernels[float32]() }
