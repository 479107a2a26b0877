package circuit

// fusionWindow bounds how far back a gate may be commuted to find a partner, so that fusion stays linear.
const fusionWindow = 128

// fusionPasses is how often neighbours are looked at again after merging.
const fusionPasses = 4

// passCost is the time of applying an operator with 0 to 3 targets to every amplitude of a block in the second-level
// cache, relative to each other as measured with AVX-512 (double: 0.10, 0.13, 0.28, 0.55 ns per amplitude), with a
// little added for processors whose caches are slower than their arithmetic.
var passCost = [maxTargets + 1]float64{0.45, 0.6, 1.15, 2.2}
