//! The application under test.

use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::{Client, Error, ErrorKind};

/// Takes a client, so that a test can pass a client of the fake.
pub(crate) struct Yard {
    client: Client,
}

impl Yard {
    pub(crate) fn new(client: Client) -> Self {
        Self { client }
    }

    /// Returns the numbers of the newest declarations of the user's first account, or a message for the user.
    pub(crate) async fn report(&self) -> String {
        match self.newest().await {
            Ok(numbers) => format!("{} declarations: {}", numbers.len(), numbers.join(", ")),
            Err(error) if error.kind() == ErrorKind::NotRegistered => {
                "Please register first.".to_owned()
            }
            Err(error) if error.is_reauth_required() || error.kind() == ErrorKind::Unauthorized => {
                "Please log in again.".to_owned()
            }
            Err(error) if error.is_retryable() => {
                "The service is unavailable. Try again later.".to_owned()
            }
            Err(error) => format!("The list could not be read: {error}."),
        }
    }

    /// Copies a declaration, and returns a message for the user.
    pub(crate) async fn copy(&self, account: &str, number: &str) -> String {
        match self.client.account(account).copy_consignment(number).await {
            Ok(copy) => {
                let copy = copy.value.number;
                let copy = copy.map_or_else(String::new, |number| format!(" as {number}"));
                format!("{number} is copied{copy}.")
            }
            Err(error) if error.may_have_applied() => {
                format!("It is not known whether {number} was copied. Look at the list first.")
            }
            Err(error) => format!("{number} was not copied: {error}."),
        }
    }

    async fn newest(&self) -> Result<Vec<String>, Error> {
        let user = self.client.registered_user().await?.value;
        let mut ids = user
            .accounts
            .iter()
            .filter_map(|account| account.envd_account_id.clone());
        let Some(id) = ids.next() else {
            return Ok(Vec::new());
        };
        let filter = ConsignmentFilter::default().page_size(3);
        let page = self
            .client
            .account(id)
            .consignments_page(&filter, None)
            .await?
            .value;
        let nodes = page.edges.iter().filter_map(|edge| edge.node.as_ref());
        Ok(nodes
            .filter_map(|node| node.number.as_ref().map(ToString::to_string))
            .collect())
    }
}
