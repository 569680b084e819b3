//! The client of the declaration interface.
//!
//! A [`Client`] has the endpoint, the documents and the sender, a [`ClientBuilder`] has its settings, and an [`Account`] is a
//! client with the id of an account. A [`Connection`] is a page of a list with cursors.
//!
//! Each operation takes one way: its document and variables are encoded, the [`Call`] is sent, [`GraphqlOperation`] reads the
//! reply, and the record is taken out of the data.

mod builder;
mod connection;
mod operation;

pub use self::builder::ClientBuilder;

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use url::Url;

use self::operation::GraphqlOperation;
use crate::auth::TokenSource;
use crate::error::{Error, Result};
use crate::graphql::{
    Encoded, OperationDocument, Outcome, Overrides, TypedOperation, ValueIn, encode,
    encode_document, encode_operation,
};
use crate::model::AccountId;
use crate::profile::{ServiceProfile, Sourced};
use crate::send::{Call, Sender, SentOperation, Settings};
use crate::transport::{Clock, Request, is_loopback, is_private, parse_endpoint};

/// A client of the consignment declaration interface. Cheap to clone; clones share connections and tokens.
///
/// ```
/// # equipment::example(async {
/// let fake = envd_sdk::fake::Fake::start().await;
/// let client = fake.client().build()?;
/// let user = client.user_details().await?.value;
/// assert_eq!(user.accounts.len(), 3);
/// # Ok(()) });
/// ```
#[derive(Clone)]
pub struct Client {
    endpoint: Arc<Endpoint>,
    sender: Sender,
    /// The settings of the call whose further requests this client sends.
    settings: Arc<Settings>,
}

/// Where operations are posted, and with which documents.
struct Endpoint {
    url: Url,
    overrides: Overrides,
    profile: ServiceProfile,
}

impl Client {
    /// Starts a client for an endpoint, the full address to which operations are posted.
    pub fn builder(endpoint: impl Into<String>) -> ClientBuilder {
        ClientBuilder::new(endpoint.into())
    }

    /// The client of another user, with the connections, settings, limits and documents of this one.
    ///
    /// It costs no more than a clone, so a server may make one for each request of its users. They share the allowance of retries
    /// and the pause after HTTP 503 with `Retry-After`. The pause after HTTP 429 is that of one user, whichever of his clients received
    /// it ([`paused_for`](Self::paused_for)).
    ///
    /// ```
    /// # equipment::example(async {
    /// use envd_sdk::auth::StaticToken;
    /// use envd_sdk::{Client, Error};
    ///
    /// let fake = envd_sdk::fake::Fake::start().await;
    /// // Without a user of its own.
    /// let shared = Client::builder(fake.graphql_url())
    ///     .token_source(|| async { Err(Error::login_needed()) })
    ///     .build()?;
    /// let token = StaticToken::new(fake.access_token().expose())?;
    /// let user = shared.with_token_source(token).user_details().await?.value;
    /// assert_eq!(user.first_name.as_deref(), Some("Sam"));
    /// # Ok(()) });
    /// ```
    #[doc(alias("connection pool", "tenant", "multi-user"))]
    #[must_use]
    pub fn with_token_source(&self, source: impl TokenSource) -> Self {
        Self {
            sender: self.sender.with_token_source(source),
            ..self.clone()
        }
    }

    /// The operations that need an account (spec 4.1), for this account.
    pub fn account(&self, id: impl Into<AccountId>) -> Account {
        Account {
            client: self.clone(),
            id: id.into(),
        }
    }

    /// Runs an operation: one of ours, or one that `envd-codegen` wrote from a document of yours
    /// ([`own_documents`](crate::guide::own_documents)). The variables are encoded at once.
    ///
    /// A mutation whose reply has no result (`{}`, or nothing but nulls) and no errors is an error, of your own operations
    /// too: whether the change was made is not known.
    ///
    /// The derive of `graphql_client` sends each `None` as null, and a save with a null clears the field: put
    /// `skip_serializing_none` among the attributes of a
    /// [derived save](crate::guide::own_documents#with-the-derive-of-graphql_client).
    ///
    /// # Errors
    ///
    /// The [kinds](crate::guide::errors#kinds) of any call: `Config` for variables that cannot be sent, `ReauthRequired` and
    /// `TokenUnavailable` without a token, `Connect`, `Timeout`, `Transport` and `NoAnswer` without a reply of the service,
    /// `Unauthorized`, `Forbidden`, `NotFound`, `Rejected`, `RateLimited`, `Unavailable`, `Internal` and `SchemaMismatch` as the
    /// service says, `Decode` and `Protocol` for a reply that cannot be read. For a change, check
    /// [`may_have_applied`](crate::Error::may_have_applied) before sending it again.
    pub fn execute<Q: TypedOperation>(
        &self,
        variables: Q::Variables,
    ) -> Call<Outcome<Q::ResponseData>>
    where
        Q::ResponseData: Send + 'static,
    {
        let encoded = encode::<Q>(variables, &self.endpoint.overrides);
        self.call(encoded, ValueIn::Data, Some)
    }

