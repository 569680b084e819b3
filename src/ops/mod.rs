//! The operations, one file for each group, as methods of [`Client`](crate::Client) and [`AccountClient`](crate::AccountClient).
//!
//! | task | method |
//! | --- | --- |
//! | read the user, and choose an account | [`Client::user_details`](crate::Client::user_details), [`registered_user`](crate::Client::registered_user), [`choose_account`](crate::Client::choose_account) |
//! | list consignments | [`AccountClient::consignments`](crate::AccountClient::consignments), [`full_consignments`](crate::AccountClient::full_consignments), [`consignments_page`](crate::AccountClient::consignments_page) |
//! | read one consignment | [`AccountClient::consignment`](crate::AccountClient::consignment) |
//! | download a declaration as a PDF | [`Client::pdf`](crate::Client::pdf) |
//! | change a consignment | [`AccountClient::save_consignment`](crate::AccountClient::save_consignment), [`submit_consignment`](crate::AccountClient::submit_consignment), [`copy_consignment`](crate::AccountClient::copy_consignment), [`delete_consignment`](crate::AccountClient::delete_consignment) |
//! | save signed text, byte for byte | [`AccountClient::save_consignment_text`](crate::AccountClient::save_consignment_text) |
//! | find the outcome of a save without a clear reply | [`AccountClient::candidates`](crate::AccountClient::candidates) |
//! | read and add comments, read viewers | [`AccountClient::comments`](crate::AccountClient::comments), [`create_comment`](crate::AccountClient::create_comment), [`user_mappings`](crate::AccountClient::user_mappings) |
//! | list, read and change templates | [`AccountClient::templates`](crate::AccountClient::templates), [`templates_page`](crate::AccountClient::templates_page), [`template`](crate::AccountClient::template), [`save_template`](crate::AccountClient::save_template), [`delete_template`](crate::AccountClient::delete_template) |
//! | read the questions of all forms | [`Client::questions`](crate::Client::questions) |
//! | read declarations of the electronic declaration system | [`AccountClient::edecs`](crate::AccountClient::edecs) |
//!
//! Each operation returns a [`Call`](crate::Call) to await, or a [`Pager`](crate::Pager) over a list. Both have `received()`, which
//! keeps the JSON along with the value. For properties, see [`register`](crate::register).
//!
//! # Flows without an operation
//!
//! The specification (4.1) names further flows, but no operations for them:
//!
//! | flow | here |
//! | --- | --- |
//! | submit | [`submit_consignment`](crate::AccountClient::submit_consignment), a save with the status SUBMITTED; assumed |
//! | create from a template | [`ConsignmentInput::from`](crate::model::ConsignmentInput) a template, saved as a new consignment; no operation of the server; assumed |
//! | add a transporter | a save with the answers of question 157, see the [cookbook](crate::guide::cookbook::consignments#hand-a-consignment-to-a-transporter); inferred from public material, not confirmed |
//! | add or retrieve a viewer | a document of your own, see [`guide::own_documents`](crate::guide::own_documents) |
//!
//! For a viewer, look the operation up in the service's playground and send it with
//! [`execute_document`](crate::Client::execute_document), or derive it and use [`execute`](crate::Client::execute). In the same
//! way you can read fields that the types of this crate do not have:
//!
//! ```
//! # test_support::example(async {
//! use serde::Deserialize;
//!
//! #[derive(Deserialize)]
//! #[serde(rename_all = "camelCase")]
//! struct Data {
//!     user_details: Details,
//! }
//! #[derive(Deserialize)]
//! #[serde(rename_all = "camelCase")]
//! struct Details {
//!     mobile_phone: Option<String>,
//! }
//!
//! let fake = envd_sdk::fake::Fake::start().await;
//! let client = fake.client().build()?;
//! let document = "query Phone { userDetails { mobilePhone } }";
//! let data: Data = client.execute_document(document, "Phone", &serde_json::json!({})).await?.value;
//! assert!(data.user_details.mobile_phone.is_some());
//! # Ok(()) });
//! ```

mod account_choice;
mod candidates;
mod comments;
mod consignments;
mod filter;
mod pdf;
mod questions;
mod templates;

pub use self::account_choice::AccountChoice;
#[doc(alias("duplicate", "lost reply"))]
pub use self::candidates::Candidates;
#[doc(alias("search", "query"))]
pub use self::filter::ConsignmentFilter;
pub use self::filter::TemplateFilter;
