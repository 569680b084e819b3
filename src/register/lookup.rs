//! Properties by their PIC (spec 4.2).

use std::time::SystemTime;

use super::envelope::Found;
use super::if_modified::{IfModified, if_modified_since};
use super::operation::Get;
use super::{LookupMany, OPERATION, Register};
use crate::error::{Error, Result};
use crate::model::{Pic, Property};
use crate::send::{Call, Settings};
use crate::transport::Request;

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
    pub fn property(&self, pic: &Pic) -> Call<Option<Property>> {
        self.lookup(pic).then(|answer, _| async {
            match answer {
                Lookup::Several(_) => Err(Error::protocol(
                    "the register gave several properties for one PIC",
                )
                .with_operation(OPERATION)),
                answer => Ok(answer.into_property()),
            }
        })
    }

    /// What the register says about this PIC, with "not found", "nothing" and "several" told apart.
    ///
    /// # Errors
    ///
    /// [`is_protocol`](Error::is_protocol) when the register gives the property of another PIC, or a `Total` that
    /// contradicts what it gives; else as for all calls, see [`Register`].
    pub fn lookup(&self, pic: &Pic) -> Call<Lookup> {
        let (register, pic) = (self.clone(), *pic);
        let get = Get {
            kind: "lookup",
            since: None,
        };
        let request = get.request(self.0.address.property(pic));
        let work = move |request, settings| async move {
            let cache = register.0.cache.as_ref();
            if let Some(kept) = cache.and_then(|cache| cache.get(pic)) {
                return Ok(kept);
            }
            let found = register.find(pic, &get, request, &settings).await?;
            let answer = found.value().unwrap_or(Lookup::Empty);
            if let Some(cache) = cache {
                cache.keep(pic, &answer);
            }
            Ok(answer)
        };
        Call::new(&self.0.sender, Settings::default(), Ok((request, work)))
    }

    /// What the register says about this PIC, if anything changed since a date. It is always asked, whatever is kept.
    ///
    /// # Errors
    ///
    /// As [`lookup`](Self::lookup), and [`is_config`](Error::is_config) for a date before 1970 or after 9999.
    pub fn lookup_since(&self, pic: &Pic, date: SystemTime) -> Call<IfModified<Lookup>> {
        let (register, pic) = (self.clone(), *pic);
        let work = if_modified_since(date).map(|since| {
            let get = Get {
                kind: "lookup",
                since: Some(since),
            };
            let request = get.request(self.0.address.property(pic));
            (request, move |request, settings| async move {
                register.find(pic, &get, request, &settings).await
            })
        });
        Call::new(&self.0.sender, Settings::default(), work)
    }

    /// Looks up many PICs, a few at a time. Nothing is sent before the first answer is asked for; see [`LookupMany`].
    pub fn lookup_many(&self, pics: impl IntoIterator<Item = impl AsRef<str>>) -> LookupMany {
        LookupMany::new(self.clone(), pics)
    }

    async fn find(
        &self,
        pic: Pic,
        get: &Get,
        request: Request,
        settings: &Settings,
    ) -> Result<IfModified<Lookup>> {
        match self.0.sender.send(get, request, settings).await {
            Ok(IfModified::Unchanged) => Ok(IfModified::Unchanged),
            Ok(IfModified::Changed {
                value,
                last_modified,
            }) => judge(value, pic)
                .map(|answer| IfModified::changed(answer, last_modified))
                .map_err(|error| error.with_operation(OPERATION)),
            Err(error) if is_unknown(&error) => Ok(IfModified::changed(Lookup::NotFound, None)),
            Err(error) => Err(error),
        }
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
