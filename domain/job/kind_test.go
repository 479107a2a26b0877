package job_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"reckon/domain/job"
)

// TestSubmittedIsAlwaysAnObject: whatever a payload is and a kind declares of it, what was submitted can be shown, and the text of it is in it.
func TestSubmittedIsAlwaysAnObject(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		payload := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "null", "[1]", "3", `"text"`, `{"a":1}`, `{"a":`, "{}", " {\"payload\": 2} "})).Draw(t, "payload")
		field := rapid.SampledFrom([]string{"", "circuit", "expression", "undeclared"}).Draw(t, "field")
		d := job.Declaration{PayloadField: field, Fields: []job.Field{{Name: "circuit", Type: job.Object}, {Name: "expression", Type: job.Text}}}
		submitted, err := d.Submitted(job.Submission{SessionID: "s", AboutRunID: 7}, payload)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(submitted, &fields); err != nil || fields["session_id"] != "s" || fields["run_id"] != 7.0 {
			t.Fatalf("%s %v", submitted, err)
		}
		var object map[string]any
		isObject := json.Unmarshal([]byte(payload), &object) == nil && object != nil
		name := field
		if field == "" {
			name = "payload"
		}
		_, asObject := fields[name].(map[string]any)
		switch {
		case field == "" && isObject:
			if len(fields) != len(object)+2 {
				t.Fatalf("%s of %s", submitted, payload)
			}
		case field == "circuit" && isObject:
			if !asObject {
				t.Fatalf("%s of %s", submitted, payload)
			}
		default:
			if fields[name] != payload {
				t.Fatalf("%s of %q", submitted, payload)
			}
		}
	})
}
