//! The schema of the server, and how it differs from the bundled one.

use serde_json::{Value, json};

use crate::client::Client;
use crate::error::Result;
use crate::graphql::{
    Abilities, Introspection, SchemaDrift, introspection_document, introspection_probe, spot_check,
};
use crate::send::Call;

impl Client {
    /// Asks the server for its schema, with the client's own token.
    ///
    /// What the server can be asked is found out first. If it refuses to show its schema as a whole, the types of this
    /// crate are asked for one by one; that introspection is disabled is a result, not an error. Roles may see
    /// different schemas.
    ///
    /// Source: public material (the ISC wiki) says that introspection is open; not confirmed.
    ///
    /// # Errors
    ///
    /// As [`execute`](Self::execute), but for refusals of introspection.
    pub fn introspect(&self) -> Call<Introspection> {
        let client = self.clone();
        let (name, probe) = ("EnvdIntrospectionProbe", introspection_probe());
        let first = self.execute_document::<Value>(probe, name, &json!({}));
        first.instead(async move |settings| client.with_settings(settings).introspected().await)
    }

    async fn introspected(&self) -> Result<Introspection> {
        let abilities = self
            .shown("EnvdIntrospectionProbe", introspection_probe())
            .await?;
        let abilities = abilities.as_ref().map(Abilities::of).unwrap_or_default();
        let whole = self
            .shown("EnvdIntrospection", &introspection_document(abilities))
            .await?;
        if let Some(shown) = whole.as_ref().and_then(Introspection::whole) {
            return Ok(shown);
        }
        let types = self.shown("EnvdSpotCheck", &spot_check()).await?;
        let shown = types.as_ref().and_then(Introspection::type_by_type);
        Ok(shown.unwrap_or_else(Introspection::disabled))
    }

    /// Compares the schema of the server with the one that this crate was written for.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let schema = envd_sdk::graphql::SCHEMA.replace("commentText: String", "text: String");
    /// let fake = envd_sdk::fake::Fake::builder().schema(schema).start().await?;
    /// let drift = fake.client().build()?.schema_drift().await?;
    /// assert!(drift.breaks());
    /// assert!(drift.broken_operations().contains(&"comments"));
    /// println!("{drift}");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`introspect`](Self::introspect).
    pub fn schema_drift(&self) -> Call<SchemaDrift> {
        self.introspect()
            .then(async |shown, _| Ok(SchemaDrift::of(&shown)))
    }

    /// The data of an introspection, or `None` when the server refuses to show it.
    async fn shown(&self, name: &str, document: &str) -> Result<Option<Value>> {
        match self.execute_document(document, name, &json!({})).await {
            Ok(outcome) => Ok(Some(outcome.value)),
            Err(error) if error.is_unauthorized() => Err(error),
            // A gateway that forbids it says 400 or 403, in whatever shape.
            Err(error) if error.is_retryable() => Err(error),
            Err(error) if error.is_rejected() || error.is_bad_request() || error.is_forbidden() => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}
