package workbench

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"reckon/domain/burst"
	"reckon/internal/view"
)

// burstsShown is a page of the list of bursts.
type burstsShown struct {
	Bursts      []view.BurstSummary `json:"bursts"`
	ScannedFrom string              `json:"scanned_from"`
	Truncated   bool                `json:"truncated"`
	GapSeconds  int64               `json:"gap_seconds"`
	Next        *string             `json:"next_before"`
	Older       string              // address of the next page; empty: there is none
}

// GapMS is the shortest pause between two bursts, in milliseconds.
func (b burstsShown) GapMS() int64 { return b.GapSeconds * 1000 }

func (v *visit) burstsPage() {
	filter, asked := v.given("before"), url.Values{"limit": {"50"}}
	for name, value := range filter {
		asked.Set(name, value)
	}
	var page burstsShown
	_, problem := v.ask(http.MethodGet, "/api/bursts?"+asked.Encode(), nil, &page)
	page.Older = v.older("/bursts", filter, page.Next)
	v.showList("bursts", shown{Title: "Bursts", Section: "bursts", Page: page}, problem)
}

// burstShown is a burst with a part of its timeline.
type burstShown struct {
	view.BurstSummary
	Events   []view.BurstEvent `json:"events"`
	Next     *string           `json:"next_after"`
	Later    string            // address of the next part; empty: there is none
	Rows     []burstRow
	Timeline timeline
	Zoom     []zoomLink
}

// burstRow is an activity in words.
type burstRow struct {
	view.BurstEvent
	What, Ended, Found string // Ended and Found: names of badges, or empty
	Took               *int64 // milliseconds; nil: nothing is known of it
	IdleMS             int64  // before it
	Address            string
}

func newBurstRow(e view.BurstEvent, idleMS int64) burstRow {
	row := burstRow{BurstEvent: e, IdleMS: idleMS, What: marksOf[e.Type].Words, Took: e.DurationMS, Address: addressOf(e)}
	if e.Status != nil {
		row.Ended = string(*e.Status)
	}
	if e.Verdict != nil {
		row.Found = string(*e.Verdict)
	}
	return row
}

// zoomLink is another window on the same part of the timeline.
type zoomLink struct{ Words, Address string }

func (v *visit) burstPage() {
	target := "/api/bursts/" + url.PathEscape(v.r.PathValue("id"))
	given := v.given("after")
	if after := given["after"]; after != "" {
		target += "?" + url.Values{"after": {after}}.Encode()
	}
	var page burstShown
	_, problem := v.ask(http.MethodGet, target, nil, &page)
	s := shown{Title: "A burst", Section: "bursts", Problem: problem}
	if problem == nil {
		whole := windowOf(page.Events)
		seen := v.window(whole)
		page.Timeline = newTimeline(page.Events, seen)
		page.Zoom = v.zoomLinks(seen, whole)
		for i, idle := range idleBefore(page.Events) {
			page.Rows = append(page.Rows, newBurstRow(page.Events[i], idle))
		}
		if page.Next != nil {
			page.Later = v.r.URL.Path + "?" + url.Values{"after": {*page.Next}}.Encode()
		}
	}
	s.Page = page
	v.show("burst", s)
}

// window is what the query asks to see of a timeline; what it asks for beyond the timeline, or backwards, is the whole.
func (v *visit) window(whole window) window {
	query := v.r.URL.Query()
	begin, errBegin := strconv.ParseInt(query.Get("begin"), 10, 64)
	end, errEnd := strconv.ParseInt(query.Get("end"), 10, 64)
	if errBegin != nil || errEnd != nil || begin < whole.Begin || end > whole.End || end-begin < shortestWindow {
		return whole
	}
	return window{begin, end}
}

func (v *visit) zoomLinks(seen, whole window) (links []zoomLink) {
	link := func(words string, to window) {
		to = to.within(whole)
		if to == seen {
			return
		}
		query := url.Values{}
		if after := v.r.URL.Query().Get("after"); after != "" {
			query.Set("after", after)
		}
		if to != whole {
			query.Set("begin", strconv.FormatInt(to.Begin, 10))
			query.Set("end", strconv.FormatInt(to.End, 10))
		}
		links = append(links, zoomLink{words, v.r.URL.Path + "?" + query.Encode()})
	}
	length, third := seen.length(), max(1, seen.length()/3)
	link("Earlier", window{seen.Begin - third, seen.End - third})
	link("Later", window{seen.Begin + third, seen.End + third})
	link("Closer", window{seen.Begin + length/4, seen.End - length/4})
	link("Closer to the beginning", window{seen.Begin, seen.Begin + length/3})
	link("Closer to the end", window{seen.End - length/3, seen.End})
	link("Wider", window{seen.Begin - length/2, seen.End + length/2})
	link("All", whole)
	return links
}

