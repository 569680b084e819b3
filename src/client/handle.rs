//! The client that users hold.

use std::fmt;
use std::sync::Arc;

use graphql_client::GraphQLQuery;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::run::Runner;
use super::{Account, Call, ClientBuilder};
use crate::error::Result;
use crate::graphql::{AdaptedOperation, Outcome, encode, encode_document, encode_operation};
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
    /// A mutation whose reply has no result (`{}`, or nothing but nulls) and no errors is an error, of your own operations
    /// too: whether the change was made is not known.
    ///
    /// # Errors
    ///
    /// Any of the predicates of [`Error`](crate::Error); for a change, ask
    /// [`may_have_applied`](crate::Error::may_have_applied) before sending it again.
    pub async fn execute<Q: GraphQLQuery>(
        &self,
        variables: Q::Variables,
    ) -> Result<Outcome<Q::ResponseData>> {
        let call = self.request::<Q>(variables);
        Ok(call.send().await?.outcome)
    }

    /// Runs a document of the caller's, with the caller's types for variables and data.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let client = fake.client().build()?;
    /// let document = "query Count($account: String!) { consignments(envdAccountId: $account) { totalCount } }";
    /// let variables = serde_json::json!({"account": fake.account_id()});
    /// let data: serde_json::Value = client.execute_document(document, "Count", &variables).await?.value;
    /// assert!(data["consignments"]["totalCount"].is_u64());
    /// # Ok(()) }
    /// ```
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
        let call = self.request_document(document, operation_name, variables);
        Ok(call.send().await?.outcome)
    }

    /// The queries that are sent with another document than ours, because the server's schema did not fit it. Mostly
    /// none; empty until a call has met the difference.
    ///
    /// A server refuses a document as a whole when it asks for one field that is not there. A query of this crate is then
    /// sent again without the fields that the server does not know, and so are the later ones of this client and its
    /// clones: the types stay the same, and what is left out is `None` or empty. Fields without which a list or a decision
    /// of this crate would be wrong are never left out, changes are never adapted, and neither is an
    /// [override](ClientBuilder::override_operation).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // A service without the first names of commenters.
    /// let schema = envd_sdk::graphql::SCHEMA.replacen("  firstName: String\n", "  givenName: String\n", 1);
    /// let fake = envd_sdk::fake::Fake::builder().schema(schema).start().await?;
    /// let client = fake.client().build()?;
    /// let comments = client.account(fake.account_id()).comments("C-900000101").await?.value;
    /// assert!(comments.iter().all(|comment| comment.first_name.is_none()));
    /// let adapted = client.adapted_operations();
    /// assert_eq!(adapted[0].operation, "comments");
    /// assert_eq!(adapted[0].left_out, ["comments.firstName"]);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn adapted_operations(&self) -> Vec<AdaptedOperation> {
        self.0.overrides.adapted_operations()
    }

    /// How many levels of questions an operation asks for; `None` when its document is the caller's.
    pub(crate) fn question_levels(&self, operation: &str) -> Option<usize> {
        self.0.overrides.question_levels(operation)
    }

    /// Asks for further levels of questions from now on, if a reply went deeper than was asked for.
    pub(crate) fn deepen(&self, operation: &str, reached: usize) {
        self.0.overrides.deepen(operation, reached);
    }

    /// Prepares an operation with settings of its own: headers, time limits, retries, or a dry run. The variables are
    /// encoded at once.
    pub fn request<Q: GraphQLQuery>(&self, variables: Q::Variables) -> Call<Q::ResponseData> {
        Call::new(self, encode::<Q>(variables, &self.0.overrides))
    }

    /// Prepares a document of the caller's, as [`request`](Self::request) does an operation.
    pub fn request_document<T: DeserializeOwned>(
        &self,
        document: &str,
        operation_name: &str,
        variables: &impl Serialize,
    ) -> Call<T> {
        Call::new(self, encode_document(document, operation_name, variables))
    }

    /// Prepares an operation of ours with variables of another type.
    pub(crate) fn request_with<Q: GraphQLQuery>(
        &self,
        document: &str,
        operation_name: &str,
        variables: &impl Serialize,
    ) -> Call<Q::ResponseData> {
        let encoded = encode_operation(document, operation_name, variables, &self.0.overrides);
        Call::new(self, encoded)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}
