//! What the outbox sees of the plain service.

use std::collections::BTreeMap;

use equipment::plain_service::{Author, Outcome, Service};
use serde_json::{Value, json};

use crate::outbox::compare::ServiceRecord;
use crate::outbox::row::ChangeRequest;

/// The movement date of a declaration that is in time.
pub(super) const DATE: &str = "2027-06-01";

pub(super) fn carry_out(service: &mut Service, request: &ChangeRequest, author: Author) -> Outcome {
    let mut sent = request.sent().unwrap_or_default();
    if let Some(sent) = sent.as_object_mut() {
        sent.remove("id");
    }
    match request {
        ChangeRequest::Create(_) => Outcome::Saved(service.insert(author, sent)),
        ChangeRequest::Update(id, _) | ChangeRequest::Submit(id, _) => {
            service.save(id, author, &sent)
        }
        ChangeRequest::Delete(id) => service.delete(id, author),
    }
}

pub(super) fn read(service: &Service, id: &str) -> Option<ServiceRecord> {
    service.read(id).map(|_| shown(service, id))
}

pub(super) fn reply(service: &Service, id: &str) -> ServiceRecord {
    let mut record = shown(service, id);
    if service.habits.replies_briefly {
        record.fields = json!({"status": record.fields["status"]});
    }
    record
}

/// All that is listed now.
pub(super) fn list(service: &mut Service) -> Vec<ServiceRecord> {
    let ids: Vec<String> = service.list().map(|(id, _)| id.clone()).collect();
    ids.iter().map(|id| shown(service, id)).collect()
}

/// Which version of its record it shows.
pub(super) fn version(service: &Service, record: &ServiceRecord) -> usize {
    let mut versions = service.records[&record.id].versions.iter();
    let is_shown = |at: u64| format!("{at:012}") == record.updated_at;
    versions.position(|version| is_shown(version.at)).unwrap()
}

fn shown(service: &Service, id: &str) -> ServiceRecord {
    let record = &service.records[id];
    let last = record.last();
    let mut fields = last.value.clone();
    if let (true, Some(date)) = (
        service.habits.shows_instants,
        fields["movementDate"].as_str(),
    ) && date.len() == 10
    {
        fields["movementDate"] = json!(format!("{date}T00:00:00.000Z"));
    }
    ServiceRecord {
        id: id.to_owned(),
        updated_at: format!("{:012}", last.at),
        created_by: (!service.habits.hides_author).then(|| record.created_by.to_owned()),
        fields,
    }
}

/// Texts that mean the same in the forms of this service.
pub(super) fn same_text(sent: &str, read: &str) -> bool {
    let day = |text: &str| {
        text.get(..10)
            .filter(|_| text.ends_with("T00:00:00.000Z"))
            .map(str::to_owned)
    };
    sent == read || day(read).as_deref() == Some(sent) || day(sent).as_deref() == Some(read)
}

/// The leaves of a record by path, as the laws compare them.
pub(super) fn leaves(value: &Value) -> BTreeMap<String, String> {
    fn walk(found: &mut BTreeMap<String, String>, path: &str, value: &Value) {
        match value {
            Value::Object(parts) => {
                for (name, part) in parts {
                    walk(found, &format!("{path}/{name}"), part);
                }
            }
            Value::Array(items) if path == "/answers" => {
                for answer in items {
                    let path = format!("{path}/{}/{}", answer["questionId"], answer["index"]);
                    walk(found, &path, &answer["value"]);
                }
            }
            Value::Null => {}
            Value::String(text) => {
                found.insert(path.to_owned(), text.clone());
            }
            other => {
                found.insert(path.to_owned(), other.to_string());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(&mut found, "", value);
    found
}
