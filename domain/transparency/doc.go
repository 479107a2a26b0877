// Package transparency is the Merkle tree of everything that the service has signed or certified: its leaves, the
// checkpoints that are signed over it, and what witnesses have cosigned.
//
// It promises that leaf N is a function of the log alone, that a checkpoint extends the one before it, and that a leaf tells
// nothing to who does not hold what it commits to. It reads no clock and holds no private key.
package transparency
