//! The file of a store.

use equipment::TestFolder;

use super::farm::{Farm, load, signed};
use crate::store::SqliteSync;
use envd_sdk::fake::Fault;

/// Holds: the file holds no token, and is its owner's alone.
#[tokio::test]
async fn the_file_holds_no_token() {
    let farm = Farm::start().await;
    let folder = TestFolder::new();
    let outbox = farm.outbox_on(SqliteSync::open(folder.path().join("farm.db")).unwrap());
    let entry = outbox.save(signed(24)).await.unwrap();
    outbox.submit(entry.id).await.unwrap();
    farm.fault(Fault::dropped_after());
    assert_eq!(farm.send(&outbox).await.confirmed, 2);
    outbox.save(load(25)).await.unwrap();
    farm.fake.expire_access_tokens();
    assert!(farm.send(&outbox).await.login_needed);
    let token = farm.fake.access_token();
    let token = token.expose().as_bytes();
    let mut files = 0;
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        assert!(
            !bytes.windows(token.len()).any(|part| part == token),
            "{}",
            path.display()
        );
        let is_written = bytes.windows(10).any(|part| part == b"Sam Sample");
        files += usize::from(is_written);
    }
    assert!(files > 0, "what is looked through is what was written");
}
