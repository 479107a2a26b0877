package burst_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"reckon/domain/burst"
)

// drawnBursts are bursts of agents on a day, with every look.
func drawnBursts(agents, each int) []burst.Timeline {
	begin := time.Date(2026, 8, 1, 9, 10, 0, 0, time.UTC).UnixMilli()
	var activities []burst.Activity
	for agent := range agents {
		client := []string{"notebook/2", "<curl> & \"co\"\x00", "", strings.Repeat("long ", 30)}[agent%4]
		for i := range each {
			for k := range 1 + (agent+i)%5 {
				a := burst.Activity{
					Key: fmt.Sprintf("run-%d@0", len(activities)), Position: int64(len(activities)), AgentID: fmt.Sprintf("%032x", agent*7919), Client: client, Source: "web", Type: burst.Evaluation,
					AtMS: begin + int64(i)*47*minute + int64(agent)*3*minute + int64(k)*4*minute, RunID: int64(len(activities) + 1), Label: "x<y\x1b",
				}
				switch {
				case (agent+i)%4 == 1 && k == 0:
					a.Verdict = "refuted"
				case (agent+i)%4 == 2 && k == 0:
					a.Failed = true
				case (agent+i)%4 == 3:
					a.Verdict = "verified"
				}
				activities = append(activities, a)
			}
		}
	}
	return burst.Derive(activities)
}

// elements counts the elements of an SVG; its error is text that is no XML.
func elements(svg string) (map[string]int, error) {
	counts := map[string]int{}
	for decoder := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return counts, nil
		}
		if err != nil {
			return nil, err
		}
		if start, is := token.(xml.StartElement); is {
			counts[start.Name.Local]++
		}
	}
}

func TestDrawSVG(t *testing.T) {
	const legend = 4
	bursts := drawnBursts(5, 9)
	svg := burst.DrawSVG("Bursts of <a@example.com>", bursts)
	counts, err := elements(svg)
	if err != nil || counts["title"] != len(bursts) {
		t.Errorf("%d bursts, %v, %v", len(bursts), counts, err)
	}
	for _, sign := range []string{">✗<", ">!<", ">✓<"} { // in the legend too
		if strings.Count(svg, sign) < 2 {
			t.Errorf("%s does not stand on a bar", sign)
		}
	}
	if path := os.Getenv("BURSTS_SVG"); path != "" { // to look at it
		if err := os.WriteFile(path, []byte(svg), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		bursts []burst.Timeline
		drawn  int
		says   string
	}{
		"none":            {nil, 0, "no activity"},
		"one":             {drawnBursts(1, 1), 1, "1 burst, 1 August 2026 09:10 to 1 August 2026 09:11 (UTC)"},
		"too many bursts": {drawnBursts(60, 100), burst.MaxDrawnBursts, "the newest 5000 of 6000 bursts"},
		"too many agents": {drawnBursts(120, 1), burst.MaxDrawnAgents, "the newest 100 of 120 bursts"},
	} {
		svg := burst.DrawSVG(name, c.bursts)
		counts, err := elements(svg)
		if err != nil || counts["title"] != c.drawn || !strings.Contains(svg, c.says) || counts["rect"] > c.drawn+burst.MaxDrawnAgents+legend+3 {
			t.Errorf("%s: %v, %v", name, counts, err)
		}
	}
}

// TestDrawTimes draws what lies far apart or before 1970: the axis ends.
func TestDrawTimes(t *testing.T) {
	for _, years := range []int{0, 1, 50, 3000} {
		activities := []burst.Activity{{Key: "a", AgentID: strings.Repeat("0", 32), AtMS: time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()}}
		activities = append(activities, burst.Activity{Key: "b", Position: 1, AgentID: activities[0].AgentID, AtMS: time.Date(1960+years, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()})
		svg := burst.DrawSVG("", burst.Derive(activities))
		if counts, err := elements(svg); err != nil || counts["path"] > 12 {
			t.Errorf("%d years: %v, %v", years, counts, err)
		}
	}
}
