//! Logs in on a machine without a browser: the user types a code on another device.

use std::time::{Duration, SystemTime};

use envd_sdk::Clock;
use envd_sdk::auth::{DeviceLogin, ProviderBuilder, TokenSet};
use envd_sdk::fake::Fake;

use super::cli::{Failure, printable};
use super::lines;
use super::login_options::Options;

/// Uses a manual clock, because the fake's user answers immediately.
pub(crate) async fn start_fake() -> envd_sdk::Result<Fake> {
    let clock = Clock::manual(SystemTime::now());
    Fake::builder().clock(clock).start().await
}

/// Prints the code, and waits until the user has approved or refused. The fake's user approves immediately.
pub(crate) async fn log_in(
    options: &Options,
    provider: ProviderBuilder,
    fake: Option<Fake>,
) -> Result<TokenSet, Failure> {
    // Strict: the login fails when its tokens cannot be stored.
    let manager = options.manager(provider.build()?).strict(true).build()?;
    let login = manager.provider().authorization().start_device().await?;
    if options.json {
        lines::begun_on_device(&login)?;
    }
    explain(&login);
    if let Some(fake) = &fake {
        fake.approve_device(login.user_code())?;
        fake.clock().advance(login.interval());
    }
    Ok(manager.complete_device_login(login).await?)
}

/// Prints the instructions to stderr, for the user.
fn explain(login: &DeviceLogin) {
    eprintln!("To log this machine in, open this page on a phone or another computer:");
    eprintln!("\n    {}\n", printable(login.verification_url()));
    eprintln!("and type this code:");
    eprintln!("\n    {}\n", printable(login.user_code()));
    if let Some(complete) = login.verification_url_complete() {
        let complete = printable(complete);
        eprintln!("Or open {complete} and compare the code there with the one above.");
    }
    let left = login.expires_at().duration_since(SystemTime::now());
    eprintln!(
        "The code is valid for {}.",
        minutes(left.unwrap_or_default())
    );
}

fn minutes(time: Duration) -> String {
    match time.as_secs().div_ceil(60) {
        1 => "a minute".to_owned(),
        minutes => format!("{minutes} minutes"),
    }
}
