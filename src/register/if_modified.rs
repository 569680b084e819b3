//! Conditional requests: `If-Modified-Since` and status 304 (spec 7.1; RFC 9110 section 13.1.3).

use std::time::{Duration, SystemTime};

use crate::error::{Error, Result};
use crate::transport::Reply;
use crate::transport::header::{HeaderValue, LAST_MODIFIED};

/// The result of a conditional request.
///
/// ```
/// # use envd_sdk::fake::Fake;
/// use envd_sdk::model::Pic;
/// use envd_sdk::register::{IfModified, Register};
///
/// # test_support::example(async {
/// # let fake = Fake::start().await;
/// # let register = Register::builder(fake.register_url()).build()?;
/// let pic = Pic::parse("QAZZ7777")?;
/// let long_ago = std::time::SystemTime::UNIX_EPOCH;
/// let since = register.lookup_since(&pic, long_ago).await?;
/// let IfModified::Changed { value, last_modified: Some(date), .. } = since else {
///     return Err("the register has changed since 1970".into());
/// };
/// assert!(value.property().is_some());
/// let again = register.lookup_since(&pic, date).await?;
/// assert!(matches!(again, IfModified::Unchanged));
/// # Ok(())
/// # });
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum IfModified<T> {
    /// The current value.
    #[non_exhaustive]
    Changed {
        /// The value, as without a condition.
        value: T,
        /// The time of the last change (`Last-Modified`), if the reply has it. Use it as the date of the next request.
        last_modified: Option<SystemTime>,
    },
    /// No change since the date (status 304).
    Unchanged,
}

impl<T> IfModified<T> {
    pub(super) fn changed(value: T, last_modified: Option<SystemTime>) -> Self {
        Self::Changed {
            value,
            last_modified,
        }
    }

    pub(super) fn try_map<U>(self, map: impl FnOnce(T) -> Result<U>) -> Result<IfModified<U>> {
        Ok(match self {
            Self::Changed {
                value,
                last_modified,
            } => IfModified::changed(map(value)?, last_modified),
            Self::Unchanged => IfModified::Unchanged,
        })
    }

    /// The value; `None` if unchanged.
    pub fn value(self) -> Option<T> {
        match self {
            Self::Changed { value, .. } => Some(value),
            Self::Unchanged => None,
        }
    }
}

/// The header's value. HTTP dates have whole seconds; rounding down ensures that no change is missed.
///
/// assumed: a header, although spec 7.1 calls it a parameter
pub(super) fn if_modified_since(date: SystemTime) -> Result<HeaderValue> {
    let since_1970 = date.duration_since(SystemTime::UNIX_EPOCH);
    // The first second of the year 10000, beyond the range of HTTP dates.
    let end = Duration::from_secs(253_402_300_800);
    if !since_1970.is_ok_and(|since| since < end) {
        return Err(Error::config(
            "the date of a conditional request must be between the years 1970 and 9999",
        ));
    }
    HeaderValue::from_str(&httpdate::fmt_http_date(date))
        .map_err(|source| Error::config("the date cannot be sent").with_source(source))
}

pub(super) fn last_modified(reply: &Reply) -> Option<SystemTime> {
    httpdate::parse_http_date(reply.headers.get(LAST_MODIFIED)?.to_str().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::tests::assert_fails;

    #[test]
    fn a_date_is_written_in_whole_seconds_and_must_be_one_of_http() {
        let date = SystemTime::UNIX_EPOCH + Duration::from_millis(784_111_777_900);
        let header = if_modified_since(date).unwrap();
        assert_eq!(header, "Sun, 06 Nov 1994 08:49:37 GMT");
        for seconds in [253_402_300_800, u64::from(u32::MAX) * 100] {
            let date = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            assert_fails(if_modified_since(date), "Config");
        }
        let before = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
        assert_fails(if_modified_since(before), "Config");
    }
}
