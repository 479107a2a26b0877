package audit_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"reckon/domain"
	"reckon/domain/audit"
	"reckon/domain/audit/audittest"
)

func usageOf(t *testing.T, l *audittest.Log, account, from, to string) *audit.Usage {
	t.Helper()
	reader := audit.Reader{Catalogue: domain.Catalogue(), Unmarshal: json.Unmarshal}
	u := audit.NewUsage(account, from, to)
	for _, s := range l.Stored(t) {
		it, err := reader.Prepare(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		u.Take(it)
	}
	return u
}

// ownedBy are the streams with an event whose data names an account.
func ownedBy(t *testing.T, l *audittest.Log, account string) (streams []string) {
	t.Helper()
	for _, s := range l.Stored(t) {
		if strings.Contains(string(s.Data), account) {
			streams = append(streams, s.Stream)
		}
	}
	return streams
}

// dataIn is the length of all data in streams, in bytes.
func dataIn(t *testing.T, l *audittest.Log, streams []string) (bytes int64) {
	t.Helper()
	for _, s := range l.Stored(t) {
		if slices.Contains(streams, s.Stream) {
			bytes += int64(len(s.Data))
		}
	}
	return bytes
}

// TestUsage: given the true log, then each account's days are what was done on them.
func TestUsage(t *testing.T) {
	l := audittest.True()
	u := usageOf(t, l, audittest.Alice, "", "")
	total := u.Total()
	// Eight evaluations: two of 3 ms, one over its budget of 3 s, one that quit, one of a job, one with the second key, one of a job over its
	// budget of 60 s, one of a job that failed.
	if total.Evaluations != 8 || total.EngineMS != 3+3+3000+0+1+1+60_000+0 || total.Checks != 2 || total.Slots != 12 || total.Refunds != 6 || total.Jobs != 10 || total.Uploads != 2 || total.UploadBytes != 2*int64(len("the export\n")) {
		t.Errorf("%+v", total)
	}
	if own := dataIn(t, l, ownedBy(t, l, audittest.Alice)); total.LogBytes != own || own == 0 || total.BlobBytes == 0 {
		t.Errorf("%d bytes of the data of her streams: %+v", own, total)
	}
	days := u.Days()
	if !slices.IsSortedFunc(days, func(a, b audit.UsageDay) int { return len(a.Day) - len(b.Day) }) || days[0].Day != "2026-08-01" || days[0].Slots != 3 || days[0].Refunds != 1 {
		t.Errorf("%+v", days)
	}
	second := usageOf(t, l, audittest.Alice, "2026-08-02", "2026-08-03")
	if d := second.Days(); len(d) != 1 || d[0] != days[1] {
		t.Errorf("one day: %+v, of %+v", d, days)
	}
	if other := usageOf(t, l, audittest.Carol, "", "").Total(); other.Evaluations != 0 || other.Slots != 0 || other.LogBytes == 0 {
		t.Errorf("another account: %+v", other)
	}
}
