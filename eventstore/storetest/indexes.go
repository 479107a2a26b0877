package storetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"reckon/test/wait"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"
)

// RunIndexes checks the streams that list events of other streams, through the official client, on the server at an esdb://
// address. It runs alike on the embedded node and on a real server whose system projections run, which may be behind: every
// test waits until the server lists what was written.
func RunIndexes(t *testing.T, address string) {
	client := connected(t, address)
	for _, c := range []struct {
		name string
		test func(*testing.T, *indexClient)
	}{
		{"a category lists the events of its streams in the order of the log", indexCategory},
		{"a type lists its events in all streams", indexType},
		{"a correlation id lists what belongs together", indexCorrelation},
		{"streams are listed once", indexStreamsOnce},
		{"what was deleted is a link without an event", indexDeleted},
		{"links of a category are passed on", indexPassedOn},
		{"a read begins and ends where it is told to", indexRead},
		{"a subscription follows an index stream", indexSubscription},
		{"a persistent subscription consumes an index stream", indexGroup},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, &indexClient{groupClient{Client: client}, "storetest" + strings.ReplaceAll(uuid.NewString(), "-", "")})
		})
	}
}

// indexClient is a client with a category of its own.
type indexClient struct {
	groupClient
	category string
}

func (x *indexClient) streamOf(name string) string { return x.category + "-" + name }

func (x *indexClient) append(t *testing.T, stream, eventType, metadata string, data ...string) {
	t.Helper()
	var events []esdb.EventData
	for _, d := range data {
		events = append(events, esdb.EventData{EventID: uuid.New(), EventType: eventType, ContentType: esdb.ContentTypeBinary, Data: []byte(d), Metadata: []byte(metadata)})
	}
	_, err := x.AppendToStream(ctx(t), stream, esdb.AppendToStreamOptions{}, events...)
	check(t, err)
}

// links reads an index stream without resolving it: revision of each link and where it leads.
func (x *indexClient) links(t *testing.T, stream string, options esdb.ReadStreamOptions, count uint64) []string {
	t.Helper()
	events := x.events(t, stream, options, count)
	links := make([]string, len(events))
	for i, e := range events {
		if e.Event == nil || e.Event.EventType != "$>" || e.Event.StreamID != stream {
			t.Fatalf("%s: %+v is no link", stream, e)
		}
		links[i] = fmt.Sprintf("%d:%s", e.Event.EventNumber, e.Event.Data)
	}
	return links
}

func (x *indexClient) events(t *testing.T, stream string, options esdb.ReadStreamOptions, count uint64) (events []*esdb.ResolvedEvent) {
	t.Helper()
	r, err := x.ReadStream(ctx(t), stream, options, count)
	check(t, err)
	defer r.Close()
	for {
		e, err := r.Recv()
		if errors.Is(err, io.EOF) {
			return events
		}
		if e, fine := esdb.FromError(err); !fine && e.Code() == esdb.ErrorCodeResourceNotFound { // nothing is listed yet
			return nil
		}
		check(t, err)
		events = append(events, e)
	}
}

var wholeStream = esdb.ReadStreamOptions{From: esdb.Start{}}

// awaitLinks waits until the stream has as many links, and compares them.
func (x *indexClient) awaitLinks(t *testing.T, stream string, want ...string) {
	t.Helper()
	var got []string
	wait.Until(t, stream+" lists what was written", func() bool {
		got = x.links(t, stream, wholeStream, 1000)
		return len(got) >= len(want)
	})
	if !slices.Equal(got, want) {
		t.Errorf("%s has %q, expected %q", stream, got, want)
	}
}

// awaitEvents waits until the resolved stream has as many events, and compares their data; "" for a link without an event.
func (x *indexClient) awaitEvents(t *testing.T, stream string, want ...string) {
	t.Helper()
	var got []string
	wait.Until(t, stream+" leads to what was written", func() bool {
		got = nil
		for _, e := range x.events(t, stream, esdb.ReadStreamOptions{From: esdb.Start{}, ResolveLinkTos: true}, 1000) {
			if e.Link == nil {
				t.Fatalf("%s has an event without a link", stream)
			}
			data := ""
			if e.Event != nil {
				data = string(e.Event.Data)
			}
			got = append(got, data)
		}
		return len(got) >= len(want)
	})
	if !slices.Equal(got, want) {
		t.Errorf("%s leads to %q, expected %q", stream, got, want)
	}
}

