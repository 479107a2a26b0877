package audit

import (
	"slices"
	"time"

	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/run"
	"reckon/domain/slots"
	"reckon/domain/upload"
)

// UsageDay is what an account used on a UTC day, by the time at which each command was given.
type UsageDay struct {
	Day         string `json:"day"`
	Evaluations int64  `json:"evaluations"` // that ended, jobs' included, with or without an answer
	EngineMS    int64  `json:"engine_ms"`   // time of evaluations in the engine: of one that ran over its budget the budget
	Checks      int64  `json:"checks"`      // automatic checks with a verdict, and requested ones with a new result
	CheckMS     int64  `json:"check_ms"`    // time of these
	Slots       int64  `json:"slots"`       // spent
	Refunds     int64  `json:"refunds"`     // of slots of the day, whenever they were given back
	Jobs        int64  `json:"jobs"`        // that ended
	Uploads     int64  `json:"uploads"`
	UploadBytes int64  `json:"upload_bytes"`
	LogBytes    int64  `json:"log_bytes"`  // data of the events that name the account, and of those that name none in streams where one names it
	BlobBytes   int64  `json:"blob_bytes"` // that the events name, uploads included, each time they do
}

func (d *UsageDay) add(o UsageDay) {
	d.Evaluations += o.Evaluations
	d.EngineMS += o.EngineMS
	d.Checks += o.Checks
	d.CheckMS += o.CheckMS
	d.Slots += o.Slots
	d.Refunds += o.Refunds
	d.Jobs += o.Jobs
	d.Uploads += o.Uploads
	d.UploadBytes += o.UploadBytes
	d.LogBytes += o.LogBytes
	d.BlobBytes += o.BlobBytes
}

// Usage counts what one account used from a day on, up to before another.
type Usage struct {
	account  string
	from, to string // UTC days; empty: no bound
	days     map[string]*UsageDay
	streams  map[string]bool // where an event names the account
	known    bool            // the log has registered the account
}

// NewUsage counts from a UTC day (YYYY-MM-DD) up to and without another; empty is no bound.
func NewUsage(account, from, to string) *Usage {
	return &Usage{account: account, from: from, to: to, days: map[string]*UsageDay{}, streams: map[string]bool{}}
}

// Known tells whether the log has registered the account.
func (u *Usage) Known() bool { return u.known }

// Days are the days on which anything was used, in order.
func (u *Usage) Days() []UsageDay {
	days := make([]UsageDay, 0, len(u.days))
	for _, d := range u.days {
		days = append(days, *d)
	}
	slices.SortFunc(days, func(a, b UsageDay) int {
		if a.Day < b.Day {
			return -1
		}
		return 1
	})
	return days
}

// Total is the sum of the days.
func (u *Usage) Total() (total UsageDay) {
	for _, d := range u.days {
		total.add(*d)
	}
	total.Day = "total"
	return total
}

// Take counts the next event of the log.
func (u *Usage) Take(it *Item) {
	if e, ok := it.Event.(account.Registered); ok && e.Account == u.account {
		u.known = true
	}
	if !u.owns(it) {
		return
	}
	used, day := usedBy(it.Recorded)
	used.LogBytes = int64(it.DataBytes)
	for _, t := range event.Texts(it.Event) {
		if t.Blob != nil {
			used.BlobBytes += t.Blob.Bytes
		}
	}
	if day < u.from || u.to != "" && day >= u.to {
		return
	}
	sum, known := u.days[day]
	if !known {
		sum = &UsageDay{Day: day}
		u.days[day] = sum
	}
	sum.add(used)
}

// owns tells whether an event is the account's: it names the account, or it names none and its stream has an earlier one that does.
func (u *Usage) owns(it *Item) bool {
	if it.Event == nil {
		return false
	}
	account := it.address.Account
	if account == u.account {
		u.streams[it.Stream] = true
	}
	return account == u.account || account == "" && u.streams[it.Stream]
}

// usedBy is what one event stands for, and the day: that of its command, or of the slots.
func usedBy(r event.Recorded) (d UsageDay, day string) {
	day = r.Metadata.At.UTC().Format(time.DateOnly)
	switch e := r.Event.(type) {
	case run.Evaluated:
		d = UsageDay{Evaluations: 1, EngineMS: e.ExecutionMS}
		if e.Check != nil {
			d.Checks, d.CheckMS = 1, e.Check.ElapsedMS
		}
	case run.TimedOut:
		d = UsageDay{Evaluations: 1, EngineMS: e.BudgetMS}
	case run.Failed:
		d = UsageDay{Evaluations: 1, EngineMS: e.ExecutionMS}
	case run.Verified:
		d = UsageDay{Checks: 1, CheckMS: e.ElapsedMS}
	case slots.Spent:
		d, day = UsageDay{Slots: 1}, e.Day
	case slots.Refunded:
		d, day = UsageDay{Refunds: 1}, r.Stream[max(0, len(r.Stream)-len(time.DateOnly)):] // slots-<account>-<day>
	case upload.Stored:
		d = UsageDay{Uploads: 1, UploadBytes: e.Blob.Bytes}
	default:
		if _, ends := job.EndOf(e); ends {
			d = UsageDay{Jobs: 1}
		}
	}
	return d, day
}
