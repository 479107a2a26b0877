package audit

import (
	"crypto/sha1" //nolint:gosec // a UUIDv5 is made with it (RFC 9562 §5.5); nothing rests on its strength
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// The names of invoices by docs/billing.md and ADR 25, written here a second time.

// invoiceNamespace is the UUIDv5 namespace of invoices' ids.
const invoiceNamespace = "6f0e3f520c1d4d2b9a578e41630bd117"

// invoiceID is the UUIDv5 of an account and of an invoice's place in its series.
func invoiceID(accountID string, n int) string {
	namespace, err := hex.DecodeString(invoiceNamespace)
	if err != nil {
		panic(err) // the constant above is hexadecimal
	}
	sum := sha1.Sum(fmt.Appendf(namespace, "%s\x00%d", accountID, n)) //nolint:gosec // see the import
	sum[6], sum[8] = sum[6]&0x0f|0x50, sum[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// invoiceNumber is the account's series and the invoice's place: 60 bits of a hash in 12 letters of base 32 (Crockford).
func invoiceNumber(accountID string, n int) string {
	const letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	sum := sha256.Sum256([]byte(accountID))
	bits, series := binary.BigEndian.Uint64(sum[:8]), make([]byte, 12)
	for i := range series {
		series[i] = letters[bits>>(59-5*i)&31]
	}
	return fmt.Sprintf("%s-%04d", series, n)
}
