package projections

import (
	"database/sql/driver"
	"fmt"
	"strings"
)

// Text is a string stored so that every string comes back as it was: a database
// text holds no NUL. NUL becomes two noncharacters, and the first of them, where
// it occurs by itself, is doubled.
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
