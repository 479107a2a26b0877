package workbench

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"reckon/domain/burst"
	"reckon/internal/view"
)

// TestTimelineHoldsWhatIsSeen: whatever the activities and the window, every activity of the window is drawn once, where its time is, and no other.
func TestTimelineHoldsWhatIsSeen(t *testing.T) {
	t.Parallel()
	kinds := []burst.Type{"evaluation", "check", "job_submitted", "job_ended", "certificate_issued"}
	rapid.Check(t, func(rt *rapid.T) {
		var events []view.BurstEvent
		at := int64(0)
		for range rapid.IntRange(0, 40).Draw(rt, "activities") {
			at += rapid.Int64Range(0, 300_000).Draw(rt, "gap")
			e := view.BurstEvent{OffsetMS: at, Type: rapid.SampledFrom(kinds).Draw(rt, "type")}
			if rapid.Bool().Draw(rt, "took") {
				took := rapid.Int64Range(0, 1_000_000).Draw(rt, "ms")
				e.DurationMS = &took
			}
			events = append(events, e)
		}
		whole := windowOf(events)
		begin := rapid.Int64Range(whole.Begin-1000, whole.End).Draw(rt, "begin")
		seen := window{begin, begin + rapid.Int64Range(0, whole.length()+1000).Draw(rt, "length")}.within(whole)
		if seen.Begin < whole.Begin || seen.End > whole.End || seen.length() < shortestWindow {
			rt.Fatalf("%+v in %+v", seen, whole)
		}
		drawn := newTimeline(events, seen)
		marks, want := 0, 0
		for _, l := range drawn.Lanes {
			for _, m := range l.Marks {
				if marks++; m.X < leftMargin || m.X > drawnWidth || m.From > m.X || m.To < m.X || m.From < leftMargin || m.To > drawnWidth || m.Shape == "" || m.Words == "" {
					rt.Errorf("%+v", m)
				}
			}
		}
		for _, e := range events {
			if e.OffsetMS >= seen.Begin && e.OffsetMS <= seen.End {
				want++
			}
		}
		if marks != want {
			rt.Errorf("%d marks of %d activities", marks, want)
		}
		if n := len(drawn.Ticks); n < 1 && seen.length() > tickStep(seen.length()) || n > ticksAbout+2 {
			rt.Errorf("%d ticks for %d ms", n, seen.length())
		}
	})
}

func TestSpanInWords(t *testing.T) {
	t.Parallel()
	for ms, want := range map[int64]string{0: "0 ms", 999: "999 ms", 1500: "1.5 s", 59_999: "59.999 s", 60_000: "1 min", 3_599_999: "59 min 59 s", 3_660_000: "1 h 1 min"} {
		if got := spanInWords(ms); got != want {
			t.Errorf("%d: %s, want %s", ms, got, want)
		}
	}
}

// TestComputingIsNoPause: what was asked for and computed for a minute is no pause; what was not computed for longer is one.
func TestComputingIsNoPause(t *testing.T) {
	t.Parallel()
	took := func(ms int64) *int64 { return &ms }
	job := "job"
	events := []view.BurstEvent{
		{OffsetMS: 0, Type: burst.Evaluation, DurationMS: took(61_000)},
		{OffsetMS: 61_100, GapMS: 61_100, Type: burst.Evaluation, DurationMS: took(10)},
		{OffsetMS: 200_000, GapMS: 138_900, Type: burst.Evaluation, JobID: &job, DurationMS: took(1_000)},
	}
	if idle := idleBefore(events); !slices.Equal(idle, []int64{0, 100, 138_890}) {
		t.Errorf("%v", idle)
	}
	drawn := newTimeline(events, windowOf(events))
	if len(drawn.Pauses) != 1 || drawn.Pauses[0].MS != 138_890 {
		t.Errorf("%+v", drawn.Pauses)
	}
	marks := drawn.Lanes[0].Marks
	if marks[0].From != marks[0].X || marks[0].To <= marks[0].X || marks[2].From >= marks[2].X || marks[2].To != marks[2].X {
		t.Errorf("%+v", marks)
	}
}
