//! The sealed store around one in a file.

use std::fs;

use super::tests::{batch, sealed};
use crate::sync::store::sqlite::tests::folder::Folder;
use crate::sync::store::{Batch, RowStore};

#[tokio::test]
async fn the_file_of_a_sealed_store_holds_no_clear_text() {
    let folder = Folder::new();
    let file = folder.store();
    let plain = Batch {
        rows: batch().rows,
        ..Batch::default()
    };
    let contents = || {
        let names = ["farm.db", "farm.db-wal"];
        let files = names.map(|name| fs::read(folder.path().join(name)).unwrap());
        String::from_utf8_lossy(&files.concat()).into_owned()
    };
    let store = sealed(file.clone());
    store.commit("sam's farm", &batch()).await.unwrap();
    let written = contents();
    for secret in ["s3cr3t", "3SCRT", "sam", "signature"] {
        assert!(!written.contains(secret), "{secret}");
    }
    // What stays in the clear, so that the search above can fail.
    for clear in ["DRAFT", "CATTLE", "2027-01-01", "walk", "consumer"] {
        assert!(written.contains(clear), "{clear}");
    }
    file.commit("sam's farm", &plain).await.unwrap();
    let written = contents();
    for secret in ["s3cr3t", "3SCRT", "sam", "signature"] {
        assert!(written.contains(secret), "{secret}");
    }
    let too_large = Batch {
        seen: Some((u64::MAX, vec!["one".to_owned()])),
        ..batch()
    };
    assert!(store.commit("other", &too_large).await.is_err());
    let left = store.rows("other", &["one".to_owned()]).await;
    assert!(left.unwrap().is_empty());
}
