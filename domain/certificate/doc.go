// Package certificate is the record of one proof check (interface §2.10): what was
// claimed, what the kernel found, what it rests on, and about which bytes.
//
// It promises that a certificate is one event of its own stream, never changed
// and never withdrawn, and that what people read of it is derived from that
// event alone. It never judges a proof: that is domain/lean's.
package certificate
