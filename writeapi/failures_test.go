package writeapi

import (
	"reflect"
	"strings"
	"testing"

	"reckon/domain/run"
)

// TestEveryFailureHasItsCode: no reason of a failure is answered with another one's code but a crash for want of memory.
func TestEveryFailureHasItsCode(t *testing.T) {
	t.Parallel()
	field, _ := reflect.TypeFor[run.Failed]().FieldByName("Reason")
	reasons := strings.Split(field.Tag.Get("enum"), ",")
	codes := map[string]bool{}
	for _, reason := range reasons {
		codes[engineFailures[run.FailureReason(reason)].Code] = true
	}
	if codes[""] || len(codes) != len(reasons)-1 {
		t.Errorf("%d codes for %v", len(codes), reasons)
	}
}
