//! Access to the pages: a random part of their address, stored in a file next to the store.
//!
//! Every user of a machine can reach a port of 127.0.0.1, and browsers send a cookie to all ports of a host. So the address itself
//! is the secret: the program prints it to the user who started it.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::sync::OnceLock;

use sha2::{Digest, Sha256};

use super::cli::Failure;
use super::server::random_id;

static SESSION: OnceLock<Session> = OnceLock::new();

pub(crate) struct Session {
    /// The prefix of all paths.
    pub(crate) base: String,
    /// A hidden field of each form. A site that cannot read our pages does not have it.
    pub(crate) token: String,
}

impl Session {
    /// The session of a store. It outlives the program, so open pages still work after a restart.
    pub(crate) fn of(store: &Path) -> Result<Self, Failure> {
        let mut file = store.as_os_str().to_owned();
        file.push(".session");
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let named = |error| format!("{}: {error}", file.display());
        match options.open(&file) {
            Ok(mut new) => new.write_all(random_id()?.as_bytes()).map_err(named)?,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(named(error).into()),
        }
        let secret = fs::read_to_string(&file).map_err(named)?;
        if secret.len() != 32 {
            return Err(format!(
                "{} is damaged: delete it, and open the new address",
                file.display()
            )
            .into());
        }
        let token = Sha256::digest(format!("token {secret}"));
        Ok(Self {
            base: format!("/{secret}"),
            token: format!("{token:x}"),
        })
    }

    /// Makes this the session of the program.
    pub(crate) fn begin(self) {
        let _ = SESSION.set(self);
    }

    pub(crate) fn now() -> &'static Self {
        // OK because it begins before the first request is accepted.
        SESSION.get().expect("a session")
    }
}
