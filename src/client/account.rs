//! The handle of an account.

use super::Client;
use crate::model::AccountId;

/// A client for one account: the account's id is given once. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Account {
    client: Client,
    id: AccountId,
}

impl Account {
    pub(super) fn new(client: Client, id: AccountId) -> Self {
        Self { client, id }
    }

    /// The id that operations take as `envdAccountId`.
    #[must_use]
    pub fn id(&self) -> &AccountId {
        &self.id
    }

    /// The client of which this is the handle.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }
}
