//! Invalid edits on the website.

use envd_sdk::fake::{User, WebsiteEdit};
use serde_json::json;

use crate::fixed_date::fake_builder;

const ACCOUNT: &str = "envd-100201";

#[tokio::test]
async fn an_edit_of_something_unknown_panics_with_its_name() {
    let fails = |account: &'static str, number: &'static str, nth: Option<usize>| async move {
        let task = tokio::spawn(async move {
            let fake = fake_builder().user(User::Producer).start().await.unwrap();
            let edit = WebsiteEdit::delete(number);
            match nth {
                Some(nth) => fake.controls().edit_before_list(account, nth, edit),
                None => drop(fake.edit(account, edit)),
            }
        });
        let panic = task.await.unwrap_err().into_panic();
        panic.downcast_ref::<String>().cloned().unwrap_or_default()
    };
    assert!(
        fails("envd-1", "C-900000101", None)
            .await
            .contains("envd-1")
    );
    for nth in [None, Some(1)] {
        assert!(
            fails(ACCOUNT, "C-900000201", nth)
                .await
                .contains("C-900000201")
        );
    }
}

#[test]
#[should_panic(expected = "the number of a record never changes")]
fn a_number_cannot_be_edited() {
    let _ = WebsiteEdit::change("C-900000101", json!({"number": "C-1"}));
}
