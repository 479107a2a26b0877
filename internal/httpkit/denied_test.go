package httpkit_test

import (
	"net/http"
	"strings"
	"testing"

	"reckon/internal/httpkit"
)

// refusesUs is an error of a part that may refuse this service.
type refusesUs struct{ denied bool }

func (refusesUs) Error() string           { return "403 Forbidden" }
func (refusesUs) UnavailablePart() string { return "the store" }
func (e refusesUs) DeniesAccess() bool    { return e.denied }

// TestAPartThatDeniesAccess: what no waiting mends is not told to be tried again in a moment.
func TestAPartThatDeniesAccess(t *testing.T) {
	t.Parallel()
	for denied, want := range map[bool]string{true: "until an operator mends its credentials", false: "cannot be reached; try again in a moment"} {
		p := httpkit.Translate(refusesUs{denied}, nil)
		if p.Status != http.StatusServiceUnavailable || p.Code != "unavailable" || !strings.Contains(p.Detail, want) {
			t.Errorf("denied %t: %+v", denied, p)
		}
	}
}
