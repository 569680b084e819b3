//! The public futures are small, because moving a future copies it, and an idle task keeps its entire future.

use std::pin::Pin;

use envd_sdk::auth::TokenManager;
use envd_sdk::model::{CommentInput, ConsignmentInput, Pic, TemplateInput};
use envd_sdk::ops::{AccountChoice, ConsignmentFilter, TemplateFilter};
use envd_sdk::register::PropertySearch;
use envd_sdk::{Call, Client, Result};

use crate::fixed_date::start_fake;
use crate::scripted::register_at;

/// In bytes, including the boxed part of a future.
const LIMIT: usize = 2_048;

fn assert_small(sizes: &[(&str, usize)]) {
    for (name, size) in sizes {
        assert!(*size <= LIMIT, "{name}: {size} bytes");
    }
}

/// The future in the box of a call.
fn call<T: Send + 'static>(call: Call<T>) -> usize {
    let future: Pin<Box<dyn Future<Output = Result<T>> + Send>> = call.into_future();
    size_of_val(&*future)
}

#[tokio::test]
async fn the_futures_of_calls_hold_at_most_2_kb() {
    let fake = start_fake().await;
    let client: Client = fake.client().build().unwrap();
    let account = client.account(fake.account_id());
    let register = register_at(fake.register_url()).build().unwrap();
    let pic = Pic::parse("QAZZ7777").unwrap();
    let filter = ConsignmentFilter::default();
    let input = ConsignmentInput::default;
    let since = std::time::SystemTime::UNIX_EPOCH;
    let search = PropertySearch::text("yards");
    let candidates = account.candidates(&input());
    #[rustfmt::skip]
    let sizes = [
        ("user_details", call(client.user_details())),
        ("registered_user", call(client.registered_user())),
        ("choose_account", call(client.choose_account(&AccountChoice::Default))),
        ("questions", call(client.questions())),
        ("consignment", call(account.consignment("c-1"))),
        ("consignments_page", call(account.consignments_page(&filter, None))),
        ("save_consignment", call(account.save_consignment(input()))),
        ("submit_consignment", call(account.submit_consignment(input()))),
        ("copy_consignment", call(account.copy_consignment("c-1"))),
        ("delete_consignment", call(account.delete_consignment("c-1"))),
        ("candidates.find", call(candidates.find())),
        ("template", call(account.template("t-1"))),
        ("templates_page", call(account.templates_page(&TemplateFilter::default(), None))),
        ("save_template", call(account.save_template(TemplateInput::default()))),
        ("delete_template", call(account.delete_template("t-1"))),
        ("comments", call(account.comments("C-1"))),
        ("create_comment", call(account.create_comment(CommentInput::new("C-1", "late")))),
        ("edecs", call(account.edecs())),
        ("property", call(register.property(&pic))),
        ("lookup", call(register.lookup(&pic))),
        ("lookup_since", call(register.lookup_since(&pic, since))),
        ("search_since", call(register.search_since(&search, since))),
    ];
    assert_small(&sizes);
}

#[tokio::test]
async fn the_futures_of_pagers_lookups_and_token_managers_hold_at_most_2_kb() {
    let fake = start_fake().await;
    let account = fake.client().build().unwrap().account(fake.account_id());
    let register = register_at(fake.register_url()).build().unwrap();
    let manager: TokenManager = fake.token_manager().await.unwrap();
    let filter = ConsignmentFilter::default();
    let mut pager = account.consignments(&filter);
    let mut full = account.full_consignments(&filter);
    let mut search = register.search(&PropertySearch::text("yards"));
    let mut items = account.consignments(&filter).items();
    let mut lookups = register.lookup_many(["QAZZ7777"]);
    let next_item = size_of_val(&items.next());
    let provider = manager.provider();
    let device_login = provider.authorization().start_device().await.unwrap();
    let start = provider.authorization().start_device();
    let complete = manager.complete_device_login(device_login);
    #[rustfmt::skip]
    let sizes = [
        ("next_page", size_of_val(&pager.next_page())),
        ("next_page of full records", size_of_val(&full.next_page())),
        ("next_page of a search", size_of_val(&search.next_page())),
        ("items.next", next_item),
        ("lookup_many.next", size_of_val(&lookups.next())),
        ("access_token", size_of_val(&manager.access_token())),
        ("start of a device login", size_of_val(&start)),
        ("complete_device_login", size_of_val(&complete)),
    ];
    assert_small(&sizes);
}
