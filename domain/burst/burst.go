package burst

import (
	"cmp"
	"slices"

	"reckon/domain/event"
	"reckon/domain/run"
)

// GapMS is the longest time between two activities of one burst, in milliseconds.
const GapMS = 5 * 60 * 1000

// Place is where an activity stands: by time, and within a millisecond as the log has it.
type Place struct{ AtMS, Position int64 }

func (a Activity) place() Place { return Place{a.AtMS, a.Position} }

func (p Place) before(q Place) bool {
	return p.AtMS < q.AtMS || p.AtMS == q.AtMS && p.Position < q.Position
}

// Burst describes one agent's activities without a gap, in the form that two of
// them can be joined in. One burst is never empty.
type Burst struct {
	AgentID string
	Account string
	Source  event.Source
	Client  string

	First, Last Place
	FirstKey    string // key of the first activity
	Preview     string // its label

	Activities, Evaluations, Jobs, Checks, Failures, Verified, Refuted int64

	FirstRun, LastRun     int64 // ids of the first and the last run by time; 0: none ended in it
	FirstRunAt, LastRunAt Place
}

// ID names the burst by its agent and its first activity: 32 hexadecimal digits. When an earlier
// activity joins, there is no burst of the old id any more.
func (b Burst) ID() string { return hash("burst", b.AgentID, b.FirstKey) }

// DurationMS is from the first activity to the last.
func (b Burst) DurationMS() int64 { return b.Last.AtMS - b.First.AtMS }

// Of is the burst of one activity.
func Of(a Activity) Burst {
	b := Burst{
		AgentID: a.AgentID, Account: a.Account, Source: a.Source, Client: a.Client,
		First: a.place(), Last: a.place(), FirstKey: a.Key, Preview: a.Label, Activities: 1,
		Verified: count(a.Verdict == Verdict(run.VerdictVerified)), Refuted: count(a.Verdict == Verdict(run.VerdictRefuted)), Failures: count(a.Failed),
	}
	switch a.Type {
	case Evaluation:
		b.Evaluations, b.FirstRun, b.LastRun, b.FirstRunAt, b.LastRunAt = 1, a.RunID, a.RunID, a.place(), a.place()
	case JobSubmitted:
		b.Jobs = 1
	case Check:
		b.Checks = 1
	}
	return b
}

func count(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// Join is the burst of the activities of both, which are of one agent and have none in common.
// It is commutative and associative, so that activities may come in any order.
func (b Burst) Join(c Burst) Burst {
	if c.First.before(b.First) {
		b.First, b.FirstKey, b.Preview = c.First, c.FirstKey, c.Preview
	}
	if b.Last.before(c.Last) {
		b.Last = c.Last
	}
	if c.FirstRun != 0 && (b.FirstRun == 0 || c.FirstRunAt.before(b.FirstRunAt)) {
		b.FirstRun, b.FirstRunAt = c.FirstRun, c.FirstRunAt
	}
	if c.LastRun != 0 && (b.LastRun == 0 || b.LastRunAt.before(c.LastRunAt)) {
		b.LastRun, b.LastRunAt = c.LastRun, c.LastRunAt
	}
	b.Activities += c.Activities
	b.Evaluations += c.Evaluations
	b.Jobs += c.Jobs
	b.Checks += c.Checks
	b.Failures += c.Failures
	b.Verified += c.Verified
	b.Refuted += c.Refuted
	return b
}

// Timeline is a burst with its activities in order.
type Timeline struct {
	Burst
	Activities []Activity
}

// Derive groups activities, in any order, into bursts: by their first activity. An activity that
// is given twice (one key) is one.
func Derive(activities []Activity) []Timeline {
	sorted := slices.Clone(activities)
	slices.SortFunc(sorted, func(a, b Activity) int {
		return cmp.Or(cmp.Compare(a.AgentID, b.AgentID), cmp.Compare(a.AtMS, b.AtMS), cmp.Compare(a.Position, b.Position), cmp.Compare(a.Key, b.Key))
	})
	sorted = slices.CompactFunc(sorted, func(a, b Activity) bool { return a.Key == b.Key })
	var bursts []Timeline
	for begin := 0; begin < len(sorted); {
		end := begin + 1
		b := Of(sorted[begin])
		for end < len(sorted) && sorted[end].AgentID == b.AgentID && sorted[end].AtMS-sorted[end-1].AtMS <= GapMS {
			b = b.Join(Of(sorted[end]))
			end++
		}
		bursts = append(bursts, Timeline{b, sorted[begin:end:end]})
		begin = end
	}
	slices.SortFunc(bursts, func(a, b Timeline) int {
		return cmp.Or(cmp.Compare(a.First.AtMS, b.First.AtMS), cmp.Compare(a.First.Position, b.First.Position), cmp.Compare(a.FirstKey, b.FirstKey))
	})
	return bursts
}

// Reader reads a log in its order and collects activities.
type Reader struct {
	account    string // whose; empty: every account's
	submitted  map[string]*Activity
	activities []Activity
}

// NewReader returns a reader that collects the activities of one account.
func NewReader(account string) *Reader {
	return &Reader{account: account, submitted: map[string]*Activity{}}
}

// Add reads the next event of the log.
func (r *Reader) Add(e event.Recorded) {
	a, ok := Read(e, r.submitted[JobOf(e.Event)])
	if !ok || r.account != "" && a.Account != r.account {
		return
	}
	if a.Type == JobSubmitted {
		r.submitted[a.JobID] = &a
	}
	r.activities = append(r.activities, a)
}

// Activities are those of the events read, in the log's order.
func (r *Reader) Activities() []Activity { return r.activities }
