//! What the program says, a line of JSON at a time, and the one line that it reads.

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

/// The last line: who has logged in, until when, and where the tokens are.
pub(crate) fn done(tokens: &TokenSet, store: Option<&Path>) -> Result<(), Failure> {
    let expires_at = DateTime::<Utc>::from(tokens.expires_at());
    print(&json!({
        "subject": tokens.subject(),
        "expires_at": expires_at.to_rfc3339_opts(SecondsFormat::Secs, true),
        "store": store.map(|file| file.display().to_string()),
    }))
}

/// Written out at once.
fn print(line: &Value) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", cli::json(&line.to_string()))?;
    Ok(out.flush()?)
}

/// The address that the user carries back.
pub(crate) fn pasted() -> Result<String, Failure> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    match line.trim() {
        "" => Err("no address was given".into()),
        address => Ok(address.to_owned()),
    }
}
