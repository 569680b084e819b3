//! Access to the pages: a random part of their address, stored in a file next to the store.
//!
//! Every user of a machine can reach a port of 127.0.0.1, and browsers send a cookie to all ports of a host. So the address itself
//! is the secret: the program prints it to the user who started it.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::sync::OnceLock;

use super::cli::Failure;
use super::server::random_id;

static SECRET: OnceLock<String> = OnceLock::new();

/// Reads or creates the secret of a store. It outlives the program, so open pages still work after a restart.
pub(crate) fn begin(store: &Path) -> Result<(), Failure> {
    let mut file = store.as_os_str().to_owned();
    file.push(".session");
    let named = |error| format!("{}: {error}", file.display());
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(&file) {
        Ok(mut new) => new.write_all(random_id()?.as_bytes()).map_err(named)?,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(named(error).into()),
    }
    let secret = fs::read_to_string(&file).map_err(named)?;
    if secret.len() != 32 {
        let file = file.display();
        return Err(format!("{file} is damaged: delete it, and open the new address").into());
    }
    SECRET.get_or_init(|| secret);
    Ok(())
}

/// The hidden field of each form. A site that cannot read the pages does not have it.
pub(crate) fn token() -> &'static str {
    // OK because `begin` is called before the first request is accepted.
    SECRET.get().expect("a session")
}

/// The prefix of all paths.
pub(crate) fn base() -> String {
    format!("/{}", token())
}
