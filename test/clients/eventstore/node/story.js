// Uses every call of persistent subscriptions of an EventStoreDB, and its index streams, with the official client.
//
//     node story.js ADDRESS
//
// ADDRESS is a connection string. It ends with an AssertionError at the first answer that is not as expected.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import {
  END, EventStoreDBClient, PARK, PersistentSubscriptionDoesNotExistError, PersistentSubscriptionExistsError, RETRY, SKIP, START, jsonEvent,
  persistentSubscriptionToAllSettingsFromDefaults, persistentSubscriptionToStreamSettingsFromDefaults, streamNameFilter,
} from "@eventstore/db-client";

const client = EventStoreDBClient.connectionString(process.argv[2]);

const write = (stream, ...numbers) => client.appendToStream(stream, numbers.map((n) => jsonEvent({ type: "Noted", data: { n } })));

// eventually waits for what the server does by itself.
async function eventually(what, reached) {
  for (const end = Date.now() + 60_000; !(await reached()); await pause(50)) assert(Date.now() < end, `never: ${what}`);
}

// take reads events of these numbers.
async function take(events, retries, ...numbers) {
  const got = [];
  for (const n of numbers) {
    const { value } = await events.next();
    assert.deepEqual([value.event.data.n, value.retryCount], [n, retries]);
    got.push(value);
  }
  return got;
}

// received are the events of a subscription.
async function* received(subscription) {
  const queue = [];
  let signal = () => {};
  subscription.on("data", (event) => {
    queue.push(event);
    signal();
  });
  for (;;) {
    while (queue.length) yield queue.shift();
    await new Promise((resolve) => (signal = resolve));
  }
}

async function streamGroup() {
  const stream = `node-${randomUUID()}`, group = "a group";
  await write(stream, 0, 1, 2, 3, 4);
  const settings = persistentSubscriptionToStreamSettingsFromDefaults({ startFrom: START, messageTimeout: 600_000, maxRetryCount: 1, checkPointLowerBound: 1, checkPointUpperBound: 1 });
  await client.createPersistentSubscriptionToStream(stream, group, settings);
  await assert.rejects(client.createPersistentSubscriptionToStream(stream, group, settings), PersistentSubscriptionExistsError);
  const info = () => client.getPersistentSubscriptionToStreamInfo(stream, group);
  const subscription = client.subscribeToPersistentSubscriptionToStream(stream, group);
  const events = received(subscription);
  const got = await take(events, 0, 0, 1, 2, 3, 4);
  await subscription.ack(got[0], got[1]);
  await eventually("a checkpoint", async () => (await info()).stats.lastCheckpointedEventRevision === 1n);
  await subscription.nack(PARK, "not now", got[2]);
  await subscription.nack(RETRY, "again", got[3]);
  await subscription.nack(RETRY, "again", ...(await take(events, 1, 3)));
  await subscription.nack(SKIP, "never", got[4]);
  await eventually("two events are parked", async () => (await info()).stats.parkedMessageCount === 2n);
  await client.replayParkedMessagesToStream(stream, group);
  await subscription.ack(...(await take(events, 0, 2, 3)));
  await eventually("nothing is parked", async () => (await info()).stats.parkedMessageCount === 0n);
  await subscription.unsubscribe();
  assert.deepEqual((await client.listPersistentSubscriptionsToStream(stream)).map((s) => s.groupName), [group]);
  await client.updatePersistentSubscriptionToStream(stream, group, { ...settings, maxRetryCount: 7 });
  assert.equal((await info()).settings.maxRetryCount, 7);
  await client.deletePersistentSubscriptionToStream(stream, group);
  await assert.rejects(client.deletePersistentSubscriptionToStream(stream, group), PersistentSubscriptionDoesNotExistError);
}

async function allGroup() {
  const prefix = `node-${randomUUID()}`, group = `all-${randomUUID()}`;
  await write(`${prefix}-before`, 0, 1);
  const settings = persistentSubscriptionToAllSettingsFromDefaults({ startFrom: END, consumerStrategyName: "PinnedByCorrelation" });
  await client.createPersistentSubscriptionToAll(group, settings, { filter: streamNameFilter({ prefixes: [prefix] }) });
  await write(`${prefix}-after`, 10, 11);
  const subscription = client.subscribeToPersistentSubscriptionToAll(group);
  await subscription.ack(...(await take(received(subscription), 0, 10, 11)));
  assert((await client.listAllPersistentSubscriptions()).some((s) => s.groupName === group));
  await subscription.unsubscribe();
  await client.deletePersistentSubscriptionToAll(group);
}

async function indexStreams() {
  const category = `node${randomUUID().replaceAll("-", "")}`;
  await write(`${category}-a`, 0, 1);
  await write(`${category}-b`, 2);
  const links = [];
  for await (const { event } of client.readStream(`$ce-${category}`)) links.push([event.revision, Buffer.from(event.data).toString()]);
  assert.deepEqual(links, [[0n, `0@${category}-a`], [1n, `1@${category}-a`], [2n, `0@${category}-b`]]);
  const numbers = [];
  for await (const { event } of client.readStream(`$ce-${category}`, { resolveLinkTos: true, direction: "backwards", fromRevision: END })) numbers.push(event.data.n);
  assert.deepEqual(numbers, [2, 1, 0]);
}

await streamGroup();
await allGroup();
await indexStreams();
await client.restartPersistentSubscriptionSubsystem();
console.log("the story is told");
await client.dispose();
