//! A value together with the JSON that it was read from.

use serde::de::DeserializeOwned;

use super::misfit;
use crate::error::{Error, ReplyParts, ServerErrors};

/// A record, or a list of questions, as it was received: typed, and as the JSON text with the fields that this crate does not
/// know. `Debug` shows neither.
///
/// From [`Call::received`](crate::Call::received) and [`Pager::received`](crate::Pager::received), for a program that keeps records
/// elsewhere and must lose none of their fields.
///
/// ```
/// # equipment::example(async {
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

    /// The value as the call returns it otherwise.
    pub fn typed(&self) -> &T {
        &self.typed
    }

    /// The JSON, byte for byte as the service sent it.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// The value, and the JSON.
    pub fn into_parts(self) -> (T, String) {
        (self.typed, self.json.into())
    }

    /// Reads the JSON as another type, for fields that this crate does not know. The lists of this crate in it may take as much
    /// memory as those of a reply.
    ///
    /// # Errors
    ///
    /// [`Decode`](crate::ErrorKind::Decode) when the JSON does not fit the type.
    pub fn read<U: DeserializeOwned>(&self) -> Result<U, Error> {
        misfit::read(&self.json).map_err(|misfit| {
            // Only the reply to a successful query is kept; data comes with 200 (spec 7.1).
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

// Records hold personal data.
debug_shows!(AsReceived<T>);
