//! The settings of the fake.

use std::borrow::Cow;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, UNIX_EPOCH};

use url::Url;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer};

use super::controls::Assumptions;
use super::instant::epoch_seconds;
use super::logins::NO_SUCH_USER;
use super::provider::{ClientCheck, FakeProvider, Lifetimes};
use super::records::Records;
use super::reference_data::{self, ReferenceData};
use super::register::FakeRegister;
use super::routes::{FakeParts, FakeState, Routes};
use super::script::{Log, Scripts};
use super::tcp_proxy::TcpProxy;
use super::{Fake, RETURN_TO, UnpooledServer, User, World};
use crate::error::Error;
use crate::graphql::FieldRenames;
use crate::profile::ServiceProfile;
use crate::secret::Secret;
use crate::transport::{Clock, later};

/// Settings of a [`Fake`].
///
/// ```
/// # test_support::example(async {
/// use std::time::Duration;
/// use envd_sdk::fake::{Fake, User};
///
/// let fake = Fake::builder()
///     .user(User::Receiver)
///     .access_token_lifetime(Duration::from_secs(60))
///     .start()
///     .await?;
/// assert_eq!(fake.account_id(), "envd-100301");
/// # Ok(()) });
/// ```
#[derive(Debug, Default)]
#[must_use]
pub struct FakeBuilder {
    port: u16,
    clock: Clock,
    user: User,
    world: Option<World>,
    lifetimes: Lifetimes,
    client_check: ClientCheck,
    accreditations: Vec<(String, bool)>,
    return_to: Vec<Url>,
    profile: ServiceProfile,
    register_token: Option<Secret>,
    schema: Option<String>,
    latency: Duration,
    scripted_only: bool,
    assumptions: Assumptions,
    no_gzip: bool,
}

impl FakeBuilder {
    /// The port of 127.0.0.1 to listen on; defaults to a free one.
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// The clock for token expiry, record dates and the rules about today; defaults to the system clock.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// The user who logs in; defaults to [`User::Producer`].
    pub fn user(mut self, user: User) -> Self {
        self.user = user;
        self
    }

    /// The initial users and records; defaults to [`World::sample`].
    pub fn world(mut self, world: World) -> Self {
        self.world = Some(world);
        self
    }

