// Package clients uses the interface by its description alone: clients in Go and TypeScript that generators made of
// docs/api/openapi.json tell the README's story, schemathesis calls every operation in every way that the description allows and
// rules out, and two linters read it. The official clients of the Model Context Protocol call every tool of /mcp, and its public
// conformance suite looks at it. The official EventStoreDB clients of Go (by its own suite), Python and Node
// use the embedded node. Qiskit writes programs for the circuits' reader and computes what they mean, and NumPy reads a
// state vector.
//
// It promises the real binary with the real engine. What is generated is not committed: it takes seconds. The clients have modules
// of their own (go/go.mod, typescript/package-lock.json, mcp/), so that the service depends on none of them.
package clients
