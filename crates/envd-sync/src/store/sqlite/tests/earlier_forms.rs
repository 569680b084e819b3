//! Files with each earlier version of the tables.

use super::folder::{ACCOUNT, Folder, batch, document, rows};
use crate::store::SyncStore;
use crate::store::rows::ChangeRange;

/// The file was created from the first migration with another program.
#[tokio::test]
async fn a_file_of_the_first_form_opens_with_all_that_is_in_it() {
    let folder = Folder::new();
    folder.write(include_bytes!("schema-1.db"));
    let store = folder.store();
    let found = rows(&store).await;
    let shown = found.iter().map(|row| {
        let (status, at) = (&row.keys.status, &row.keys.updated_at);
        format!(
            "{} {} {} {status:?} {at:?}",
            row.id, row.payload, row.generation
        )
    });
    let expected = [
        r#"a {"id":"a"} 4 Some("DRAFT") Some("2027-01-01T00:00:00.5")"#,
        r#"b {"id":"b"} 4 None None"#,
    ];
    assert!(shown.eq(expected), "{found:?}");
    let walk = document(&store).await.unwrap();
    assert_eq!((walk.version, &*walk.text), (7, "{\"page\":3}"));
    let range = ChangeRange::After(0);
    let changes = store.changes(ACCOUNT, range, 9).await.unwrap();
    assert_eq!((changes[0].sequence, changes[0].previous), (2, 1));
    assert!(store.commit(ACCOUNT, &batch(9, 9)).await.unwrap());
    assert_eq!(document(&store).await.unwrap().version, 8);
}
