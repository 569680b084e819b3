//! How the schema of the server differs from the bundled one.

use serde_json::{Value, json};

use crate::client::Client;
use crate::error::Result;
use crate::graphql::{SchemaDrift, introspections};
use crate::send::Call;

impl Client {
    /// Compares the schema of the server with the bundled schema.
    ///
    /// It is read by introspection, with the client's own token. If the server refuses to show its schema as a whole, the
    /// types of this crate are read one by one; that introspection is disabled is a result, not an error. Roles may see
    /// different schemas.
    ///
    /// Source: public material (the ISC wiki): introspection is open; not confirmed.
    ///
    /// ```
    /// # equipment::example(async {
    /// let schema = envd_sdk::graphql::SCHEMA.replace("commentText: String", "text: String");
    /// let fake = envd_sdk::fake::Fake::builder().schema(schema).start().await?;
    /// let drift = fake.client().build()?.schema_drift().await?;
    /// assert!(drift.breaks());
    /// assert!(drift.broken_operations().contains(&"comments"));
    /// println!("{drift}");
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// As [`execute`](Self::execute), but for refusals of introspection.
    pub fn schema_drift(&self) -> Call<SchemaDrift> {
        let client = self.clone();
        let [(_, name, document), ..] = introspections();
        self.execute_document::<Value>(&document, name, &json!({}))
            .instead(async move |settings| client.with_settings(settings).introspected().await)
    }

    async fn introspected(&self) -> Result<SchemaDrift> {
        for (coverage, name, document) in introspections() {
            let data = self.introspect(name, &document).await?;
            let drift = data.and_then(|data| SchemaDrift::read(coverage, &data));
            if let Some(drift) = drift {
                return Ok(drift);
            }
        }
        Ok(SchemaDrift::disabled())
    }

    /// The data of an introspection, or `None` when the server refuses it.
    async fn introspect(&self, name: &str, document: &str) -> Result<Option<Value>> {
        match self.execute_document(document, name, &json!({})).await {
            Ok(outcome) => Ok(Some(outcome.value)),
            Err(error) if error.is_unauthorized() || error.is_retryable() => Err(error),
            // A gateway that forbids it answers 400 or 403, with any body.
            Err(error) if error.is_rejected() || error.is_bad_request() || error.is_forbidden() => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}
