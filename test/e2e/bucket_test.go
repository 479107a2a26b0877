package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reckon/internal/blobs"
	"reckon/internal/blobs/s3test"
)

// TestBlobsInABucket: long texts lie in a bucket of a real S3 server. While it is away, what needs it is answered 503 that names it, and the rest
// goes on; afterwards every receipt is served, history is built again, and commands find the bucket through the server.
func TestBlobsInABucket(t *testing.T) {
	t.Parallel()
	bucket := s3test.Start(t)
	data := DataFolder(t)
	server := Start(t, data, "--config", GenerousPlans(t, data), "--blobs", bucket.Address(s3test.Bucket))
	account := server.NewAccount("bucket@example.com")
	runs := []int64{evaluateLong(t, account, 0)}
	bucket.Stop()
	response, err := account.Do("POST", "/api/evaluate", map[string]string{"expression": expressionOf(1)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var problem struct{ Code, Detail string }
	err = json.NewDecoder(response.Body).Decode(&problem)
	_ = response.Body.Close()
	if err != nil || response.StatusCode != http.StatusServiceUnavailable || problem.Code != "unavailable" || !strings.Contains(problem.Detail, "the store of large bytes") {
		t.Errorf("a long expression: %d %+v %v", response.StatusCode, problem, err)
	}
	if short := account.evaluate(t, "1 + 1", ""); short.Result != "2" {
		t.Errorf("a short expression: %+v", short)
	}
	bucket.Restart()
	runs = append(runs, evaluateLong(t, account, 1))
	server.Command("", "projections", "boot", "history")
	for i, runID := range runs {
		account.expectHistory(t, runID)
		var receipt struct {
			Record struct {
				Expression string `json:"expression"`
			} `json:"record"`
		}
		if err := account.JSON("GET", fmt.Sprintf("/api/receipts/%d", runID), nil, &receipt); err != nil || receipt.Record.Expression != expressionOf(i) {
			t.Errorf("receipt of run %d: %v", runID, err)
		}
	}
	said := server.Command("", "blobs", "collect", "--json", "--dry-run")
	var collected blobs.Collected
	if err := json.Unmarshal([]byte(said[strings.Index(said, "{"):]), &collected); err != nil || collected.Blobs < 4 || collected.Young != collected.Blobs {
		t.Errorf("%s %v", said, err)
	}
	if _, err := os.Stat(filepath.Join(data, "blobs")); !os.IsNotExist(err) {
		t.Errorf("a folder of blobs: %v", err)
	}
}
