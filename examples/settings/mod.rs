//! The servers of an example: the servers named in the environment, or the fake if it names none.
//!
//! The settings are listed in the README.

#![allow(dead_code)] // Each example uses a part of it.

use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{env, fs};

use envd_sdk::auth::{MemoryStore, PendingLogin, Provider, StaticToken, TokenManager};
use envd_sdk::fake::{Fake, FakeBuilder};
use envd_sdk::model::{AccountId, UserDetails};
use envd_sdk::profile::{ServiceProfile, Sourced};
use envd_sdk::register::{Register, RegisterBuilder};
use envd_sdk::{Client, ClientBuilder, Clock};

use super::cli::{self, Failure};

/// The settings that name another server.
const SETTINGS: [&str; 13] = [
    "ENVD_GRAPHQL_URL",
    "ENVD_REGISTER_URL",
    "ENVD_AUTHORIZE_URL",
    "ENVD_TOKEN_URL",
    "ENVD_REVOKE_URL",
    "ENVD_LOGOUT_URL",
    "ENVD_ISSUER",
    "ENVD_CLIENT_ID",
    "ENVD_CLIENT_SECRET",
    "ENVD_AUDIENCE",
    "ENVD_REDIRECT_URI",
    "ENVD_ACCESS_TOKEN",
    "ENVD_ACCOUNT_ID",
];

/// A fake with a fixed clock, 2026-11-20, so that each run prints the same.
pub(crate) fn fixed_fake() -> FakeBuilder {
    let clock = Clock::manual(SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_132_800));
    Fake::builder().clock(clock)
}

/// The servers of an example, and the profile that describes them.
pub(crate) struct Settings {
    fake: Option<Fake>,
    profile: ServiceProfile,
}

/// The profile in the file of `ENVD_PROFILE`, or the default assumptions.
pub(crate) fn profile() -> Result<ServiceProfile, Failure> {
    let Some(file) = optional("ENVD_PROFILE") else {
        return Ok(ServiceProfile::default());
    };
    let text = cli::read_text(Path::new(&file)).map_err(|error| format!("{file}: {error}"))?;
    Ok(ServiceProfile::from_json(&text).map_err(|error| format!("{file}: {error}"))?)
}

/// The address of the GraphQL API, from the environment or the profile.
pub(crate) fn graphql_url(profile: &ServiceProfile) -> Result<String, Failure> {
    setting("ENVD_GRAPHQL_URL", profile.addresses.graphql.as_ref())
}

fn account_file(store: &Path) -> PathBuf {
    beside(store, ".account")
}

fn beside(store: &Path, ending: &str) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

impl Settings {
    /// Starts the fake unless a setting names another server.
    pub(crate) async fn read() -> Result<Self, Failure> {
        let profile = profile()?;
        let addresses = &profile.addresses;
        let names_servers = addresses.graphql.is_some() || addresses.register.is_some();
        let fake = if names_servers || Self::name_servers() {
            None
        } else {
            Some(fixed_fake().profile(&profile).start().await?)
        };
        Ok(Self { fake, profile })
    }

    /// True if a setting names a server other than the fake.
    pub(crate) fn name_servers() -> bool {
        SETTINGS.iter().any(|name| optional(name).is_some())
    }

