//! The file of an outbox, and whose it is.

use std::path::{Path, PathBuf};

use envd_sdk::Client;
use envd_sdk::auth::StaticToken;
use envd_sdk::model::AccountId;
use envd_sdk::sync::outbox::{Entry, Outbox};
use envd_sdk::sync::store::SqliteSync;

use super::cli::{self, Failure};
use super::failure::{Setting, UnusableStore};
use super::settings::Settings;

/// A file with the outbox of an account.
pub(crate) struct File {
    store: SqliteSync,
    path: PathBuf,
    account: Option<AccountId>,
}

impl File {
    /// Opens a file, or creates it. The account is that of the settings, or the one of the last run.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let unusable =
            |problem: String| UnusableStore(format!("--store {}: {problem}", path.display()));
        let store = SqliteSync::open(path).map_err(|error| unusable(cli::chain(&error)))?;
        let file = Self {
            store,
            path: path.to_owned(),
            account: None,
        };
        match Settings::chosen_account() {
            Some(account) => file.known(account),
            None => Ok(Self {
                account: Settings::remembered_account(path)?,
                ..file
            }),
        }
    }

    /// The same file, now that the account is known.
    pub(crate) fn known(self, account: AccountId) -> Result<Self, Failure> {
        Settings::remember_account(&self.path, &account)?;
        Ok(Self {
            account: Some(account),
            ..self
        })
    }

    pub(crate) fn account(&self) -> Option<&AccountId> {
        self.account.as_ref()
    }

    /// The outbox, for what needs no service.
    pub(crate) fn outbox(&self) -> Result<Outbox, Failure> {
        // Neither address nor token is used.
        let token = StaticToken::new("unused")?;
        let client = Client::builder("https://localhost/").token_source(token);
        self.outbox_of(&client.build()?)
    }

    /// What waits, with or without an account.
    pub(crate) async fn entries(&self) -> Result<Vec<Entry>, Failure> {
        match self.account {
            Some(_) => Ok(self.outbox()?.entries().await?),
            None => Ok(Vec::new()),
        }
    }

    /// The outbox of the account, at a service.
    pub(crate) fn outbox_of(&self, client: &Client) -> Result<Outbox, Failure> {
        let account = self.account.clone().ok_or_else(|| {
            let what = "the account is not known yet: set ENVD_ACCOUNT_ID, or use `run` once with reception";
            Setting(what.to_owned())
        })?;
        Ok(client.account(account).outbox(self.store.clone()))
    }
}
