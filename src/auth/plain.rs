//! Writes and reads secrets of the stored forms, for `#[serde(with)]`. Apart from [`Secret`], which must not be serialized
//! by accident.

use serde::{Deserialize, Deserializer, Serializer};

use crate::secret::Secret;

pub(super) fn serialize<S: Serializer>(secret: &Secret, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(secret.expose())
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Secret, D::Error> {
    String::deserialize(from).map(Secret::new)
}

/// As above, for a secret that may be missing.
pub(super) mod option {
    use super::{Deserialize, Deserializer, Secret, Serializer};

    #[allow(clippy::ref_option)] // What serde calls.
    pub(in crate::auth) fn serialize<S: Serializer>(
        secret: &Option<Secret>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match secret {
            Some(secret) => to.serialize_some(secret.expose()),
            None => to.serialize_none(),
        }
    }

    pub(in crate::auth) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Secret>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        Ok(text.map(Secret::new))
    }
}
