package audit

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Content is what a log says wherever it lies: its first Events events, as docs/audit.md counts and hashes them. Positions, stamps and
// the hash chain of a node are not in it, so that it is the same after a migration.
type Content struct {
	Events uint64 `json:"events"`
	SHA256 string `json:"sha256"` // lower-case hex
}

func (c Content) String() string { return fmt.Sprintf("%d:%s", c.Events, c.SHA256) }

// ParseContent reads what String writes.
func ParseContent(text string) (Content, error) {
	number, sum, _ := strings.Cut(text, ":")
	events, err := strconv.ParseUint(number, 10, 64)
	hash, errHash := hex.DecodeString(sum)
	if err != nil || errHash != nil || len(hash) != 32 || sum != strings.ToLower(sum) {
		return Content{}, errors.New("it is no number of events, a colon and 64 hexadecimal digits, as an audit prints them")
	}
	return Content{events, sum}, nil
}
