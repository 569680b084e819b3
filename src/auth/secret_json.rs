//! Serializes secrets in clear, for stored records and pending logins, without leaving copies in memory. Kept separate from
//! [`Secret`], which must not be serialized by accident.

use std::io::{self, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zeroize::Zeroizing;

use crate::model::{json_repair, json_text, reply_memory};
use crate::secret::Secret;

/// Serializes into a buffer of the final size, because a growing buffer leaves copies in memory.
pub(super) fn to_json(value: &impl Serialize) -> serde_json::Result<Secret> {
    let mut length = Length(0);
    serde_json::to_writer(&mut length, value)?;
    let mut text = Zeroizing::new(Vec::with_capacity(length.0));
    serde_json::to_writer(&mut *text, value)?;
    let text = String::from_utf8(std::mem::take(&mut *text));
    // Never the default: JSON is UTF-8.
    Ok(Secret::new(text.unwrap_or_default()))
}

/// Parses JSON from a provider within the [memory limit](reply_memory), and [repairs](json_repair) invalid strings; `None` if
/// it has another shape.
pub(super) fn from_json<T: DeserializeOwned>(json: &[u8]) -> Option<T> {
    reply_memory::limited(json.len(), || {
        json_text::from_slice(json).ok().or_else(|| {
            let text = std::str::from_utf8(json).ok()?;
            let text = Zeroizing::new(json_repair::repaired(text)?);
            json_text::from_str(&text).ok()
        })
    })?
}

/// Counts the bytes written.
struct Length(usize);

impl Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// For `#[serde(with)]`.
pub(super) fn serialize<S: Serializer>(secret: &Secret, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(secret.expose())
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Secret, D::Error> {
    String::deserialize(from).map(Secret::new)
}

/// For optional secrets.
pub(super) mod option {
    use super::{Deserialize, Deserializer, Secret, Serialize, Serializer};

    #[allow(clippy::ref_option)] // Required by serde.
    pub(in crate::auth) fn serialize<S: Serializer>(
        secret: &Option<Secret>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        secret.as_ref().map(Secret::expose).serialize(to)
    }

    pub(in crate::auth) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Secret>, D::Error> {
        Ok(Option::<String>::deserialize(from)?.map(Secret::new))
    }
}
