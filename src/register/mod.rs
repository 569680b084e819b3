//! The property register: search, and look-up by PIC (spec 4.2).
//!
//! [`Register`] is a client of its own: its address, and whether and how it wants a token, are settings that share
//! nothing with the declaration interface, since the specification does not show how the register authenticates.
//!
//! ```
//! # use envd_sdk::fake::Fake;
//! use envd_sdk::model::Pic;
//! use envd_sdk::register::{FieldSearch, Register};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let fake = Fake::start().await;
//! # let address = fake.register_url();
//! let register = Register::builder(address).build()?;
//!
//! let found = register.property(&Pic::parse("QAZZ7777")?).await?;
//! assert!(found.is_some_and(|property| property.is_active()));
//!
//! let feedlots = FieldSearch::new().state("QLD").pic_type("FL");
//! let mut properties = register.search(feedlots).items();
//! while let Some(property) = properties.next().await {
//!     println!("{:?}", property?.pic);
//! }
//!
//! let mut answers = register.lookup_many(["QAZZ7777", "QBZZ2222"]);
//! while let Some(answer) = answers.next().await {
//!     println!("{}: {:?}", answer.asked, answer.property().map(|property| property.is_active()));
//! }
//! # Ok(())
//! # }
//! ```

mod address;
mod answer;
mod asked;
mod builder;
mod cache;
mod cursor;
mod envelope;
mod fetch;
mod field_search;
mod handle;
mod if_modified;
mod lookup;
mod many;
mod mark;
mod operation;
mod page;
mod search;
mod streams;
mod terms;
mod text_search;

pub use self::answer::{Answer, Progress};
pub use self::builder::RegisterBuilder;
pub use self::field_search::FieldSearch;
pub use self::handle::Register;
pub use self::if_modified::IfModified;
pub use self::lookup::Lookup;
pub use self::many::LookupMany;
pub use self::page::{PagePosition, PropertyPage};
pub use self::search::Search;
pub use self::streams::{Items, Pages};
pub use self::terms::Terms;
pub use self::text_search::TextSearch;

/// The name of the operation in errors and traces.
const OPERATION: &str = "PICRegister";
