//! Checks the output of a manager: `Debug`, errors, events and reports.

use serde_json::json;

use super::bench::{Bench, DAY, log_in, refusal, reply};

/// Row 47. The session has a failure that quotes tokens.
#[tokio::test]
async fn nothing_of_a_manager_shows_a_token_or_a_user() {
    let bench = Bench::new();
    let manager = bench.builder().account("sam@example.com").build().unwrap();
    let mut events = manager.events();
    let tokens = log_in(&bench, &manager, "auth0|sam").await;
    bench.clock.advance(DAY);
    let reported = "rt-2 at-2 sam";
    let body = json!({"error": "invalid_client", "error_description": reported});
    bench.idp.reply(reply(401, body));
    let error = refusal(&manager).await;
    let session = manager.inspect().await;
    let fields = [
        session.store.clone(),
        session.account.clone(),
        session.subject.clone().unwrap(),
    ];
    let expected = ["memory of this process", "sam@example.com", "auth0|sam"];
    assert_eq!(fields, expected);
    let report = manager.logout(Some("https://app.example/pr1vate")).await;
    assert!(report.url.as_ref().unwrap().as_str().contains("pr1vate"));
    let shown = format!(
        "{session:?} {error} {error:?} {manager:?} {tokens:?} {report:?} {:?} {:?} {:?}",
        bench.store,
        events.next().await,
        events.next().await
    );
    assert!(shown.contains("BackingOff") && shown.contains("host"));
    for hidden in ["sam", "example.com", "memory", "at-2", "rt-2", "pr1vate"] {
        assert!(!shown.contains(hidden), "{hidden} in {shown}");
    }
}
