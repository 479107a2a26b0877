package reactions

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"reckon/commands"
	"reckon/domain/receipt"
	"reckon/domain/transparency"
)

// TestTroubleOfCheckpoints: whoever asks is told why none is signed, and nothing of what an error names.
func TestTroubleOfCheckpoints(t *testing.T) {
	t.Parallel()
	for says, err := range map[string]error{
		"this log does not lead to": fmt.Errorf("sign: %w", &commands.RolledBackError{Signed: "secret", Here: "secret"}),
		"another history":           fmt.Errorf("sign: %w", &transparency.ConflictError{Conflicted: transparency.Conflicted{Witness: "secret"}}),
		"file signed-tree":          &commands.ForgottenTreeError{Here: "secret"},
		"no key to sign with":       fmt.Errorf("secret: %w", receipt.ErrCannotSign),
		"a witness did not cosign":  errors.New("witness at secret:1: refused"),
	} {
		if got := describe(err); !strings.Contains(got, says) || strings.Contains(got, "secret") {
			t.Errorf("%v: %q", err, got)
		}
	}
	if got := describe(nil) + (&Checkpoints{}).Trouble(); got != "" {
		t.Errorf("without an error: %q", got)
	}
}
