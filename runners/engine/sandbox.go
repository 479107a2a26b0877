package engine

// Sandbox says how workers are walled in. The zero value is the safe one.
type Sandbox int

const (
	// SandboxRequired refuses to start unless files, network and other processes are observed to be out of reach.
	SandboxRequired Sandbox = iota
	// SandboxOff runs workers with resource limits only: whoever evaluates can do what the server's user can.
	SandboxOff
)

// Boundary is one wall around the workers.
type Boundary struct {
	Name    string   `json:"name"`     // filesystem, network, process, resources
	InForce bool     `json:"in_force"` // observed from inside a worker when it was started
	By      []string `json:"by"`       // what enforces it, innermost first
}
