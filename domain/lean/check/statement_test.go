package check

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reckon/domain/lean/export"
	"reckon/domain/lean/internal/leantest"
	"reckon/domain/lean/statement"
	"reckon/domain/lean/term"
)

// Everything real exports state reads back with the usual notation.
func TestRealStatementsReadBack(t *testing.T) {
	count := 0
	for _, folder := range []string{"accept", "judge"} {
		for _, path := range leantest.SharedFiles(t, folder) {
			if strings.Contains(path, "3.0.0") {
				continue
			}
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			file, err := export.Read(context.Background(), f, export.Limits{})
			_ = f.Close()
			if err != nil {
				t.Fatal(err)
			}
			j := &judge{file: file, names: statement.NewNames(file.Store, file.Declarations, referenceNames()),
				core: newCore(file, loadReferenceTables(), func(term.Name) bool { return false })}
			language := j.newLanguage()
			for i := range file.Declarations {
				for _, n := range namesOf(&file.Declarations[i]) {
					text, err := language.Statement(n)
					if err != nil || strings.Contains(text, "@«") { // «» only where everything is explicit
						t.Errorf("%s: %s: %v %s", filepath.Base(path), j.names.Text(n), err, text)
					}
					count++
				}
			}
		}
	}
	t.Logf("%d statements", count)
}
