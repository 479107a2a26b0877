package engine

// PinForTest makes Install install other packages than the engine's: the pins of a package index that a test serves.
func PinForTest(pins []byte) (restore func()) {
	before := Core.Requirements
	Core.Requirements = pins
	return func() { Core.Requirements = before }
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

// BoundInstallForTest sets how many bytes an installation may take.
func BoundInstallForTest(bytes int64) (restore func()) {
	before := maxInstallBytes
	maxInstallBytes = bytes
	return func() { maxInstallBytes = before }
}

// KeptCode and ByteCode are of modules.go.
const KeptCode = keptCode

var ByteCode = byteCode

// Sealed is byte code as it is kept.
var Sealed = sealed
