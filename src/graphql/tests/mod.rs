//! Decoding of replies: literal ones, random ones that conform to the schema, and arbitrary bytes.

mod bytes;
pub(crate) mod random;
mod replies;

use serde::de::DeserializeOwned;

use super::{
    OperationDocument, Outcome, Overrides, ReplyReader, ValueIn, encode_document, encode_operation,
};
use crate::error::Error;
use crate::model::json_text::work;

/// Decodes the reply to one of the caller's queries.
fn decode<T: DeserializeOwned>(
    status: u16,
    media_type: Option<&str>,
    body: &[u8],
) -> Option<Result<Outcome<T>, Error>> {
    let query = encode_document("query Q { q }", "Q", &serde_json::json!({})).unwrap();
    let reader = ReplyReader { sent: &query };
    let decoded = reader.decode(status, media_type, body, Some, None)?;
    Some(decoded.map(|(outcome, _)| outcome))
}

#[test]
fn the_work_of_a_reply_grows_as_its_text() {
    let around = [
        ["", ""],
        ["{\"data\":", "}"],
        ["{\"errors\":[", "]}"],
        ["{\"errors\":[{\"message\":\"x\"}],\"data\":", "}"],
        ["{\"data\":{\"consignments\":{\"edges\":", "}}}"],
        ["{\"data\":{\"consignments\":{\"pageInfo\":", "}}}"],
        ["{\"data\":{\"createOrSaveConsignment\":", "}}"],
        ["{\"data\":{\"createOrSaveConsignment\":{\"data\":", "}}}"],
        [
            "{\"data\":{\"questions\":{\"items\":[{\"childQuestions\":",
            "}]}}}",
        ],
    ];
    for operation in ["consignments", "createOrSaveConsignment", "questions"] {
        let known = OperationDocument::named(operation).unwrap();
        let variables = serde_json::json!({});
        let encoded = encode_operation(known, &variables, &Overrides::default()).unwrap();
        work::assert_linear(&around, |text| {
            super::early_page_info(text.as_bytes());
            let body = text.as_bytes();
            let keep = Some(ValueIn::Record);
            let read = ReplyReader { sent: &encoded }
                .decode::<serde_json::Value, _>(200, None, body, Some, keep);
            drop(read.map(|read| read.map_err(|error| error.report())));
        });
    }
}
