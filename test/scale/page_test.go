package scale

import (
	"flag"
	"fmt"
	"math"
	"reckon/test/page"
	"strconv"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the table of docs/scale.md")

const (
	pagePath  = "../../docs/scale.md"
	tableOpen = "<!-- plans: written by go test ./test/scale -run TestPage -update -->\n"
	tableEnd  = "<!-- end of plans -->"
)

// typical is the load of the page's table: few accounts ask for much, and the limit of a plan of 600 evaluations a minute binds them.
func typical(accounts float64) Load {
	return Load{
		Accounts: accounts, EvaluationsPerDay: 40, JobsPerDay: 2, PeakOverMean: 3, MaxPerSecond: 10,
		ComputeSeconds: 0.05, JobSeconds: 5, CV2: 4,
	}
}

// measured are the limits that docs/bench measured on two cores: the node's appends by 64 writers, events of a boot into PostgreSQL.
var measured = Limits{AppendsPerSecond: 10_000, ProjectedPerSecond: 98_000, Headroom: 0.5, MeanWait: 50 * time.Millisecond, Replicas: 3}

func plans() string {
	var table strings.Builder
	table.WriteString("| accounts | appends/s at the peak | events/s | clusters | appends/s of the busiest | its projector | its workers | TB a year, 3 replicas |\n|---|---|---|---|---|---|---|---|\n")
	for _, accounts := range []float64{10_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000} {
		p := For(typical(accounts), Measured, measured)
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %s | %.0f %% | %s | %s |\n", grouped(accounts), grouped(p.AppendsPerSecond), grouped(p.EventsPerSecond), whole(p.Clusters),
			grouped(p.BusiestCluster), 100*p.ProjectorUse, whole(p.Workers), grouped(p.TerabytesPerYear))
	}
	return table.String()
}

// grouped is whole of x, and one decimal of it below 10.
func grouped(x float64) string {
	if x < 10 {
		return fmt.Sprintf("%.1f", x)
	}
	return whole(int(math.Round(x)))
}

// whole writes a number with thousands apart.
func whole(n int) string {
	digits := strconv.Itoa(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// TestPage keeps the table of docs/scale.md what the model says.
func TestPage(t *testing.T) {
	t.Parallel()
	page.Keep(t, pagePath, tableOpen, plans(), tableEnd, *update, "go test ./test/scale -run TestPage -update")
}

// TestMoreNeedsMore: a plan for more accounts has no fewer clusters, and no cluster passes what is planned for.
func TestMoreNeedsMore(t *testing.T) {
	t.Parallel()
	before := Plan{}
	for accounts := 1000.0; accounts < 1e8; accounts *= 1.7 {
		p := For(typical(accounts), Measured, measured)
		if p.Clusters < before.Clusters || p.BusiestCluster > measured.AppendsPerSecond*measured.Headroom || p.BusiestCluster < p.AppendsPerSecond/float64(p.Clusters) {
			t.Errorf("%.0f accounts: %+v after %+v", accounts, p, before)
		}
		before = p
	}
	greedy := typical(1e7)
	greedy.MaxPerSecond = 2 * measured.AppendsPerSecond
	if p := For(greedy, Measured, measured); p.Clusters != 0 {
		t.Errorf("an account that asks for more than a cluster takes is spread over %d clusters", p.Clusters)
	}
}