    /// The servers in words.
    pub(crate) fn describe(&self) -> &'static str {
        match self.fake {
            Some(_) => "Started a fake of both interfaces on this machine",
            None => "The ENVD_ settings name the servers",
        }
    }

    /// The account last used with the store, so that `list` needs no request. It is in a file next to the store.
    pub(crate) fn remembered_account(store: &Path) -> Result<Option<AccountId>, Failure> {
        match fs::read_to_string(account_file(store)) {
            Ok(id) => Ok(Some(id.trim().into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The logged-in user: `ENVD_USER` if there is only an access token, or the user of the last login with the store.
    pub(crate) fn user(store: &Path) -> Result<Option<String>, Failure> {
        if let Some(user) = optional("ENVD_USER") {
            return Ok(Some(user));
        }
        match fs::read_to_string(beside(store, ".user")) {
            Ok(user) => Ok(Some(user)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn remember_user(store: &Path, user: &str) -> Result<(), Failure> {
        if Self::user(store)?.as_deref() != Some(user) {
            fs::write(beside(store, ".user"), user)?;
        }
        Ok(())
    }

    /// Writes only if the account has changed.
    pub(crate) fn remember_account(store: &Path, id: &AccountId) -> Result<(), Failure> {
        if Self::remembered_account(store)?.as_ref() != Some(id) {
            fs::write(account_file(store), id.as_str())?;
        }
        Ok(())
    }

    /// The clock of the fake, or of this machine.
    pub(crate) fn clock(&self) -> Clock {
        let fake = self.fake.as_ref();
        fake.map_or_else(Clock::system, |fake| fake.clock().clone())
    }

    /// The identity provider.
    pub(crate) fn provider(&self) -> Result<Provider, Failure> {
        if let Some(fake) = &self.fake {
            return Ok(fake.provider().build()?);
        }
        let known = &self.profile.addresses;
        let redirect = setting("ENVD_REDIRECT_URI", known.redirect.as_ref());
        let mut builder = Provider::builder(required("ENVD_CLIENT_ID")?)
            .profile(&self.profile)
            .authorize_url(setting("ENVD_AUTHORIZE_URL", known.authorize.as_ref())?)
            .token_url(setting("ENVD_TOKEN_URL", known.token.as_ref())?)
            .audience(setting("ENVD_AUDIENCE", known.audience.as_ref())?)
            .redirect_uri(redirect.unwrap_or_else(|_| "http://127.0.0.1:8400/callback".into()));
        if let Some(url) = optional("ENVD_REVOKE_URL") {
            builder = builder.revoke_url(url);
        }
        if let Some(url) = optional("ENVD_LOGOUT_URL") {
            builder = builder.logout_url(url);
        }
        if let Some(issuer) = optional("ENVD_ISSUER") {
            builder = builder.issuer(issuer);
        }
        if let Some(secret) = optional("ENVD_CLIENT_SECRET") {
            builder = builder.client_secret(secret);
        }
        Ok(builder.build()?)
    }

    /// Logs in to the fake without a browser; with other servers, reads the redirected address from stdin.
    pub(crate) fn callback(&self, login: &PendingLogin) -> Result<String, Failure> {
        if let Some(fake) = &self.fake {
            return Ok(fake.consent(login.url())?.into());
        }
        println!(
            "Open this address, log in, and paste the address of the page where the browser ends:"
        );
        println!("{}", login.url());
        io::stdout().flush()?;
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line)?;
        Ok(line.trim().to_owned())
    }

    /// The address of the GraphQL API.
    pub(crate) fn graphql_url(&self) -> Result<String, Failure> {
        match &self.fake {
            Some(fake) => Ok(fake.graphql_url().to_string()),
            None => graphql_url(&self.profile),
        }
    }

    /// The profile that describes the servers.
    pub(crate) fn profile(&self) -> &ServiceProfile {
        &self.profile
    }

    /// The access token from the environment, with which no login is necessary.
    pub(crate) fn access_token() -> Option<String> {
        optional("ENVD_ACCESS_TOKEN")
    }

    /// Logs in. Returns no manager if the environment has an access token.
    pub(crate) async fn log_in(&self) -> Result<(ClientBuilder, Option<TokenManager>), Failure> {
        let client = Client::builder(self.graphql_url()?).profile(&self.profile);
        let client = client.clock(self.clock());
        if let Some(token) = Self::access_token() {
            return Ok((client.token_source(StaticToken::new(&token)?), None));
        }
        let provider = self.provider()?;
        let manager = TokenManager::builder(provider.clone())
            .store(MemoryStore::new())
            .account("quickstart")
            .build()?;
        let login = provider.authorization().start()?;
        let callback = self.callback(&login)?;
        manager.complete_login(login, &callback).await?;
        Ok((client.token_source(manager.clone()), Some(manager)))
    }

    /// True if the example runs against the fake.
    pub(crate) fn is_fake(&self) -> bool {
        self.fake.is_some()
    }

    /// The property register. No source shows how it authenticates, so the access token of the environment is sent if there is one.
    pub(crate) fn register(&self) -> Result<RegisterBuilder, Failure> {
        let register = self.register_without_token()?;
        Ok(
            match optional("ENVD_ACCESS_TOKEN").filter(|_| self.fake.is_none()) {
                Some(token) => register.token_source(StaticToken::new(&token)?),
                None => register,
            },
        )
    }

    pub(crate) fn register_without_token(&self) -> Result<RegisterBuilder, Failure> {
        if let Some(fake) = &self.fake {
            return Ok(Register::builder(fake.register_url()).profile(&self.profile));
        }
        let known = self.profile.addresses.register.as_ref();
        let register = Register::builder(setting("ENVD_REGISTER_URL", known)?);
        Ok(register.profile(&self.profile))
    }

    /// The account of `ENVD_ACCOUNT_ID`.
    pub(crate) fn chosen_account() -> Option<AccountId> {
        optional("ENVD_ACCOUNT_ID").map(Into::into)
    }

    /// The account of `ENVD_ACCOUNT_ID`, or the first account that can create consignments.
    pub(crate) fn account_id(user: &UserDetails) -> Result<AccountId, Failure> {
        if let Some(id) = Self::chosen_account() {
            return Ok(id);
        }
        let account = user.producer_accounts().next();
        let id = account.and_then(|account| account.envd_account_id.clone());
        id.ok_or_else(|| "the user has no account with the role Producer".into())
    }
}

/// A setting, or the value in the profile.
fn setting(name: &str, known: Option<&Sourced<String>>) -> Result<String, Failure> {
    let known = known.map(|known| known.value.clone());
    optional(name).or(known).map_or_else(|| required(name), Ok)
}

fn optional(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

fn required(name: &str) -> Result<String, Failure> {
    optional(name).ok_or_else(|| {
        format!("{name} is not set; without any ENVD_ setting the fake is used").into()
    })
}
