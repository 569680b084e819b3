//! Logins whose id tokens are verified with the keys of the provider: `cargo run -p apps --bin verify_id_token`.
//!
//! The crate checks the claims of an id token. If a policy also requires the signature, the application adds a check: here with
//! `jsonwebtoken`, and with keys that are fetched before the login is completed.

#[path = "../../../../cli/mod.rs"]
mod cli;
mod keys;

use std::error::Error as _;
use std::process::ExitCode;
use std::sync::Arc;

use envd_sdk::Error;
use envd_sdk::auth::{PendingLogin, TokenManager, TokenSet};
use envd_sdk::fake::{Fake, Fault};
use jsonwebtoken::{Algorithm, EncodingKey, Header, decode_header, encode};
use serde_json::json;

use cli::{Failure, printable};
use keys::Keys;

const USAGE: &str = "usage: verify_id_token

Verifies the id tokens of logins with the published keys of the identity provider, before and after
it replaces them. It runs on a fake.";

#[tokio::main]
async fn main() -> ExitCode {
    cli::no_arguments(USAGE);
    cli::end(run().await)
}

/// Describes why the login was refused.
fn reason(refused: &Error) -> String {
    let found = refused.source().map(ToString::to_string);
    printable(format!("{refused}: {}", found.unwrap_or_default()))
}

struct App {
    fake: Fake,
    manager: TokenManager,
    keys: Arc<Keys>,
}

async fn run() -> Result<(), Failure> {
    let fake = Fake::start().await;
    // For a real provider, the address is `jwks_uri` in `/.well-known/openid-configuration`.
    let keys = Arc::new(Keys::new(fake.jwks_uri())?);
    let check = keys.clone();
    let provider = fake
        .provider()
        .id_token_check(move |id_token| check.verify(id_token.token().expose()))
        .build()?;
    let manager = TokenManager::builder(provider).build()?;
    let app = App {
        fake,
        manager,
        keys,
    };

    let tokens = app.log_in(app.begin()?).await??;
    println!("1. The signature of the id token is verified.");

    let login = app.begin()?;
    let forged = Fault::replaced("/id_token", app.forged(&login, &tokens)?);
    app.fake.on_path(app.fake.token_url().path()).fault(forged);
    let refused = app.log_in(login).await?.err();
    let refused = refused.ok_or("a forged token was accepted")?;
    println!("2. A forged token: {}.", reason(&refused));
    if app.manager.access_token().await?.generation() != tokens.generation() {
        return Err("the tokens of a refused login were stored".into());
    }

    // If the provider publishes a key only when it first signs with it, one login fails.
    app.fake.rotate_signing_key();
    let refused = app.log_in(app.begin()?).await?.err();
    let refused = refused.ok_or("an unknown key was accepted")?;
    println!("3. A new key: {}.", reason(&refused));
    app.log_in(app.begin()?).await??;
    println!("4. The next login fetches the key and succeeds.");
    Ok(())
}

impl App {
    fn begin(&self) -> Result<PendingLogin, Failure> {
        Ok(self.manager.provider().authorization().start()?)
    }

    /// The outer error means that the keys could not be fetched and the login was not tried.
    async fn log_in(&self, login: PendingLogin) -> Result<Result<TokenSet, Error>, Failure> {
        let callback = self.fake.consent(login.url())?;
        // Fetch the keys before sending the code: the code works only once, and without keys it would be wasted.
        self.keys.prepare().await?;
        Ok(self.manager.complete_login(login, callback.as_str()).await)
    }

    /// A forged token: it has the right claims and names the provider's key, but is signed with a publicly known secret.
    fn forged(&self, login: &PendingLogin, genuine: &TokenSet) -> Result<String, Failure> {
        let genuine = genuine.id_token().ok_or("there is no id token")?;
        let mut header = Header::new(Algorithm::HS256);
        header.kid = decode_header(genuine.expose())?.kid;
        let mut parameters = login.url().query_pairs();
        let nonce = parameters.find(|(name, _)| name == "nonce");
        let claims = json!({
            "iss": self.fake.issuer(),
            "aud": self.fake.client_id(),
            "sub": "auth0|sam",
            "exp": 4_000_000_000_u64,
            "nonce": nonce.map(|(_, nonce)| nonce.into_owned()),
        });
        let key = EncodingKey::from_secret(b"guessed");
        Ok(encode(&header, &claims, &key)?)
    }
}
