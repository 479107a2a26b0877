package circuit

import "unsafe"

// kernels are the inner loops for one amplitude type. Every implementation performs, per amplitude, exactly the scalar
// code's operations in its order, so all of them give the same bits.
type kernels[F float] struct {
	apply    func(re, im []F, s *step[F], table []F)
	exchange func(plane []F, lane, with int)
}

func scalarKernels[F float]() kernels[F] {
	return kernels[F]{apply: applyScalar[F], exchange: exchangeScalar[F]}
}

// applyScalar multiplies every group of target amplitudes by the matrix its selectors choose.
func applyScalar[F float](re, im []F, s *step[F], table []F) {
	lanes := vectorBytes / int(unsafe.Sizeof(table[0]))
	dim := 1 << s.targets
	var offsets [1 << maxTargets]int
	for i := range dim {
		offsets[i] = int(s.offsets[i]) / vectorBytes * lanes
	}
	var xr, xi [1 << maxTargets]F
	vector := uint64(0)
	for range s.groups() {
		at := vector | s.controls
		matrix := table[extract(at, wires(s.selectors))*2*dim*dim*lanes:][:2*dim*dim*lanes]
		base := int(at) * lanes
		for lane := range lanes {
			for i := range dim {
				xr[i], xi[i] = re[base+offsets[i]+lane], im[base+offsets[i]+lane]
			}
			for row := range dim {
				m := matrix[row*dim*2*lanes+lane:]
				var r, i F
				if s.real {
					r, i = F(m[0]*xr[0]), F(m[0]*xi[0])
					for column := 1; column < dim; column++ {
						a := m[column*2*lanes]
						r, i = r+F(a*xr[column]), i+F(a*xi[column])
					}
				} else {
					a, b := m[0], m[lanes]
					r = F(a*xr[0]) - F(b*xi[0])
					i = F(a*xi[0]) + F(b*xr[0])
					for column := 1; column < dim; column++ {
						a, b := m[column*2*lanes], m[column*2*lanes+lanes]
						r = r + F(a*xr[column])
						r = r - F(b*xi[column])
						i = i + F(a*xi[column])
						i = i + F(b*xr[column])
					}
				}
				re[base+offsets[row]+lane], im[base+offsets[row]+lane] = r, i
			}
		}
		vector = (vector - s.free) & s.free
	}
}

// exchangeScalar swaps two bits of the index: lane (within a vector) and with (above the lanes).
func exchangeScalar[F float](plane []F, lane, with int) {
	low, high := 1<<lane, 1<<with
	for base := 0; base < len(plane); base += 2 * high {
		for i := base; i < base+high; i++ {
			if i&low != 0 {
				plane[i], plane[i-low+high] = plane[i-low+high], plane[i]
			}
		}
	}
}
