package engine

// PinForTest makes Install install other packages than the engine's: the pins of a package index that a test serves.
func PinForTest(pins []byte) (restore func()) {
	before := requirements
	requirements = pins
	return func() { requirements = before }
}
