//! Settings of the fake.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use url::Url;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer};

use super::front::Front;
use super::graphql::{Documents, read_schema};
use super::ledger::Ledger;
use super::library::Library;
use super::provider::Provider;
use super::register::Register;
use super::routes::{Parts, Routes, State};
use super::script::{Log, Plan};
use super::server::Fake;
use super::user::User;
use super::world::World;
use crate::error::Error;
use crate::secret::Secret;
use crate::transport::Clock;

/// Settings of a [`Fake`]; every one of them has a default.
///
/// ```
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// use std::time::Duration;
/// use envd_sdk::fake::{Fake, User};
///
/// let fake = Fake::builder()
///     .user(User::Receiver)
///     .access_token_lifetime(Duration::from_secs(60))
///     .start()
///     .await?;
/// assert_eq!(fake.account_id(), "envd-100301");
/// # Ok::<(), Box<dyn std::error::Error>>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
#[must_use]
pub struct FakeBuilder {
    port: u16,
    listener: Option<TcpListener>,
    clock: Clock,
    user: User,
    world: World,
    access_token_lifetime: Option<Duration>,
    refresh_token_lifetime: Option<Duration>,
    code_lifetime: Option<Duration>,
    refresh_overlap: Duration,
    accreditations: Vec<(String, bool)>,
    return_to: Vec<Url>,
    first_page: Option<usize>,
    register_token: Option<Secret>,
    schema: Option<String>,
    latency: Duration,
    scripted_only: bool,
}

impl FakeBuilder {
    /// Listens on this port of 127.0.0.1; a free one unless set.
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Listens on a socket that is bound already. Takes precedence over [`port`](Self::port).
    pub fn listener(mut self, listener: TcpListener) -> Self {
        self.listener = Some(listener);
        self
    }

    /// The clock by which tokens expire, records are dated and rules know today; the system's unless set.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Who logs in; [`User::Producer`] unless set.
    pub fn user(mut self, user: User) -> Self {
        self.user = user;
        self
    }

    /// What there is at the start; [`World::sample`] unless set.
    pub fn world(mut self, world: World) -> Self {
        self.world = world;
        self
    }

    /// How long access tokens are valid, in whole seconds; 24 hours unless set (spec 5.6).
    pub fn access_token_lifetime(mut self, lifetime: Duration) -> Self {
        self.access_token_lifetime = Some(lifetime);
        self
    }

    /// How long refresh tokens are valid; 30 days unless set (spec 5.6).
    pub fn refresh_token_lifetime(mut self, lifetime: Duration) -> Self {
        self.refresh_token_lifetime = Some(lifetime);
        self
    }

    /// How long login codes are valid; ten minutes unless set (RFC 6749 section 4.1.2).
    pub fn code_lifetime(mut self, lifetime: Duration) -> Self {
        self.code_lifetime = Some(lifetime);
        self
    }

    /// How long the refresh token before the current one still works; not at all unless set. A token that comes later, or
    /// is older, ends the login.
    pub fn refresh_overlap(mut self, overlap: Duration) -> Self {
        self.refresh_overlap = overlap;
        self
    }

    /// Answers GraphQL operations from scripts only; one without a script is refused by its name.
    pub fn scripted_only(mut self) -> Self {
        self.scripted_only = true;
        self
    }

    /// Grants or withdraws an accreditation by its wire name (spec 2.8), such as `hRG`, for all users.
    pub fn accreditation(mut self, name: impl Into<String>, granted: bool) -> Self {
        self.accreditations.push((name.into(), granted));
        self
    }

    /// Allows a further address for `returnTo` at logout, beside [`Fake::return_to`].
    pub fn allow_return_to(mut self, address: Url) -> Self {
        self.return_to.push(address);
        self
    }

    /// The number of the register's first page; 1 unless set. The specification does not show which it is.
    pub fn register_pages_from(mut self, first: usize) -> Self {
        self.first_page = Some(first);
        self
    }

    /// The bearer token that the register wants; unless set it answers everybody. The specification does not show how
    /// the register authenticates.
    pub fn register_token(mut self, token: Secret) -> Self {
        self.register_token = Some(token);
        self
    }

    /// The schema of the declaration interface, in the schema definition language; the bundled one,
    /// [`SCHEMA`](crate::graphql::SCHEMA), unless set. Fields that the fake does not know are null.
    pub fn schema(mut self, definition: impl Into<String>) -> Self {
        self.schema = Some(definition.into());
        self
    }

