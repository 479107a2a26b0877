package audit_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reckon/domain"
	"reckon/domain/audit"
	"reckon/domain/audit/audittest"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/slots"
	"reckon/test/sweep"
)

// stories are the places of the events of each piece of work: of a job with its slot, its upload, its run and its certificate; of a run, a
// session, a token, a grant, and an account with its subscription.
func stories(l *audittest.Log, all []audit.Stored) map[string][]int {
	found := map[string][]int{}
	for _, s := range all {
		kind, id, _ := strings.Cut(s.Stream, "-")
		if found[s.Stream] != nil || !slices.Contains([]string{"job", "run", "session", "token", "grant", "billing"}, kind) {
			continue
		}
		for i, other := range all {
			own := other.Stream == s.Stream || kind == "billing" && other.Stream == "account-"+id
			if kind == "job" {
				own = bytes.Contains(other.Data, []byte(id)) && !ofAnotherSlot(l, i, id)
			}
			if own {
				found[s.Stream] = append(found[s.Stream], i)
			}
		}
	}
	return found
}

// ofAnotherSlot tells whether an event spends a slot that is not the job's: it is of another submission with the same key, whose content may differ.
func ofAnotherSlot(l *audittest.Log, i int, jobID string) bool {
	spent, is := l.Events[i].Event.(slots.Spent)
	return is && slices.ContainsFunc(l.Events, func(e *audittest.Logged) bool {
		queued, is := e.Event.(job.WasQueued)
		return is && queued.JobID == jobID && queued.SlotID != spent.SlotID
	})
}

// member is a member of JSON whose value is no object and no list.
var member = regexp.MustCompile(`"([a-z0-9_]+)":("(?:[^"\\]|\\.)*"|-?[0-9]+|true|false)`)

// said is what several events of a story say, with the places of these events: a member with its value, or a value that is long enough to
// name one thing wherever it stands. What is declared free is not compared with anything. At least so many events say it.
func said(l *audittest.Log, all []audit.Stored, story []int, least int) map[string][]int {
	free, found := domain.Catalogue().Free(), map[string][]int{}
	for _, i := range story {
		for _, m := range member.FindAllStringSubmatch(string(all[i].Data), -1) {
			if free[l.Events[i].Name+"."+m[1]] != "" {
				continue
			}
			for _, text := range []string{m[0], strings.Trim(m[2], `"`)} {
				if (text == m[0] || len(text) >= 8) && !slices.Contains(found[text], i) {
					found[text] = append(found[text], i)
				}
			}
		}
	}
	maps.DeleteFunc(found, func(_ string, in []int) bool { return len(in) < least })
	return found
}

// sortedStories are the stories in one order.
func sortedStories(l *audittest.Log, all []audit.Stored) (sorted [][]int) {
	found := stories(l, all)
	for _, name := range slices.Sorted(maps.Keys(found)) {
		sorted = append(sorted, found[name])
	}
	return sorted
}

// otherwise is a text of said that says another thing.
func otherwise(t *testing.T, text string) string {
	t.Helper()
	name, value, isMember := strings.Cut(text, ":")
	if !strings.HasPrefix(text, `"`) || !isMember {
		return another(text).(string)
	}
	var v any
	if err := json.Unmarshal([]byte(value), &v); err != nil {
		t.Fatal(err)
	}
	changed, err := event.Marshal(another(v))
	if err != nil {
		t.Fatal(err)
	}
	return name + ":" + string(changed)
}

// someOf are the proper parts of the places that say one thing, of two places and more: the pairs, and all but one; in `make soak` all of them.
func someOf(in []int) (parts [][]int) {
	const most = 8
	all := sweep.Whole() && len(in) <= most
	for bits := 1; len(in) <= most && bits < 1<<len(in)-1; bits++ {
		var part []int
		for n, i := range in {
			if bits>>n&1 == 1 {
				part = append(part, i)
			}
		}
		if len(part) == 2 || len(part) > 2 && (all || len(part) == len(in)-1) {
			parts = append(parts, part)
		}
	}
	for n := range in {
		if len(in) > most {
			parts = append(parts, []int{in[n], in[(n+1)%len(in)]}, slices.Delete(slices.Clone(in), n, n+1))
		}
	}
	return parts
}

