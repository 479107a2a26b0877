package projections

import (
	"database/sql/driver"
	"fmt"
	"strings"
)

// Text is a string that may contain U+0000, which a database text cannot hold. It is stored
// with U+0000 as U+FFFF U+FFFE and U+FFFF as U+FFFF U+FFFF.
type Text string

var (
	storedText = strings.NewReplacer("\x00", "\uffff\ufffe", "\uffff", "\uffff\uffff")
	givenText  = strings.NewReplacer("\uffff\ufffe", "\x00", "\uffff\uffff", "\uffff")
)

// Value is the text as stored (database/sql/driver.Valuer).
func (t Text) Value() (driver.Value, error) { return storedText.Replace(string(t)), nil }

// Scan reads what Value stored (database/sql.Scanner).
func (t *Text) Scan(stored any) error {
	switch s := stored.(type) {
	case string:
		*t = Text(givenText.Replace(s))
	case []byte:
		*t = Text(givenText.Replace(string(s)))
	default:
		return fmt.Errorf("a text is stored as %T", stored)
	}
	return nil
}
