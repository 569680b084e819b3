//! The laws of stores, kept by the keyring store on a keyring in memory.

use std::{env, fs, process};

use keyring_core::mock;

use crate::auth::keyring::KeyringStore;
use crate::fake::store_conformance::check;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_keyring_store_keeps_all_laws() {
    let folder = env::temp_dir().join(format!("envd-sdk-keyring-laws-{}", process::id()));
    fs::create_dir(&folder).unwrap();
    let (keyring, locks) = (mock::Store::new().unwrap(), folder.join("locks"));
    let open = move || KeyringStore::with_keyring(keyring.clone(), "app".to_owned(), locks.clone());
    let report = check(open).await;
    fs::remove_dir_all(&folder).unwrap();
    report.assert_kept();
}
