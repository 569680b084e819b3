//! Why no connection could be made.

use std::error::Error as _;
use std::iter::successors;

use super::Error;

/// Why no connection could be made, for programs that show the user what to do about it. See [`Error::connect_cause`].
///
/// ```
/// # test_support::example(async {
/// use envd_sdk::auth::StaticToken;
/// use envd_sdk::{Client, ConnectCause, RetryPolicy};
///
/// # let address = test_support::refusing_address();
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
    /// The server's host name did not resolve: the network is down, or the name is wrong.
    NameNotResolved,
    /// The server refused the connection: nothing listens on that port, or a firewall rejects it.
    Refused,
    /// The [proxy](crate::HttpOptions::proxy) is unreachable, requires different credentials, or cannot connect to the server.
    Proxy,
    /// The server's certificate has expired or is not valid yet, according to this computer's clock. Either may be wrong.
    CertificateDates,
    /// The server's certificate is for another host name: the address is wrong, or the login page of a network answered.
    CertificateName,
    /// The server's certificate was issued by an authority that this computer does not trust, such as the one of a firewall
    /// that inspects TLS. See [`HttpOptions::extra_root_certificate`](crate::HttpOptions::extra_root_certificate).
    CertificateAuthority,
    /// The server's certificate is invalid for another reason, such as a revocation.
    Certificate,
}

impl Error {
    /// Why no connection could be made. Set for errors of the kind [`Connect`](crate::ErrorKind::Connect), and for errors
    /// caused by such a failure while a token was renewed. `Display` and [`report`](Self::report) also describe the cause.
    ///
    /// `None` if the cause is unknown, for example if the network is unreachable. With the feature `native-tls`, certificate
    /// failures have no known cause.
    #[doc(alias("DNS", "TLS"))]
    pub fn connect_cause(&self) -> Option<ConnectCause> {
        let below = successors(self.source(), |&error| error.source());
        let mut below = below.filter_map(|error| error.downcast_ref::<Self>());
        self.0
            .connect_cause
            .or_else(|| below.find_map(|error| error.0.connect_cause))
    }
}
