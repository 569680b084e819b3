//! How an application is tested against the fake: `cargo run --example test_your_app`.
//!
//! The application below reports how many declarations came in since a day. Its tests stand under it; here they run one
//! after the other, so that the example can be run. In your application each is a test function.

mod reader;

use std::time::Duration;

use envd_sdk::fake::{Fake, Fault, Person, World};
use envd_sdk::graphql::generated::Consignments;
use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::{Client, Error};

type Test = Result<(), Box<dyn std::error::Error>>;

/// The application: it knows a client, and not where the client leads to.
struct Yard {
    client: Client,
}

impl Yard {
    /// The numbers of the newest declarations of the user's first account, or what to tell the user instead.
    async fn report(&self) -> String {
        match self.newest().await {
            Ok(numbers) => format!("{} declarations: {}", numbers.len(), numbers.join(", ")),
            Err(error) if error.is_not_registered() => "Please register first.".to_owned(),
            Err(error) if error.is_reauth_required() || error.is_unauthorized() => {
                "Please log in again.".to_owned()
            }
            Err(error) if error.is_retryable() => "The service is away. Try later.".to_owned(),
            Err(error) => format!("Something is wrong: {error}."),
        }
    }

    async fn newest(&self) -> Result<Vec<String>, Error> {
        let user = self.client.registered_user().await?.value;
        let mut ids = user
            .accounts
            .iter()
            .filter_map(|account| account.envd_account_id.clone());
        let Some(id) = ids.next() else {
            return Ok(Vec::new());
        };
        let filter = ConsignmentFilter::default().page_size(3);
        let page = self
            .client
            .account(id)
            .consignments_page(&filter, None)
            .await?
            .value;
        let nodes = page.edges.iter().filter_map(|edge| edge.node.as_ref());
        Ok(nodes
            .filter_map(|node| node.number.as_ref().map(ToString::to_string))
            .collect())
    }
}

fn yard(fake: &Fake) -> Result<Yard, Error> {
    let client = fake.client().build()?;
    Ok(Yard { client })
}

async fn a_good_day() -> Test {
    let fake = Fake::start().await;
    let report = yard(&fake)?.report().await;
    assert_eq!(
        report,
        "3 declarations: C-900000108, C-900000107, C-900000106"
    );
    Ok(())
}

async fn a_world_of_our_own() -> Test {
    let kim = Person::new("kim@example.com")
        .role("Producer")
        .account("envd-7", "LPA", "QAZZ7777");
    let input = ConsignmentInput::new(
        [FormType::Lpac1],
        PartyInput::new("QAZZ7777"),
        PartyInput::new("QDZZ3333"),
    );
    let world = World::empty().user(kim).consignment("envd-7", input);
    let fake = Fake::builder().world(world).start().await?;
    assert_eq!(yard(&fake)?.report().await, "1 declarations: C-900000101");
    Ok(())
}

async fn a_service_that_stumbles_and_recovers() -> Test {
    let fake = Fake::start().await;
    let away = Fault::status(503).header("retry-after", "0");
    fake.on::<Consignments>().fault(away).times(2).expect(3);
    assert!(yard(&fake)?.report().await.starts_with("3 declarations"));
    Ok(())
}

async fn a_service_that_stays_away() -> Test {
    let fake = Fake::start().await;
    fake.on_path("/v2/graphql")
        .fault(Fault::html(503).header("retry-after", "0"))
        .forever();
    assert_eq!(
        yard(&fake)?.report().await,
        "The service is away. Try later."
    );
    Ok(())
}

async fn a_login_that_ended() -> Test {
    let fake = Fake::builder()
        .access_token_lifetime(Duration::from_secs(60))
        .start()
        .await?;
    let yard = yard(&fake)?;
    fake.revoke_logins();
    assert_eq!(yard.report().await, "Please log in again.");
    Ok(())
}

async fn what_was_asked_for() -> Test {
    let fake = Fake::start().await;
    yard(&fake)?.report().await;
    let asked = fake.variables_of::<Consignments>();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].first, Some(3));
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Test {
    reader::may_leave();
    a_good_day().await?;
    println!("ok: a good day");
    a_world_of_our_own().await?;
    println!("ok: a world of our own");
    a_service_that_stumbles_and_recovers().await?;
    println!("ok: a service that stumbles and recovers");
    a_service_that_stays_away().await?;
    println!("ok: a service that stays away");
    a_login_that_ended().await?;
    println!("ok: a login that ended");
    what_was_asked_for().await?;
    println!("ok: what was asked for");
    Ok(())
}
