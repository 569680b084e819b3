//! Who is to be asked about a property.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::hidden::Hidden;

/// A person to be asked about a property (spec 2.10). `Debug` does not show the name.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct PropertyContact {
    /// The first name.
    #[serde(rename = "FirstName")]
    #[doc(alias = "FirstName")]
    pub first_name: Option<String>,
    /// The last name.
    #[serde(rename = "LastName")]
    #[doc(alias = "LastName")]
    pub last_name: Option<String>,
    /// What the person is; `PICMANAGERCONTACT` is the manager, others are not shown.
    #[serde(rename = "ContactTypeShortCode")]
    #[doc(alias = "ContactTypeShortCode")]
    pub contact_type: Option<String>,
}

impl fmt::Debug for PropertyContact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PropertyContact")
            .field("first_name", &Hidden::of(&self.first_name))
            .field("last_name", &Hidden::of(&self.last_name))
            .field("contact_type", &self.contact_type)
            .finish()
    }
}
