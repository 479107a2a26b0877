package burst

import (
	"encoding/xml"
	"fmt"
	"strings"
	"time"

	"reckon/domain/event"
)

// What a drawing has at most: the newest bursts, of so many agents.
const (
	MaxDrawnBursts = 5000
	MaxDrawnAgents = 100
)

// Sizes of a drawing, in pixels.
const (
	drawLeft   = 250 // names of the agents
	drawWidth  = 900 // of the time axis
	drawTop    = 64
	drawRow    = 40
	drawBar    = 20
	drawLetter = 7 // width of a character
)

// look is the sign and the pattern of a bar, which show the outcome of a burst without relying on colour.
type look struct{ sign, fill, stroke, meaning string }

// Looks, in the order of the legend. A burst has the first that fits.
var (
	lookRefuted  = look{"✗", "url(#refuted)", "#8c1d18", "something was refuted"}
	lookFailed   = look{"!", "url(#failed)", "#8a5a00", "something failed"}
	lookVerified = look{"✓", "#bfe3c6", "#1e6b34", "something was verified"}
	lookPlain    = look{"", "#e4e7eb", "#4a5460", "none of these"}
	looks        = []look{lookRefuted, lookFailed, lookVerified, lookPlain}
)

func (b Burst) look() look {
	switch {
	case b.Refuted > 0:
		return lookRefuted
	case b.Failures > 0:
		return lookFailed
	case b.Verified > 0:
		return lookVerified
	}
	return lookPlain
}

