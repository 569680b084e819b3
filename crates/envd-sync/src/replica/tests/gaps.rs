//! Records of a list that cannot be read.

use serde_json::{Value, json};

use super::site::{Site, copied};
use crate::replica::SyncMode;
use crate::store::MemorySync;

/// What the service sends in place of the record r002, and what the report names.
fn gaps() -> [(Value, &'static str); 4] {
    [
        (Value::Null, "place 1 between r003 and r001"),
        (json!({"id": null}), "place 1 between r003 and r001"),
        (json!({"id": "r002", "heads": "many"}), "the record r002"),
        (
            json!({"id": 7, "heads": []}),
            "place 1 between r003 and r001",
        ),
    ]
}

/// Holds: a gap in the same place walk after walk is known.
#[tokio::test]
async fn what_stays_unreadable_is_one_known_gap_and_what_is_new_keeps_the_walk_from_being_clean() {
    for (shown, place) in gaps() {
        let (site, store) = (Site::with(5), MemorySync::new());
        let replica = site.replica(store.clone());
        site.lock().list.record("r002", "").value = shown;
        let report = replica.sync().await.unwrap();
        assert_eq!((report.clean, report.appeared), (false, 4), "{report}");
        assert_eq!(
            (&report.watermark, &*report.gaps),
            (&None, &[place.to_owned()][..])
        );
        assert!(!report.to_string().contains("many"));
        let report = replica.sync().await.unwrap();
        assert_eq!(
            (report.mode, report.clean),
            (SyncMode::Full, true),
            "{report}"
        );
        // Incremental walks go on, and list it or not.
        for id in ["r004", "r005", "new"] {
            site.lock().next_day(id, 1);
            let report = replica.sync().await.unwrap();
            assert_eq!(
                (report.mode, report.clean),
                (SyncMode::Incremental, true),
                "{report}"
            );
        }
        // Absence is found.
        site.lock().delete("r001");
        let mut gone = 0;
        for _ in 0..3 {
            gone += replica.sync_full().await.unwrap().gone;
        }
        assert_eq!(gone, 1);
        // Once it is mended, everything is there.
        site.lock()
            .save("r002", |record| *record = json!({"id": "r002"}));
        let report = replica.sync().await.unwrap();
        assert!(report.clean && report.gaps.is_empty(), "{report}");
        assert_eq!(copied(&store).await, site.ids());
    }
}

/// An error of the server beside the records is in no known place unless it names one.
#[tokio::test]
async fn errors_beside_records_are_gaps_where_they_name_an_element() {
    for (path, clean) in [
        (json!(["consignments", "edges", 1, "node", "owner"]), true),
        (json!(["consignments"]), false),
        (json!(["consignments", "edges", 9]), false),
    ] {
        let site = Site::with(6);
        let replica = site.replica(MemorySync::new());
        site.lock().errors = json!([{"message": "a part is missing", "path": path}]);
        assert!(!replica.sync().await.unwrap().clean);
        let report = replica.sync_full().await.unwrap();
        assert_eq!(report.clean, clean, "{path} {report}");
        assert_eq!(report.appeared, 0);
    }
}
