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
//! let mut page = register.search(&feedlots).await?;
//! loop {
//!     for property in page.records() {
//!         println!("{:?}", property.pic);
//!     }
//!     match page.next_page().await? {
//!         Some(next) => page = next,
//!         None => break,
//!     }
//! }
//! # Ok(())
//! # }
//! ```

mod address;
mod builder;
mod envelope;
mod field_search;
mod handle;
mod lookup;
mod many;
mod page;
mod query;
mod send;
mod text_search;

pub use self::builder::RegisterBuilder;
pub use self::field_search::FieldSearch;
pub use self::handle::Register;
pub use self::page::PropertyPage;
pub use self::text_search::TextSearch;
