//! A condition that is checked right before the first byte of each request.

use envd_sdk::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use equipment::{Reply, Server};
use serde_json::json;

use crate::scripted::{client, ok};

/// What a change and a query become when the condition holds so many times.
#[tokio::test]
async fn no_attempt_is_sent_once_the_condition_no_longer_holds() {
    let record = json!({"data": {"copyConsignment": {"data": {"id": "c-2"}}}});
    // How often it holds; whether the call succeeds, and may have been carried out otherwise; requests.
    for (holds, succeeds, may_have_applied, requests) in [
        (0, false, false, 0),
        (1, false, true, 1),
        (2, true, false, 2),
    ] {
        let server = Server::script([Reply::close(), ok(record.clone())]);
        let account = client(&server).build().unwrap().account("envd-1");
        let asked = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&asked);
        let call = account.copy_consignment("c-1").idempotent();
        let call = call.only_if(move || seen.fetch_add(1, Ordering::Relaxed) < holds);
        match call.await {
            Ok(_) => assert!(succeeds, "{holds}"),
            Err(error) => {
                assert!(
                    !succeeds && error.kind() == ErrorKind::Transport && !error.is_retryable(),
                    "{holds}"
                );
                assert_eq!(error.may_have_applied(), may_have_applied, "{holds}");
                assert!(error.to_string().contains("condition"), "{error}");
            }
        }
        assert_eq!(server.count(), requests, "{holds}");
        assert_eq!(asked.load(Ordering::Relaxed), (holds + 1).min(2));
    }
}
