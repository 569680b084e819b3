//! Logs a user in on this machine and keeps the tokens in a file: `cargo run --example login -- --help`.
//!
//! The first line on stdout is `{"authorize_url": ...}`, the address to open in a browser; the last one, once the tokens
//! are stored, is `{"subject": ..., "expires_at": ..., "store": ...}`. `expires_at` is the end of the access token, in
//! RFC 3339. With no options a user of the embedded fake logs in. The exit code is 0, 1 when something failed, 2 for
//! wrong options, 3 when the login was refused.

#[path = "../browser/mod.rs"]
mod browser;
mod lines;
#[path = "../login_options/mod.rs"]
mod login_options;
#[path = "../reader/mod.rs"]
mod reader;

use std::process::ExitCode;

use envd_sdk::auth::{
    FileStore, PendingLogin, ProviderBuilder, TokenManager, TokenSet, TokenStore,
};
use envd_sdk::fake::Fake;
use envd_sdk::loopback::{Loopback, open_browser};

use browser::Browser;
use login_options::{Failure, Options, failed, usage};

#[tokio::main]
async fn main() -> ExitCode {
    reader::may_leave();
    let options = match Options::read("login") {
        Ok(options) => options,
        Err(end) => return end,
    };
    let fake = if options.names_no_provider() {
        Some(Fake::start().await)
    } else {
        None
    };
    let provider = fake
        .as_ref()
        .map_or_else(|| options.provider(), Fake::provider);
    // Any address will do to check the rest of the settings.
    if let Err(error) = provider.clone().redirect_uri("http://127.0.0.1/").build() {
        return usage(error);
    }
    if let Err(error) = can_store(&options).await {
        return failed(&error);
    }
    let tokens = match &options.redirect_uri {
        Some(address) => log_in_by_hand(&options, provider.redirect_uri(address), fake).await,
        None => log_in(&options, provider, fake.is_some()).await,
    };
    match tokens.and_then(|tokens| lines::done(&tokens, options.store.as_deref())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failed(&failure),
    }
}

/// Better now than when the user has logged in.
async fn can_store(options: &Options) -> Result<(), Failure> {
    if let Some(file) = &options.store {
        FileStore::new(file).load("default").await?;
    }
    Ok(())
}

/// The browser comes back to a listener of this program.
async fn log_in(
    options: &Options,
    provider: ProviderBuilder,
    is_fake: bool,
) -> Result<TokenSet, Failure> {
    let path = options.redirect_path.as_deref().unwrap_or("/callback");
    let listener = Loopback::builder().port(options.redirect_port).path(path);
    let listener = listener.bind().await?;
    let provider = provider.redirect_uri(listener.redirect_uri().as_str());
    let (manager, login) = start(options, provider)?;
    let address = login.url().clone();
    if is_fake {
        tokio::spawn(async move { Browser::default().open(&address).await.map(drop) });
    } else if !options.no_browser
        && let Err(error) = open_browser(&address).await
    {
        eprintln!("{error}; open the address above by hand");
    }
    let callback = listener.receive(login).await?;
    Ok(manager.redeem(callback).await?)
}

/// The user carries the address back: for redirects that nothing on this machine can serve.
async fn log_in_by_hand(
    options: &Options,
    provider: ProviderBuilder,
    fake: Option<Fake>,
) -> Result<TokenSet, Failure> {
    let (manager, login) = start(options, provider)?;
    let callback = if let Some(fake) = &fake {
        fake.consent(login.url())?.into()
    } else {
        eprintln!("Log in at the address above, and paste the address that the browser ends at:");
        tokio::task::spawn_blocking(lines::pasted).await??
    };
    Ok(manager.complete_login(login, &callback).await?)
}

/// Starts a login and tells its address, for programs in the first line on stdout.
fn start(
    options: &Options,
    provider: ProviderBuilder,
) -> Result<(TokenManager, PendingLogin), Failure> {
    // Strict: a login whose tokens are not in the file when the program ends is none.
    let manager = options.manager(provider.build()?).strict(true).build()?;
    let login = manager.provider().authorization().start()?;
    lines::begun(&login)?;
    Ok((manager, login))
}
