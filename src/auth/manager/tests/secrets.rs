//! No token, code or user name in traces, `Debug` or `Display`.

use std::env;
use std::fmt::{self, Write};
use std::process::Command;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::bench::{Bench, DAY, ScriptedReply};
use wiremock::ResponseTemplate;

/// Writes every span and event of every level into one text.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

struct Line<'a>(&'a mut String);

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        write!(self.0, "{field}={value:?} ").unwrap();
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut Line(&mut self.0.lock().unwrap()));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut Line(&mut self.0.lock().unwrap()));
    }

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Line(&mut self.0.lock().unwrap()));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

const ALONE: &str = "ENVD_SDK_TEST_ALONE";

/// Row 47. In a process of its own: a callsite that is first reached on another thread while a subscriber is being set may
/// be disabled for good.
#[test]
fn no_trace_debug_or_display_shows_a_token() {
    let name = "auth::manager::tests::secrets::no_trace_debug_or_display_shows_a_token";
    if env::var_os(ALONE).is_some() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        return runtime.unwrap().block_on(a_life_is_listened_to());
    }
    let mut alone = Command::new(env::current_exe().unwrap());
    let alone = alone.args(["--exact", name, "--test-threads=1"]);
    let output = alone.env(ALONE, "1").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}"
    );
}

async fn a_life_is_listened_to() {
    let log = Log::default();
    tracing::subscriber::set_global_default(log.clone()).unwrap();
    let bench = Bench::new().await;
    bench.seed(DAY).await;
    let manager = bench.builder().account("sam@example.com").build().unwrap();
    let mut shown = format!("{:?}", manager.access_token().await.unwrap_err());
    let manager = bench.manager();
    let mut events = manager.events();
    bench.idp.next(ScriptedReply::Reply(
        ResponseTemplate::new(401)
            .set_body_string(r#"{"error":"invalid_client","error_description":"rt-1 at-1"}"#),
    ));
    let error = manager.access_token().await.unwrap_err();
    write!(shown, "{error} {error:?} {:?}", events.next().await).unwrap();
    bench.clock.advance(DAY);
    write!(shown, "{:?}", manager.access_token().await.unwrap()).unwrap();
    write!(
        shown,
        "{manager:?} {:?} {:?}",
        bench.stored().await,
        bench.store
    )
    .unwrap();
    write!(shown, "{:?}", manager.logout(None).await).unwrap();
    let log = log.0.lock().unwrap().clone();
    assert!(log.contains("tokens renewed"), "{log}");
    for secret in ["rt-1", "rt-2", "at-1", "at-2", "sam"] {
        assert!(!shown.contains(secret), "{secret} in {shown}");
        assert!(!log.contains(secret), "{secret} in {log}");
    }
}

#[tokio::test]
async fn debug_shows_only_the_host_of_a_logout_address() {
    let bench = Bench::new().await;
    let manager = bench.running().await;
    let report = manager.logout(Some("https://app.example/pr1vate")).await;
    assert!(report.url.as_ref().unwrap().as_str().contains("pr1vate"));
    let shown = format!("{report:?}");
    assert!(
        !shown.contains("pr1vate") && shown.contains("host"),
        "{shown}"
    );
}
