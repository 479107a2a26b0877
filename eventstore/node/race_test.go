//go:build race

package node

// memoryFactor is how much more memory than without the race detector a process may take.
const memoryFactor = 3
