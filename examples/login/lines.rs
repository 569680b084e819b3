//! The output, as lines of JSON or as text for the user, and the one input line.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::time::SystemTime;

use chrono::{DateTime, SecondsFormat, Utc};
use envd_sdk::auth::{DeviceLogin, PendingLogin, TokenSet};
use serde_json::{Value, json};
use url::Url;

use super::cli::{self, Failure};
use super::login_options::Options;

/// The first line: the address to open in a browser.
pub(crate) fn begun(options: &Options, login: &PendingLogin) -> Result<(), Failure> {
    if !options.json {
        println!("To log in, open this address in a browser:\n");
        println!("    {}\n", cli::printable(login.url()));
        return Ok(io::stdout().flush()?);
    }
    print(&json!({"authorize_url": login.url().as_str()}))
}

/// The first line of a login on another device: the page to open there, and the code to type.
pub(crate) fn begun_on_device(login: &DeviceLogin) -> Result<(), Failure> {
    let complete = login.verification_url_complete().map(Url::as_str);
    print(&json!({
        "verification_url": login.verification_url().as_str(),
        "verification_url_complete": complete,
        "user_code": login.user_code(),
        "expires_at": rfc_3339(login.expires_at()),
    }))
}

/// The last line: the user's id, the expiry of the access token, and the token file.
pub(crate) fn done(options: &Options, tokens: &TokenSet) -> Result<(), Failure> {
    let store = options.store.as_deref();
    if !options.json {
        let user = tokens
            .subject()
            .map_or_else(|| "a user without a name".to_owned(), cli::printable);
        let until = cli::time(tokens.expires_at());
        println!("Logged in as {user}. The access token is valid until {until}.");
        match store.map(Path::display) {
            Some(file) => println!("The tokens are in {file}; access_token renews them."),
            None => println!("The tokens were not kept. --store FILE keeps them."),
        }
        return Ok(());
    }
    print(&json!({
        "subject": tokens.subject(),
        "expires_at": rfc_3339(tokens.expires_at()),
        "store": store.map(|file| file.display().to_string()),
    }))
}

fn rfc_3339(time: SystemTime) -> String {
    DateTime::<Utc>::from(time).to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Flushes, so that a program that reads the output gets the line immediately.
fn print(line: &Value) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", cli::json(&line.to_string()))?;
    Ok(out.flush()?)
}

/// The redirected address that the user pastes.
pub(crate) fn pasted() -> Result<String, Failure> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    match line.trim() {
        "" => Err("no address was given".into()),
        address => Ok(address.to_owned()),
    }
}