// marksOf say how an activity is drawn, and in words. Its shape alone tells what it is.
var marksOf = map[burst.Type]struct{ Words, Shape string }{
	"evaluation":         {"evaluation", "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z"},
	"check":              {"check", "M0-7L7 0L0 7L-7 0z"},
	"job_submitted":      {"job submitted", "M-5-6L6 0L-5 6z"},
	"job_ended":          {"job ended", "M-5-5h10v10h-10z"},
	"certificate_issued": {"certificate", "M0-7L2-2L7-2L3 1L5 7L0 3L-5 7L-3 1L-7-2L-2-2z"},
}

// lanesOf are the rows of a timeline, with the activities in each.
var lanesOf = []struct {
	Words string
	Types []burst.Type
}{
	{"Evaluations", []burst.Type{"evaluation"}}, {"Checks", []burst.Type{"check"}}, {"Jobs", []burst.Type{"job_submitted", "job_ended"}}, {"Certificates", []burst.Type{"certificate_issued"}},
}

// window is a stretch of a timeline, in milliseconds since the burst's first activity.
type window struct{ Begin, End int64 }

// shortestWindow is how close one can look, in milliseconds.
const shortestWindow = 10

func (w window) length() int64 { return w.End - w.Begin }

// within is the window moved and cut so that it lies in the whole, and is not shorter than shortestWindow.
func (w window) within(whole window) window {
	if short := shortestWindow - w.length(); short > 0 {
		w.Begin, w.End = w.Begin-short/2, w.End+short-short/2
	}
	if w.length() >= whole.length() {
		return whole
	}
	if before := whole.Begin - w.Begin; before > 0 {
		w.Begin, w.End = w.Begin+before, w.End+before
	}
	if after := w.End - whole.End; after > 0 {
		w.Begin, w.End = w.Begin-after, w.End-after
	}
	return w
}

// windowOf is the stretch of these activities, with what the first of them took.
func windowOf(events []view.BurstEvent) window {
	if len(events) == 0 {
		return window{0, shortestWindow}
	}
	whole := window{events[0].OffsetMS, events[len(events)-1].OffsetMS}
	whole.End = max(whole.End, whole.Begin+shortestWindow)
	return whole
}

// timeline is a drawing of activities: a lane for each kind, time from left to right.
type timeline struct {
	Width, Height int
	Lanes         []lane
	Ticks         []tick
	Pauses        []pause
	Seen, Whole   window // what is drawn, and of what
	Left, Right   int    // where the time begins and ends in the drawing
}

// LanesHeight is the height of the drawing above its axis.
func (t timeline) LanesHeight() int { return t.Height - axisHeight }

// spanOf is when an activity was computed, in milliseconds since the burst's first. Evaluations and checks that were asked for directly stand
// where they were asked for, and all others where their end was logged (docs/bursts.md).
func spanOf(e view.BurstEvent) window {
	switch {
	case e.DurationMS == nil:
		return window{e.OffsetMS, e.OffsetMS}
	case e.Type == burst.Check || e.Type == burst.Evaluation && e.JobID == nil:
		return window{e.OffsetMS, e.OffsetMS + *e.DurationMS}
	}
	return window{e.OffsetMS - *e.DurationMS, e.OffsetMS}
}

// idleBefore is for how many milliseconds before each activity none of those before it was computed.
func idleBefore(events []view.BurstEvent) []int64 {
	idle, busyUntil := make([]int64, len(events)), int64(0)
	for i, e := range events {
		idle[i] = max(0, min(e.GapMS, e.OffsetMS-busyUntil))
		busyUntil = max(busyUntil, spanOf(e).End)
	}
	return idle
}

// pause is a time of more than longPause in which nothing was computed that stands before it.
type pause struct {
	X, Width int
	Middle   int
	MS       int64
	Words    string // empty: it is too narrow for them
}

