//! How an application is tested against the fake: `cargo run --example test_your_app`.
//!
//! The application, in `yard.rs`, reports the newest declarations. Here are its tests. They run one after the other, so
//! that the example can be run; in your application each is a test function.

#[path = "../cli/mod.rs"]
mod cli;
mod yard;

use std::process::ExitCode;
use std::time::Duration;

use envd_sdk::Error;
use envd_sdk::fake::{Fake, Fault, UserRecord, World};
use envd_sdk::graphql::generated::Consignments;
use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};

use yard::Yard;

const USAGE: &str = "usage: test_your_app

How an application is tested on the fake: a world of its own, faults, what was asked.";

type Test = Result<(), cli::Failure>;

/// The application on the fake, as it would be on the service.
fn yard(fake: &Fake) -> Result<Yard, Error> {
    Ok(Yard::new(fake.client().build()?))
}

async fn a_good_day() -> Test {
    let fake = Fake::start().await;
    let expected = "3 declarations: C-900000108, C-900000107, C-900000106";
    assert_eq!(yard(&fake)?.report().await, expected);
    Ok(())
}

async fn a_world_of_our_own() -> Test {
    let kim = UserRecord::new("kim@example.com")
        .role("Producer")
        .account("envd-7", "LPA", "QAZZ7777");
    let (from, to) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    let input = ConsignmentInput::new([FormType::Lpac1], from, to);
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
    let away = Fault::html(503).header("retry-after", "0");
    fake.on_path("/v2/graphql").fault(away).forever();
    let report = yard(&fake)?.report().await;
    assert_eq!(report, "The service is away. Try later.");
    Ok(())
}

async fn a_login_that_ended() -> Test {
    let builder = Fake::builder().access_token_lifetime(Duration::from_secs(60));
    let fake = builder.start().await?;
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
async fn main() -> ExitCode {
    cli::no_arguments(USAGE);
    // An assertion that fails panics, and the exit code is 1.
    let done = tokio::spawn(all()).await;
    cli::end(done.unwrap_or_else(|panic| Err(panic.into())))
}

async fn all() -> Test {
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
