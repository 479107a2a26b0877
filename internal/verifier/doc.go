// Package verifier verifies receipts, quotes, certificates and checkpoints offline, by keys that the reader holds.
//
// It promises that what it calls verified is covered by a signature or by a tree whose root is signed, member by member, and that it
// names what is not. It reads strictly: of two spellings or two members of a name one is refused, so that no other reader can see
// another content in a file that verifies. But for the canonical form it is written without the code that seals and proves, and docs/verify.py is the same a second time: one
// table of forgeries tests both.
package verifier
