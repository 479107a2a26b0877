package audittest

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/google/uuid"

	"reckon/domain/audit"
)

// LogID is the id of the hash chain of these logs: that of their first record.
const LogID = "6f0e3f52-0c1d-4d2b-9a57-8e41630bd117"

// Genesis is the link before the first record of a log (docs/log-format.md).
func Genesis(log uuid.UUID) [32]byte {
	return sha256.Sum256(append([]byte("reckon event log 1\n"), log[:]...))
}

// Record is a record of a log's files by docs/log-format.md with its link, as somebody writes it who has no key but the disk.
func Record(position uint64, previous [32]byte, e audit.Stored) (record []byte, link [32]byte) {
	salt := sha256.Sum256(fmt.Appendf(nil, "salt %d", position))
	payload := append(append(salt[:16:16], e.Metadata...), e.Data...)
	hash, id := sha256.Sum256(payload), uuid.MustParse(e.ID)
	b := binary.BigEndian.AppendUint64([]byte{2}, position)
	b = binary.BigEndian.AppendUint64(b, uint64(e.Revision))
	b = binary.BigEndian.AppendUint64(b, stampOf(position, e))
	b = append(append(b, id[:]...), 3)
	b = binary.BigEndian.AppendUint16(b, uint16(len(e.Stream)))
	for _, n := range []int{len(e.Name), len(e.Metadata), len(e.Data)} {
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	b = append(append(append(b, hash[:]...), e.Stream...), e.Name...)
	link = sha256.Sum256(append(previous[:], b...))
	b = append(b, link[:]...)
	return append(append(b, 1), payload...), link
}

// stampOf is when a record was written, in 100-ns ticks since 1970; the first ones of a log, which no command wrote, come before the others.
func stampOf(position uint64, e audit.Stored) uint64 {
	if e.Created.IsZero() {
		return 17_000_000_000_000_000 + position
	}
	return uint64(e.Created.UnixNano() / 100) //nolint:gosec // after 1970
}

// Chain makes the hash chain of a log anew: each event has the link that its record on disk would have.
func Chain(all []audit.Stored) {
	link := Genesis(uuid.MustParse(LogID))
	for i := range all {
		_, link = Record(uint64(i+1), link, all[i])
		all[i].Link = link
	}
}
