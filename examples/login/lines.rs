//! The output, one line of JSON at a time, and the one input line.

use std::io::{self, BufRead, Write};
use std::path::Path;

use chrono::{DateTime, SecondsFormat, Utc};
use envd_sdk::auth::{PendingLogin, TokenSet};
use serde_json::{Value, json};

use super::cli::{self, Failure};

/// The first line: the address to open in a browser.
pub(crate) fn begun(login: &PendingLogin) -> Result<(), Failure> {
    print(&json!({"authorize_url": login.url().as_str()}))
}

/// The last line: the user's id, the expiry of the access token, and the file of the tokens.
pub(crate) fn done(tokens: &TokenSet, store: Option<&Path>) -> Result<(), Failure> {
    let expires_at = DateTime::<Utc>::from(tokens.expires_at());
    print(&json!({
        "subject": tokens.subject(),
        "expires_at": expires_at.to_rfc3339_opts(SecondsFormat::Secs, true),
        "store": store.map(|file| file.display().to_string()),
    }))
}

/// Flushed, so that a program that reads the output is not delayed.
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
