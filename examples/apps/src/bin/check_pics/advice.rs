//! Advice on codes that are not PICs, and on PICs that are not in the register.

use envd_sdk::model::Pic;

/// Advice for a text that is not a PIC. Most such texts are codes that a spreadsheet converted to numbers.
pub(crate) fn advice(cell: &str) -> Option<String> {
    let text = cell.trim();
    let count = text.chars().count();
    let is_alphanumeric = text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let as_text = "enter it again in a column with the format Text";
    if text.starts_with('#') {
        return Some("the error of a formula: correct it in the spreadsheet".to_owned());
    }
    if is_unread(text) {
        return Some(
            "a formula without its value: open the list in the spreadsheet, and save it again"
                .to_owned(),
        );
    }
    if is_scientific(text) {
        return Some(format!(
            "a spreadsheet took the code for a number and lost digits: {as_text}"
        ));
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) && (4..8).contains(&count) {
        return Some(format!(
            "a spreadsheet drops zeros in front: if the code is {text:0>8}, {as_text}"
        ));
    }
    if text.parse::<f64>().is_ok() {
        return Some(format!(
            "a spreadsheet took the code for a number: {as_text}"
        ));
    }
    let code: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    if !is_alphanumeric && code.len() == 8 {
        return Some(format!(
            "it contains other characters: is it {}?",
            code.to_ascii_uppercase()
        ));
    }
    is_alphanumeric.then(|| format!("{count} characters, and a PIC has 8"))
}

/// True if a cell holds a formula without its value, or the error of a formula.
pub(crate) fn is_unread(cell: &str) -> bool {
    cell.trim().starts_with(['=', '#'])
}

/// Advice for a PIC that is not in the register.
pub(crate) fn of_unknown(pic: &str) -> Option<String> {
    if pic.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some("only digits: a spreadsheet may have taken the code for a number".to_owned());
    }
    let advice = Pic::parse(pic).ok()?.advice()?;
    Some(advice.to_string())
}

/// True for a number such as `1.23E+07`.
fn is_scientific(text: &str) -> bool {
    let parts = text.split_once(['E', 'e']);
    parts.is_some_and(|(number, exponent)| {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let is_number =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number(digits) && is_number(&number.replacen(['.', ','], "", 1))
    })
}
