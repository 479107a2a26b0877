// Package receipt is the signed record of one run: what it says, the canonical
// bytes that are hashed and signed, and the offline check of all three.
//
// It promises that canonical bytes equal Python's
// json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=True),
// so that twenty lines outside this project verify a receipt. It never reads a
// clock, a key file or the log: keys and records are handed in.
package receipt
