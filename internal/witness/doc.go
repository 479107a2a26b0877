// Package witness is both ends of the witness protocol of transparency logs (C2SP tlog-witness, tlog-cosignature): a client that has
// checkpoints cosigned, and a witness that cosigns what is consistent with all it has cosigned before.
//
// It promises that a witness never cosigns two trees of a log of which one does not continue the other, across any crash: what it
// cosigned is durable before it answers. It never trusts what a log or a witness sends.
package witness
