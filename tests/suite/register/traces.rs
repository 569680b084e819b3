//! Traces tell what happened, and nothing about whom.

use std::fmt;
use std::sync::{Arc, Mutex};

use envd_sdk::fake::Fake;
use envd_sdk::register::{FieldSearch, Register};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{Interest, Subscriber};
use tracing::{Event, Metadata};

/// Writes down all spans and events of this crate.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<String>>);

impl Visit for Written {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let mut text = self.0.lock().unwrap();
        text.extend([field.name(), "=", &format!("{value:?}"), " "]);
    }
}

impl Subscriber for Written {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("envd_sdk")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.0.lock().unwrap().push_str(span.metadata().name());
        span.record(&mut self.clone());
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut self.clone());
    }

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// A search and two look-ups.
async fn asked(register: &Register) {
    let search = FieldSearch::new().last_name("Sample").town("Sampleton");
    register.search(search).next_page().await.unwrap();
    register
        .lookup_many(["QAZZ7777", "QZZZ9999"])
        .collect()
        .await;
}

#[tokio::test]
async fn spans_have_operation_and_status_but_neither_names_nor_tokens() {
    let fake = Fake::start().await;
    let builder = Register::builder(fake.register_url()).auth_header("x-api-key", "s3cr3t");
    let register = builder.build().unwrap();
    // Once unheard: a span that another test's thread is just meeting for the first time would be taken for one that
    // nobody wants, and stay so.
    asked(&register).await;
    let written = Written::default();
    let guard = tracing::subscriber::set_default(written.clone());
    asked(&register).await;
    drop(guard);
    let text = written.0.lock().unwrap().clone();
    for part in [
        "envd.call",
        "PICRegister",
        "search",
        "lookup",
        "envd.attempt",
        "status=200",
        "status=404",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    for part in ["Sample", "s3cr3t", "QAZZ7777", "QZZZ9999", "api/v2"] {
        assert!(!text.contains(part), "{part}: {text}");
    }
}
