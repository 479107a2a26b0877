package engine

import (
	"context"
	"fmt"
)

// Sandbox says whether workers must be isolated. The zero value is SandboxRequired.
type Sandbox int

const (
	// SandboxRequired refuses to start unless files, network and other processes are observed to be out of reach.
	SandboxRequired Sandbox = iota
	// SandboxOff runs workers with resource limits only: whoever evaluates can do what the server's user can.
	SandboxOff
)

// BoundaryName names what a worker must not reach or exceed.
type BoundaryName string

// Boundaries of a worker.
const (
	BoundaryFilesystem BoundaryName = "filesystem"
	BoundaryNetwork    BoundaryName = "network"
	BoundaryProcess    BoundaryName = "process"   // other processes
	BoundaryResources  BoundaryName = "resources" // memory, processor time, open files
)

// Boundary is one limit around the workers.
type Boundary struct {
	Name    BoundaryName `json:"name"`
	InForce bool         `json:"in_force"` // observed from inside a worker when it was started
	By      []string     `json:"by"`       // what enforces it, innermost first
}

// proveBoundaries asks a worker what it can do and refuses a zygote whose workers can do too much.
func (p *zygoteProcess) proveBoundaries(ctx context.Context, program Program, ready controlMessage) error {
	worker, err := p.spawn(ctx)
	if err != nil {
		return err
	}
	defer worker.Kill()
	if program.Sandbox == SandboxOff {
		for _, name := range []BoundaryName{BoundaryFilesystem, BoundaryNetwork, BoundaryProcess} {
			p.boundaries = append(p.boundaries, Boundary{Name: name, By: []string{}})
		}
		p.boundaries = append(p.boundaries, Boundary{Name: BoundaryResources, InForce: true, By: []string{"rlimits"}})
		return nil
	}
	var reply struct{ Probe map[string]string }
	if err := worker.Call(ctx, map[string]string{"op": "probe"}, &reply); err != nil {
		return fmt.Errorf("prove the workers' boundaries: %w", err)
	}
	forbidden := map[BoundaryName][]string{
		BoundaryFilesystem: {"open", "create", "list"},
		BoundaryNetwork:    {"socket", "unix_socket"},
		BoundaryProcess:    {"fork", "exec", "signal_parent", "signal_all", "ptrace", "read_memory"},
	}
	var open []string
	for _, name := range []BoundaryName{BoundaryFilesystem, BoundaryNetwork, BoundaryProcess} {
		for _, attempt := range forbidden[name] {
			if answer := reply.Probe[attempt]; answer != "EPERM" && answer != "EACCES" {
				open = append(open, attempt+": "+answer)
			}
		}
		p.boundaries = append(p.boundaries, Boundary{Name: name, InForce: true, By: p.enforcedBy(name, ready)})
	}
	p.boundaries = append(p.boundaries, Boundary{Name: BoundaryResources, InForce: true, By: []string{"rlimits"}})
	if len(open) > 0 {
		return &UnsafeError{Open: open}
	}
	return nil
}

// enforcedBy lists what enforces a boundary, innermost first.
func (p *zygoteProcess) enforcedBy(name BoundaryName, ready controlMessage) []string {
	by := []string{"seccomp"}
	landlockSince := map[BoundaryName]int{BoundaryFilesystem: 1, BoundaryNetwork: 4, BoundaryProcess: 6}
	if ready.LandlockABI >= landlockSince[name] {
		by = append(by, "landlock")
	}
	namespace := map[BoundaryName]string{BoundaryFilesystem: "mount namespace", BoundaryNetwork: "network namespace", BoundaryProcess: "pid namespace"}
	if p.namespaced && (name != BoundaryFilesystem || ready.NoFiles) {
		by = append(by, namespace[name])
	}
	return by
}
