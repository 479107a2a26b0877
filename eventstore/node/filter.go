package node

import (
	"fmt"
	"strings"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/dlclark/regexp2"

	"reckon/eventstore/node/eventlog"
)

// Secondary indexes of newer servers: who filters $all by such a name as the one prefix of streams reads an index. Here they
// are filters. Like there, system streams are in none.
const (
	indexOfAll        = "$idx-all"
	indexOfCategories = "$idx-ce-"
	indexOfTypes      = "$idx-et-"
)

// filter selects events of $all by stream name or by event type.
type filter struct {
	byType   bool
	index    func(*eventlog.Record) bool // of a secondary index; else nil
	regex    *regexp2.Regexp             // .NET syntax; matches when it is found anywhere in the name
	prefixes []string                    // used when regex is nil: the name begins with one of them
	window   int                         // events read per page
	interval int                         // events read per checkpoint sent

	spent   time.Duration // in the regular expression
	allowed time.Duration // to be spent
}

// filterFromWire returns nil when the request wants every event.
func filterFromWire(o *streams.ReadReq_Options) (*filter, error) {
	wire := o.GetFilter()
	if wire == nil {
		return nil, nil
	}
	f := &filter{window: defaultFilterWindow}
	var expression *streams.ReadReq_Options_FilterOptions_Expression
	switch by := wire.GetFilter().(type) {
	case *streams.ReadReq_Options_FilterOptions_EventType:
		f.byType, expression = true, by.EventType
	case *streams.ReadReq_Options_FilterOptions_StreamIdentifier:
		expression = by.StreamIdentifier
	default:
		return nil, invalid("the filter says neither event type nor stream")
	}
	if w, ok := wire.GetWindow().(*streams.ReadReq_Options_FilterOptions_Max); ok {
		if w.Max == 0 {
			return nil, invalid("the filter's window must be at least 1")
		}
		f.window = int(min(w.Max, maxFilterWindow))
	}
	if o.GetSubscription() != nil {
		multiplier := wire.GetCheckpointIntervalMultiplier()
		if multiplier == 0 {
			return nil, invalid("the filter's checkpoint interval multiplier must be at least 1")
		}
		f.interval = int(min(uint64(f.window)*uint64(multiplier), 1<<31-1))
	}
	return f, f.compile(expression.GetRegex(), expression.GetPrefix())
}

// compile sets what the filter matches: a regular expression, or when that is empty prefixes.
func (f *filter) compile(pattern string, prefixes []string) error {
	if pattern == "" {
		f.prefixes = prefixes
		if len(f.prefixes) > maxFilterPrefixes {
			return invalid(fmt.Sprintf("the filter has %d prefixes, and may have %d: use a regular expression", len(prefixes), maxFilterPrefixes))
		}
		if !f.byType && len(prefixes) == 1 {
			f.index = indexNamed(prefixes[0])
		}
		return nil
	}
	if len(pattern) > maxRegexBytes {
		return invalid(fmt.Sprintf("the filter's regular expression has %d bytes, and may have %d", len(pattern), maxRegexBytes))
	}
	regex, err := regexp2.Compile(pattern, regexp2.None)
	if err != nil {
		return invalid("the filter's regular expression does not parse: " + err.Error())
	}
	regex.MatchTimeout = regexMatchTimeout
	f.regex, f.allowed = regex, regexTime
	return nil
}

// indexNamed returns which events a secondary index has; nil for a name of none.
func indexNamed(name string) func(*eventlog.Record) bool {
	category, ofCategory := strings.CutPrefix(name, indexOfCategories)
	eventType, ofType := strings.CutPrefix(name, indexOfTypes)
	switch {
	case ofCategory:
		return func(r *eventlog.Record) bool {
			return strings.HasPrefix(r.Stream, category+"-") && !strings.Contains(category, "-")
		}
	case ofType:
		return func(r *eventlog.Record) bool { return r.Type == eventType }
	case name == indexOfAll:
		return func(*eventlog.Record) bool { return true }
	}
	return nil
}

// isCostly reports whether the filter may take seconds for a page.
func (f *filter) isCostly() bool { return f != nil && f.regex != nil }

// matches reports whether the filter selects the event; a nil filter selects every event.
func (f *filter) matches(r *eventlog.Record) (bool, error) {
	if f == nil {
		return true, nil
	}
	if f.index != nil {
		return !strings.HasPrefix(r.Stream, "$") && f.index(r), nil
	}
	name := r.Stream
	if f.byType {
		name = r.Type
	}
	if f.regex != nil {
		start := time.Now()
		found, err := f.regex.MatchString(name)
		f.spent += time.Since(start)
		f.allowed += regexTimePerEvent
		if err != nil || f.spent > f.allowed {
			return false, invalid("the filter's regular expression takes too long for what the log holds: use prefixes, or a simpler one")
		}
		return found, nil
	}
	for _, prefix := range f.prefixes {
		if strings.HasPrefix(name, prefix) {
			return true, nil
		}
	}
	return false, nil
}

// hiddenFromAll reports whether reads of $all omit the record: it was scavenged, or is one of the server's own.
func hiddenFromAll(r *eventlog.Record) bool {
	const group = "$persistentsubscription-$all::"
	return r.Redacted || r.Stream == "$epoch-information" ||
		strings.HasPrefix(r.Stream, group) && (strings.HasSuffix(r.Stream, "-checkpoint") || strings.HasSuffix(r.Stream, "-parked"))
}
