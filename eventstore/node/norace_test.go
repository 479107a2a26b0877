//go:build !race

package node

// memoryFactor is how much more memory than usual a process may take.
const memoryFactor = 1
