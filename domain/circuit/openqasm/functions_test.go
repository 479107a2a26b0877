package openqasm

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestFunctions compares with the standard library, to a few units in the last place.
func TestFunctions(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	near := func(name string, x, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 4e-16*max(1, math.Abs(want)) && math.Abs(got-want) > 4e-16*math.Abs(want) {
			t.Errorf("%s(%v) = %v, want %v", name, x, got, want)
		}
	}
	for range 500 {
		x := rng.NormFloat64() * 30
		near("exp", x, exp(x), math.Exp(x))
		near("log", x, log(math.Abs(x)), math.Log(math.Abs(x)))
		near("arctan", x, realFunctions["arctan"](x), math.Atan(x))
		y := rng.Float64()*2 - 1
		near("arcsin", y, realFunctions["arcsin"](y), math.Asin(y))
		near("arccos", y, realFunctions["arccos"](y), math.Acos(y))
		near("atan2", x, atan2(x, y), math.Atan2(x, y))
		near("power", x, realPower(0, math.Abs(x), y), math.Pow(math.Abs(x), y))
	}
	for _, x := range []float64{0, 1, -1, 709.7, -745, 1e-300, math.MaxFloat64} {
		near("exp", x, exp(x), math.Exp(x))
		near("log", x, log(math.Abs(x)), math.Log(math.Abs(x)))
		near("arctan", x, realFunctions["arctan"](x), math.Atan(x))
	}
}
