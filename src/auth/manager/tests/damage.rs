//! A login over an unreadable record, and a logout that sets it aside.

use std::error::Error as _;
use std::fs;

use super::bench::{Bench, DAY, KEY, begin_login};
use crate::auth::store::file::Folder;
use crate::auth::{StoreError, TokenSource};
use crate::error::Error;

fn below(error: &Error) -> &StoreError {
    let source = error.source();
    source.and_then(|source| source.downcast_ref()).unwrap()
}

/// Row 53.
#[tokio::test]
async fn a_login_over_a_damaged_file_reports_that_nothing_was_stored() {
    let (bench, folder) = (Bench::new(), Folder::with("not json"));
    let manager = bench.manager_on(folder.store());
    let login = begin_login(&bench, &manager, "sam");
    let error = login.await.unwrap().unwrap_err();
    assert!(error.is_store(), "{error:?}");
    let text = below(&error).to_string();
    assert!(below(&error).is_unreadable(), "{text}");
    assert!(
        text.contains("not saved") && text.contains("log out"),
        "{text}"
    );
    // The session is not lost: this process continues with it, and the file stays.
    assert_eq!(manager.current().unwrap().expose(), "at-2");
    assert_eq!(folder.text(), "not json");

    let report = manager.logout(None).await;
    let [problem] = &report.problems[..] else {
        panic!("{:?}", report.problems);
    };
    assert!(below(problem).to_string().contains("set aside"));
    assert_eq!(bench.idp.revoked(), ["rt-2"]);
    let aside = folder.path().join("tokens.json.damaged");
    assert_eq!(fs::read_to_string(aside).unwrap(), "not json");
    assert!(!folder.file().exists());

    let login = begin_login(&bench, &manager, "sam");
    login.await.unwrap().unwrap();
    assert!(folder.text().contains(KEY));
    assert!(manager.flush(DAY).await);
}

/// Row 53.
#[tokio::test]
async fn a_login_over_the_file_of_a_newer_version_asks_for_an_update_and_a_logout_leaves_it() {
    let newer = "{\"form\":2,\"all\":\"other\"}";
    let (bench, folder) = (Bench::new(), Folder::with(newer));
    let manager = bench.manager_on(folder.store());
    let login = begin_login(&bench, &manager, "sam");
    let error = login.await.unwrap().unwrap_err();
    assert!(below(&error).is_newer_version());
    assert!(below(&error).to_string().contains("update"));
    let report = manager.logout(None).await;
    assert!(below(&report.problems[0]).is_newer_version());
    assert_eq!(folder.text(), newer);
}
