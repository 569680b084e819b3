//! Why no connection could be made.

use std::error::Error as _;
use std::iter::successors;

use super::Error;

/// Why no connection could be made, for programs that tell a user what to do about it: see [`Error::connect_cause`].
///
/// ```
/// # equipment::example(async {
/// use envd_sdk::auth::StaticToken;
/// use envd_sdk::{Client, ConnectCause, RetryPolicy};
///
/// # let address = equipment::refusing_address();
/// let client = Client::builder(format!("http://{address}/graphql"))
///     .token_source(StaticToken::new("token")?)
///     .retry(RetryPolicy::none())
///     .build()?;
/// let error = client.user_details().await.unwrap_err();
/// match error.connect_cause() {
///     Some(ConnectCause::CertificateDates) => println!("check the date of this computer: {error}"),
///     Some(ConnectCause::Proxy) => println!("check the proxy and its login: {error}"),
///     Some(_) | None => println!("no reception: {error}"),
/// }
/// assert_eq!(error.connect_cause(), Some(ConnectCause::Refused));
/// # Ok(()) });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ConnectCause {
    /// No address was found for the name of the server: the network is down, or the name is wrong.
    NameNotResolved,
    /// The server's machine refused the connection: nothing listens there, or a firewall forbids it.
    Refused,
    /// The [proxy](crate::HttpOptions::proxy) could not be reached, wants another login, or does not connect to the server.
    Proxy,
    /// By this computer's clock, the server's certificate has expired or is not valid yet. One of the two is wrong.
    CertificateDates,
    /// The server's certificate is for another name: the address is wrong, or a network's login page answers.
    CertificateName,
    /// The server's certificate is of an authority that this computer does not trust, such as that of a firewall that
    /// inspects TLS: see [`HttpOptions::extra_root_certificate`](crate::HttpOptions::extra_root_certificate).
    CertificateAuthority,
    /// The server's certificate cannot be used for another reason: for example, it was revoked.
    Certificate,
}

impl Error {
    /// Why no connection could be made: for an error of the kind [`Connect`](crate::ErrorKind::Connect), or an error caused by
    /// such a failure, when a token could not be renewed. `Display` and [`report`](Self::report) name the cause in words.
    ///
    /// `None` if the cause is not known, such as an unreachable network. With the feature `native-tls`, it is not known for
    /// certificates.
    #[doc(alias("DNS", "TLS"))]
    pub fn connect_cause(&self) -> Option<ConnectCause> {
        let below = successors(self.source(), |&error| error.source());
        let mut below = below.filter_map(|error| error.downcast_ref::<Self>());
        self.0
            .connect_cause
            .or_else(|| below.find_map(|error| error.0.connect_cause))
    }
}