    /// How long access tokens are valid, in whole seconds; defaults to 24 hours (spec 5.6).
    pub fn access_token_lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetimes.access_token = lifetime;
        self
    }

    /// How long refresh tokens are valid; defaults to 30 days (spec 5.6).
    pub fn refresh_token_lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetimes.refresh_token = lifetime;
        self
    }

    /// How long login codes are valid; defaults to ten minutes (RFC 6749 section 4.1.2).
    pub fn code_lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetimes.code = lifetime;
        self
    }

    /// How long a refresh token keeps working after its first use; by default, it stops immediately. Using it later, or
    /// using an older token, ends the login.
    pub fn refresh_overlap(mut self, overlap: Duration) -> Self {
        self.lifetimes.refresh_overlap = overlap;
        self
    }

    /// The secret with which the client must authenticate to the identity provider, in the body or the header of each
    /// request (RFC 6749 section 2.3.1). By default, no secret is required and any secret is accepted.
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::fake::Fake;
    ///
    /// let fake = Fake::builder().client_secret("s3cr3t").start().await?;
    /// let provider = fake.provider().client_secret("s3cr3t").build()?;
    /// # let _ = provider;
    /// # Ok(()) });
    /// ```
    pub fn client_secret(mut self, secret: impl Into<Secret>) -> Self {
        self.client_check = ClientCheck::Secret(secret.into());
        self
    }

    /// Requires a client assertion in each request to the identity provider (`private_key_jwt`, RFC 7523 section 2.2)
    /// instead of a secret. It must be issued for the issuer, live at most five minutes, and be used only once. A signature
    /// must be present, but is not verified.
    pub fn client_assertions(mut self) -> Self {
        self.client_check = ClientCheck::Assertion;
        self
    }

    /// Answers GraphQL operations only from scripts, and refuses operations without a script.
    pub fn scripted_only(mut self) -> Self {
        self.scripted_only = true;
        self
    }

    /// Sets the behaviour that the specification leaves open; see [`Assumptions`] for the default.
    /// [`Controls::assume`](super::controls::Controls::assume) changes it later.
    pub fn assume(mut self, assumptions: Assumptions) -> Self {
        self.assumptions = assumptions;
        self
    }

    /// Grants or withdraws an accreditation by its wire name (spec 2.8), such as `hRG`, for all users.
    pub fn accreditation(mut self, name: impl Into<String>, granted: bool) -> Self {
        self.accreditations.push((name.into(), granted));
        self
    }

    /// Allows another address for `returnTo` at logout, in addition to [`Fake::return_to`].
    pub fn allow_return_to(mut self, address: Url) -> Self {
        self.return_to.push(address);
        self
    }

    /// The bearer token that the register requires, or the key in the header named by the [profile](Self::profile); by
    /// default, none is required. The specification does not show how the register authenticates.
    pub fn register_token(mut self, token: Secret) -> Self {
        self.register_token = Some(token);
        self
    }

    /// The schema of the declaration interface, in the schema definition language; defaults to the bundled
    /// [`SCHEMA`](crate::graphql::SCHEMA). Your own fields resolve to null.
    pub fn schema(mut self, definition: impl Into<String>) -> Self {
        self.schema = Some(definition.into());
        self
    }

    /// Delays every reply by this time on the fake's clock; defaults to no delay.
    pub fn latency(mut self, latency: Duration) -> Self {
        self.latency = latency;
        self
    }

    /// Whether to compress replies of 1 KB or more for requests that accept gzip; defaults to true. A reply with
    /// [`Fault::cut`](super::Fault::cut) or [`Fault::slow`](super::Fault::slow), which count bytes, is never compressed.
    pub fn gzip(mut self, is_served: bool) -> Self {
        self.no_gzip = !is_served;
        self
    }

    /// The service profile to follow, for operations and their fields, renamed fields, updates, roles, forms, lists, default
    /// fields, and the register. Addresses are the fake's own. A document that a profile sends instead of ours is served if it
    /// fits the [`schema`](Self::schema), which may have the old or the new name of a renamed field.
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::fake::Fake;
    /// use envd_sdk::model::Role;
    /// use envd_sdk::profile::{ServiceProfile, Sourced};
    ///
    /// let mut profile = ServiceProfile::default();
    /// profile.roles = Sourced::seen([("VENDOR".to_owned(), Role::Producer)].into());
    /// let fake = Fake::builder().profile(&profile).start().await?;
    ///
    /// let user = fake.client().profile(&profile).build()?.user_details().await?.value;
    /// assert!(user.roles.is_some_and(|roles| roles.contains(&Role::Producer)));
    /// let user = fake.client().build()?.user_details().await?.value;
    /// assert!(user.roles.is_some_and(|roles| roles.contains(&Role::from("VENDOR"))));
    /// # Ok(()) });
    /// ```
    pub fn profile(mut self, profile: &ServiceProfile) -> Self {
        self.profile = profile.clone();
        self.assumptions = self.assumptions.lists(profile.lists.clone());
        self
    }

    /// Starts serving.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the servers that it has started stop.
    ///
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) if the port cannot be bound, the loopback interface is down, an accreditation has
    /// an unknown name, the schema is invalid or does not fit the profile, or the world is invalid: an account of a record has no
    /// user, or the user to log in does not exist.
    pub async fn start(mut self) -> Result<Fake, Error> {
        let listener = bind(self.port)?;
        let base = format!("http://{}/", address_of(&listener)?);
        let base = Url::parse(&base).map_err(failed("the address of the fake is no URL"))?;
        let world = Arc::new(self.take_world()?);
        // profile: fields
        let renames = FieldRenames::new(&self.profile.fields)?;
        let (schema, moved) =
            reference_data::schema(self.schema.as_deref(), &self.profile, &renames)
                .map_err(std::io::Error::other)
                .map_err(failed("the schema is invalid"))?;
        let now = self.clock.now();
        let issuer = base.to_string();
        let home = base.as_str().trim_end_matches('/');
        let mut provider = FakeProvider::new(issuer, self.user, Arc::clone(&world), self.lifetimes);
        provider.return_to = self.return_to.iter().map(Url::to_string).collect();
        provider.return_to.push(RETURN_TO.to_owned());
        provider.client_check = self.client_check.clone();
        provider.seat(self.user, now);
        // HTTP dates have a resolution of one second.
        let start = later(UNIX_EPOCH, Duration::from_secs(epoch_seconds(now)));
        let parts = FakeParts {
            records: Records::of(&world, home, self.assumptions, start),
            provider,
            register: FakeRegister {
                world: Arc::clone(&world),
                modified: start,
                profile: self.profile.register.clone(),
                token: self.register_token,
            },
            scripts: Scripts::default(),
            late: Vec::new(),
            log: Log::default(),
        };
        let state = Arc::new(FakeState {
            clock: self.clock,
            data: ReferenceData {
                world,
                questions: OnceLock::new(),
                schema,
                profile: self.profile,
                moved,
                renames,
            },
            latency: self.latency,
            scripted_only: self.scripted_only,
            gzip: !self.no_gzip,
            parts: Mutex::new(parts),
        });
        let inner = bind(0)?;
        let inner_address = address_of(&inner)?;
        check_reachable(inner_address)?;
        let proxy = TcpProxy::start(listener, inner_address, state.clock.clone())
            .map_err(failed("the fake cannot start a thread"))?;
        // Not pooled: a pooled server keeps listening after it is dropped.
        let server = MockServer::builder()
            .listener(inner)
            .disable_request_recording()
            .start()
            .await;
        let routes = Mock::given(any()).respond_with(Routes(Arc::clone(&state)));
        routes.mount(&server).await;
        Ok(Fake {
            proxy,
            _server: UnpooledServer(Some(server)),
            state,
            base,
            running: Arc::default(),
        })
    }

    /// The world, with the accreditations from the settings.
    fn take_world(&mut self) -> Result<World, Error> {
        let mut world = self.world.take().unwrap_or_else(World::sample);
        if let Some(problem) = world.problem() {
            return Err(Error::config(format!("the world of the fake: {problem}")));
        }
        if world.user_record(self.user).is_null() {
            return Err(Error::config(NO_SUCH_USER));
        }
        for (name, granted) in &self.accreditations {
            if !world.accredit(name, *granted) {
                return Err(Error::config(format!("unknown accreditation {name}")));
            }
        }
        Ok(world)
    }
}

fn bind(port: u16) -> Result<TcpListener, Error> {
    let bound = TcpListener::bind(("127.0.0.1", port));
    bound.map_err(failed(format!("the fake cannot listen on port {port}")))
}

fn address_of(listener: &TcpListener) -> Result<SocketAddr, Error> {
    let address = listener.local_addr();
    address.map_err(failed("the listener of the fake has no address"))
}

/// While the loopback interface is down, ports can be bound but not reached, and a client with a manual clock would retry
/// forever.
fn check_reachable(address: SocketAddr) -> Result<(), Error> {
    let connected = TcpStream::connect_timeout(&address, Duration::from_secs(5));
    let connected = connected.map(drop);
    connected.map_err(failed("the fake cannot be reached on its loopback address"))
}

fn failed<E>(message: impl Into<Cow<'static, str>>) -> impl FnOnce(E) -> Error
where
    E: std::error::Error + Send + Sync + 'static,
{
    move |source| Error::config(message).with_source(source)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn an_address_that_cannot_be_reached_is_an_error() {
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        assert!(check_reachable(address).unwrap_err().kind() == ErrorKind::Config);
    }
}
