package engine

// PinForTest makes Install install other packages than the engine's: the pins of a package index that a test serves.
func PinForTest(pins []byte) (restore func()) {
	before := requirements
	requirements = pins
	return func() { requirements = before }
}

// MeasuredForTest tells whether every session's memory was looked at since it last evaluated.
func (e *Engine) MeasuredForTest() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.sessions {
		if s.unmeasured || s.memory == 0 {
			return false
		}
	}
	return true
}
