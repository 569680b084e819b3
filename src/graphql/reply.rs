//! Reads the reply to an operation: with what the operation was, more can be said of it than from the reply alone.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::overrides::{Place, can_be_id};
use super::records::decode_mended;
use super::request::{Encoded, OperationKind};
use super::salvage::is_void;
use super::{Mended, Outcome, Unreadable, decode, mend};
use crate::error::{Error, Kind, Received, mark_no_record_named};
use crate::model::{Condition, ServerError};

impl Encoded {
    /// Reads the reply; `None` is a body that is not of the interface.
    ///
    /// A change whose reply has neither a record nor errors is an error: whether it was made is not known.
    pub(crate) fn decode<T: DeserializeOwned>(
        &self,
        status: u16,
        media_type: Option<&str>,
        body: &[u8],
    ) -> Option<Result<Outcome<T>, Error>> {
        let received = |data| Received::new(status, media_type, body, Some(data));
        let read = match &self.place {
            Some(place) => decode::<Value>(status, media_type, body)?
                .and_then(|outcome| self.placed(place, outcome, received)),
            None => match self.is_change().then(|| decode(status, media_type, body)) {
                Some(Some(Ok(outcome))) if has_nothing(&outcome) => {
                    let (data, rest) = outcome.split();
                    Err(rest.without_record().with_received(received(data)))
                }
                // Into the type of the caller from the text: a `Value` between them would cost digits.
                _ => decode(status, media_type, body)?.or_else(|error| {
                    let list = self.list.filter(|_| error.is_decode());
                    let mended =
                        list.and_then(|list| decode_mended(status, media_type, body, list));
                    mended.ok_or(error)
                }),
            },
        };
        Some(self.completed(read))
    }

    fn is_change(&self) -> bool {
        self.kind == OperationKind::Mutation
    }

    /// Takes the record from its place.
    fn placed<T: DeserializeOwned>(
        &self,
        place: &Place,
        outcome: Outcome<Value>,
        received: impl Fn(Value) -> Received,
    ) -> Result<Outcome<T>, Error> {
        let (data, rest) = outcome.split();
        // Errors about pages, which are large, keep the moved data only; replies to changes are small.
        let whole = self.is_change().then(|| data.clone());
        let data = place.moved(data);
        if self.is_change() && is_void(&data, false) {
            let error = rest.without_record();
            return Err(error.with_received(received(whole.unwrap_or(data))));
        }
        let error = match serde_path_to_error::deserialize(&data) {
            Ok(value) => return Ok(rest.with(value)),
            Err(error) => error,
        };
        if let Some((value, unreadable)) = self.mended(&data, rest.http_status()) {
            let mut outcome = rest.with(value);
            outcome.unreadable = unreadable;
            return Ok(outcome);
        }
        let kind = Kind::Decode {
            status: rest.http_status(),
            path: format!("data.{}", error.path()),
            detail: "a value of another type than expected".to_owned(),
            errors: rest.problems,
        };
        let error = Error::new(kind).with_omitted(rest.omitted);
        Err(error.with_received(received(whole.unwrap_or(data))))
    }

    fn mended<T: DeserializeOwned>(
        &self,
        moved: &Value,
        status: u16,
    ) -> Option<(T, Vec<Unreadable>)> {
        let Mended { text, unreadable } =
            mend::<T>(&moved.to_string(), "data.", self.list?, status)?;
        Some((serde_json::from_str(&text).ok()?, unreadable))
    }

    /// Adds what only the request tells: whether it was a change, whether there was a record to be found, and the
    /// operation in the errors of records.
    fn completed<T>(&self, read: Result<Outcome<T>, Error>) -> Result<Outcome<T>, Error> {
        let not_found = |error: &ServerError| error.condition() == Condition::NotFoundOrForbidden;
        match read {
            Ok(mut outcome) => {
                outcome.change = self.is_change();
                let named = |record: Unreadable| Unreadable {
                    error: record.error.with_operation(&self.operation),
                    ..record
                };
                outcome.unreadable = outcome.unreadable.into_iter().map(named).collect();
                if outcome.problems.iter().any(not_found) && !self.names_record() {
                    mark_no_record_named(&mut outcome.problems);
                }
                Ok(outcome)
            }
            Err(error) if error.has(Condition::NotFoundOrForbidden) && !self.names_record() => {
                Err(error.of_no_record())
            }
            Err(error) => Err(error),
        }
    }

    /// Whether the id or the number of a record stands in the variables, or in an input among them.
    fn names_record(&self) -> bool {
        let body: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        let Some(variables) = body["variables"].as_object() else {
            return false;
        };
        let inputs = variables.values().filter_map(Value::as_object);
        std::iter::once(variables)
            .chain(inputs)
            .flatten()
            .any(|(name, value)| is_name_of_id(name) && can_be_id(value))
    }
}

fn has_nothing(outcome: &Outcome<Value>) -> bool {
    outcome.problems.is_empty() && is_void(&outcome.value, false)
}

/// `id`, `number`, `consignmentNumber` and the like; an account is no record.
fn is_name_of_id(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    (name.ends_with("id") && !name.ends_with("accountid")) || name.ends_with("number")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::overrides::Overrides;
    use super::super::request::encode_operation;
    use super::*;

    #[test]
    fn a_record_is_named_by_its_id_or_number_in_the_variables_or_in_an_input() {
        let names = |variables: Value| {
            let document = "mutation A { a }";
            let encoded = encode_operation(document, "A", &variables, &Overrides::default());
            encoded.unwrap().names_record()
        };
        for variables in [
            json!({"id": "c-1", "envdAccountId": "envd-1"}),
            json!({"id": 7}),
            json!({"input": {"number": "C-1"}}),
            json!({"input": {"consignmentNumber": "C-1"}}),
            json!({"templateId": "t-1"}),
        ] {
            assert!(names(variables.clone()), "{variables}");
        }
        for variables in [
            json!({}),
            json!(null),
            json!({"envdAccountId": "envd-1", "first": 5, "after": "c-1"}),
            json!({"id": null}),
            json!({"input": {"id": "", "forms": ["LPAC1"]}}),
            json!({"input": {"answers": [{"questionId": "17"}], "declaration": {"certificateNumber": "A1"}}}),
        ] {
            assert!(!names(variables.clone()), "{variables}");
        }
    }
}
