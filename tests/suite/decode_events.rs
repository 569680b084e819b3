//! A reply that does not fit is told to the log, without what stood in it.

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};

use envd_sdk::fake::Fake;
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber, subscriber};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

/// Writes down every event and every span.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Log {
    fn line(&self, level: Level, write: impl FnOnce(&mut Line)) {
        let mut line = Line(level.to_string());
        write(&mut line);
        self.0.lock().unwrap().push_str(&(line.0 + "\n"));
    }
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {field}={value:?}").unwrap();
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("envd_sdk")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.line(*span.metadata().level(), |line| span.record(line));
        Id::from_u64(1)
    }

    fn event(&self, event: &Event<'_>) {
        self.line(*event.metadata().level(), |line| event.record(line));
    }

    fn record(&self, _span: &Id, values: &Record<'_>) {
        self.line(Level::TRACE, |line| values.record(line));
    }

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}
    fn enter(&self, _span: &Id) {}
    fn exit(&self, _span: &Id) {}
}

#[tokio::test]
async fn a_reply_of_another_shape_is_warned_of_with_its_place_only() {
    let log = Log::default();
    let _guard = subscriber::set_default(log.clone());
    let server = MockServer::start().await;
    let body = json!({"data": {"userDetails": {"isNewUser": "Sam Sample"}}});
    Mock::given(any())
        .respond_with(ResponseTemplate::new(200).set_body_json(body))
        .mount(&server)
        .await;
    let fake = Fake::start().await;
    let token = fake.access_token();
    let client = envd_sdk::Client::builder(server.uri())
        .token_source(envd_sdk::auth::StaticToken::new(token.expose()).unwrap())
        .build()
        .unwrap();
    let error = client.user_details().await.unwrap_err();
    assert!(error.is_decode());
    let log = log.0.lock().unwrap();
    let warned = log.lines().find(|line| line.starts_with("WARN")).unwrap();
    assert!(warned.contains("data.userDetails"), "{warned}");
    assert!(
        !log.contains("Sample") && !log.contains(token.expose()),
        "{log}"
    );
}
