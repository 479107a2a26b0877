package check

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"

	"reckon/domain/lean/statement"
	"reckon/domain/lean/term"
)

// referenceNames are the names of the shipped tables.
var referenceNames = sync.OnceValue(func() *statement.Reference {
	tables := loadReferenceTables()
	var dotted []string
	for name := range tables.basis {
		dotted = append(dotted, name)
	}
	for _, reference := range tables.references {
		for name := range reference.Constants {
			dotted = append(dotted, name)
		}
	}
	return statement.NewReference(dotted)
})

// newLanguage is the language of the file. Notation is for the constants that are Lean's own.
func (j *judge) newLanguage() *statement.Language {
	return statement.New(j.file, j.names, func(n term.Name) bool {
		whose, _ := j.core.originOf(n)
		return whose == originLean
	})
}

// fillStatement fills in what a declaration states. A statement that cannot be printed is null; for a requested name
// that is a refusal, because no reader could see what was verified.
func (j *judge) fillStatement(n term.Name, item *Declaration) *Refusal {
	text, err := j.language.Statement(n)
	if err == nil {
		sum := sha256.Sum256([]byte(text))
		digest := hex.EncodeToString(sum[:])
		item.Statement, item.StatementSHA256 = &text, &digest
		return nil
	}
	refusal := &Refusal{Declaration: item.Name, Class: StatementUnreadable, Message: err.Error(), File: j.opts.FileName, Line: j.lineOf(n)}
	if errors.Is(err, statement.ErrTooLong) {
		if j.opts.All {
			return nil
		}
		refusal.Class = StatementTooLong
		refusal.Message = fmt.Sprintf("its statement has more than %d bytes, or is nested too deeply, to be printed; state it by means of definitions", statement.MaxBytes)
	}
	return refusal
}
