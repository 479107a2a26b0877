package reference

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
)

// jobRequest is the beginning of an example's input that submits a job instead of evaluating an expression.
const jobRequest = "POST /api/jobs "

// JobRequest is the body of the request that submits the job which an example's input is; ok is false where it is an expression.
func (e Example) JobRequest() (body string, ok bool) {
	body, ok = strings.CutPrefix(e.Input, jobRequest)
	return strings.TrimSpace(body), ok
}

// checkJob refuses an example that is half a job: a request that is no object, or whose right answer is not that of a job.
func (e Example) checkJob() error {
	body, isJob := e.JobRequest()
	switch {
	case isJob != (e.Right.Way == ByJob):
		return errors.New("what `> POST /api/jobs {…}` answers stands in a line `= job {…} | source`, and nothing else does")
	case !isJob:
		return nil
	}
	if _, ok := decodeJSON(body).(map[string]any); !ok {
		return errors.New("behind POST /api/jobs stands no JSON object")
	}
	return nil
}

// job reads the members of a job's result that are right.
func (r *Right) job(text string) error {
	r.Way, r.Text = ByJob, text
	if _, ok := decodeJSON(text).(map[string]any); !ok {
		return fmt.Errorf("%.60s is no JSON object: members of the job's result, as they must be", text)
	}
	return nil
}

// compareJob compares the members of a job's result that the right value names; shown is what they are.
func compareJob(right Right, result string) (same bool, shown string) {
	members, same := named(decodeJSON(right.Text), decodeJSON(result), right.Tolerance)
	return same, encodeJSON(members)
}

// named returns the part of a value that a wanted one names (all but other members of objects), and whether the two agree there.
func named(want, got any, tolerance *big.Rat) (part any, same bool) {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			return got, false
		}
		members, all := map[string]any{}, true
		for name, value := range want {
			is, ok := object[name]
			if !ok {
				all = false
				continue
			}
			members[name], ok = named(value, is, tolerance)
			all = all && ok
		}
		return members, all
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return got, false
		}
		parts, all := make([]any, len(list)), true
		for i := range list {
			parts[i], ok = named(want[i], list[i], tolerance)
			all = all && ok
		}
		return parts, all
	case json.Number:
		number, ok := got.(json.Number)
		return got, ok && sameNumber(want, number, tolerance)
	}
	return got, want == got
}

// sameNumber compares within a tolerance relative to the wanted number (absolute, where that is zero); without one exactly.
func sameNumber(want, got json.Number, tolerance *big.Rat) bool {
	a, ok := new(big.Rat).SetString(want.String())
	b, okToo := new(big.Rat).SetString(got.String())
	if !ok || !okToo {
		return false
	}
	if tolerance == nil {
		return a.Cmp(b) == 0
	}
	return withinOf(a, new(big.Rat), b, new(big.Rat), tolerance)
}

// decodeJSON reads one value, with its numbers as they are written; nil for null, and for what is not one.
func decodeJSON(text string) any {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return nil
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil
	}
	return value
}

func encodeJSON(value any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(out.String())
}
