"""Uses every call of persistent subscriptions of an EventStoreDB, its index streams, and appends to several streams, with the official client.

    story.py ADDRESS

ADDRESS is a connection string. It ends with an AssertionError at the first answer that is not as expected.
"""

import json
import sys
import time
import uuid

from kurrentdbclient import KurrentDBClient, NewEvent, NewEvents, NewRecord, StreamState, StreamStateCheck
from kurrentdbclient.exceptions import (
    AlreadyExistsError,
    ConsistencyChecksFailedError,
    MaximumSubscriptionsReachedError,
    MultiAppendToSameStreamError,
    NotFoundError,
    WrongCurrentVersionError,
)


def equal(got, expected):
    assert got == expected, f"got {got!r}, expected {expected!r}"


def eventually(what, reached):
    """Waits for what the server does by itself."""
    end = time.monotonic() + 60
    while not reached():
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.05)


def refused(error, call, *arguments, **options):
    try:
        call(*arguments, **options)
    except error:
        return
    raise AssertionError(f"{call.__name__}{arguments} was not refused with {error.__name__}")


def write(client, stream, numbers):
    events = [NewEvent(type="Noted", data=json.dumps({"n": n}).encode()) for n in numbers]
    client.append_events(stream, current_version=StreamState.ANY, events=events)


def take(subscription, numbers, retries=0):
    events = [next(subscription) for _ in numbers]
    equal([(json.loads(e.data)["n"], e.retry_count) for e in events], [(n, retries) for n in numbers])
    return events


def stream_group(client):
    stream, group = f"python-{uuid.uuid4()}", "a group: ü"
    write(client, stream, range(5))
    client.create_subscription_to_stream(group, stream, message_timeout=600, max_retry_count=1, min_checkpoint_count=1, max_checkpoint_count=1)
    refused(AlreadyExistsError, client.create_subscription_to_stream, group, stream)

    def info():
        return client.get_subscription_info(group, stream)

    equal((info().start_from, info().last_checkpointed_event_position), ("0", ""))
    with client.read_subscription_to_stream(group, stream, event_buffer_size=10, max_ack_batch_size=1) as events:
        got = take(events, range(5))
        for e in got[:2]:
            events.ack(e)
        eventually("a checkpoint", lambda: info().last_checkpointed_event_position == "1")
        events.nack(got[2], action="park")
        events.nack(got[3], action="retry")
        again = take(events, [3], retries=1)
        events.nack(again[0], action="unknown")
        events.nack(got[4], action="skip")
        eventually("two events are parked", lambda: info().parked_message_count == 2)
        equal(sorted(e.data.decode().split("@")[0] for e in client.get_stream(f"$persistentsubscription-{stream}::{group}-parked")), ["2", "3"])
        client.replay_parked_events(group, stream)
        for e in take(events, [2, 3]):
            events.ack(e)
        eventually("nothing is parked", lambda: info().parked_message_count == 0)
        eventually("nothing is in flight", lambda: info().connections[0].in_flight_messages == 0)
    equal([s.group_name for s in client.list_subscriptions_to_stream(stream)], [group])
    client.update_subscription_to_stream(group, stream, max_retry_count=7, max_subscriber_count=1)
    equal(info().max_retry_count, 7)
    with client.read_subscription_to_stream(group, stream):
        refused(MaximumSubscriptionsReachedError, client.read_subscription_to_stream, group, stream)
    client.delete_subscription(group, stream)
    refused(NotFoundError, client.delete_subscription, group, stream)
    refused(NotFoundError, client.read_subscription_to_stream, group, stream)


def all_group(client):
    prefix, group = f"python-{uuid.uuid4()}", f"all-{uuid.uuid4()}"
    write(client, prefix + "-before", range(2))
    client.create_subscription_to_all(group, from_end=True, filter_include=[prefix + ".*"], filter_by_stream_name=True, consumer_strategy="PinnedByCorrelation")
    equal(client.get_subscription_info(group).start_from, "C:-1/P:-1")
    equal(client.get_subscription_info(group).consumer_strategy, "PinnedByCorrelation")
    write(client, prefix + "-after", range(10, 13))
    write(client, "other-" + prefix, range(3))
    with client.read_subscription_to_all(group, event_buffer_size=10) as events:
        for e in take(events, range(10, 13)):
            equal(e.stream_name, prefix + "-after")
            events.ack(e)
    assert group in [s.group_name for s in client.list_subscriptions()]
    client.update_subscription_to_all(group, message_timeout=5, consumer_strategy="Pinned")  # the client cannot send the other name
    equal(client.get_subscription_info(group).message_timeout, 5)
    client.delete_subscription(group)
    # the client's default filter is a regular expression with a lookahead
    client.create_subscription_to_all(group)
    with client.read_subscription_to_all(group, event_buffer_size=1000) as events:
        for e in events:
            assert not e.type.startswith("$"), e.type
            events.ack(e)
            if e.stream_name == "other-" + prefix:
                break
    client.delete_subscription(group)


