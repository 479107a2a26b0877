// Package passwordstest gives tests that register many accounts hashes that cost next to nothing. Only tests import it
// (TestImports in package test).
package passwordstest

import "reckon/internal/passwords"

// NewHasher returns a hasher of the least memory that argon2id takes, in one pass.
func NewHasher() passwords.Hasher {
	return passwords.NewHasher(passwords.Cost{MemoryKiB: 8, Passes: 1})
}
