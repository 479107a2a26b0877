package telemetry_test

import (
	"bytes"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"reckon/internal/telemetry"
)

func TestLogger(t *testing.T) {
	var out bytes.Buffer
	log, err := telemetry.NewLogger(&out, "warn", "json")
	if err != nil {
		t.Fatal(err)
	}
	log.Info("quiet")
	log.Warn("loud", "n", 1)
	if strings.Contains(out.String(), "quiet") || !strings.Contains(out.String(), `"msg":"loud","n":1`) {
		t.Error(out.String())
	}
	for _, bad := range [][2]string{{"chatty", "text"}, {"info", "xml"}} {
		if _, err := telemetry.NewLogger(&out, bad[0], telemetry.Format(bad[1])); err == nil {
			t.Errorf("%v accepted", bad)
		}
	}
}

func TestMetrics(t *testing.T) {
	m := telemetry.NewMetrics("abc")
	m.ObserveRequest("GET", "/api/receipts/{id}", 200, 20*time.Millisecond)
	for _, path := range []string{"BREW", "STEAL"} { // foreign methods on unknown paths are one series
		m.ObserveRequest(path, "", 404, time.Millisecond)
	}
	server := httptest.NewServer(m.Handler())
	defer server.Close()
	response, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`reckon_http_request_seconds_count{method="GET",route="/api/receipts/{id}",status="200"} 1`,
		`reckon_http_request_seconds_count{method="",route="none",status="404"} 2`,
		`reckon_build_info{build="abc"} 1`, "go_goroutines",
	} {
		if !strings.Contains(string(body), want) {
			t.Errorf("no %s", want)
		}
	}
}
