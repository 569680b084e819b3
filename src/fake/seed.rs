//! What the fake knows when it starts. All of it is invented, see `shared/data` of the project.

use serde_json::Value;

pub(super) const PRODUCER: &str = include_str!("seed/user-details.json");
pub(super) const NEW: &str = include_str!("seed/user-details-new.json");
pub(super) const RECEIVER: &str = include_str!("seed/user-details-receiver.json");
pub(super) const ACCOUNT_PICS: &str = include_str!("seed/account-pics.json");
pub(super) const QUESTIONS: &str = include_str!("seed/questions.json");
pub(super) const PROPERTIES: &str = include_str!("seed/register/all.json");

/// The variables of `createOrSaveConsignment`, oldest first.
pub(super) const CONSIGNMENTS: [&str; 16] = [
    include_str!("seed/consignments/lpac1.json"),
    include_str!("seed/consignments/lpac1-hsc2.json"),
    include_str!("seed/consignments/lpac1-msac1.json"),
    include_str!("seed/consignments/euc1.json"),
    include_str!("seed/consignments/lpasl1-hssl1.json"),
    include_str!("seed/consignments/lpag3.json"),
    include_str!("seed/consignments/lpag3-hsg0.json"),
    include_str!("seed/consignments/lpahrg0.json"),
    include_str!("seed/consignments/lpac1-nfasc0.json"),
    include_str!("seed/consignments/lpac1-nfasddc1.json"),
    include_str!("seed/consignments/lpac1-msac1-nfasddc1-hsc2.json"),
    include_str!("seed/consignments/euc1-msac1-nfasc0-hsc2.json"),
    include_str!("seed/consignments/euc1-msac1-nfaseuc1-hsc2.json"),
    include_str!("seed/consignments/euc1-msac1-nfasddc1-hsc2.json"),
    include_str!("seed/consignments/lpabc1.json"),
    include_str!("seed/consignments/lpasl1.json"),
];

/// The postcode of a sample property, by its state: one that is none of the addresses in use. The Northern Territory has none,
/// because its postcodes are below 1000 (spec 2.2).
pub(super) const POSTCODES: [(&str, &str); 7] = [
    ("ACT", "2999"),
    ("NSW", "2999"),
    ("QLD", "4999"),
    ("SA", "5999"),
    ("TAS", "7999"),
    ("VIC", "3999"),
    ("WA", "6999"),
];

/// Reads one of the texts above.
pub(super) fn json(text: &str) -> Value {
    // A seed that is no JSON would show at once, as an empty world in every test.
    serde_json::from_str(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_seed_is_json() {
        for text in [PRODUCER, NEW, RECEIVER, ACCOUNT_PICS, QUESTIONS, PROPERTIES]
            .into_iter()
            .chain(CONSIGNMENTS)
        {
            assert!(!json(text).is_null());
        }
    }
}
