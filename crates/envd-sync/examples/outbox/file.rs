//! The file of an outbox, with its account and user.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use envd_sdk::Client;
use envd_sdk::auth::StaticToken;
use envd_sdk::model::AccountId;
use envd_sync::store::SqliteSync;
use envd_sync::{Outbox, Replica};

use super::cli::{self, Failure};
use super::failure::UnusableStore;
use super::settings::Settings;

/// The stored name of the account for entries written before the account was known: without reception, the program cannot ask the
/// service for it. No account has an empty id.
const FIRST: &str = "";

/// The content of `FILE.first` if the account was known from the beginning.
const NONE: &str = "none";

/// A file with the outbox of an account.
pub(crate) struct File {
    store: SqliteSync,
    path: PathBuf,
    account: Option<AccountId>,
    /// The user who is, or was last, logged in. Entries written without reception belong to this user.
    user: Option<String>,
    /// The name of the account in the store.
    key: String,
}

impl File {
    /// Opens or creates a file. The account is that of the settings, or that of the last run.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let store = SqliteSync::open(path).map_err(|error| {
            let problem = cli::chain(&error);
            UnusableStore(format!("--store {}: {problem}", path.display()))
        })?;
        let account = match Settings::chosen_account() {
            Some(account) => Some(account),
            None => Settings::remembered_account(path)?,
        };
        Self::of(store, path.to_owned(), account)
    }

    /// The same file, now that the account is known.
    pub(crate) fn known(self, account: AccountId) -> Result<Self, Failure> {
        Self::of(self.store, self.path, Some(account))
    }

    /// The same file, after a login.
    pub(crate) fn of_user(mut self, user: Option<String>) -> Result<Self, Failure> {
        if let Some(user) = user {
            Settings::remember_user(&self.path, &user)?;
            self.user = Some(user);
        }
        Ok(self)
    }

    pub(crate) fn account(&self) -> Option<&AccountId> {
        self.account.as_ref()
    }

    /// The outbox for commands that need no service.
    pub(crate) fn outbox(&self) -> Result<Outbox, Failure> {
        // The address and the token are not used.
        let token = StaticToken::new("unused")?;
        let client = Client::builder("https://localhost/").token_source(token);
        Ok(self.outbox_of(&client.build()?))
    }

    /// The outbox of the account at a service.
    pub(crate) fn outbox_of(&self, client: &Client) -> Outbox {
        let account = self.account.clone().unwrap_or_else(|| FIRST.into());
        let replica = Replica::new(&client.account(account), self.store.clone());
        let user = self.user.clone();
        Outbox::new(&replica.stored_as(&*self.key)).user(move || user.clone())
    }

    /// Determines the name of the account in the store.
    ///
    /// The first process that opens the file records whether an account is known. Entries written before that belong to the first
    /// known account.
    fn of(store: SqliteSync, path: PathBuf, account: Option<AccountId>) -> Result<Self, Failure> {
        if let Some(account) = &account {
            Settings::remember_account(&path, account)?;
        }
        let mut first = path.clone().into_os_string();
        first.push(".first");
        match OpenOptions::new().write(true).create_new(true).open(&first) {
            Ok(mut file) if account.is_some() => file.write_all(NONE.as_bytes())?,
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error.into()),
            _ => {}
        }
        let owner = std::fs::read_to_string(&first)?;
        // Another process may have determined the account in the meantime.
        let account = match account {
            None if !owner.is_empty() => Settings::remembered_account(&path)?,
            account => account,
        };
        let key = match &account {
            None => FIRST,
            Some(account) if owner.is_empty() => {
                std::fs::write(&first, account.as_str())?;
                FIRST
            }
            Some(account) if owner == account.as_str() => FIRST,
            Some(account) => account.as_str(),
        };
        Ok(Self {
            key: key.to_owned(),
            user: Settings::user(&path)?,
            store,
            path,
            account,
        })
    }
}
