//go:build !linux

package engine

// memoryBytes is 0: it is not known here.
func (w *Worker) memoryBytes() int64 { return 0 }

// machineMemory is 0: it is not known here, and the memory of sessions is bounded by their number.
func machineMemory() int64 { return 0 }

// processMemory is 0: it is not known here.
func processMemory(int) int64 { return 0 }
