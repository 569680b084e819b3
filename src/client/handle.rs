//! The client that users hold.

use std::fmt;
use std::sync::Arc;

use graphql_client::GraphQLQuery;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::run::Runner;
use super::{Account, ClientBuilder};
use crate::error::Result;
use crate::graphql::{Outcome, encode, encode_document};
use crate::model::AccountId;

/// A client of the consignment declaration interface. Cheap to clone; clones share connections and tokens.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let fake = envd_sdk::fake::Fake::start().await;
/// let client = fake.client().build()?;
/// let user = client.user_details().await?.value;
/// assert_eq!(user.accounts.len(), 3);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Client(pub(super) Arc<Runner>);

impl Client {
    /// Starts a client for an endpoint, the full address to which operations are posted.
    pub fn builder(endpoint: impl Into<String>) -> ClientBuilder {
        ClientBuilder::new(endpoint.into())
    }

    /// The operations that need an account (spec 4.1), for this account.
    #[must_use]
    pub fn account(&self, id: impl Into<AccountId>) -> Account {
        Account::new(self.clone(), id.into())
    }

    /// Runs an operation: one of ours, or one derived by `graphql_client`.
    ///
    /// # Errors
    ///
    /// Any of the predicates of [`Error`](crate::Error); for a change, ask
    /// [`may_have_applied`](crate::Error::may_have_applied) before sending it again.
    pub async fn execute<Q: GraphQLQuery>(
        &self,
        variables: Q::Variables,
    ) -> Result<Outcome<Q::ResponseData>> {
        let encoded = encode::<Q>(variables)?;
        self.0.run(encoded).await
    }

    /// Runs a document of the caller's, with the caller's types for variables and data.
    ///
    /// # Errors
    ///
    /// As [`execute`](Self::execute).
    pub async fn execute_document<T: DeserializeOwned>(
        &self,
        document: &str,
        operation_name: &str,
        variables: &impl Serialize,
    ) -> Result<Outcome<T>> {
        let encoded = encode_document(document, operation_name, variables)?;
        self.0.run(encoded).await
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}