def index_streams(client):
    category = f"python{uuid.uuid4().hex}"
    for name, numbers in (("a", range(2)), ("b", [2]), ("a", [3])):
        write(client, f"{category}-{name}", numbers)
    links = client.get_stream(f"$ce-{category}")
    equal([e.data.decode() for e in links], [f"0@{category}-a", f"1@{category}-a", f"0@{category}-b", f"2@{category}-a"])
    equal([e.stream_position for e in links], [0, 1, 2, 3])
    events = client.get_stream(f"$ce-{category}", resolve_links=True, stream_position=1)
    equal([json.loads(e.data)["n"] for e in events], [1, 2, 3])
    with client.subscribe_to_stream(f"$ce-{category}", resolve_links=True, timeout=60) as events:
        equal([json.loads(next(events).data)["n"] for _ in range(4)], [0, 1, 2, 3])
        write(client, f"{category}-b", [4])
        equal(json.loads(next(events).data)["n"], 4)
    correlation = str(uuid.uuid4())
    noted = NewEvent(type="Noted", data=b"{}", metadata=json.dumps({"$correlationId": correlation}).encode())
    client.append_events(f"{category}-a", current_version=StreamState.ANY, events=[noted])
    equal([e.id for e in client.get_stream(f"$bc-{correlation}", resolve_links=True)], [noted.id])


def several_streams(client):
    a, b, never = (f"python-{uuid.uuid4()}" for _ in range(3))

    def noted(n):
        return NewEvent(type="Noted", data=json.dumps({"n": n}).encode(), metadata=b'{"by":"python"}')

    events = [NewEvents(a, [noted(0), noted(1)], StreamState.NO_STREAM), NewEvents(b, [noted(2)], StreamState.ANY)]
    position = client.multi_append_to_stream(events)
    equal(client.multi_append_to_stream(events), position)  # a repetition
    equal([json.loads(e.data)["n"] for e in client.get_stream(a)], [0, 1])
    last = client.get_stream(b)[0]
    equal((last.commit_position, json.loads(last.metadata)["by"], last.content_type), (position, "python", "application/json"))
    try:
        client.multi_append_to_stream([NewEvents(b, [noted(3)], 0), NewEvents(a, [noted(4)], 7)])
        raise AssertionError("a wrong revision was not refused")
    except WrongCurrentVersionError as e:
        equal((e.stream_name, e.expected_version, e.actual_version), (a, 7, 1))
    refused(MultiAppendToSameStreamError, client.multi_append_to_stream, [NewEvents(a, [noted(5)], 1), NewEvents(a, [noted(6)], 2)])
    equal(len(client.get_stream(b)), 1)
    records = [NewRecord(a, "Noted", b"{}"), NewRecord(b, "Noted", b"x", content_type="application/octet-stream"), NewRecord(a, "Noted", b"{}")]
    result = client.append_records(records, [StreamStateCheck(a, 1), StreamStateCheck(never, StreamState.NO_STREAM)])
    equal([(s.stream_name, s.stream_position) for s in result.stream_positions], [(a, 3), (b, 1)])
    equal(result.commit_position, client.get_stream(a)[-1].commit_position)
    try:
        client.append_records([NewRecord(a, "Noted", b"{}")], [StreamStateCheck(b, 1), StreamStateCheck(never, StreamState.EXISTS), StreamStateCheck(a, 0)])
        raise AssertionError("failed checks were not refused")
    except ConsistencyChecksFailedError as e:
        equal([(f.check_index, f.stream_state_failure.stream_name, f.stream_state_failure.actual_state) for f in e.failures], [(2, a, 3), (1, never, -1)])
    equal([e.stream_position for e in client.read_index(f"ce-{a.split('-')[0]}") if e.stream_name == a], [0, 1, 2, 3])


def main():
    client = KurrentDBClient(sys.argv[1])
    several_streams(client)
    stream_group(client)
    all_group(client)
    index_streams(client)
    client.close()
    print("the story is told")


main()
