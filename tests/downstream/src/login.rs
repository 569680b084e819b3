//! Login, and restoring a login after a restart.

use std::path::PathBuf;

use envd_sdk::auth::{FileStore, PendingLogin, Provider, TokenManager};
use envd_sdk::ops::AccountChoice;
use envd_sdk::register::Register;
use envd_sdk::{Client, Error};

use crate::Desk;

/// The addresses of the service and the path of the token file.
pub struct Addresses {
    pub client_id: String,
    pub authorize: String,
    pub token: String,
    pub audience: String,
    pub redirect: String,
    pub declarations: String,
    pub register: String,
    pub tokens: PathBuf,
}

/// Logs users in.
pub struct LoginService {
    manager: TokenManager,
    client: Client,
    register: Register,
}

impl LoginService {
    pub fn new(addresses: &Addresses) -> Result<Self, Error> {
        let provider = Provider::builder(&addresses.client_id)
            .authorize_url(&addresses.authorize)
            .token_url(&addresses.token)
            .audience(&addresses.audience)
            .redirect_uri(&addresses.redirect)
            .build()?;
        let manager = TokenManager::builder(provider)
            .store(FileStore::new(&addresses.tokens))
            .build()?;
        let client = Client::builder(&addresses.declarations)
            .token_source(manager.clone())
            .build()?;
        let register = Register::builder(&addresses.register).build()?;
        Ok(Self {
            manager,
            client,
            register,
        })
    }

    /// The desk, if a login is stored.
    pub async fn open(&self) -> Result<Option<Desk>, Error> {
        match self.client.choose_account(&AccountChoice::Default).await {
            Ok(account) => Ok(Some(Desk::new(account, self.register.clone()))),
            Err(error) if error.is_reauth_required() => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub fn start(&self) -> Result<PendingLogin, Error> {
        self.manager.provider().authorization().start()
    }

    pub async fn finish(&self, login: PendingLogin, callback: &str) -> Result<(), Error> {
        self.manager.complete_login(login, callback).await?;
        Ok(())
    }

    /// Waits for running token requests.
    pub async fn close(self) {
        self.manager
            .shutdown(std::time::Duration::from_secs(5))
            .await;
    }
}
