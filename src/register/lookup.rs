//! One property by its PIC (spec 4.2).

use super::Register;
use super::envelope::{self, Found};
use crate::error::{Error, Result};
use crate::model::{Pic, Property};

impl Register {
    /// The property with this PIC; `None` when the register has none.
    ///
    /// # Errors
    ///
    /// [`is_protocol`](Error::is_protocol) when the register gives several properties or another one; else as for all
    /// calls, see [`Register`].
    ///
    /// ```
    /// # use envd_sdk::fake::Fake;
    /// use envd_sdk::model::Pic;
    /// use envd_sdk::register::Register;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let fake = Fake::start().await;
    /// # let register = Register::builder(fake.register_url()).build()?;
    /// let station = register.property(&Pic::parse("QAZZ7777")?).await?;
    /// assert_eq!(station.and_then(|station| station.register_id), Some(900_001));
    /// assert!(register.property(&Pic::parse("QZZZ9999")?).await?.is_none());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn property(&self, pic: &Pic) -> Result<Option<Property>> {
        let outcome = match self.0.sender.get(self.0.address.property(pic)).await {
            // No content.
            Ok(reply) if reply.body.is_empty() => Ok(None),
            Ok(reply) => envelope::read(reply).and_then(|found| only(found, pic)),
            Err(error) if is_unknown(&error) => Ok(None),
            Err(error) => Err(error),
        };
        outcome.map_err(|error| error.with_operation("PICRegister"))
    }
}

/// Whether the register has no such property. A web page with that status comes from elsewhere: the address is wrong, and
/// `None` for each PIC would hide it.
fn is_unknown(error: &Error) -> bool {
    error.http_status() == Some(404) && error.media_type() != Some("text/html")
}

fn only(found: Found, pic: &Pic) -> Result<Option<Property>> {
    let several = found.total.is_some_and(|total| total > 1);
    let mut records = found.records.into_iter();
    let (first, second) = (records.next(), records.next());
    if several || second.is_some() {
        return Err(Error::protocol(
            "the register gave several properties for one PIC",
        ));
    }
    let is_other = |property: &Property| {
        let given = property.pic.as_deref();
        given.is_some_and(|given| !given.trim().eq_ignore_ascii_case(pic.as_str()))
    };
    if first.as_ref().is_some_and(is_other) {
        return Err(Error::protocol(
            "the register gave a property with another PIC",
        ));
    }
    Ok(first)
}
