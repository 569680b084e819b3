//! The options of `login` and `access_token`.

use std::env;
use std::error::Error as _;
use std::path::PathBuf;

use envd_sdk::auth::{
    FileStore, Provider, ProviderBuilder, StoreError, StoreErrorKind, TokenManager,
    TokenManagerBuilder, TokenStore,
};
use envd_sdk::loopback::{Loopback, LoopbackBuilder};
use envd_sdk::{Error, ErrorKind};
use lexopt::Arg::{Long, Short};
use lexopt::ValueExt;

use super::cli::{self, Failure};

/// Follows the description of the program.
const OPTIONS: &str = "  --issuer URL          iss of the provider's tokens; not checked unless set. Without --token-url the
                        addresses are read from what the provider publishes under this one
  --authorize-url URL   the address that the browser opens to log in
  --token-url URL       the token endpoint
  --revoke-url URL      the revocation endpoint
  --logout-url URL      the address that the browser opens to log out
  --client-id ID        the client id of the application; its secret, if it has one, is read from ENVD_CLIENT_SECRET
  --audience URI        the audience of access tokens; none unless set
  --scope TEXT          scopes, separated by blanks; openid profile email offline_access unless set
  --redirect-port PORT  port of the loopback listener; 0, a free one, unless set
  --redirect-path PATH  path of the loopback listener; /callback unless set
  --redirect-uri URI    without a listener: prints the address and reads the redirected one from stdin
  --device              login: without a browser; prints a page and a code, which the user types there on another device
  --device-url URL      the device authorization endpoint, for --device
  --store FILE          the file of the tokens
  --no-browser          does not open the browser
  --status              access_token only: prints the state of the session
  --json                login only: prints lines of JSON also to a terminal

ENVD_REDIRECT_URI is the redirect address that is registered with the provider, for the listener: http or https, of this
machine; unless an option names another one. For https, ENVD_REDIRECT_CERTIFICATE is a file with a certificate and its
key (PEM); without it the browser warns about a certificate created for this login.

With none of the provider's options a fake of its own is used.";

/// The values of the options.
// One for each option without a value.
#[allow(clippy::struct_excessive_bools)]
#[derive(Default)]
pub(crate) struct Options {
    issuer: Option<String>,
    authorize_url: Option<String>,
    token_url: Option<String>,
    revoke_url: Option<String>,
    logout_url: Option<String>,
    device_url: Option<String>,
    client_id: Option<String>,
    audience: Option<String>,
    scope: Option<String>,
    redirect_port: u16,
    redirect_path: Option<String>,
    pub(crate) redirect_uri: Option<String>,
    pub(crate) store: Option<PathBuf>,
    pub(crate) no_browser: bool,
    pub(crate) status: bool,
    pub(crate) device: bool,
    pub(crate) json: bool,
}

impl Options {
    /// Reads the arguments; `usage` is that of the program.
    pub(crate) fn read(usage: &str) -> Self {
        cli::arguments(usage, |given| Self::parse(given, usage))
    }

    fn parse(arguments: &mut lexopt::Parser, usage: &str) -> Result<Self, lexopt::Error> {
        let mut options = Self::default();
        while let Some(argument) = arguments.next()? {
            let text = match argument {
                Short('h') | Long("help") => cli::help(usage),
                Long("no-browser") => {
                    options.no_browser = true;
                    continue;
                }
                Long("status") => {
                    options.status = true;
                    continue;
                }
                Long("json") => {
                    options.json = true;
                    continue;
                }
                Long("device") => {
                    options.device = true;
                    continue;
                }
                Long("redirect-port") => {
                    let port = |text: &str| text.parse().ok();
                    let expected = "a port, 0 to 65535";
                    options.redirect_port =
                        cli::value(arguments, "--redirect-port", expected, port)?;
                    continue;
                }
                Long("store") => {
                    options.store = Some(arguments.value()?.into());
                    continue;
                }
                Long("issuer") => &mut options.issuer,
                Long("authorize-url") => &mut options.authorize_url,
                Long("token-url") => &mut options.token_url,
                Long("revoke-url") => &mut options.revoke_url,
                Long("device-url") => &mut options.device_url,
                Long("logout-url") => &mut options.logout_url,
                Long("client-id") => &mut options.client_id,
                Long("audience") => &mut options.audience,
                Long("scope") => &mut options.scope,
                Long("redirect-path") => &mut options.redirect_path,
                Long("redirect-uri") => &mut options.redirect_uri,
                _ => return Err(argument.unexpected()),
            };
            // A script passes an unset variable as an empty text.
            *text = Some(arguments.value()?.string()?).filter(|text| !text.is_empty());
        }
        let path = options.redirect_path.as_deref().unwrap_or("/");
        if !path.starts_with('/') {
            return Err("--redirect-path must begin with /".into());
        }
        if options.device && options.redirect_uri.is_some() {
            return Err("--redirect-uri is not used with --device".into());
        }
        if options.device && options.token_url.is_some() && options.device_url.is_none() {
            return Err("--device needs --device-url".into());
        }
        Ok(options)
    }

