package circuit

// fusionWindow bounds how far back a gate may be commuted to find a partner, so that fusion stays linear.
const fusionWindow = 128

// fusionPasses is the number of passes over neighbours after merging.
const fusionPasses = 4

// passCost is the time of applying an operator with 0 to 3 targets to every amplitude of a block in the second-level
// cache, relative to each other as measured with AVX-512 (double: 0.10, 0.13, 0.28, 0.55 ns per amplitude), with a
// little added for processors whose caches are slower than their arithmetic.
var passCost = [maxTargets + 1]float64{0.45, 0.6, 1.15, 2.2}

// fixedCost is the cost of an operator that does not depend on its amplitudes.
const fixedCost = 0.02

func cost(targets, controls wires) float64 {
	return passCost[targets.count()]/float64(uint64(1)<<min(controls.count(), 20)) + fixedCost
}

// fuse multiplies operators together where that is cheaper than applying them one after the other.
func fuse(operators []operator) []operator {
	for range fusionPasses {
		before := len(operators)
		operators = fuseOnce(operators)
		if len(operators) == before {
			break
		}
	}
	return operators
}

func fuseOnce(operators []operator) []operator {
	out := make([]operator, 0, len(operators))
	for _, op := range operators {
		if at := partner(out, op); at >= 0 {
			out[at] = product(out[at], op)
		} else {
			out = append(out, op)
		}
	}
	return out
}

// partner finds the earlier operator that op gains most from joining, among those it can be commuted back to.
func partner(earlier []operator, op operator) int {
	best, bestGain := -1, 0.0
	for i := len(earlier) - 1; i >= max(0, len(earlier)-fusionWindow); i-- {
		candidate := earlier[i]
		if candidate.allWires()&op.allWires() != 0 {
			targets, selectors, controls := productShape(candidate, op)
			if k := targets.count(); k <= maxTargets && 2*k+selectors.count() <= maxTableBits {
				gain := cost(candidate.targets, candidate.controls) + cost(op.targets, op.controls) - cost(targets, controls)
				if gain > bestGain {
					best, bestGain = i, gain
				}
			}
		}
		if !candidate.commutes(op) {
			break
		}
	}
	return best
}