func indexCategory(t *testing.T, x *indexClient) {
	a, b := x.streamOf("a"), x.streamOf("b-c")
	x.append(t, a, "noted", "", "1", "2")
	x.append(t, b, "noted", "", "3")
	x.append(t, x.category, "noted", "", "no category")
	x.append(t, a, "noted", "", "4")
	x.awaitLinks(t, "$ce-"+x.category, "0:0@"+a, "1:1@"+a, "2:0@"+b, "3:2@"+a)
	x.awaitEvents(t, "$ce-"+x.category, "1", "2", "3", "4")
}

func indexType(t *testing.T, x *indexClient) {
	a, b, eventType := x.streamOf("a"), "plain"+x.category, "type-"+x.category
	x.append(t, a, eventType, "", "1")
	x.append(t, a, "other", "", "2")
	x.append(t, b, eventType, "", "3", "4")
	x.awaitLinks(t, "$et-"+eventType, "0:0@"+a, "1:0@"+b, "2:1@"+b)
	x.awaitEvents(t, "$et-"+eventType, "1", "3", "4")
}

func indexCorrelation(t *testing.T, x *indexClient) {
	metadata := fmt.Sprintf(`{"$correlationId":%q,"by":{"$correlationId":"nested"}}`, x.category)
	x.append(t, x.streamOf("a"), "noted", metadata, "1")
	x.append(t, x.streamOf("a"), "noted", `{"correlationId":"x"}`, "2")
	x.append(t, x.streamOf("b"), "noted", metadata, "3")
	x.awaitEvents(t, "$bc-"+x.category, "1", "3")
}

func indexStreamsOnce(t *testing.T, x *indexClient) {
	a, b := x.streamOf("a"), x.streamOf("b")
	x.append(t, a, "noted", "", "1", "2")
	x.append(t, b, "noted", "", "3")
	x.append(t, a, "noted", "", "4")
	x.awaitLinks(t, "$category-"+x.category, "0:0@"+a, "1:0@"+b)
	wait.Until(t, "$streams lists the streams", func() bool {
		found := map[string]int{}
		for _, link := range x.links(t, "$streams", esdb.ReadStreamOptions{Direction: esdb.Backwards, From: esdb.End{}}, 1000) {
			_, target, _ := strings.Cut(link, ":")
			found[target]++
		}
		return found["0@"+a] == 1 && found["0@"+b] == 1
	})
}

func indexDeleted(t *testing.T, x *indexClient) {
	a, b := x.streamOf("a"), x.streamOf("b")
	x.append(t, a, "noted", "", "1")
	x.append(t, b, "noted", "", "2")
	_, err := x.DeleteStream(ctx(t), a, esdb.DeleteStreamOptions{})
	check(t, err)
	x.append(t, b, "noted", "", "3")
	wait.Until(t, "links lead to what is there", func() bool {
		events := x.events(t, "$ce-"+x.category, esdb.ReadStreamOptions{From: esdb.Start{}, ResolveLinkTos: true}, 1000)
		if len(events) < 3 {
			return false
		}
		first, last := events[0], events[len(events)-1]
		if first.Event != nil || string(first.Link.Data) != "0@"+a {
			t.Errorf("the deleted event is %+v", first)
		}
		return last.Event != nil && string(last.Event.Data) == "3"
	})
}

func indexPassedOn(t *testing.T, x *indexClient) {
	plain, a := "plain"+x.category, x.streamOf("a")
	x.append(t, plain, "noted", "", "1")
	x.append(t, a, "$>", "", "0@"+plain)
	x.append(t, a, "noted", "", "2")
	x.awaitLinks(t, "$ce-"+x.category, "0:0@"+plain, "1:1@"+a)
	x.awaitEvents(t, "$ce-"+x.category, "1", "2")
}