// TestWhatSeveralEventsSayIsOne: given the true log, when some of the events that say one thing of one piece of work say another one
// together, wherever it stands in them, their streams and their metadata, then the audit finds it: they contradict the others.
func TestWhatSeveralEventsSayIsOne(t *testing.T) {
	l := audittest.True()
	all := l.Stored(t)
	items := audittest.Prepare(t, l, all)
	tried := 0
	for name, story := range stories(l, all) {
		for text, in := range said(l, all, story, 3) {
			with := otherwise(t, text)
			for _, part := range someOf(in) {
				tried++
				if findings, _ := audittest.Judge(retold(t, l, items, all, part, text, with), audit.Config{}); len(findings) == 0 {
					t.Errorf("%s: %v of %v say %s instead of %s, and no check finds it", name, part, in, with, text)
				}
			}
		}
	}
	if tried < 1000 {
		t.Errorf("only %d groups of events were changed", tried)
	}
	t.Logf("%d groups of events were changed", tried)
}

// retold are the items of a log in which the events of some places say another thing.
func retold(t *testing.T, l *audittest.Log, items []*audit.Item, all []audit.Stored, places []int, text, with string) []*audit.Item {
	t.Helper()
	changed := slices.Clone(items)
	revisions := map[string]event.Revision{}
	for i, s := range all {
		if slices.Contains(places, i) {
			s.Data, s.Metadata = bytes.ReplaceAll(s.Data, []byte(text), []byte(with)), bytes.ReplaceAll(s.Metadata, []byte(text), []byte(with))
			s.Stream = strings.ReplaceAll(s.Stream, text, with)
		}
		s.Revision = revisions[s.Stream]
		if revisions[s.Stream]++; slices.Contains(places, i) || s.Revision != all[i].Revision {
			changed[i] = audittest.Prepare(t, l, []audit.Stored{s})[0]
		}
	}
	return changed
}

// TestASubmissionIsWhatWasDone: what slot and queue say together of a job is compared with what was published of it, which is signed, and
// with what follows from it.
func TestASubmissionIsWhatWasDone(t *testing.T) {
	for name, change := range map[string]struct {
		job    string
		submit func(*job.Submission)
	}{
		"another expression":              {audittest.UUID(0x101), func(s *job.Submission) { s.Payload = event.Inline("2+3") }},
		"another session":                 {audittest.UUID(0x101), func(s *job.Submission) { s.SessionID = "t" }},
		"a session that answered in none": {audittest.UUID(0x107), func(s *job.Submission) { s.SessionID = "" }},
		"more time":                       {audittest.UUID(0x107), func(s *job.Submission) { s.TimeoutMS++ }},
		"an expression that failed":       {audittest.UUID(0x108), func(s *job.Submission) { s.Payload = event.Inline("1") }},
		"a kind that publishes nothing":   {audittest.UUID(0x101), func(s *job.Submission) { s.Kind = "qsim" }},
		"a kind that publishes a run":     {audittest.UUID(0x105), func(s *job.Submission) { s.Kind = "evaluate" }},
		"another kind of publication":     {audittest.UUID(0x111), func(s *job.Submission) { s.Kind = "evaluate" }},
		"a key that is not its own":       {audittest.UUID(0x105), func(s *job.Submission) { s.IdempotencyKey = "k" }},
	} {
		l := audittest.True()
		for _, e := range l.Events {
			switch said := e.Event.(type) {
			case slots.Spent:
				if said.Submission.JobID == change.job {
					change.submit(&said.Submission)
					e.Event = said
				}
			case job.WasQueued:
				if said.JobID == change.job {
					change.submit(&said.Submission)
					e.Event = said
				}
			}
		}
		if findings := audittest.Audit(t, l, nil); len(findings) == 0 {
			t.Errorf("%s: not found", name)
		}
	}
}
