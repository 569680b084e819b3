//! The feature `jwks` is off: id tokens are not signed, and there are no keys.

use serde_json::{Value, json};

/// The algorithm of id tokens.
pub(super) const ALGORITHM: &str = "none";

#[derive(Default)]
pub(in crate::fake) struct Signing {}

// The methods are those of the signing one.
#[allow(clippy::unused_self)]
impl Signing {
    pub(super) fn public_keys(&self) -> Value {
        json!({"keys": []})
    }

    pub(super) fn jwt(&self, claims: &Value) -> String {
        super::jwt(claims)
    }
}
