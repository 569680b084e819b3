//! The laws of stores, in a file.

use super::folder::Folder;
use crate::sync::store::{SqliteSync, conformance};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_store_in_a_file_keeps_all_laws() {
    let folder = Folder::new();
    let file = folder.file();
    let report = conformance::check(move || SqliteSync::open(&file).unwrap()).await;
    report.assert_kept();
}
