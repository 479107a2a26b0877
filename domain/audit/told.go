package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/run"
)

// told is what a job's terminal event says of its answer beside the events that it publishes: the same facts a second time.
type told struct {
	status         job.Status
	output, result string // the whole texts
	unknown        string // the blob that was not looked at; empty: both are known
}

// toldRun is the result of an evaluate job (interface §2.2) without its suggestions, which follow from the expression by rules that change.
type toldRun struct {
	Result       string      `json:"result"`
	Status       run.Status  `json:"status"`
	ExecutionMS  int64       `json:"execution_time_ms"`
	RunID        int64       `json:"run_id"`
	PlotURL      *string     `json:"plot_url"`
	ReceiptURL   string      `json:"receipt_url"`
	Stdout       *string     `json:"stdout"`
	Warnings     []string    `json:"warnings"`
	Verification *toldCheck  `json:"verification"`
	Engines      []run.Asked `json:"engines,omitempty"`
}

type toldCheck struct {
	Verdict   run.Verdict `json:"verdict"`
	Basis     run.Basis   `json:"basis"`
	Method    string      `json:"method"`
	Check     string      `json:"check"`
	Residual  string      `json:"residual"`
	ElapsedMS int64       `json:"elapsed_ms"`
	Automatic bool        `json:"automatic"`
}

// differs returns what a terminal event should have said of what it publishes, and what it says; ok when it says that.
func (t told) differs(published event.Event, texts texts) (expected, found string, ok bool) {
	var (
		status = job.Succeeded
		output string
		result any
	)
	switch e := published.(type) {
	case run.Evaluated:
		output, result = texts.answer, toldOf(e, texts)
	case certificate.Issued:
		e.Findings, e.FindingsBlob = texts.findings, nil
		output, result = e.Sentence(), e.Record("")
	case run.TimedOut:
		status = job.TimedOut
	case run.Failed:
		status = job.Failed
	default:
		return "", "", true
	}
	switch {
	case status != t.status:
		return fmt.Sprintf("an end %s, as what was published", status), string(t.status), false
	case t.unknown != "" || texts.missing != "":
		return "", "", true // counted as not checked
	case output != t.output:
		return "the output " + shown(output) + ", of what was published", shown(t.output), false
	case result == nil && t.result != "":
		return "no result, of what was published", shown(t.result), false
	case result != nil && !sameJSON(result, t.result):
		return "the result that what was published leads to", shown(t.result), false
	}
	return "", "", true
}

func toldOf(e run.Evaluated, texts texts) toldRun {
	t := toldRun{
		Result: texts.answer, Status: e.Status, ExecutionMS: e.ExecutionMS, RunID: e.RunID, ReceiptURL: fmt.Sprintf("/api/receipts/%d", e.RunID), Warnings: e.Warnings,
	}
	t.Engines = e.Asked
	if t.Warnings == nil {
		t.Warnings = []string{}
	}
	if texts.stdout != "" {
		t.Stdout = &texts.stdout
	}
	if e.Plot != nil {
		url := fmt.Sprintf("/api/plots/%d", e.RunID)
		t.PlotURL = &url
	}
	if c := e.Check; c != nil && c.Conclusive() {
		t.Verification = &toldCheck{c.Verdict, c.Basis, c.Method, c.Check, c.Residual, c.ElapsedMS, c.Automatic}
	}
	return t
}

// sameJSON compares a value with a text as JSON values; suggestions, which the text alone has, are left out.
func sameJSON(value any, text string) bool {
	encoded, err := json.Marshal(value)
	if err != nil {
		return false
	}
	want, wellFormed := jsonValue(encoded)
	got, read := jsonValue([]byte(text))
	if members, isObject := got.(map[string]any); isObject {
		if _, isRun := value.(toldRun); isRun {
			delete(members, "suggestions")
		}
	}
	return wellFormed && read && reflect.DeepEqual(want, got)
}

func jsonValue(text []byte) (v any, ok bool) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	ok = decoder.Decode(&v) == nil && !decoder.More()
	return v, ok
}
