import com.eventstore.dbclient.*;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Uses every call of persistent subscriptions of an EventStoreDB, and its index streams, with the official client.
 *
 * <pre>java Story ADDRESS</pre>
 *
 * ADDRESS is a connection string. It ends with an AssertionError at the first answer that is not as expected.
 */
public final class Story {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final EventStoreDBClient client;
    private final EventStoreDBPersistentSubscriptionsClient groups;

    private Story(EventStoreDBClient client) {
        this.client = client;
        this.groups = EventStoreDBPersistentSubscriptionsClient.from(client);
    }

    /** An event, how often it was delivered before, and where to answer. */
    private record Delivery(PersistentSubscription subscription, int retries, ResolvedEvent event) {}

    private static void equal(Object got, Object expected) {
        if (!Objects.equals(got, expected)) throw new AssertionError("got " + got + ", expected " + expected);
    }

    private static <T> T wait(CompletableFuture<T> answer) throws Exception {
        return answer.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    /** Waits for what the server does by itself. */
    private static void eventually(String what, Callable<Boolean> reached) throws Exception {
        for (Instant end = Instant.now().plus(PATIENCE); !reached.call(); Thread.sleep(50)) {
            if (Instant.now().isAfter(end)) throw new AssertionError("never: " + what);
        }
    }

    private static void refused(String words, CompletableFuture<?> answer) throws Exception {
        try {
            answer.handle((value, error) -> {
                if (error == null) throw new AssertionError("not refused: " + words);
                Throwable cause = error instanceof CompletionException ? error.getCause() : error;
                if (!cause.toString().contains(words)) throw new AssertionError("refused, but not with " + words, cause);
                return null;
            }).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (java.util.concurrent.ExecutionException e) {
            throw (AssertionError) e.getCause();
        }
    }

    private void write(String stream, int... numbers) throws Exception {
        List<EventData> events = new ArrayList<>();
        for (int n : numbers) events.add(EventData.builderAsJson("Noted", note(n).getBytes(StandardCharsets.UTF_8)).build());
        wait(client.appendToStream(stream, events.iterator()));
    }

    private static String note(int n) {
        return "{\"n\":" + n + "}";
    }

    private static String text(ResolvedEvent event) {
        return new String(event.getEvent().getEventData(), StandardCharsets.UTF_8);
    }

    private static PersistentSubscriptionListener into(LinkedBlockingQueue<Delivery> deliveries) {
        return new PersistentSubscriptionListener() {
            @Override
            public void onEvent(PersistentSubscription subscription, int retries, ResolvedEvent event) {
                deliveries.add(new Delivery(subscription, retries, event));
            }
        };
    }

    private static List<ResolvedEvent> take(LinkedBlockingQueue<Delivery> deliveries, int retries, int... numbers) throws Exception {
        List<ResolvedEvent> taken = new ArrayList<>();
        for (int n : numbers) {
            Delivery d = deliveries.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            if (d == null) throw new AssertionError("event " + n + " was not delivered");
            equal(text(d.event()), note(n));
            equal(d.retries(), retries);
            taken.add(d.event());
        }
        return taken;
    }

    private List<ResolvedEvent> read(String stream, ReadStreamOptions options) throws Exception {
        return wait(client.readStream(stream, options)).getEvents();
    }

    private void streamGroup() throws Exception {
        String stream = "java-" + UUID.randomUUID(), group = "a group";
        write(stream, 0, 1, 2, 3, 4);
        var settings = CreatePersistentSubscriptionToStreamOptions.get().fromStart().messageTimeout(Duration.ofMinutes(10)).maxRetryCount(1)
            .checkpointLowerBound(1).checkpointUpperBound(1);
        wait((CompletableFuture<?>) groups.createToStream(stream, group, settings));
        refused("ALREADY_EXISTS", groups.createToStream(stream, group, settings));
        Callable<PersistentSubscriptionToStreamInfo> info = () -> wait(groups.getInfoToStream(stream, group)).orElseThrow();
        var deliveries = new LinkedBlockingQueue<Delivery>();
        var subscription = wait(groups.subscribeToStream(stream, group, into(deliveries)));
        var got = take(deliveries, 0, 0, 1, 2, 3, 4);
        subscription.ack(got.get(0), got.get(1));
        eventually("a checkpoint", () -> info.call().getStats().getLastCheckpointedEventRevision().equals(java.util.Optional.of(1L)));
        subscription.nack(NackAction.Park, "not now", got.get(2));
        subscription.nack(NackAction.Retry, "again", got.get(3));
        subscription.nack(NackAction.Unknown, "again", take(deliveries, 1, 3).get(0));
        subscription.nack(NackAction.Skip, "never", got.get(4));
        eventually("two events are parked", () -> info.call().getStats().getParkedMessageCount() == 2);
        List<String> parked = new ArrayList<>();
        for (var link : read("$persistentsubscription-" + stream + "::" + group + "-parked", ReadStreamOptions.get().fromStart())) parked.add(text(link).split("@")[0]);
        parked.sort(null);
        equal(parked, List.of("2", "3"));
        wait((CompletableFuture<?>) groups.replayParkedMessagesToStream(stream, group));
        for (var event : take(deliveries, 0, 2, 3)) subscription.ack(event);
        eventually("nothing is parked", () -> info.call().getStats().getParkedMessageCount() == 0);
        subscription.stop();
        equal(wait(groups.listToStream(stream)).stream().map(PersistentSubscriptionInfo::getGroupName).toList(), List.of(group));
        wait((CompletableFuture<?>) groups.updateToStream(stream, group, UpdatePersistentSubscriptionToStreamOptions.get().maxRetryCount(7)));
        equal(info.call().getSettings().getMaxRetryCount(), 7);
        wait((CompletableFuture<?>) groups.deleteToStream(stream, group));
        refused("NOT_FOUND", groups.deleteToStream(stream, group));
    }

    private void allGroup() throws Exception {
        String prefix = "java-" + UUID.randomUUID(), group = "all-" + UUID.randomUUID();
        write(prefix + "-before", 0, 1);
        wait((CompletableFuture<?>) groups.createToAll(group, CreatePersistentSubscriptionToAllOptions.get().fromEnd()
            .namedConsumerStrategy(NamedConsumerStrategy.PINNED).filter(SubscriptionFilter.newBuilder().addStreamNamePrefix(prefix).build())));
        write(prefix + "-after", 10, 11, 12);
        write("other-" + prefix, 0);
        var deliveries = new LinkedBlockingQueue<Delivery>();
        var subscription = wait(groups.subscribeToAll(group, into(deliveries)));
        for (var event : take(deliveries, 0, 10, 11, 12)) subscription.ack(event);
        equal(wait(groups.listAll()).stream().anyMatch(s -> s.getGroupName().equals(group)), true);
        subscription.stop();
        wait((CompletableFuture<?>) groups.deleteToAll(group));
    }

    private void indexStreams() throws Exception {
        String category = "java" + UUID.randomUUID().toString().replace("-", "");
        write(category + "-a", 0, 1);
        write(category + "-b", 2);
        List<String> links = new ArrayList<>();
        for (var link : read("$ce-" + category, ReadStreamOptions.get().fromStart())) links.add(link.getEvent().getRevision() + " " + text(link));
        equal(links, List.of("0 0@" + category + "-a", "1 1@" + category + "-a", "2 0@" + category + "-b"));
        List<String> notes = new ArrayList<>();
        for (var event : read("$ce-" + category, ReadStreamOptions.get().backwards().fromEnd().resolveLinkTos())) notes.add(text(event));
        equal(notes, List.of(note(2), note(1), note(0)));
    }

    /** A read says where its stream begins and ends. */
    private void positions() throws Exception {
        String stream = "java-" + UUID.randomUUID();
        write(stream, 0, 1, 2);
        var metadata = new StreamMetadata();
        metadata.setTruncateBefore(1L);
        wait(client.setStreamMetadata(stream, metadata));
        var read = wait(client.readStream(stream, ReadStreamOptions.get().fromStart()));
        equal(read.getFirstStreamPosition(), 1L);
        equal(read.getLastStreamPosition(), 2L);
    }

    public static void main(String[] arguments) throws Exception {
        var client = EventStoreDBClient.create(EventStoreDBConnectionString.parseOrThrow(arguments[0]));
        var story = new Story(client);
        story.streamGroup();
        story.allGroup();
        story.indexStreams();
        story.positions();
        wait((CompletableFuture<?>) story.groups.restartSubsystem());
        wait(client.shutdown());
        System.out.println("the story is told");
    }
}
