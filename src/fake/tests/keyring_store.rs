//! The laws of stores, kept by the keyring store on a keyring in memory.

use equipment::TestFolder;
use keyring_core::mock;

use crate::auth::keyring::KeyringStore;
use crate::fake::check_token_store;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_keyring_store_keeps_all_laws() {
    let folder = TestFolder::new();
    let (keyring, locks) = (mock::Store::new().unwrap(), folder.path().join("locks"));
    let open = move || KeyringStore::with_keyring(keyring.clone(), "app".to_owned(), locks.clone());
    check_token_store(open).await;
}
