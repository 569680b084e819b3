//! A value together with its original JSON.

use serde::de::DeserializeOwned;

use super::misfit;
use crate::error::{Error, ReplyParts, ServerErrors};

/// A record, or a list of questions, as received: typed, and as the JSON text including fields that this crate does not know.
/// `Debug` hides both.
///
/// Returned by [`Call::received`](crate::Call::received) and [`Pager::received`](crate::Pager::received), for programs that
/// store records elsewhere and must not lose any fields.
///
/// ```
/// # test_support::example(async {
/// use serde::Deserialize;
///
/// // A field that this crate does not know.
/// #[derive(Deserialize)]
/// struct Priced {
///     price: Option<u32>,
/// }
///
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let record = serde_json::json!({"id": "c-1", "number": "C-900000101", "price": 1200});
/// # fake.on_operation("Consignment").respond(serde_json::json!({"consignment": record}));
/// let account = fake.client().build()?.account(fake.account_id());
/// let record = account.consignment("c-1").received().await?.value;
/// assert_eq!(record.typed().number, Some("C-900000101".into()));
/// assert!(record.json().contains(r#""price":1200"#));
/// assert_eq!(record.read::<Priced>()?.price, Some(1200));
/// # Ok(()) });
/// ```
#[derive(Clone)]
pub struct AsReceived<T> {
    typed: T,
    json: Box<str>,
}

impl<T> AsReceived<T> {
    pub(crate) fn new(typed: T, json: Box<str>) -> Self {
        Self { typed, json }
    }

    /// The value, as the call otherwise returns it.
    pub fn typed(&self) -> &T {
        &self.typed
    }

    /// The JSON, byte for byte as the service sent it.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// Splits into the value and the JSON.
    pub fn into_parts(self) -> (T, String) {
        (self.typed, self.json.into())
    }

    /// Decodes the JSON as another type, for fields that this crate does not know. This crate's lists in that type have the
    /// same memory limit as in a reply.
    ///
    /// # Errors
    ///
    /// [`Decode`](crate::ErrorKind::Decode) if the JSON does not fit the type.
    pub fn read<U: DeserializeOwned>(&self) -> Result<U, Error> {
        misfit::read(&self.json).map_err(|misfit| {
            // Only replies to successful queries are kept, and data comes with 200 (spec 7.1).
            let received = ReplyParts::status_only(200);
            Error::decode(
                received,
                misfit.path,
                misfit.detail,
                ServerErrors::default(),
            )
        })
    }
}

// Hides records, which contain personal data.
debug_shows!(AsReceived<T>);
