//! A database far down in a tree of folders.

use std::fs::DirBuilder;

use super::folder::{ACCOUNT, Folder, batch, rows};
use crate::store::{SqliteSync, SyncStore};

/// Without a prefix, Windows opens paths of 259 characters, and the default file system of `SQLite` paths of 1,040 bytes. On Unix,
/// `SQLite` opens paths of 512 bytes.
#[tokio::test]
async fn the_path_of_a_database_may_be_long() {
    let folder = Folder::new();
    let mut deep = folder.path().to_owned();
    for letter in 'a'..=if cfg!(windows) { 'l' } else { 'd' } {
        deep.push(letter.to_string().repeat(100));
        #[cfg_attr(not(unix), allow(unused_mut))]
        let mut builder = DirBuilder::new();
        // The store refuses a folder that the group can write to.
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&deep).unwrap();
        let store = SqliteSync::open(deep.join("farm.db")).unwrap();
        store.commit(ACCOUNT, &batch(1, 10)).await.unwrap();
        assert_eq!(rows(&store).await.len(), 1);
    }
}
