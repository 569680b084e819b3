//! Tests of an application against the fake: `cargo run --example test_your_app`.
//!
//! The application, in `yard.rs`, reports the newest declarations. This file has its tests. Here `main` runs them in turn; in
//! your application each is a test function.

#[path = "../cli/mod.rs"]
mod cli;
mod yard;

use std::process::ExitCode;
use std::time::Duration;

use envd_sdk::Error;
use envd_sdk::fake::{Fake, Fault, UserRecord, World};
use envd_sdk::graphql::generated::{Consignments, CopyConsignment};
use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};

use yard::Yard;

const USAGE: &str = "usage: test_your_app

Tests of an application against the fake, with their own data, faults and received requests.";

type Test = Result<(), cli::Failure>;

/// The application with a client of the fake.
fn yard(fake: &Fake) -> Result<Yard, Error> {
    Ok(Yard::new(fake.client().build()?))
}

async fn the_newest_declarations_are_listed() -> Test {
    let fake = Fake::start().await;
    let expected = "3 declarations: C-900000108, C-900000107, C-900000106";
    assert_eq!(yard(&fake)?.report().await, expected);
    Ok(())
}

async fn a_world_of_its_own() -> Test {
    let kim = UserRecord::new("kim@example.com")
        .role("Producer")
        .account("envd-7", "LPA", "QAZZ7777");
    let from = PartyInput::new("QAZZ7777");
    let to = PartyInput::new("QDZZ3333");
    let input = ConsignmentInput::new([FormType::Lpac1], from, to);
    let world = World::empty().user(kim).consignment("envd-7", input);
    let fake = Fake::builder().world(world).start().await?;
    assert_eq!(yard(&fake)?.report().await, "1 declarations: C-900000101");
    Ok(())
}

async fn a_short_outage_is_retried() -> Test {
    let fake = Fake::start().await;
    let away = Fault::status(503).header("retry-after", "0");
    fake.on::<Consignments>().fault(away).times(2).expect(3);
    assert!(yard(&fake)?.report().await.starts_with("3 declarations"));
    Ok(())
}

async fn a_long_outage_is_reported() -> Test {
    let fake = Fake::start().await;
    let away = Fault::html(503).header("retry-after", "0");
    fake.on_path("/v2/graphql").fault(away).forever();
    let report = yard(&fake)?.report().await;
    assert_eq!(report, "The service is unavailable. Try again later.");
    Ok(())
}

async fn a_save_in_an_outage_is_in_doubt() -> Test {
    let fake = Fake::start().await;
    let away = Fault::status(503).header("retry-after", "0");
    // Once: the client does not repeat a change, because the service may have made it.
    fake.on::<CopyConsignment>().fault(away).expect(1);
    let report = yard(&fake)?.copy(fake.account_id(), "C-900000101").await;
    assert_eq!(
        report,
        "It is not known whether C-900000101 was copied. Look at the list first."
    );
    Ok(())
}

async fn an_ended_login_is_reported() -> Test {
    let builder = Fake::builder().access_token_lifetime(Duration::from_secs(60));
    let fake = builder.start().await?;
    let yard = yard(&fake)?;
    fake.revoke_logins();
    assert_eq!(yard.report().await, "Please log in again.");
    Ok(())
}

async fn the_page_size_is_requested() -> Test {
    let fake = Fake::start().await;
    yard(&fake)?.report().await;
    let requests = fake.variables_of::<Consignments>();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].first, Some(3));
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    cli::no_arguments(USAGE);
    // A failed assertion panics in the task; then the exit code is 1.
    let done = tokio::spawn(all()).await;
    cli::end(done.unwrap_or_else(|panic| Err(panic.into())))
}

async fn all() -> Test {
    the_newest_declarations_are_listed().await?;
    println!("ok: the newest declarations are listed");
    a_world_of_its_own().await?;
    println!("ok: a world of its own");
    a_short_outage_is_retried().await?;
    println!("ok: a short outage is retried");
    a_long_outage_is_reported().await?;
    println!("ok: a long outage is reported");
    a_save_in_an_outage_is_in_doubt().await?;
    println!("ok: a save in an outage is in doubt");
    an_ended_login_is_reported().await?;
    println!("ok: an ended login is reported");
    the_page_size_is_requested().await?;
    println!("ok: the page size is requested");
    Ok(())
}
