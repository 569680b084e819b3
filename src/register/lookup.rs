//! Properties by their PIC (spec 4.2).

use std::time::SystemTime;

use super::envelope::{self, Found};
use super::if_modified::{IfModified, if_modified_since, last_modified};
use super::send::Call;
use super::{LookupMany, OPERATION, Register};
use crate::error::{Error, Result};
use crate::model::{Pic, Property};
use crate::transport::header::HeaderValue;

/// What the register says about a PIC.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Lookup {
    /// The property.
    Found(Box<Property>),
    /// The register says that there is none (status 404).
    NotFound,
    /// An answer without a record, and no `Total` that announces one: most likely there is none, which the specification
    /// does not show.
    Empty,
    /// More than one record, or a total of more than one.
    Several(Vec<Property>),
}

impl Lookup {
    /// The property, if there is exactly one.
    #[must_use]
    pub fn property(&self) -> Option<&Property> {
        match self {
            Self::Found(property) => Some(property),
            _ => None,
        }
    }

    /// The property, if there is exactly one.
    #[must_use]
    pub fn into_property(self) -> Option<Property> {
        match self {
            Self::Found(property) => Some(*property),
            _ => None,
        }
    }
}

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
        match self.lookup(pic).await? {
            Lookup::Several(_) => Err(Error::protocol(
                "the register gave several properties for one PIC",
            )
            .with_operation(OPERATION)),
            answer => Ok(answer.into_property()),
        }
    }

    /// What the register says about this PIC, with "not found", "nothing" and "several" told apart.
    ///
    /// # Errors
    ///
    /// [`is_protocol`](Error::is_protocol) when the register gives the property of another PIC, or a `Total` that
    /// contradicts what it gives; else as for all calls, see [`Register`].
    pub async fn lookup(&self, pic: &Pic) -> Result<Lookup> {
        let cache = self.0.cache.as_ref();
        if let Some(kept) = cache.and_then(|cache| cache.get(*pic)) {
            return Ok(kept);
        }
        let answer = self.ask(*pic, None).await?.value().unwrap_or(Lookup::Empty);
        if let Some(cache) = cache {
            cache.keep(*pic, &answer);
        }
        Ok(answer)
    }

    /// What the register says about this PIC, if anything changed since a date. It is always asked, whatever is kept.
    ///
    /// # Errors
    ///
    /// As [`lookup`](Self::lookup), and [`is_config`](Error::is_config) for a date before 1970 or after 9999.
    pub async fn lookup_since(&self, pic: &Pic, date: SystemTime) -> Result<IfModified<Lookup>> {
        self.ask(*pic, Some(if_modified_since(date)?)).await
    }

    /// Looks up many PICs, a few at a time. Nothing is sent before the first answer is asked for; see [`LookupMany`].
    pub fn lookup_many(&self, pics: impl IntoIterator<Item = impl AsRef<str>>) -> LookupMany {
        LookupMany::new(self.clone(), pics)
    }

    async fn ask(&self, pic: Pic, since: Option<HeaderValue>) -> Result<IfModified<Lookup>> {
        let call = Call {
            kind: "lookup",
            url: self.0.address.property(pic),
            since,
        };
        let reply = match self.0.sender.get(call).await {
            Ok(reply) if reply.status == 304 => return Ok(IfModified::Unchanged),
            Ok(reply) => reply,
            Err(error) if is_unknown(&error) => {
                return Ok(IfModified::changed(Lookup::NotFound, None));
            }
            Err(error) => return Err(error),
        };
        let modified = last_modified(&reply);
        envelope::read(reply)
            .and_then(|found| judge(found, pic))
            .map(|answer| IfModified::changed(answer, modified))
            .map_err(|error| error.with_operation(OPERATION))
    }
}

/// Whether the register has no such property. A web page with that status comes from elsewhere: the address is wrong, and
/// "not found" for each PIC would hide it.
fn is_unknown(error: &Error) -> bool {
    error.http_status() == Some(404) && error.media_type() != Some("text/html")
}

fn judge(mut found: Found, pic: Pic) -> Result<Lookup> {
    if let Some(record) = found.unreadable.pop() {
        return Err(record.error);
    }
    let several = found.total.is_some_and(|total| total > 1);
    let mut records = found.records.into_vec();
    let count = records.len() as u64;
    // More may be announced than a page holds, but not where it holds none.
    if let Some(total) = found.total
        && (count > total || count == 0 && total > 0)
    {
        return Err(Error::protocol(format!(
            "the register gave {count} properties with a Total of {total}"
        )));
    }
    if several || records.len() > 1 {
        return Ok(Lookup::Several(records));
    }
    let Some(property) = records.pop() else {
        return Ok(Lookup::Empty);
    };
    let given = property.pic.as_deref();
    if given.is_some_and(|given| !given.trim().eq_ignore_ascii_case(pic.as_str())) {
        return Err(Error::protocol(
            "the register gave a property with another PIC",
        ));
    }
    Ok(Lookup::Found(Box::new(property)))
}
