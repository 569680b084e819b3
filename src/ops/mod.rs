//! The operations, a file for each group: methods on [`Client`](crate::Client) and [`Account`](crate::Account).
//!
//! The specification (4.1) also names flows without their operations:
//!
//! | flow | here |
//! | --- | --- |
//! | submit | [`submit_consignment`](crate::Account::submit_consignment), a save with the status SUBMITTED; assumed |
//! | create from a template | [`ConsignmentInput::from`](crate::model::ConsignmentInput) a template that was read, then a save of a new consignment: no operation of the server's; assumed |
//! | add a transporter, add or retrieve a viewer | a document of your own, see [`guide::own_documents`](crate::guide::own_documents) |
//!
//! For the last, look the operation up in the service's playground and send it with
//! [`execute_document`](crate::Client::execute_document), or derive it and use [`execute`](crate::Client::execute). The
//! same way reads fields that our types do not have:
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
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
//! # Ok(()) }
//! ```

mod account_choice;
mod candidates;
mod comments;
mod consignments;
mod filter;
mod introspection;
mod questions;
#[cfg(feature = "sync")]
mod received_records;
pub(crate) mod similarity;
mod templates;

pub use self::account_choice::AccountChoice;
pub use self::candidates::Candidates;
pub use self::filter::{ConsignmentFilter, TemplateFilter};
#[cfg(feature = "sync")]
pub(crate) use self::received_records::ReceivedQuestionList;
