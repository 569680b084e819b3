//! An invalid timestamp is an error at once, and nothing is sent.

use std::time::{Duration, UNIX_EPOCH};

use envd_sdk::ErrorKind;
use envd_sdk::model::Timestamp;
use envd_sdk::ops::ConsignmentFilter;

use crate::calls::input;
use crate::fixed_date::start_fake;

#[tokio::test]
async fn a_list_with_an_instant_that_cannot_be_read_is_not_asked_for() {
    let fake = start_fake().await;
    let account = fake.client().build().unwrap().account(fake.account_id());
    for text in test_support::UNREADABLE_INSTANTS.split('|') {
        let filters = [
            ConsignmentFilter::default().from(text),
            ConsignmentFilter::default().to(text),
            ConsignmentFilter::default()
                .from("2020-01-01T00:00:00Z")
                .to(text),
        ];
        for filter in filters {
            let page = account.consignments_page(&filter, None);
            assert!(
                page.dry_run().unwrap_err().kind() == ErrorKind::Config,
                "{text}"
            );
            let errors = [
                page.await.map(drop),
                account.consignments(&filter).next_page().await.map(drop),
                account
                    .full_consignments(&filter)
                    .next_page()
                    .await
                    .map(drop),
            ];
            for error in errors {
                let error = error.unwrap_err();
                assert!(error.kind() == ErrorKind::Config, "{text}: {error}");
            }
        }
        let error = account.candidates(&input()).from(text).find().await;
        assert!(error.unwrap_err().kind() == ErrorKind::Config, "{text}");
    }
    assert_eq!(fake.requests().len(), 0);
    // A later setting replaces an earlier one, and any time of the clock can be sent.
    // Before year 1; on Windows time begins in 1601.
    let years = |seconds| UNIX_EPOCH.checked_sub(Duration::from_secs(seconds));
    let far = years(94_000_000_000).or(years(11_644_473_600)).unwrap();
    for from in [far.into(), Timestamp::from("2020-01-01T00:00:00")] {
        let filter = ConsignmentFilter::default().from("never").from(from);
        assert!(account.consignments_page(&filter, None).await.is_ok());
    }
}
