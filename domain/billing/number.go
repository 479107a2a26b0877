package billing

import (
	"crypto/sha1" //nolint:gosec // a UUIDv5 is made with it (RFC 9562 §5.5); nothing rests on its strength
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
)

// invoiceNamespace is the UUIDv5 namespace of invoices' ids.
var invoiceNamespace = [16]byte{0x6f, 0x0e, 0x3f, 0x52, 0x0c, 0x1d, 0x4d, 0x2b, 0x9a, 0x57, 0x8e, 0x41, 0x63, 0x0b, 0xd1, 0x17}

// InvoiceID is the id of an account's n-th invoice, from 1: a UUIDv5 of both, so that every process proposes the same.
func InvoiceID(account string, n int) string {
	hash := sha1.New() //nolint:gosec // see the import
	hash.Write(invoiceNamespace[:])
	_, _ = fmt.Fprintf(hash, "%s\x00%d", account, n)
	id := hash.Sum(nil)[:16]
	id[6], id[8] = id[6]&0x0f|0x50, id[8]&0x3f|0x80
	digits := hex.EncodeToString(id)
	return digits[:8] + "-" + digits[8:12] + "-" + digits[12:16] + "-" + digits[16:20] + "-" + digits[20:]
}

// crockford is base 32 without letters that are taken for digits (Crockford, "Base 32").
var crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// seriesLetters is the length of the name of an account's series of invoices: 60 bits of a hash.
const seriesLetters = 12

// InvoiceNumber is the number that people see on an account's n-th invoice, from 1: the account's series and n.
func InvoiceNumber(account string, n int) string {
	sum := sha256.Sum256([]byte(account))
	return fmt.Sprintf("%s-%04d", crockford.EncodeToString(sum[:])[:seriesLetters], n)
}
