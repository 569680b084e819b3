//! Login on the user's own machine: the browser comes back to a listener on the loopback address (RFC 8252 section 7.3).
//!
//! [`Loopback::bind`] takes a port of 127.0.0.1, [`Loopback::open_browser`] shows the user the identity provider, and
//! [`Loopback::receive`] waits for the callback. It answers one address and one `Host` only, so that a web page that the
//! user has open cannot reach it under another name; what does not carry the state of the login cannot end it. The page
//! that the browser shows in the end holds nothing of the login. The port is free again as soon as the listener is
//! dropped.
//!
//! # On a machine with other users
//!
//! The address of a login holds its `state`. Another user who reads it in time can log in as himself and send the callback
//! to the listener first: then the program goes on with the wrong account. [`Loopback::open_browser`] therefore gives the
//! browser a file that only its owner can read; but what the browser makes of it, such as the arguments of its own child
//! processes, is not in the hands of this crate. Where it is known who is to log in, say so with
//! [`expected_subject`](crate::auth::AuthorizationRequest::expected_subject): anybody else is refused. Otherwise show the
//! user who has logged in.
//!
//! ```
//! use envd_sdk::auth::TokenManager;
//! use envd_sdk::loopback::Loopback;
//! # use envd_sdk::fake::Fake;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let fake = Fake::start().await;
//! # let settings = fake.provider();
//! let mut listener = Loopback::bind().await?;
//! // `settings` is a `Provider::builder(..)` with the addresses of the service.
//! let provider = settings.redirect_uri(listener.redirect_uri().as_str()).build()?;
//! let manager = TokenManager::builder(provider).build()?;
//!
//! let login = manager.provider().authorization().start()?;
//! # let back = fake.consent(login.url())?;
//! # tokio::spawn(async move {
//! #     use tokio::io::{AsyncReadExt, AsyncWriteExt};
//! #     let host = back.authority();
//! #     let target = &back[url::Position::BeforePath..];
//! #     let mut browser = tokio::net::TcpStream::connect(host).await.unwrap();
//! #     browser.write_all(format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).await.unwrap();
//! #     browser.read_to_end(&mut Vec::new()).await.unwrap();
//! # });
//! println!("Log in at {}", login.url());
//! # if false {
//! if let Err(error) = listener.open_browser(&login).await {
//!     println!("{error}; open the address by hand");
//! }
//! # }
//! let callback = listener.receive(login).await?;
//! manager.redeem(callback).await?;
//! assert!(manager.access_token().await.is_ok());
//! # Ok(())
//! # }
//! ```

mod browser;
mod builder;
mod listener;
mod login_page;
mod page;
mod request;

#[cfg(test)]
mod tests;

pub use self::browser::open_browser;
pub use self::builder::LoopbackBuilder;
pub use self::listener::Loopback;
