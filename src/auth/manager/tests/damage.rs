//! Logins that cannot be stored, because of an unreadable record or another reason, and logouts that set the record aside.

use std::error::Error as _;
use std::fs;

use super::bench::{Bench, DAY, KEY, begin_login, needs_login};
use crate::auth::store::file::Folder;
use crate::auth::{FileStore, StoreError, StoreErrorKind, TokenSource};
use crate::error::{Error, ErrorKind};

fn below(error: &Error) -> &StoreError {
    let source = error.source();
    source.and_then(|source| source.downcast_ref()).unwrap()
}

/// Row 53.
#[tokio::test]
async fn a_login_over_a_damaged_file_reports_that_nothing_was_stored() {
    let bench = Bench::new();
    let folder = Folder::with("not json");
    let manager = bench.manager_on(folder.store());
    let login = begin_login(&bench, &manager, "sam");
    let error = login.await.unwrap().unwrap_err();
    assert!(error.kind() == ErrorKind::Store, "{error:?}");
    let text = below(&error).to_string();
    assert!(below(&error).kind() == StoreErrorKind::Unreadable, "{text}");
    assert!(text.contains("not saved") && text.contains("log out"));
    // The session is not lost: this process continues with it, and the file is left unchanged.
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
    let bench = Bench::new();
    let folder = Folder::with(newer);
    let manager = bench.manager_on(folder.store());
    let login = begin_login(&bench, &manager, "sam");
    let error = login.await.unwrap().unwrap_err();
    assert!(below(&error).kind() == StoreErrorKind::NewerVersion);
    assert!(below(&error).to_string().contains("update"));
    let report = manager.logout(None).await;
    assert!(below(&report.problems[0]).kind() == StoreErrorKind::NewerVersion);
    assert_eq!(folder.text(), newer);
}

/// Row 58.
#[tokio::test]
async fn a_login_into_a_folder_that_cannot_be_used_is_stored_once_it_can_be() {
    let bench = Bench::new();
    let folder = Folder::new();
    let inside = folder.path().join("missing");
    let manager = bench.manager_on(FileStore::new(inside.join("tokens.json")));
    let login = begin_login(&bench, &manager, "sam");
    let error = login.await.unwrap().unwrap_err();
    assert_eq!(below(&error).kind(), StoreErrorKind::Missing);
    fs::create_dir(&inside).unwrap();
    // Independent of the umask.
    #[cfg(unix)]
    fs::set_permissions(&inside, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let login = begin_login(&bench, &manager, "sam");
    login.await.unwrap().unwrap();
    assert!(manager.inspect().await.is_stored);
}

/// Row 20. A full disk may leave an empty file.
#[tokio::test]
async fn over_an_empty_file_a_login_is_offered_and_stored() {
    let bench = Bench::new();
    let folder = Folder::with("");
    let manager = bench.manager_on(folder.store());
    assert!(needs_login(&manager).await);
    assert!(manager.inspect().await.store_error.is_none());
    let login = begin_login(&bench, &manager, "sam");
    login.await.unwrap().unwrap();
    assert!(folder.text().contains(KEY));
}