    /// Every answer comes after this time on the fake's clock; at once unless set.
    pub fn latency(mut self, latency: Duration) -> Self {
        self.latency = latency;
        self
    }

    /// Starts to serve.
    ///
    /// # Errors
    ///
    /// [`is_config`](Error::is_config) when the port cannot be bound or the loopback interface is down, the listener is not on a loopback address, an
    /// accreditation has an unknown name, the schema is not valid, or the world cannot be used: a record of an account that
    /// no user has, or a user to log in who is not there.
    pub async fn start(self) -> Result<Fake, Error> {
        let listener = match self.listener {
            Some(listener) => listener,
            None => bind(self.port)?,
        };
        let address = listener.local_addr().map_err(no_address)?;
        if !address.ip().is_loopback() {
            return Err(Error::config("the fake listens on loopback addresses only"));
        }
        let base = Url::parse(&format!("http://{address}/")).map_err(|source| {
            Error::config("the listener of the fake has no usable address").with_source(source)
        })?;
        if let Some(problem) = self.world.problem() {
            return Err(Error::config(format!("the world of the fake: {problem}")));
        }
        if self.world.people.get(self.user.index()).is_none() {
            return Err(Error::config(
                "the world of the fake has no such user to log in",
            ));
        }
        let home = base.as_str().trim_end_matches('/');
        let mut library = Library::of(&self.world, home.to_owned());
        for (name, granted) in &self.accreditations {
            if !library.accredit(name, *granted) {
                return Err(Error::config(format!("there is no accreditation {name}")));
            }
        }
        if let Some(definition) = &self.schema {
            library.schema = read_schema(definition).map_err(|errors| {
                Error::config("the schema is not valid").with_source(std::io::Error::other(errors))
            })?;
        }
        let now = self.clock.now();
        let mut provider = Provider::new(base.to_string(), self.user, self.world.people.clone());
        provider.overlap = self.refresh_overlap;
        for (lifetime, setting) in [
            (&mut provider.access_lifetime, self.access_token_lifetime),
            (&mut provider.refresh_lifetime, self.refresh_token_lifetime),
            (&mut provider.code_lifetime, self.code_lifetime),
        ] {
            *lifetime = setting.unwrap_or(*lifetime);
        }
        provider.return_to = self.return_to.iter().map(Url::to_string).collect();
        provider.return_to.push(super::server::RETURN_TO.to_owned());
        let access_token = Secret::new(provider.grant(self.user, now));
        let mut register = Register::new(
            self.world.properties.clone(),
            self.world.postcodes.clone(),
            now,
        );
        register.first_page = self.first_page.unwrap_or(1);
        register.token = self.register_token.map(|token| token.expose().to_owned());
        let parts = Mutex::new(Parts {
            ledger: Ledger::of(&self.world, home),
            provider,
            register,
            documents: Documents::default(),
            plan: Plan::default(),
            log: Log::default(),
        });
        let state = Arc::new(State {
            clock: self.clock,
            library,
            latency: self.latency,
            scripted_only: self.scripted_only,
            parts,
        });
        let inner = bind(0)?;
        let inner_address = inner.local_addr().map_err(no_address)?;
        reach(inner_address)?;
        let front = Front::start(listener, inner_address, state.clock.clone())
            .map_err(|source| Error::config("the fake has no thread").with_source(source))?;
        // Unpooled: a pooled server goes on listening after it was dropped.
        let server = MockServer::builder()
            .listener(inner)
            .disable_request_recording()
            .start()
            .await;
        Mock::given(any())
            .respond_with(Routes(Arc::clone(&state)))
            .mount(&server)
            .await;
        Ok(Fake::new(
            front,
            server,
            state,
            base,
            self.user,
            access_token,
        ))
    }
}

fn bind(port: u16) -> Result<TcpListener, Error> {
    TcpListener::bind(("127.0.0.1", port))
        .map_err(|source| Error::config("the port of the fake cannot be bound").with_source(source))
}

/// Where the loopback interface is down, ports can be bound but not reached, and a client on a manual clock would wait for
/// ever to try again.
fn reach(address: SocketAddr) -> Result<(), Error> {
    let connected = TcpStream::connect_timeout(&address, Duration::from_secs(5));
    connected.map(drop).map_err(|source| {
        Error::config("the fake cannot be reached on its loopback address").with_source(source)
    })
}

fn no_address(source: std::io::Error) -> Error {
    Error::config("the listener of the fake has no address").with_source(source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_cannot_be_reached_is_an_error() {
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        assert!(reach(address).unwrap_err().is_config());
    }
}
