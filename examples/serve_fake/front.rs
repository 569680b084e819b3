//! The pages in front of the fake: a start page, `GraphiQL`, and the CORS headers for pages on this machine.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;

use envd_sdk::fake::{Fake, Fault, Received};
use serde_json::{Value, json};

use super::cli::Failure;
use super::landing::Landing;
use super::{cors, html};

/// The pages load only their own files. `GraphiQL` sets inline styles at run time.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; \
                      img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The pages, and the delay for all other replies.
pub(crate) struct Front {
    /// Weak, because the fake holds the front: avoids a reference cycle.
    fake: Weak<Fake>,
    landing: Landing,
    graphiql: String,
    /// Compressed. `None` in the published package, which leaves the file out.
    script: Option<Vec<u8>>,
    style: Option<Vec<u8>>,
    latency: Duration,
}

impl Front {
    /// Reads the contents of the pages from the fake.
    pub(crate) async fn of(
        fake: &Arc<Fake>,
        latency: Duration,
        token_lifetime: Duration,
    ) -> Result<Self, Failure> {
        let script = asset("graphiql.js.gz");
        let style = asset("graphiql.css.gz");
        let settings = json!({
            "url": fake.graphql_url().path(),
            "token": fake.access_token().expose(),
            "query": first_query(fake),
        });
        let graphiql = if script.is_some() && style.is_some() {
            let page = include_str!("pages/graphiql.html");
            html::filled(page, [("settings", html::json(&settings))])
        } else {
            include_str!("pages/no_graphiql.html").to_owned()
        };
        Ok(Self {
            fake: Arc::downgrade(fake),
            landing: Landing::of(fake, token_lifetime).await?,
            graphiql,
            script,
            style,
            latency,
        })
    }

    /// Decides the reply to a request: a page, or the fake's reply with additional headers.
    pub(crate) fn fault(&self, request: &Received, kept: Option<&Value>) -> Fault {
        if let Some(refusal) = cors::foreign_host(request) {
            return refusal;
        }
        let origin = cors::local_origin(request);
        let own = origin.and_then(|_| cors::preflight(request));
        let reply = own.or_else(|| self.page(request));
        let kept = || kept.map(|reply| Fault::status(200).json(reply));
        let reply = reply.or_else(kept);
        let reply = reply.unwrap_or_else(|| Fault::latency(self.latency));
        match origin {
            Some(origin) => cors::readable(reply, origin),
            None => reply,
        }
    }

    fn page(&self, request: &Received) -> Option<Fault> {
        if request.method() != "GET" {
            return None;
        }
        let accept = request.header("accept").unwrap_or_default();
        Some(match request.path() {
            "/" => page(HTML, self.landing.page(&*self.fake.upgrade()?)),
            "/style.css" => page(CSS, include_str!("../look/style.css")),
            "/landing.js" => page(SCRIPT, include_str!("pages/landing.js")),
            "/v2/graphql" | "/graphql" if accept.contains("text/html") => {
                page(HTML, self.graphiql.as_str())
            }
            "/graphiql/graphiql.js" => compressed(SCRIPT, self.script.as_ref()?),
            "/graphiql/graphiql.css" => compressed(CSS, self.style.as_ref()?),
            _ => return None,
        })
    }
}

/// The initial query in `GraphiQL`.
fn first_query(fake: &Fake) -> String {
    let account = Value::from(fake.account_id());
    format!(
        "# Sent with the token of the one who logs in;
# another one goes under Headers:
# {{\"authorization\": \"Bearer ..\"}}
# Ctrl-Enter runs it, Ctrl-Space completes.
query Start {{
  userDetails {{
    firstName
    accounts {{ envdAccountId accountLabel }}
  }}
  consignments(
    envdAccountId: {account}
    first: 3
  ) {{
    totalCount
    edges {{ node {{ number status }} }}
  }}
}}
"
    )
}

fn page(media_type: &str, body: impl Into<Vec<u8>>) -> Fault {
    Fault::status(200)
        .body(media_type, body)
        .header("content-security-policy", POLICY)
        .header("x-content-type-options", "nosniff")
        .header("referrer-policy", "no-referrer")
        // The pages contain tokens, and the next fake on this port has different ones.
        .header("cache-control", "no-store")
}

fn compressed(media_type: &str, body: &[u8]) -> Fault {
    page(media_type, body).header("content-encoding", "gzip")
}

/// A file of `GraphiQL`, as `graphiql/build.mjs` writes it.
fn asset(name: &str) -> Option<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/serve_fake/graphiql");
    fs::read(folder.join(name)).ok()
}
