package e2e

import (
	"encoding/json"
	"testing"

	"reckon/domain/job"
	"reckon/domain/reference"
)

// TestJobsOfTheReference submits the jobs that examples of the reference are, as somebody would who reads them: each is taken over HTTP
// as it stands there, and its result has what the reference calls right.
func TestJobsOfTheReference(t *testing.T) {
	t.Parallel()
	about, err := reference.Current()
	if err != nil {
		t.Fatal(err)
	}
	data := DataFolder(t)
	reader := Start(t, data, "--config", GenerousPlans(t, data)).NewAccount("reader@example.com")
	kinds := map[string]bool{}
	for _, e := range about.Entries {
		for _, example := range e.Examples {
			body, ok := example.JobRequest()
			if !ok {
				continue
			}
			var request jobBody
			if err := json.Unmarshal([]byte(body), &request); err != nil {
				t.Fatalf("%s: %v", e.Name, err)
			}
			kind, _ := request["kind"].(string)
			kinds[kind] = true
			j := reader.awaitJob(t, reader.submit(t, request).JobID)
			if j.Status != job.Succeeded {
				t.Errorf("%s: %+v", example.Place, j)
				continue
			}
			if same, difference := reference.Compare(example.Right, reference.Answer{Job: string(j.Result)}); !same {
				t.Errorf("%s: %s", example.Place, difference)
			}
		}
	}
	for _, kind := range []string{"qsim", "proof"} {
		if !kinds[kind] {
			t.Errorf("no example submits a job of kind %s", kind)
		}
	}
}
