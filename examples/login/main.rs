//! Logs a user in on this machine and keeps the tokens in a file: `cargo run --example login -- --help`.
//!
//! On a terminal it prints text for the user. Otherwise, and with `--json`, it prints lines of JSON:
//!
//! The first line on stdout is `{"authorize_url": ...}`, the address to open in a browser (it holds the `state` of the login,
//! so keep it out of logs that others read). With `--device`, for a machine without a browser, it is `{"verification_url": ...,
//! "verification_url_complete": ..., "user_code": ..., "expires_at": ...}`: the page to open on another device, the same
//! address with the code in it (or null), the code to type, and its expiry; stderr explains this in words.
//!
//! The last line, once the tokens are stored, is `{"subject": ..., "expires_at": ..., "store": ...}`. `expires_at` is the
//! expiry of the access token, in RFC 3339. With no options a user of the embedded fake logs in. The exit code is 0 after a
//! login, 1 if the login failed, 2 for wrong options.

#[path = "../browser/mod.rs"]
mod browser;
#[path = "../cli/mod.rs"]
mod cli;
mod device;
mod lines;
#[path = "../login_options/mod.rs"]
mod login_options;

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use envd_sdk::ErrorKind;
use envd_sdk::auth::{PendingLogin, ProviderBuilder, TokenManager, TokenSet};
use envd_sdk::fake::Fake;

use browser::Browser;
use cli::Failure;
use login_options::Options;

const WHAT: &str = "\
Logs a user in through the browser and keeps the tokens in a file. On a terminal it talks to a person.
To a file or another program, and with --json, the first line on stdout is {\"authorize_url\": ...},
with --device {\"verification_url\": ..., \"user_code\": ...}; the last one is
{\"subject\": ..., \"expires_at\": ..., \"store\": ...}.";

#[tokio::main]
async fn main() -> ExitCode {
    let usage = login_options::usage("login", WHAT);
    let mut options = Options::read(&usage);
    options.json |= !io::stdout().is_terminal();
    if options.status {
        return cli::refuse("--status is an option of access_token", &usage);
    }
    let fake = if options.names_no_provider() {
        match start_fake(&options).await {
            Ok(fake) => Some(fake),
            Err(error) => return cli::fail(&error.into()),
        }
    } else {
        None
    };
    let provider = match &fake {
        Some(fake) => Ok(fake.provider()),
        None => options.provider().await,
    };
    let checked = provider.and_then(|provider| {
        let mut complete = provider.clone();
        if !options.device {
            // The check of the other settings needs some redirect address.
            complete = complete.redirect_uri("http://127.0.0.1/");
        }
        complete.build().map(|_| provider)
    });
    let provider = match checked {
        Ok(provider) => provider,
        Err(error) if error.kind() == ErrorKind::Config => {
            return cli::refuse(cli::chain(&error), &usage);
        }
        Err(error) => return cli::fail(&options.explained(error)),
    };
    if let Err(error) = options.check_store().await {
        return cli::fail(&error);
    }
    let tokens = match &options.redirect_uri {
        _ if options.device => device::log_in(&options, provider, fake).await,
        Some(address) => log_in_by_hand(&options, provider.redirect_uri(address), fake).await,
        None => log_in(&options, provider, fake.is_some()).await,
    };
    cli::end(tokens.and_then(|tokens| lines::done(&options, &tokens)))
}

async fn start_fake(options: &Options) -> envd_sdk::Result<Fake> {
    if options.device {
        device::start_fake().await
    } else {
        Fake::builder().start().await
    }
}

/// The browser is redirected to a listener of this program.
async fn log_in(
    options: &Options,
    provider: ProviderBuilder,
    is_fake: bool,
) -> Result<TokenSet, Failure> {
    let mut listener = options.listener()?.bind().await?;
    let provider = provider.redirect_uri(listener.redirect_uri().as_str());
    let (manager, login) = start(options, provider)?;
    if is_fake {
        let address = login.url().clone();
        tokio::spawn(async move { Browser::default().open(&address).await.map(drop) });
    } else if !options.no_browser
        && let Err(error) = listener.open_browser(&login).await
    {
        eprintln!("{}; open the address above by hand", cli::printable(error));
    }
    Ok(listener.log_in(&manager, login).await?)
}

/// The user pastes the redirected address, because this machine cannot serve it.
async fn log_in_by_hand(
    options: &Options,
    provider: ProviderBuilder,
    fake: Option<Fake>,
) -> Result<TokenSet, Failure> {
    let (manager, login) = start(options, provider)?;
    let callback = if let Some(fake) = &fake {
        fake.consent(login.url())?.into()
    } else {
        eprintln!(
            "Log in at the address above, and paste the address of the page where the browser ends:"
        );
        tokio::task::spawn_blocking(lines::pasted).await??
    };
    Ok(manager.complete_login(login, &callback).await?)
}

/// Starts a login and prints its address in the first line on stdout.
fn start(
    options: &Options,
    provider: ProviderBuilder,
) -> Result<(TokenManager, PendingLogin), Failure> {
    // Strict: the login fails when its tokens cannot be stored.
    let manager = options.manager(provider.build()?).strict(true).build()?;
    let login = manager.provider().authorization().start()?;
    lines::begun(options, &login)?;
    Ok((manager, login))
}
