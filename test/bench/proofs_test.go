//go:build bench

package bench

import (
	"bytes"
	"os"
	"testing"

	"reckon/domain/lean/check"
	"reckon/test/need"
)

// proofAppends is how many appends follow one another from a submission to its
// certificate: the slot, the queued job, the claim, the outcome, the certificate.
const proofAppends = 5

// BenchmarkProofOverHTTP compares a proof job of 40 KB over HTTP, from the
// submission to its certificate, with what it cannot do without: the kernel
// alone on the same bytes and its durable appends. Rounds alternate; the best counts.
func BenchmarkProofOverHTTP(b *testing.B) {
	const rounds, requests = 5, 30
	content, err := os.ReadFile(need.Shared(b, "lean-exports", "judge", "addComm.ndjson"))
	if err != nil {
		b.Fatal(err)
	}
	server := startService(b)
	account := server.NewAccount("proofs-bench@example.com")
	appendOne := durableAppend(b)
	prove := func() error {
		return account.JSON("POST", "/api/jobs", map[string]any{"kind": "proof", "export": string(content), "declarations": []string{"addComm"}, "wait_ms": 25_000}, nil)
	}
	judge := func() error {
		_, err := check.Run(b.Context(), bytes.NewReader(content), check.Options{Declarations: []string{"addComm"}})
		return err
	}
	var best struct{ ratio, p50, kernel, appends float64 }
	for range rounds {
		kernel := median(sortedLatencies(b, requests, judge))
		appends := proofAppends * median(sortedLatencies(b, requests, appendOne))
		over := median(sortedLatencies(b, requests, prove))
		if ratio := float64(over) / float64(kernel+appends); best.ratio == 0 || ratio < best.ratio {
			best.ratio, best.p50, best.kernel, best.appends = ratio, ms(over), ms(kernel), ms(appends)
		}
	}
	b.ReportMetric(best.ratio, "p50/(kernel+appends)")
	b.ReportMetric(best.p50, "p50-ms")
	b.ReportMetric(best.kernel, "kernel-ms")
	b.ReportMetric(best.appends, "appends-ms")
}
