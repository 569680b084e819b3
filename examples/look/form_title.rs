//! The names of forms on pages.

use envd_sdk::model::FormType;

/// The title of a form. assumed: derived from its code; no source has the titles.
pub(crate) fn title(form: &FormType) -> &'static str {
    match form {
        FormType::Lpac1 => "Cattle declaration",
        FormType::Euc1 => "European Union cattle declaration",
        FormType::Nfasc0 => "Feedlot cattle",
        FormType::Nfasddc1 => "Feedlot cattle, delivery docket",
        FormType::Nfaseuc1 => "Feedlot cattle, European Union",
        FormType::Msac1 => "Meat Standards Australia, cattle",
        FormType::Hsc2 | FormType::Hssl1 | FormType::Hsg0 => "Health declaration",
        FormType::Lpabc1 => "Bobby calf declaration",
        FormType::Lpasl1 => "Sheep and lamb declaration",
        FormType::Lpag3 => "Goat declaration",
        FormType::Lpahrg0 => "Harvested rangeland goats",
        _ => "",
    }
}
