//! Who is to be asked about a property.

use std::fmt;

use super::shown::{Fields, personal};
use super::wire_record::wire_record;

wire_record! {
    /// A person to be asked about a property (spec 2.10). `Debug` does not show the name.
    pub struct PropertyContact {
        /// The first name.
        "FirstName" => first_name: Option<String>,
        /// The last name.
        "LastName" => last_name: Option<String>,
        /// What the person is; `PICMANAGERCONTACT` is the manager, others are not shown.
        "ContactTypeShortCode" => contact_type: Option<String>,
    }
}

impl Fields for PropertyContact {
    fn fields(&self, f: &mut fmt::Formatter<'_>, show: bool) -> fmt::Result {
        f.debug_struct("PropertyContact")
            .field("first_name", &personal(&self.first_name, show))
            .field("last_name", &personal(&self.last_name, show))
            .field("contact_type", &self.contact_type)
            .field("unknown_fields", &self.unknown)
            .finish()
    }
}

impl fmt::Debug for PropertyContact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fields(f, false)
    }
}
