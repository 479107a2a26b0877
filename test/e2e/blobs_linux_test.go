package e2e

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reckon/internal/blobs/s3test"
	"reckon/internal/disk"
	"reckon/test/need"
	"reckon/test/wait"
)

// TestABucketThatIsFull: where the disk of the bucket's service is full, who has something stored there is told so, /readyz and the figures say
// it, and what is there is read; once there is room all is as before.
func TestABucketThatIsFull(t *testing.T) {
	t.Parallel()
	folder, data := need.SmallDisk(t, 16<<20), DataFolder(t)
	bucket := s3test.StartIn(t, folder)
	server := Start(t, data, "--blobs", bucket.Address(s3test.Bucket), "--config", GenerousPlans(t, data))
	account := server.NewAccount("full@example.com")
	kept := evaluateLong(t, account, 0)
	filling := filepath.Join(folder, "filling")
	if err := os.WriteFile(filling, make([]byte, 32<<20), 0o600); !disk.Refuses(err) {
		t.Fatal(err)
	}
	const says = "refuses what is written to it until an operator makes room"
	err := account.JSON("POST", "/api/evaluate", map[string]string{"expression": expressionOf(1)}, nil)
	if refused := (*StatusError)(nil); !errors.As(err, &refused) || refused.Code != "unavailable" || !strings.Contains(refused.Detail, "the store of large bytes "+says) {
		t.Errorf("an evaluation that has to be stored there: %v", err)
	}
	readiness := func() (status int, body string) {
		response, err := account.Do("GET", "/readyz", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		content, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(content)
	}
	if status, body := readiness(); status != http.StatusServiceUnavailable || !strings.Contains(body, "the store of blobs "+says) {
		t.Errorf("readiness: %d %s", status, body)
	}
	figure := func() (value string) {
		server.askAdmin(t, "/metrics", func(line string) {
			if after, is := strings.CutPrefix(line, `reckon_dependency_up{dependency="blobs"} `); is {
				value = after
			}
		})
		return value
	}
	if got := figure(); got != "0" {
		t.Errorf("the figure of the bucket is %q", got)
	}
	if err := account.JSON("GET", fmt.Sprintf("/api/receipts/%d", kept), nil, nil); err != nil {
		t.Errorf("what is there: %v", err)
	}
	if err := os.Remove(filling); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the figure says that the bucket is written to", func() bool { return figure() == "1" })
	if status, body := readiness(); status != http.StatusOK || strings.Contains(body, says) {
		t.Errorf("readiness: %d %s", status, body)
	}
	evaluateLong(t, account, 1)
}
