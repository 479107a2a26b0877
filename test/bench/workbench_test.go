//go:build bench

package bench

import (
	"slices"
	"strconv"
	"testing"

	"reckon/test/browser"
)

// Goals for the first page (docs/bench/workbench.md).
const (
	firstPageBytes   = 200_000
	firstPagePaintMS = 1000
)

// largestPaint is the time in milliseconds, from the request on, at which the largest element of a page was painted
// (W3C Largest Contentful Paint).
const largestPaint = `new Promise((tell) => new PerformanceObserver((list) => tell(list.getEntries().at(-1).startTime)).observe({ type: "largest-contentful-paint", buffered: true }))`

// BenchmarkFirstPage opens the first page of the real server in a browser that has never been there, and evaluates the first example:
// what comes over the network, and when the largest element is painted, as shares of their goals. The median of the rounds counts.
func BenchmarkFirstPage(b *testing.B) {
	const rounds = 5
	server := startService(b)
	var paints []float64
	var first, answered int
	for range rounds {
		tab := browser.New(b)
		tab.Go(server.URL + "/")
		paint, err := strconv.ParseFloat(tab.Eval(largestPaint), 64)
		if err != nil {
			b.Fatal(err)
		}
		paints = append(paints, paint)
		first = tab.Transferred()
		tab.Click(".examples button")
		tab.Until(`document.querySelector("#cells .formula math")`)
		answered = tab.Transferred() - first
	}
	slices.Sort(paints)
	median := paints[rounds/2]
	b.ReportMetric(median, "largest-paint-ms")
	b.ReportMetric(median/firstPagePaintMS, "largest-paint/goal")
	b.ReportMetric(float64(first), "first-page-bytes")
	b.ReportMetric(float64(first)/firstPageBytes, "first-page/goal")
	b.ReportMetric(float64(answered), "answer-bytes")
}