type lane struct {
	Words string
	Y     int
	Marks []mark
}

type mark struct {
	X            int
	From, To     int // what it took
	Shape, Class string
	Words        string // what a pointer or a reader is told
	Address      string // of what it is about; empty: it has no page
}

type tick struct {
	X     int
	MS    int64 // since the burst's first activity
	Words string
}

const (
	drawnWidth = 1000 // units of the drawing, of which marks take those between the margins
	leftMargin = 120
	laneHeight = 36
	axisHeight = 28
	ticksAbout = 6
)

// Bounds of pauses that are drawn, and of those that have words.
const (
	longPause       = 60_000 // milliseconds
	pauseWordsWidth = 90     // units of the drawing
)

func newTimeline(events []view.BurstEvent, seen window) timeline {
	x := func(offset int64) int {
		return leftMargin + int(float64(drawnWidth-leftMargin-20)*float64(offset-seen.Begin)/float64(seen.length()))
	}
	t := timeline{Width: drawnWidth, Seen: seen, Whole: windowOf(events), Left: leftMargin, Right: drawnWidth - 20}
	for i, idle := range idleBefore(events) {
		from, to := max(seen.Begin, events[i].OffsetMS-idle), min(seen.End, events[i].OffsetMS)
		if idle <= longPause || from >= to {
			continue
		}
		p := pause{X: x(from), Width: x(to) - x(from), Middle: (x(from) + x(to)) / 2, MS: idle}
		if p.Width >= pauseWordsWidth {
			p.Words = spanInWords(idle)
		}
		t.Pauses = append(t.Pauses, p)
	}
	for _, l := range lanesOf {
		drawn := lane{Words: l.Words, Y: laneHeight/2 + laneHeight*len(t.Lanes)}
		for _, e := range events {
			if e.OffsetMS < seen.Begin || e.OffsetMS > seen.End || !slices.Contains(l.Types, e.Type) {
				continue
			}
			drawn.Marks = append(drawn.Marks, newMark(e, x, seen))
		}
		if len(drawn.Marks) > 0 {
			t.Lanes = append(t.Lanes, drawn)
		}
	}
	t.Height = laneHeight*len(t.Lanes) + axisHeight
	step := tickStep(seen.length())
	for at := (seen.Begin + step - 1) / step * step; at <= seen.End; at += step {
		t.Ticks = append(t.Ticks, tick{x(at), at, spanInWords(at)})
	}
	return t
}

func newMark(e view.BurstEvent, x func(int64) int, seen window) mark {
	m := mark{X: x(e.OffsetMS), Shape: marksOf[e.Type].Shape, Class: classOf(e), Words: wordsOf(e), Address: addressOf(e)}
	took := spanOf(e)
	m.From, m.To = x(max(seen.Begin, took.Begin)), x(min(seen.End, took.End))
	return m
}

// classOf is the colour of an activity: that of its verdict, or else of its end.
func classOf(e view.BurstEvent) string {
	switch {
	case e.Verdict != nil:
		return badgeOf(*e.Verdict).Class
	case e.Status != nil:
		return badgeOf(*e.Status).Class
	}
	return "open"
}

func wordsOf(e view.BurstEvent) string {
	words := fmt.Sprintf("%s, after %s", marksOf[e.Type].Words, spanInWords(e.OffsetMS))
	if e.Status != nil {
		words += ", " + badgeOf(*e.Status).Words
	}
	if e.Verdict != nil {
		words += ", " + badgeOf(*e.Verdict).Words
	}
	return words
}

// addressOf is the page of what an activity is about. A run without a receipt has none, which its job or a status tells.
func addressOf(e view.BurstEvent) string {
	switch {
	case e.CertificateID != nil:
		return "/certificates/" + *e.CertificateID
	case e.JobID != nil:
		return "/jobs/" + *e.JobID
	case e.RunID != nil && (e.Status == nil || *e.Status != "timeout" && *e.Status != "error"):
		return "/runs/" + strconv.FormatInt(*e.RunID, 10)
	}
	return ""
}

// tickStep is the distance of the ticks of an axis, in milliseconds: about ticksAbout of them, at round numbers.
func tickStep(length int64) int64 {
	for _, step := range []int64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000} {
		if length/step <= ticksAbout {
			return step
		}
	}
	const day = 86_400_000
	return (length/ticksAbout/day + 1) * day
}
