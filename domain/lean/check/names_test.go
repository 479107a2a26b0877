package check

import (
	"fmt"
	"strings"
	"testing"
)

// TestMissingMessageIsShort: of thousands of theorems the last ten are named, without names that fill a screen.
func TestMissingMessageIsShort(t *testing.T) {
	var theorems []string
	for i := range 5000 {
		theorems = append(theorems, fmt.Sprintf("t%d", i))
	}
	theorems = append(theorems, strings.Repeat("n", 10000))
	message := missingMessage("nothing of the kind", theorems, theorems, func(name string) string { return name })
	if want := "; the export has 5001 theorems, the last are t4991, "; !strings.Contains(message, want) || !strings.HasSuffix(message, "t4999") || len(message) > 300 {
		t.Error(message)
	}
}