    /// True if no option names a provider; then the example uses the fake.
    pub(crate) fn names_no_provider(&self) -> bool {
        let provider = [
            &self.issuer,
            &self.authorize_url,
            &self.token_url,
            &self.device_url,
            &self.client_id,
            &self.audience,
        ];
        provider.iter().all(|option| option.is_none())
    }

    /// Fails if the token file cannot be used.
    pub(crate) async fn check_store(&self) -> Result<(), Failure> {
        if let Some(file) = &self.store {
            let loaded = FileStore::new(file).load("default").await;
            loaded.map_err(|error| match self.foreign(&error) {
                Some(problem) => problem.into(),
                None => Failure::from(error),
            })?;
        }
        Ok(())
    }

    /// The error of a store in words.
    #[allow(dead_code)] // login has none.
    pub(crate) fn store_error(&self, error: &Error) -> String {
        let store = error.source().and_then(|error| error.downcast_ref());
        let problem = store.and_then(|error| self.foreign(error));
        problem.unwrap_or_else(|| cli::chain(error))
    }

    /// The message for a file that is not a token file.
    fn foreign(&self, error: &StoreError) -> Option<String> {
        let is_foreign = error.kind() == StoreErrorKind::Unreadable;
        let file = self.store.as_ref().filter(|_| is_foreign)?.display();
        Some(format!("{file} is not a token file written by `login`"))
    }

    /// Explains the error to the user: names the issuer that cannot be reached, and why.
    pub(crate) fn explained(&self, error: Error) -> Failure {
        match &self.issuer {
            Some(issuer) if error.kind() == ErrorKind::Connect => {
                // If the cause is known, the message says it, so leave out the source errors.
                let why = match error.connect_cause() {
                    Some(_) => error.to_string(),
                    None => cli::chain(&error),
                };
                format!("cannot reach the issuer {issuer}: {why}").into()
            }
            _ => error.into(),
        }
    }

    /// The provider of the options, discovered if only its issuer is given. `build` names a missing setting.
    pub(crate) async fn provider(&self) -> Result<ProviderBuilder, Error> {
        let builder = self.settings();
        match (&self.issuer, &self.token_url) {
            (Some(_), None) => builder.discover().await,
            _ => Ok(builder),
        }
    }

    fn settings(&self) -> ProviderBuilder {
        let mut builder = Provider::builder(self.client_id.as_deref().unwrap_or_default());
        if let Some(url) = &self.authorize_url {
            builder = builder.authorize_url(url);
        }
        if let Some(url) = &self.token_url {
            builder = builder.token_url(url);
        }
        if let Some(audience) = &self.audience {
            builder = builder.audience(audience);
        }
        if let Some(issuer) = &self.issuer {
            builder = builder.issuer(issuer);
        }
        if let Some(url) = &self.revoke_url {
            builder = builder.revoke_url(url);
        }
        if let Some(url) = &self.logout_url {
            builder = builder.logout_url(url);
        }
        if let Some(url) = &self.device_url {
            builder = builder.device_authorization_url(url);
        }
        if let Some(scope) = &self.scope {
            builder = builder.scopes(scope.split_whitespace());
        }
        // Not an option: other users of the machine can read the arguments of a process.
        if let Ok(secret) = env::var("ENVD_CLIENT_SECRET")
            && !secret.is_empty()
        {
            builder = builder.client_secret(secret);
        }
        builder
    }

    #[allow(dead_code)] // access_token has none.
    /// The listener, at the address from the option or at the registered address from the environment.
    pub(crate) fn listener(&self) -> Result<LoopbackBuilder, Failure> {
        let set = |name| env::var(name).ok().filter(|value| !value.is_empty());
        let path = self.redirect_path.as_deref();
        let listener = Loopback::builder();
        let Some(address) = set("ENVD_REDIRECT_URI")
            .filter(|_| path.is_none() && self.redirect_port == 0 && !self.names_no_provider())
        else {
            let port = self.redirect_port;
            let path = path.unwrap_or("/callback");
            return Ok(listener.redirect_uri(format!("http://127.0.0.1:{port}{path}")));
        };
        let certificate = set("ENVD_REDIRECT_CERTIFICATE");
        if address.starts_with("https:") && certificate.is_none() {
            eprintln!(
                "After the login the browser warns about an unknown certificate: continue to this machine."
            );
        }
        let listener = listener.redirect_uri(address);
        Ok(match certificate {
            Some(file) => {
                let text = cli::read_text(file.as_ref());
                let unusable = |problem| cli::Unusable::new(file.as_ref(), problem);
                listener.certificate(text.map_err(unusable)?)
            }
            None => listener,
        })
    }

    /// Settings of a manager for a short-lived program, without background refreshes.
    pub(crate) fn manager(&self, provider: Provider) -> TokenManagerBuilder {
        let builder = TokenManager::builder(provider).background(false);
        match &self.store {
            Some(file) => builder.store(FileStore::new(file)),
            None => builder,
        }
    }
}

/// The complete usage text of a program that does `what`.
pub(crate) fn usage(program: &str, what: &str) -> String {
    format!("usage: {program} [OPTIONS]\n\n{what}\n\n{OPTIONS}")
}
