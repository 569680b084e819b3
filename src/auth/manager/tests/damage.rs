//! A login over an unreadable record, and a logout that sets it aside.

use std::error::Error as _;
use std::fs;

use equipment::TestFolder;

use super::bench::{Bench, DAY, KEY, callback};
use crate::auth::{FileStore, StoreError, TokenManager, TokenSource};
use crate::error::Error;

/// A token file with other contents, in a folder that is deleted with it.
struct Damaged(TestFolder);

impl Damaged {
    fn new(text: &str) -> Self {
        let folder = TestFolder::new();
        folder.write("tokens.json", text);
        Self(folder)
    }

    fn file(&self) -> std::path::PathBuf {
        self.0.path().join("tokens.json")
    }

    fn manager(&self, bench: &Bench) -> TokenManager {
        let store = FileStore::new(self.file());
        bench.builder().store(store).build().unwrap()
    }
}

fn below(error: &Error) -> &StoreError {
    let source = error.source();
    source.and_then(|source| source.downcast_ref()).unwrap()
}

/// Row 53.
#[tokio::test]
async fn a_login_over_a_damaged_file_reports_that_nothing_was_stored() {
    let bench = Bench::new().await;
    let damaged = Damaged::new("not json");
    let manager = damaged.manager(&bench);
    let (login, address) = callback(&bench, &manager, "sam");
    let error = manager.complete_login(login, &address).await.unwrap_err();
    assert!(
        error.is_store() && below(&error).is_unreadable(),
        "{error:?}"
    );
    let text = below(&error).to_string();
    assert!(
        text.contains("not saved") && text.contains("log out"),
        "{text}"
    );
    // The session is not lost: this process continues with it, and the file stays.
    assert_eq!(manager.current().unwrap().expose(), "at-2");
    assert_eq!(fs::read_to_string(damaged.file()).unwrap(), "not json");

    let report = manager.logout(None).await;
    let [problem] = &report.problems[..] else {
        panic!("{:?}", report.problems);
    };
    assert!(below(problem).to_string().contains("set aside"));
    assert_eq!(bench.idp.revoked(), ["rt-2"]);
    let aside = damaged.0.path().join("tokens.json.damaged");
    assert_eq!(fs::read_to_string(aside).unwrap(), "not json");
    assert!(!damaged.file().exists());

    let (login, address) = callback(&bench, &manager, "sam");
    manager.complete_login(login, &address).await.unwrap();
    assert!(fs::read_to_string(damaged.file()).unwrap().contains(KEY));
    assert!(manager.flush(DAY).await);
}

/// Row 53.
#[tokio::test]
async fn a_login_over_the_file_of_a_newer_version_asks_for_an_update_and_a_logout_leaves_it() {
    let bench = Bench::new().await;
    let newer = "{\"form\":2,\"all\":\"other\"}";
    let damaged = Damaged::new(newer);
    let manager = damaged.manager(&bench);
    let (login, address) = callback(&bench, &manager, "sam");
    let error = manager.complete_login(login, &address).await.unwrap_err();
    assert!(below(&error).is_newer_version());
    assert!(below(&error).to_string().contains("update"));
    let report = manager.logout(None).await;
    assert!(below(&report.problems[0]).is_newer_version());
    assert_eq!(fs::read_to_string(damaged.file()).unwrap(), newer);
}
