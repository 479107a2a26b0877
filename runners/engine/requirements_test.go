package engine

import (
	"regexp"
	"strings"
	"testing"
)

// Nothing may be installed that is not pinned by version and by the hash of its file.
func TestRequirementsArePinned(t *testing.T) {
	t.Parallel()
	line := regexp.MustCompile(`^(?:#.*|[a-z-]+==[0-9]+\.[0-9]+(?:\.[0-9]+)? \\|--hash=sha256:[0-9a-f]{64}(?: \\)?)$`)
	for text := range strings.Lines(string(Core.Requirements)) {
		if text = strings.TrimSpace(text); !line.MatchString(text) {
			t.Errorf("not pinned: %q", text)
		}
	}
	if got := strings.Join(Core.pinned(), " "); got != "woxi==0.3.0 python-flint==0.9.0" {
		t.Errorf("%s", got)
	}
}
