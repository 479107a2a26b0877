//! Uses every call of persistent subscriptions of an EventStoreDB, its index streams, and every call of users, operations and
//! monitoring, with the official client.
//!
//!     eventstore-groups ADDRESS
//!
//! ADDRESS is a connection string. It panics at the first answer that is not as expected.

use std::error::Error;
use std::time::{Duration, Instant};

use eventstore::operations::{self, ScavengeStatus, StatsOptions, VNodeState};
use eventstore::{
    Client, EventData, NakAction, PersistentSubscription, PersistentSubscriptionEvent, PersistentSubscriptionOptions,
    PersistentSubscriptionToAllOptions, ReadEvent, ReadStreamOptions, ResolvedEvent, StreamMetadataBuilder, StreamPosition,
    SubscribeToPersistentSubscriptionOptions, SubscriptionFilter, SystemConsumerStrategy,
};
use serde_json::{json, Value};
use uuid::Uuid;

type Told<T> = Result<T, Box<dyn Error>>;

const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for what the server does by itself.
macro_rules! eventually {
    ($what:literal, $reached:expr) => {
        let end = Instant::now() + PATIENCE;
        while !$reached {
            assert!(Instant::now() < end, concat!("never: ", $what));
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
}

async fn write(client: &Client, stream: &str, numbers: &[u64]) -> Told<()> {
    let events = numbers.iter().map(|n| EventData::json("Noted", &json!({ "n": n }))).collect::<Result<Vec<_>, _>>()?;
    client.append_to_stream(stream, &Default::default(), events).await?;
    Ok(())
}

fn number(event: &ResolvedEvent) -> Option<u64> {
    event.event.as_ref()?.as_json::<Value>().ok()?["n"].as_u64()
}

/// The text of a link, or of an event that is none.
fn text(event: &ResolvedEvent) -> String {
    String::from_utf8_lossy(&event.get_original_event().data).into_owned()
}

/// Reads events of these numbers.
async fn take<const N: usize>(subscription: &mut PersistentSubscription, retries: usize, numbers: [u64; N]) -> Told<[ResolvedEvent; N]> {
    let mut taken = Vec::new();
    while taken.len() < N {
        let next = tokio::time::timeout(PATIENCE, subscription.next_subscription_event()).await??;
        if let PersistentSubscriptionEvent::EventAppeared { retry_count, event } = next {
            assert_eq!((number(&event), retry_count), (Some(numbers[taken.len()]), retries));
            taken.push(event);
        }
    }
    taken.try_into().map_err(|_| "as many events as numbers".into())
}

async fn read(client: &Client, stream: &str, options: &ReadStreamOptions) -> Told<Vec<ResolvedEvent>> {
    let mut events = client.read_stream(stream, options).await?;
    let mut all = Vec::new();
    while let Some(event) = events.next().await? {
        all.push(event);
    }
    Ok(all)
}

async fn stream_group(client: &Client) -> Told<()> {
    let (stream, group) = (format!("rust-{}", Uuid::new_v4()), "a group");
    let (stream, defaults) = (stream.as_str(), SubscribeToPersistentSubscriptionOptions::default());
    write(client, stream, &[0, 1, 2, 3, 4]).await?;
    let mut options = PersistentSubscriptionOptions::default()
        .start_from(StreamPosition::Start)
        .message_timeout(Duration::from_secs(600))
        .max_retry_count(1)
        .checkpoint_lower_bound(1)
        .checkpoint_upper_bound(1);
    client.create_persistent_subscription(stream, group, &options).await?;
    let again = client.create_persistent_subscription(stream, group, &options).await;
    assert!(matches!(again, Err(eventstore::Error::ResourceAlreadyExists)), "{again:?}");
    let info = || async { client.get_persistent_subscription_info(stream, group, &Default::default()).await };
    let mut events = client.subscribe_to_persistent_subscription(stream, group, &defaults).await?;
    let [zero, one, two, three, four] = take(&mut events, 0, [0, 1, 2, 3, 4]).await?;
    events.ack(zero).await?;
    events.ack(one).await?;
    eventually!("a checkpoint", info().await?.stats.last_checkpointed_event_revision == Some(1));
    events.nack(two, NakAction::Park, "not now").await?;
    events.nack(three, NakAction::Retry, "again").await?;
    let [again] = take(&mut events, 1, [3]).await?;
    events.nack(again, NakAction::Unknown, "again").await?;
    events.nack(four, NakAction::Skip, "never").await?;
    eventually!("two events are parked", info().await?.stats.parked_message_count == 2);
    let parked = read(client, &format!("$persistentsubscription-{stream}::{group}-parked"), &Default::default()).await?;
    let mut parked: Vec<_> = parked.iter().map(text).collect();
    parked.sort();
    assert_eq!(parked, [format!("2@{stream}"), format!("3@{stream}")]);
    client.replay_parked_messages(stream, group, &Default::default()).await?;
    for event in take(&mut events, 0, [2, 3]).await? {
        events.ack(event).await?;
    }
    eventually!("nothing is parked", info().await?.stats.parked_message_count == 0);
    drop(events);
    let listed = client.list_persistent_subscriptions_for_stream(stream, &Default::default()).await?;
    assert_eq!(listed.iter().map(|s| s.group_name.as_str()).collect::<Vec<_>>(), [group]);
    options.settings_mut().max_retry_count = 7;
    client.update_persistent_subscription(stream, group, &options).await?;
    assert_eq!(info().await?.settings.map(|s| s.max_retry_count), Some(7));
    client.delete_persistent_subscription(stream, group, &Default::default()).await?;
    let again = client.delete_persistent_subscription(stream, group, &Default::default()).await;
    assert!(matches!(again, Err(eventstore::Error::ResourceNotFound)), "{again:?}");
    Ok(())
}

async fn all_group(client: &Client) -> Told<()> {
    let (prefix, group) = (format!("rust-{}", Uuid::new_v4()), format!("all-{}", Uuid::new_v4()));
    write(client, &format!("{prefix}-before"), &[0, 1]).await?;
    let options = PersistentSubscriptionToAllOptions::default()
        .start_from(StreamPosition::End)
        .consumer_strategy_name(SystemConsumerStrategy::Pinned)
        .filter(SubscriptionFilter::on_stream_name().add_prefix(&prefix));
    client.create_persistent_subscription_to_all(&group, &options).await?;
    write(client, &format!("{prefix}-after"), &[10, 11, 12]).await?;
    write(client, &format!("other-{prefix}"), &[0]).await?;
    let mut events = client.subscribe_to_persistent_subscription_to_all(&group, &Default::default()).await?;
    for event in take(&mut events, 0, [10, 11, 12]).await? {
        events.ack(event).await?;
    }
    let listed = client.list_all_persistent_subscriptions(&Default::default()).await?;
    assert!(listed.iter().any(|s| s.group_name == group));
    drop(events);
    client.delete_persistent_subscription_to_all(&group, &Default::default()).await?;
    Ok(())
}

async fn index_streams(client: &Client) -> Told<()> {
    let category = format!("rust{}", Uuid::new_v4().simple());
    write(client, &format!("{category}-a"), &[0, 1]).await?;
    write(client, &format!("{category}-b"), &[2]).await?;
    let stream = format!("$ce-{category}");
    let links = read(client, &stream, &Default::default()).await?;
    let links: Vec<_> = links.iter().map(|l| (l.get_original_event().revision, text(l))).collect();
    assert_eq!(links, [(0, format!("0@{category}-a")), (1, format!("1@{category}-a")), (2, format!("0@{category}-b"))]);
    let backwards = ReadStreamOptions::default().backwards().position(StreamPosition::End).resolve_link_tos();
    let events = read(client, &stream, &backwards).await?;
    assert_eq!(events.iter().map(number).collect::<Vec<_>>(), [Some(2), Some(1), Some(0)]);
    Ok(())
}

/// A read says where its stream begins and ends.
async fn positions(client: &Client) -> Told<()> {
    let stream = format!("rust-{}", Uuid::new_v4());
    write(client, &stream, &[0, 1, 2]).await?;
    let metadata = StreamMetadataBuilder::new().truncate_before(1).build();
    client.set_stream_metadata(stream.as_str(), &Default::default(), &metadata).await?;
    let mut read = client.read_stream(stream.as_str(), &Default::default()).await?;
    let (mut first, mut last) = (None, None);
    while let Some(event) = read.next_read_event().await? {
        match event {
            ReadEvent::FirstStreamPosition(revision) => first = Some(revision),
            ReadEvent::LastStreamPosition(revision) => last = Some(revision),
            _ => {}
        }
    }
    assert_eq!((first, last), (Some(1), Some(2)));
    Ok(())
}

async fn users(client: &operations::Client) -> Told<()> {
    let (login, options) = (format!("rust_{}", Uuid::new_v4().simple()), Default::default());
    let groups = || vec!["$ops".to_owned(), "readers".to_owned()];
    client.create_user(&login, "changeit", "A user", groups(), &options).await?;
    let again = client.create_user(&login, "changeit", "A user", groups(), &options).await;
    assert!(matches!(again, Err(eventstore::Error::ResourceAlreadyExists)), "{again:?}");
    let details = || async {
        let mut all = client.user_details(&login, &options).await?;
        let one = all.next().await?.expect("a user");
        assert!(all.next().await?.is_none());
        assert!(one.last_updated.is_some());
        Ok::<_, eventstore::Error>((one.login, one.full_name, one.groups, one.disabled))
    };
    assert_eq!(details().await?, (login.clone(), "A user".into(), groups(), false));
    client.update_user(&login, "", "Another name", vec![], &options).await?;
    client.disable_user(&login, &options).await?;
    assert_eq!(details().await?, (login.clone(), "Another name".into(), vec![], true));
    client.enable_user(&login, &options).await?;
    client.change_user_password(&login, "changeit", "changed it", &options).await?;
    let wrong = client.change_user_password(&login, "changeit", "changed again", &options).await;
    assert!(matches!(wrong, Err(eventstore::Error::AccessDenied)), "{wrong:?}");
    client.reset_user_password(&login, "was reset", &options).await?;
    client.change_user_password(&login, "was reset", "changed again", &options).await?;
    client.delete_user(&login, &options).await?;
    let again = client.delete_user(&login, &options).await;
    assert!(matches!(again, Err(eventstore::Error::ResourceNotFound)), "{again:?}");
    Ok(())
}

async fn operate(client: &operations::Client) -> Told<()> {
    let options = Default::default();
    let begun = client.start_scavenge(1, 0, &options).await?;
    assert!(matches!(begun.status(), ScavengeStatus::Started | ScavengeStatus::InProgress));
    assert_eq!(client.stop_scavenge(begun.id(), &options).await?.status(), ScavengeStatus::Stopped);
    let unknown = client.stop_scavenge(Uuid::new_v4().to_string(), &options).await;
    assert!(matches!(unknown, Err(eventstore::Error::ResourceNotFound)), "{unknown:?}");
    client.merge_indexes(&options).await?;
    client.resign_node(&options).await?;
    client.set_node_priority(3, &options).await?;
    client.restart_persistent_subscriptions(&options).await?;
    let mut stats = client.stats(&StatsOptions::default().refresh_time(Duration::from_millis(200))).await?;
    for _ in 0..2 {
        assert!(stats.next().await?.0["proc-id"].parse::<u32>()? > 0);
    }
    let refused = client.shutdown(&options).await; // the node is part of another process
    assert!(matches!(refused, Err(eventstore::Error::AccessDenied)), "{refused:?}");
    Ok(())
}

/// The client asks for gossip by HTTP, and does not give the authority of the address to what does that.
async fn gossip(address: &str) -> Told<()> {
    let client = operations::Client::new(format!("{address}&tlsVerifyCert=false").parse()?);
    let members = client.read_gossip().await?;
    assert_eq!(members.iter().map(|m| (m.state, m.is_alive, m.node_priority)).collect::<Vec<_>>(), [(VNodeState::Leader, true, 3)]);
    Ok(())
}

#[tokio::main]
async fn main() -> Told<()> {
    let address = std::env::args().nth(1).ok_or("the address is missing")?;
    let client = Client::new(address.parse()?)?;
    stream_group(&client).await?;
    all_group(&client).await?;
    index_streams(&client).await?;
    positions(&client).await?;
    let operator: operations::Client = client.clone().into();
    users(&operator).await?;
    operate(&operator).await?;
    gossip(&address).await?;
    client.restart_persistent_subscription_subsystem(&Default::default()).await?;
    println!("the story is told");
    Ok(())
}
