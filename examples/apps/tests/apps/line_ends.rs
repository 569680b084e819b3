//! Editors on Windows end lines with CR LF.

#[path = "../../../cli/mod.rs"]
mod cli;
#[path = "../../../serve_fake/folders.rs"]
#[allow(dead_code)] // It also reads replies.
mod folders;

use std::fs;

use envd_sdk::fake::Fake;
use envd_sdk::model::Question;
use envd_sdk::profile::ServiceProfile;
use processes::Folder;

use super::app;

/// A file that a program reads.
#[derive(Clone, Copy, Debug)]
enum Reader {
    Profile,
    World,
    Questions,
    Document,
    Csv,
}

/// The files, with LF. The comment in the document ends with its line, and a cell of the list has two lines.
const FILES: [(Reader, &str); 5] = [
    (
        Reader::Profile,
        "{\n  \"lists\": {\n    \"order\": {\"value\": \"oldest_first\", \"source\": \"seen\"}\n  }\n}\n",
    ),
    (
        Reader::World,
        include_str!("../../../../tests/fixtures/user-details.json"),
    ),
    (
        Reader::Questions,
        "[\n {\n  \"id\": \"1\",\n  \"text\": \"Head\\nby breed\",\n  \"type\": \"INTEGER\",\n  \"forms\": [\n   \"LPAC1\"\n  ]\n }\n]\n",
    ),
    (
        Reader::Document,
        "query Ours(\n  $envdAccountId: String!\n  $id: String!\n) {\n  # its date alone\n  consignment(\n    envdAccountId: $envdAccountId\n    id: $id\n  ) {\n    number\n    movementDate\n  }\n}\n",
    ),
    (
        Reader::Csv,
        "Lot,Vendor PIC,Vendor\n1,QAZZ7777,\"Yards, \"\"old\"\"\"\n2, qbzz2222 ,Downs\n\n3,QCZZ8888,\n",
    ),
];

/// What the program makes of the file.
async fn read(reader: Reader, text: &str) -> String {
    let folder = Folder::new();
    let fake = Fake::builder();
    match reader {
        Reader::Profile => format!("{:?}", ServiceProfile::from_json(text).unwrap()),
        Reader::World => {
            folder.write("user-details.json", text);
            let world = folders::world(&folder.path("")).unwrap();
            let fake = fake.world(world).start().await.unwrap();
            let client = fake.client().build().unwrap();
            format!("{:?}", client.registered_user().await.unwrap().value)
        }
        Reader::Questions => {
            let questions: Vec<Question> = serde_json::from_str(text).unwrap();
            format!("{questions:?}")
        }
        Reader::Document => {
            let fake = fake.start().await.unwrap();
            let client = fake.client().override_operation("consignment", text);
            let account = client.build().unwrap().account(fake.account_id());
            let read = account.consignment("C-900000101").await.unwrap();
            format!("{:?}", read.value)
        }
        Reader::Csv => {
            let list = folder.write("list.csv", text);
            let out = folder.path("out.csv");
            let ended = app("check_pics").arg(&list).arg("--csv").arg(&out).run();
            fs::read_to_string(out).unwrap() + &ended.with(0).stdout
        }
    }
}

/// The generator of `envd-codegen` has its own test.
#[tokio::test]
async fn a_file_with_the_line_ends_of_windows_is_read_as_one_without() {
    for (reader, text) in FILES {
        let windows = text.replace('\n', "\r\n");
        assert_eq!(
            read(reader, &windows).await,
            read(reader, text).await,
            "{reader:?}"
        );
    }
}