    /// Runs a document of the caller's, with the caller's types for variables and data.
    ///
    /// ```
    /// # equipment::example(async {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let client = fake.client().build()?;
    /// let document = "query Count($account: String!) {
    ///     consignments(envdAccountId: $account) { totalCount }
    /// }";
    /// let variables = serde_json::json!({"account": fake.account_id()});
    /// let data: serde_json::Value = client.execute_document(document, "Count", &variables).await?.value;
    /// assert!(data["consignments"]["totalCount"].is_u64());
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// As [`execute`](Self::execute).
    #[doc(alias("custom query", "raw query"))]
    pub fn execute_document<T: DeserializeOwned + Send + 'static>(
        &self,
        document: &str,
        operation_name: &str,
        variables: &impl Serialize,
    ) -> Call<Outcome<T>> {
        let encoded = encode_document(document, operation_name, variables);
        self.call(encoded, ValueIn::Data, Some)
    }

    /// An operation of ours; `part` takes the record out of its data.
    pub(crate) fn operation<Q: TypedOperation, T: Send + 'static>(
        &self,
        variables: Q::Variables,
        part: fn(Q::ResponseData) -> Option<T>,
    ) -> Call<Outcome<T>>
    where
        Q::ResponseData: Send + 'static,
    {
        let encoded = encode::<Q>(variables, &self.endpoint.overrides);
        self.call(encoded, ValueIn::Record, part)
    }

    /// As [`operation`](Self::operation), with variables of another type.
    pub(crate) fn operation_with<D: DeserializeOwned + Send + 'static, T: Send + 'static>(
        &self,
        document: &'static OperationDocument,
        variables: &impl Serialize,
        part: fn(D) -> Option<T>,
    ) -> Call<Outcome<T>> {
        let encoded = encode_operation(document, variables, &self.endpoint.overrides);
        self.call(encoded, ValueIn::Record, part)
    }

    fn call<D: DeserializeOwned + Send + 'static, T: Send + 'static>(
        &self,
        encoded: Result<Encoded>,
        value: ValueIn,
        part: fn(D) -> Option<T>,
    ) -> Call<Outcome<T>> {
        let work = encoded.map(|encoded| {
            let sender = self.sender.clone();
            let mut operation = GraphqlOperation {
                endpoint: Arc::clone(&self.endpoint),
                encoded,
                part,
                value,
                keeps_json: false,
            };
            let request = operation.request();
            let send = move |request, settings: Arc<Settings>| async move {
                operation.send(&sender, request, &settings).await
            };
            (request, send)
        });
        Call::new(&self.sender, Arc::clone(&self.settings), work)
    }

    /// A GET of an address that a record names, which may be of another host than the endpoint: without the token and the headers
    /// that are for the endpoint. `name` is that of the address in errors.
    pub(crate) fn get_elsewhere<O>(&self, name: &str, address: &str, operation: O) -> Call<O::Value>
    where
        O: SentOperation + Send + 'static,
        O::Value: Send + 'static,
    {
        let is_inside = |url: &Url| is_loopback(url) || is_private(url);
        let url = parse_endpoint(name, address).and_then(|url| {
            if is_inside(&url) && !is_inside(&self.endpoint.url) {
                return Err(Error::config(format!("{name} is of a private network")));
            }
            Ok(url)
        });
        let host = url.as_ref().ok().and_then(Url::host_str);
        let sender = self.sender.elsewhere(host.unwrap_or_default());
        let work = url.map(|url| {
            let sender = sender.clone();
            let send = move |request, settings: Arc<Settings>| async move {
                sender.send(&operation, request, &settings).await
            };
            (Box::new(Request::get(url)), send)
        });
        Call::new(&sender, Arc::clone(&self.settings), work)
    }

    /// This client for the further requests of a call.
    pub(crate) fn with_settings(&self, settings: Arc<Settings>) -> Self {
        Self {
            settings,
            ..self.clone()
        }
    }

    /// The clock of the client's waits and deadlines: that of [`ClientBuilder::clock`], else the system's.
    ///
    /// Code that is given a client waits and measures by it, and then a test that has the clock moves all of it:
    ///
    /// ```
    /// # equipment::example(async {
    /// use std::time::{Duration, UNIX_EPOCH};
    /// use envd_sdk::{Client, Clock};
    ///
    /// /// How old what was read at this time is by now.
    /// fn age(client: &Client, read_at: Duration) -> Duration {
    ///     client.clock().monotonic().saturating_sub(read_at)
    /// }
    ///
    /// let clock = Clock::manual(UNIX_EPOCH + Duration::from_secs(1_795_176_000));
    /// let fake = envd_sdk::fake::Fake::builder().clock(clock.clone()).start().await?;
    /// let client = fake.client().build()?;
    /// client.user_details().await?;
    /// let read_at = client.clock().monotonic();
    /// clock.advance(Duration::from_secs(90));
    /// assert_eq!(age(&client, read_at), Duration::from_secs(90));
    /// # Ok(()) });
    /// ```
    pub fn clock(&self) -> &Clock {
        self.sender.clock()
    }

    /// How long calls are still deferred after HTTP 429 or 503 with `Retry-After`.
    ///
    /// Until then a call waits, or fails with that refusal and [`attempts`](crate::Error::attempts) 0 where the wait is
    /// longer than its deadline or that of the [`RetryPolicy`](crate::RetryPolicy). It is an hour at most. All clients of one pool
    /// share the pause after 503. The clients of one user share that after 429, also those that were made for one request: clients with
    /// one [`TokenManager`](crate::auth::TokenManager), or with several that have one store and one key of an account, and clients
    /// whose sources return the same token. assumed: the service limits by user (spec 7.1 does not say).
    #[doc(alias("rate limit", "throttle", "429"))]
    pub fn paused_for(&self) -> Option<Duration> {
        self.sender.paused_for()
    }

    /// Ends the pause of [`paused_for`](Self::paused_for), for a pause that is known to be wrong, or over. Calls that were
    /// deferred are sent at once; only the call that received the refusal keeps its own wait.
    pub fn end_pause(&self) {
        self.sender.end_pause();
    }

    /// What the service is like: the [profile](ClientBuilder::profile) of the client, with what it has learned since.
    ///
    /// A server refuses a document as a whole when it selects one field that is not there. A query of this crate is then
    /// sent again without the fields that the server does not have, and so are the later ones of this client and its
    /// clones: the types stay the same, and what is left out is `None` or empty. Fields without which a list or a decision
    /// of this crate would be wrong are never left out, changes are never adapted, and neither is an
    /// [override](ClientBuilder::override_operation). A client that is built with the profile begins where this one is.
    ///
    /// ```
    /// # equipment::example(async {
    /// // A service without the first names of commenters.
    /// let (name, renamed) = ("  firstName: String\n", "  givenName: String\n");
    /// let schema = envd_sdk::graphql::SCHEMA.replacen(name, renamed, 1);
    /// let fake = envd_sdk::fake::Fake::builder().schema(schema).start().await?;
    /// let client = fake.client().build()?;
    /// let comments = client.account(fake.account_id()).comments("C-900000101").await?.value;
    /// assert!(comments.iter().all(|comment| comment.first_name.is_none()));
    ///
    /// let learned = client.profile();
    /// assert_eq!(learned.operations["comments"].value.left_out, ["firstName"]);
    /// let next = fake.client().profile(&learned).build()?;
    /// next.account(fake.account_id()).comments("C-900000101").await?;
    /// assert_eq!(fake.request_count("Comments"), 3); // Two of the first client.
    /// # Ok(()) });
    /// ```
    pub fn profile(&self) -> ServiceProfile {
        let mut profile = self.endpoint.profile.clone();
        for (name, learned) in self.endpoint.overrides.fitted_operations() {
            let said = profile.operations.get(name);
            if said.is_none_or(|said| said.value != learned) {
                profile
                    .operations
                    .insert(name.to_owned(), Sourced::seen(learned));
            }
        }
        profile
    }

    /// The fields that the document of an operation leaves out of ours.
    pub(crate) fn left_out(&self, operation: &str) -> Vec<String> {
        self.endpoint.overrides.left_out(operation)
    }

    /// The profile that the client was made with.
    pub(crate) fn given_profile(&self) -> &ServiceProfile {
        &self.endpoint.profile
    }

    /// Whether the document of an operation is the caller's.
    pub(crate) fn is_overridden(&self, operation: &str) -> bool {
        self.endpoint.overrides.has(operation)
    }
}

debug_shows!(Client);

/// A client for one account: the account's id is given once. Cheap to clone.
///
/// Its methods are the operations of an account (spec 4.1); [`Client::choose_account`] finds the account of a user.
///
/// ```
/// # equipment::example(async {
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let client = fake.client().build()?;
/// use envd_sdk::ops::{AccountChoice, ConsignmentFilter};
///
/// let account = client.choose_account(&AccountChoice::Default).await?;
/// let mut consignments = account.consignments(&ConsignmentFilter::default()).items();
/// while let Some(consignment) = consignments.next().await {
///     println!("{:?}", consignment?.number);
/// }
/// # Ok(()) });
/// ```
#[derive(Clone, Debug)]
pub struct Account {
    client: Client,
    id: AccountId,
}

impl Account {
    /// The id that operations take as `envdAccountId`.
    pub fn id(&self) -> &AccountId {
        &self.id
    }

    /// The client of which this is the handle.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// This account for the further requests of a call.
    pub(crate) fn with_settings(&self, settings: Arc<Settings>) -> Self {
        self.client.with_settings(settings).account(self.id.clone())
    }
}

impl From<&Account> for AccountId {
    fn from(account: &Account) -> Self {
        account.id.clone()
    }
}
