//! The world that a fake starts with unless a test sets another. All of its data is invented.

use std::sync::{Arc, LazyLock};

use serde_json::Value;

use super::{Kind, World};

/// In the order of [`User`](super::User).
const USERS: [&str; 3] = [
    include_str!("../seed/user-details.json"),
    include_str!("../seed/user-details-new.json"),
    include_str!("../seed/user-details-receiver.json"),
];
const ACCOUNT_PICS: &str = include_str!("../seed/account-pics.json");
const QUESTIONS: &str = include_str!("../seed/questions.json");
const RELATED: &str = include_str!("../seed/related.json");
const PROPERTIES: &str = include_str!("../seed/register/all.json");

/// The variables of `createOrSaveConsignment`, oldest first.
const CONSIGNMENTS: [&str; 16] = [
    include_str!("../seed/consignments/lpac1.json"),
    include_str!("../seed/consignments/lpac1-hsc2.json"),
    include_str!("../seed/consignments/lpac1-msac1.json"),
    include_str!("../seed/consignments/euc1.json"),
    include_str!("../seed/consignments/lpasl1-hssl1.json"),
    include_str!("../seed/consignments/lpag3.json"),
    include_str!("../seed/consignments/lpag3-hsg0.json"),
    include_str!("../seed/consignments/lpahrg0.json"),
    include_str!("../seed/consignments/lpac1-nfasc0.json"),
    include_str!("../seed/consignments/lpac1-nfasddc1.json"),
    include_str!("../seed/consignments/lpac1-msac1-nfasddc1-hsc2.json"),
    include_str!("../seed/consignments/euc1-msac1-nfasc0-hsc2.json"),
    include_str!("../seed/consignments/euc1-msac1-nfaseuc1-hsc2.json"),
    include_str!("../seed/consignments/euc1-msac1-nfasddc1-hsc2.json"),
    include_str!("../seed/consignments/lpabc1.json"),
    include_str!("../seed/consignments/lpasl1.json"),
];

/// The postcode of all sample properties of a state; no real address has it. The Northern Territory has none, because its
/// postcodes are below 1000 (spec 2.2).
const POSTCODES: [(&str, &str); 7] = [
    ("ACT", "2999"),
    ("NSW", "2999"),
    ("QLD", "4999"),
    ("SA", "5999"),
    ("TAS", "7999"),
    ("VIC", "3999"),
    ("WA", "6999"),
];

impl World {
    /// The world that [the documentation of the fake](crate::fake) describes, and the default.
    pub fn sample() -> Self {
        static SAMPLE: LazyLock<World> = LazyLock::new(read);
        SAMPLE.clone()
    }
}

fn read() -> World {
    let mut world = World::empty();
    for text in USERS {
        let details = json(text)["data"]["userDetails"].take();
        world.users.push(details);
    }
    if let Value::Object(pics) = json(ACCOUNT_PICS) {
        world.pics = pics;
    }
    let consignments = CONSIGNMENTS.map(|text| {
        let mut consignment = json(text);
        let input = consignment["input"].take();
        let account = consignment["envdAccountId"].as_str().unwrap_or_default();
        (account.to_owned(), input)
    });
    world.consignments = Arc::new(consignments.into());
    let properties = json(PROPERTIES)["Value"]["SubSet"].take();
    world.properties = Arc::new(properties.as_array().cloned().unwrap_or_default());
    let postcodes = world.properties.iter().filter_map(|property| {
        let state = property["RegisteredState"].as_str()?;
        let (_, postcode) = POSTCODES.iter().find(|(name, _)| *name == state)?;
        Some((property["PIC"].as_str()?.to_owned(), (*postcode).to_owned()))
    });
    world.postcodes = postcodes.collect();
    let (account, mut template) = world.consignments[0].clone();
    template["name"] = "Weaners to the yards".into();
    let related = json(RELATED);
    for (kind, name) in [
        (Kind::Comment, "comments"),
        (Kind::UserMapping, "userMappings"),
        (Kind::Edec, "edecs"),
    ] {
        let records = related[name].as_array().cloned().unwrap_or_default();
        let records = records
            .into_iter()
            .map(|record| (kind, account.clone(), record));
        world.other_records.extend(records);
    }
    world.templates.push((account, template));
    world
}

/// The questions of the sample, which most worlds share.
pub(super) fn questions() -> Arc<Value> {
    static QUESTIONS_READ: LazyLock<Arc<Value>> =
        LazyLock::new(|| Arc::new(json(QUESTIONS)["data"]["questions"].take()));
    Arc::clone(&QUESTIONS_READ)
}

/// Reads one of the texts above.
fn json(text: &str) -> Value {
    // OK because the texts are part of the crate, and a test reads them all.
    serde_json::from_str(text).unwrap_or_default()
}