// DrawSVG is a timeline of bursts in the order of Derive as an SVG image: a row for each agent, a bar for each burst. It has the
// newest MaxDrawnBursts of MaxDrawnAgents, and says how many are left out.
func DrawSVG(title string, bursts []Timeline) string {
	drawn := bursts[max(0, len(bursts)-MaxDrawnBursts):]
	rows, agents := map[string]int{}, []Burst{}
	for i := len(drawn) - 1; i >= 0; i-- { // the agent of the newest burst on top
		if _, known := rows[drawn[i].AgentID]; !known && len(agents) < MaxDrawnAgents {
			rows[drawn[i].AgentID] = len(agents)
			agents = append(agents, drawn[i].Burst)
		}
	}
	var shown []Burst
	for _, b := range drawn {
		if _, known := rows[b.AgentID]; known {
			shown = append(shown, b.Burst)
		}
	}
	axis := newAxis(shown)
	bottom := drawTop + max(1, len(agents))*drawRow
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="13">`+"\n",
		drawLeft+drawWidth+40, bottom+70, drawLeft+drawWidth+40, bottom+70)
	out.WriteString(`<defs>
<pattern id="refuted" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="8" height="8" fill="#f7cfcc"/><rect width="3" height="8" fill="#d9534b"/></pattern>
<pattern id="failed" width="7" height="7" patternUnits="userSpaceOnUse"><rect width="7" height="7" fill="#fbe6bd"/><circle cx="3.5" cy="3.5" r="1.6" fill="#b97800"/></pattern>
</defs>
<rect width="100%" height="100%" fill="white"/>
`)
	drawText(&out, 16, 26, `font-size="16" font-weight="bold"`, title)
	drawText(&out, 16, 46, `fill="#4a5460"`, subtitle(len(bursts), len(shown), axis))
	for i, agent := range agents {
		y := drawTop + i*drawRow
		if i%2 == 0 {
			fmt.Fprintf(&out, `<rect x="0" y="%d" width="%d" height="%d" fill="#f6f7f9"/>`+"\n", y, drawLeft+drawWidth+40, drawRow)
		}
		drawText(&out, 16, y+17, "", shortened(agentName(agent)))
		drawText(&out, 16, y+32, `font-size="11" fill="#4a5460"`, string(agent.Source)+" · agent "+agent.AgentID[:8])
	}
	axis.draw(&out, bottom)
	free := make([]float64, len(agents)) // of each row: where the next sign has room above a bar
	for _, b := range shown {
		row := rows[b.AgentID]
		b.drawBar(&out, axis, drawTop+row*drawRow+(drawRow-drawBar)/2, &free[row])
	}
	x := drawLeft
	for _, l := range looks {
		fmt.Fprintf(&out, `<rect x="%d" y="%d" width="34" height="16" fill="%s" stroke="%s"/>`+"\n", x, bottom+42, l.fill, l.stroke)
		drawSign(&out, x+17, bottom+50, l)
		drawText(&out, x+42, bottom+55, "", l.meaning)
		x += 42 + len(l.meaning)*drawLetter + 24
	}
	out.WriteString("</svg>\n")
	return out.String()
}

func subtitle(all, shown int, a axis) string {
	if all == 0 {
		return "no activity"
	}
	count := fmt.Sprintf("%d bursts", all)
	if all == 1 {
		count = "1 burst"
	}
	if shown < all {
		count = fmt.Sprintf("the newest %d of %d bursts", shown, all)
	}
	return fmt.Sprintf("%s, %s to %s (UTC)", count, moment(a.beginMS).Format("2 January 2006 15:04"), moment(a.endMS).Format("2 January 2006 15:04"))
}

func agentName(b Burst) string {
	if b.Client == "" {
		return "(no name)"
	}
	return b.Client
}

// shortened is a name that fits beside the axis.
func shortened(name string) string {
	letters := []rune(name)
	if most := (drawLeft - 32) / drawLetter; len(letters) > most {
		return string(letters[:most-1]) + "…"
	}
	return name
}

// drawBar draws one burst, with what it holds as a tooltip.
func (b Burst) drawBar(out *strings.Builder, a axis, y int, free *float64) {
	const narrowest = 4.0
	l, x := b.look(), a.x(b.First.AtMS)
	width := max(narrowest, a.x(b.Last.AtMS)-x)
	fmt.Fprintf(out, `<g><title>`)
	escape(out, fmt.Sprintf("%s to %s: %d evaluations, %d jobs, %d checks, %d failures, %d verified, %d refuted. %s",
		event.Timestamp(moment(b.First.AtMS)), event.Timestamp(moment(b.Last.AtMS)), b.Evaluations, b.Jobs, b.Checks, b.Failures, b.Verified, b.Refuted, b.Preview))
	fmt.Fprintf(out, `</title><rect x="%.1f" y="%d" width="%.1f" height="%d" rx="2" fill="%s" stroke="%s"/></g>`+"\n", x, y, width, drawBar, l.fill, l.stroke)
	switch middle := x + width/2; {
	case width >= 2*drawLetter:
		drawSign(out, int(middle), y+drawBar/2, l)
	case l.sign != "" && middle-drawLetter/2 >= *free: // above a bar that is too narrow
		fmt.Fprintf(out, `<text x="%.1f" y="%d" text-anchor="middle" font-size="10" font-weight="bold" fill="%s">%s</text>`+"\n", middle, y-1, l.stroke, l.sign)
		*free = middle + drawLetter
	}
}

// drawSign draws a look's sign on a plate of its own, so that it is read on every pattern.
func drawSign(out *strings.Builder, x, y int, l look) {
	if l.sign == "" {
		return
	}
	fmt.Fprintf(out, `<circle cx="%d" cy="%d" r="7" fill="white"/>`, x, y)
	fmt.Fprintf(out, `<text x="%d" y="%d" text-anchor="middle" font-weight="bold" fill="%s">%s</text>`+"\n", x, y+5, l.stroke, l.sign)
}

// axis is the stretch of time that is drawn.
type axis struct{ beginMS, endMS, stepMS int64 }

// steps between two ticks, in minutes.
var steps = []int64{1, 2, 5, 10, 15, 30, 60, 2 * 60, 3 * 60, 6 * 60, 12 * 60, 24 * 60, 2 * 24 * 60, 7 * 24 * 60, 14 * 24 * 60, 28 * 24 * 60, 91 * 24 * 60, 365 * 24 * 60, 10 * 365 * 24 * 60, 1000 * 365 * 24 * 60}

const (
	minuteMS = 60 * 1000
	maxTicks = 8
)

// newAxis is the shortest that begins and ends at a tick and holds every burst.
func newAxis(bursts []Burst) axis {
	if len(bursts) == 0 {
		return axis{0, minuteMS, minuteMS}
	}
	first, last := bursts[0].First.AtMS, bursts[0].Last.AtMS
	for _, b := range bursts {
		first, last = min(first, b.First.AtMS), max(last, b.Last.AtMS)
	}
	var a axis
	for _, step := range steps {
		a.stepMS = step * minuteMS
		a.beginMS = floor(first, a.stepMS)
		a.endMS = floor(last, a.stepMS) + a.stepMS
		if (a.endMS-a.beginMS)/a.stepMS <= maxTicks {
			break
		}
	}
	return a
}

// floor is the greatest multiple of step that is not over ms.
func floor(ms, step int64) int64 {
	below := ms / step * step
	if below > ms {
		below -= step
	}
	return below
}

func (a axis) x(ms int64) float64 {
	return drawLeft + float64(ms-a.beginMS)/float64(a.endMS-a.beginMS)*drawWidth
}

func (a axis) draw(out *strings.Builder, bottom int) {
	layout := "2 Jan 2006"
	if a.stepMS < 24*60*minuteMS {
		layout = "15:04"
	}
	day := ""
	for tick := a.beginMS; tick <= a.endMS; tick += a.stepMS {
		x := a.x(tick)
		fmt.Fprintf(out, `<path d="M%.1f %dV%d" stroke="#c3c9d1" stroke-dasharray="2 3"/>`+"\n", x, drawTop, bottom+4)
		at := moment(tick)
		drawText(out, int(x), bottom+18, `text-anchor="middle"`, at.Format(layout))
		if today := at.Format("2 Jan"); layout == "15:04" && today != day {
			drawText(out, int(x), bottom+32, `text-anchor="middle" font-size="11" fill="#4a5460"`, today)
			day = today
		}
	}
	fmt.Fprintf(out, `<path d="M%d %dH%d" stroke="#4a5460"/>`+"\n", drawLeft, bottom, drawLeft+drawWidth)
}

func moment(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

func drawText(out *strings.Builder, x, y int, attributes, text string) {
	fmt.Fprintf(out, `<text x="%d" y="%d" %s>`, x, y, attributes)
	escape(out, text)
	out.WriteString("</text>\n")
}

// escape writes text for XML; what XML cannot hold becomes U+FFFD.
func escape(out *strings.Builder, text string) {
	_ = xml.EscapeText(out, []byte(text)) // a strings.Builder takes everything
}
