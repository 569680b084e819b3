//! A service whose pages are computed: it holds no record.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

/// How many records at most changed in the ten minutes before the last change.
pub const IN_OVERLAP: usize = 12;

/// Lists records with the latest change first.
pub struct Service {
    records: usize,
    /// So many of the oldest records were changed later than all others, a minute apart.
    pub changed: AtomicUsize,
}

/// 2026-11-20T00:00:00Z.
const NEWEST: u64 = 1_795_132_800;

impl Service {
    pub fn new(records: usize) -> Self {
        let changed = AtomicUsize::new(0);
        Self { records, changed }
    }

    pub fn answer(&self, body: &[u8], reply: &mut Vec<u8>) {
        let body: Value = serde_json::from_slice(body).unwrap();
        let variables = &body["variables"];
        let changed = self.changed.load(Ordering::SeqCst);
        if body["operationName"] == "Consignment" {
            let id = variables["id"].as_str().unwrap();
            let number: usize = id.rsplit('-').next().unwrap().parse().unwrap();
            let place = (number + changed)
                .checked_sub(self.records)
                .unwrap_or(number + changed);
            let record = self.record(place, changed);
            serde_json::to_writer(reply, &json!({"data": {"consignment": record}})).unwrap();
            return;
        }
        let from = variables["fromDate"].as_str().map(seconds);
        let is_listed =
            |place: &usize| from.is_none_or(|from| self.updated(*place, changed) >= from);
        let total = match from {
            None => self.records,
            Some(_) => (0..self.records).take_while(is_listed).count(),
        };
        let start: usize = variables["after"]
            .as_str()
            .map_or(0, |after| after.parse().unwrap());
        let size = usize::try_from(variables["first"].as_u64().unwrap()).unwrap();
        let end = (start + size).min(total);
        let edges: Vec<Value> = (start..end)
            .map(|place| json!({"node": self.record(place, changed)}))
            .collect();
        let info = json!({"hasNextPage": end < total, "endCursor": end.to_string()});
        let page = json!({"totalCount": total, "pageInfo": info, "edges": edges});
        serde_json::to_writer(reply, &json!({"data": {"consignments": page}})).unwrap();
    }

    /// The time of the last change of the record at a place of the list.
    fn updated(&self, place: usize, changed: usize) -> u64 {
        if place < changed {
            NEWEST + 86_400 + 60 * (changed - place) as u64
        } else {
            NEWEST - 60 * (place - changed) as u64
        }
    }

    fn record(&self, place: usize, changed: usize) -> Value {
        let number = if place < changed {
            self.records - (changed - place)
        } else {
            place - changed
        };
        let updated = chrono_text(self.updated(place, changed));
        let party = |pic: String| json!({"pic": pic, "name": "A sample of a name", "address": {"line1": "101 Example Road", "town": "Sampleton", "state": "QLD", "postcode": "4999"}});
        let status = ["DRAFT", "SUBMITTED", "LOCKED"][number % 3];
        let species = ["CATTLE", "SHEEP", "GOAT"][number / 3 % 3];
        json!({
            "id": format!("00000000-0000-4000-8000-{number:012}"),
            "number": format!("C-{number:09}"),
            "status": status,
            "species": species,
            "heads": if place < changed { 77 } else { 12 },
            "movementDate": format!("{}-{:02}-{:02}", 2024 + number % 2, number / 28 % 12 + 1, number % 28 + 1),
            "origin": party(format!("QAAA{:04}", number % 5_000)),
            "destination": party(format!("QDZZ{:04}", number % 100)),
            "updatedAt": updated,
        })
    }
}

/// The seconds since 1970 of a text in UTC.
fn seconds(text: &str) -> u64 {
    let time = envd_sdk::model::Timestamp::from(text).to_time().unwrap();
    time.duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_secs()
}

fn chrono_text(seconds: u64) -> String {
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
    envd_sdk::model::Timestamp::from(time).as_str().to_owned()
}