func indexRead(t *testing.T, x *indexClient) {
	a, stream := x.streamOf("a"), "$ce-"+x.category
	for i := range 5 {
		x.append(t, a, "noted", "", fmt.Sprint(i))
	}
	link := func(i int) string { return fmt.Sprintf("%d:%d@%s", i, i, a) }
	x.awaitLinks(t, stream, link(0), link(1), link(2), link(3), link(4))
	for name, c := range map[string]struct {
		options esdb.ReadStreamOptions
		count   uint64
		want    []string
	}{
		"from a revision":            {esdb.ReadStreamOptions{From: esdb.Revision(3)}, 100, []string{link(3), link(4)}},
		"a page":                     {esdb.ReadStreamOptions{From: esdb.Revision(1)}, 2, []string{link(1), link(2)}},
		"beyond the end":             {esdb.ReadStreamOptions{From: esdb.Revision(9)}, 100, []string{}},
		"the end":                    {esdb.ReadStreamOptions{From: esdb.End{}}, 100, []string{}},
		"backwards":                  {esdb.ReadStreamOptions{Direction: esdb.Backwards, From: esdb.End{}}, 2, []string{link(4), link(3)}},
		"backwards from":             {esdb.ReadStreamOptions{Direction: esdb.Backwards, From: esdb.Revision(1)}, 100, []string{link(1), link(0)}},
		"backwards from beyond":      {esdb.ReadStreamOptions{Direction: esdb.Backwards, From: esdb.Revision(9)}, 1, []string{link(4)}},
		"backwards from the start":   {esdb.ReadStreamOptions{Direction: esdb.Backwards, From: esdb.Start{}}, 100, []string{link(0)}},
		"more than there are events": {wholeStream, 1 << 62, []string{link(0), link(1), link(2), link(3), link(4)}},
	} {
		if got := x.links(t, stream, c.options, c.count); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, expected %q", name, got, c.want)
		}
	}
	all := x.events(t, stream, wholeStream, 100)
	again := x.events(t, stream, wholeStream, 100)
	for i := range all {
		if all[i].Event.EventID != again[i].Event.EventID || all[i].Event.EventID == uuid.Nil {
			t.Errorf("link %d has the ids %v and %v", i, all[i].Event.EventID, again[i].Event.EventID)
		}
	}
}

func indexSubscription(t *testing.T, x *indexClient) {
	a, b := x.streamOf("a"), x.streamOf("b")
	sub, err := x.SubscribeToStream(context.Background(), "$ce-"+x.category, esdb.SubscribeToStreamOptions{From: esdb.Start{}, ResolveLinkTos: true})
	check(t, err)
	t.Cleanup(func() { _ = sub.Close() })
	received := make(chan string, 100)
	go func() {
		defer close(received)
		for {
			switch e := sub.Recv(); {
			case e.EventAppeared != nil:
				received <- fmt.Sprintf("%d:%s", e.EventAppeared.Link.EventNumber, e.EventAppeared.Event.Data)
			case e.SubscriptionDropped != nil:
				return
			}
		}
	}()
	x.append(t, a, "noted", "", "1")
	x.append(t, b, "noted", "", "2", "3")
	for _, want := range []string{"0:1", "1:2", "2:3"} {
		select {
		case got := <-received:
			if got != want {
				t.Fatalf("received %q, expected %q", got, want)
			}
		case <-ctx(t).Done():
			t.Fatalf("%q never came", want)
		}
	}
}

func indexGroup(t *testing.T, x *indexClient) {
	x.stream = "$ce-" + x.category
	settings := rules()
	settings.ResolveLinkTos = true
	x.create(t, "g", esdb.Start{}, settings)
	c := x.join(t, "g", 10)
	x.append(t, x.streamOf("a"), "noted", "", "1")
	x.append(t, x.streamOf("b"), "noted", "", "2", "3")
	events := c.expect(t, 0, "1", "2", "3")
	check(t, c.Ack(events[0], events[1]))
	check(t, c.Nack("not now", esdb.NackActionRetry, events[2]))
	check(t, c.Ack(c.expect(t, 1, "3")...))
}
