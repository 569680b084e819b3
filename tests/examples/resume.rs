//! `page_consignments --resume FILE`.

use super::folder::Folder;
use super::program::Program;

#[test]
fn a_file_that_cannot_be_used_is_named() {
    let folder = Folder::new("resume");
    for file in [
        folder.write("resume.json", "{"),
        folder.path("none").join("resume.json"),
    ] {
        let ended = Program::new("page_consignments")
            .arg("--resume")
            .arg(&file)
            .run();
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stderr.contains(file.to_str().unwrap()), "{ended:?}");
    }
}
