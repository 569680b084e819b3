//! The client of the declaration interface.
//!
//! A [`Client`] has the endpoint, the documents and the sender. A [`ClientBuilder`] has its settings. An [`AccountClient`] is a client
//! with the id of an account. A [connection](crate::client::connection) is a page of a list with cursors.
//!
//! Every operation takes the path in `operation.rs`: its document and variables are encoded, the [`Call`] is sent, and its reply is
//! read.

mod builder;
mod connection;
mod operation;

pub use self::builder::ClientBuilder;

use std::sync::Arc;
use std::time::Duration;

use url::Url;

use crate::auth::TokenSource;
use crate::error::Error;
use crate::graphql::Overrides;
use crate::model::AccountId;
use crate::profile::{ServiceProfile, Sourced};
use crate::send::{Call, Sender, SentOperation, Settings};
use crate::transport::{Clock, Request, is_loopback, is_private, parse_endpoint};

/// A client of the consignment declaration interface. It is cheap to clone; clones share connections and tokens.
///
/// ```
/// # test_support::example(async {
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
    /// The settings of the call that uses this client for further requests.
    settings: Arc<Settings>,
}

/// The address that operations are posted to, with their documents.
struct Endpoint {
    url: Url,
    overrides: Overrides,
    profile: ServiceProfile,
}

impl Client {
    /// Starts a client for an endpoint: the full address that operations are posted to.
    pub fn builder(endpoint: impl Into<String>) -> ClientBuilder {
        ClientBuilder::new(endpoint.into())
    }

    /// A client for another user, with the same connections, settings, limits and documents.
    ///
    /// It costs no more than a clone, so a server can create one for each request of its users. All of them share the retry budget
    /// and the pause after HTTP 503 with `Retry-After`. A pause after HTTP 429 applies to all clients of the same user, whichever
    /// received it ([`paused_for`](Self::paused_for)).
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::auth::StaticToken;
    /// use envd_sdk::{Client, Error};
    ///
    /// let fake = envd_sdk::fake::Fake::start().await;
    /// // Without its own user.
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

    /// The operations of an account (spec 4.1).
    pub fn account(&self, id: impl Into<AccountId>) -> AccountClient {
        AccountClient {
            client: self.clone(),
            id: id.into(),
        }
    }

    /// A GET of an address from a record. Its host may differ from the endpoint's, so the token and the headers for the endpoint
    /// are not sent. `name` describes the address in errors.
    pub(crate) fn get_elsewhere<O>(&self, name: &str, address: &str, operation: O) -> Call<O::Value>
    where
        O: SentOperation + Send + 'static,
        O::Value: Send + 'static,
    {
        let is_inside = |url: &Url| is_loopback(url) || is_private(url);
        let url = parse_endpoint(name, address).and_then(|url| {
            if is_inside(&url) && !is_inside(&self.endpoint.url) {
                return Err(Error::config(format!("{name} is on a private network")));
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

    /// This client, with the settings of a call for its further requests.
    pub(crate) fn with_settings(&self, settings: Arc<Settings>) -> Self {
        Self {
            settings,
            ..self.clone()
        }
    }

    /// The clock for the client's waits and deadlines: the one set by [`ClientBuilder::clock`], or the system clock.
    ///
    /// If code waits and measures by its client's clock, a test can control all of its time:
    ///
    /// ```
    /// # test_support::example(async {
    /// use std::time::{Duration, UNIX_EPOCH};
    /// use envd_sdk::{Client, Clock};
    ///
    /// /// The age of data that was read at this time.
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

    /// The remaining time for which calls are deferred after HTTP 429 or 503 with `Retry-After`.
    ///
    /// Meanwhile, calls wait. If the wait would exceed the deadline of the call or of the [`RetryPolicy`](crate::RetryPolicy), they
    /// fail with the original refusal and [`attempts`](crate::Error::attempts) 0. The pause is at most an hour. All clients of one
    /// pool share the pause after 503. All clients of one user share the pause after 429, even those created for a single request:
    /// clients with the same [`TokenManager`](crate::auth::TokenManager), with managers that share a store and an account key, or
    /// with sources that return the same token. assumed: the service limits by user (spec 7.1 does not say).
    #[doc(alias("rate limit", "throttle", "429"))]
    pub fn paused_for(&self) -> Option<Duration> {
        self.sender.paused_for()
    }

    /// Ends the pause of [`paused_for`](Self::paused_for) if you know that it is wrong or over. Deferred calls are sent at once;
    /// only the call that received the refusal keeps waiting.
    pub fn end_pause(&self) {
        self.sender.end_pause();
    }

    /// The [profile](ClientBuilder::profile) of the client, together with what it has learned from the service.
    ///
    /// A server refuses an entire document if it selects a single unknown field. The client then sends a query of this crate again
    /// without the fields that the server does not have, and so do all later queries of this client and its clones. The types stay
    /// the same; the missing fields are `None` or empty. Fields that a list or a decision of this crate depends on are always kept.
    /// Changes and [overrides](ClientBuilder::override_operation) are never adapted. A client built with the returned profile
    /// starts with the same knowledge.
    ///
    /// ```
    /// # test_support::example(async {
    /// // A service without the first names of commenters.
    /// let name = "  firstName: String\n";
    /// let renamed = "  givenName: String\n";
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
    /// assert_eq!(fake.request_count("Comments"), 3); // The first client sent two.
    /// # Ok(()) });
    /// ```
    pub fn profile(&self) -> ServiceProfile {
        let mut profile = self.endpoint.profile.clone();
        // profile: operations.leftOut
        // profile: operations.recordAt
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

    /// The fields that this client leaves out of an operation's document.
    // profile: operations.leftOut
    pub(crate) fn left_out(&self, operation: &str) -> Vec<String> {
        self.endpoint.overrides.left_out(operation)
    }

    /// The profile that the client was built with.
    pub(crate) fn given_profile(&self) -> &ServiceProfile {
        &self.endpoint.profile
    }

    /// Whether the document of an operation comes from the caller.
    // profile: operations.document
    pub(crate) fn is_overridden(&self, operation: &str) -> bool {
        self.endpoint.overrides.has(operation)
    }
}

debug_shows!(Client);

/// A client for one account, so that the account's id is given only once. It is cheap to clone.
///
/// Its methods are the operations of an account (spec 4.1); [`Client::choose_account`] finds the account of a user.
///
/// ```
/// # test_support::example(async {
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
pub struct AccountClient {
    client: Client,
    id: AccountId,
}

impl AccountClient {
    /// The id that operations send as `envdAccountId`.
    pub fn id(&self) -> &AccountId {
        &self.id
    }

    /// The client of this account.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// This account, with the settings of a call for its further requests.
    pub(crate) fn with_settings(&self, settings: Arc<Settings>) -> Self {
        self.client.with_settings(settings).account(self.id.clone())
    }
}

impl From<&AccountClient> for AccountId {
    fn from(account: &AccountClient) -> Self {
        account.id.clone()
    }
}
