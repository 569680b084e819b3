//! A service that keeps what is saved, and lists the latest first.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

#[derive(Default)]
pub struct Service {
    records: Mutex<Vec<Value>>,
    pub requests: AtomicUsize,
}

impl Service {
    pub fn records(&self) -> usize {
        self.records.lock().unwrap().len()
    }

    pub fn answer(&self, body: &[u8], reply: &mut Vec<u8>) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let body: Value = serde_json::from_slice(body).unwrap();
        let variables = &body["variables"];
        let data = match body["operationName"].as_str().unwrap() {
            "CreateOrSaveConsignment" => self.save(variables["input"].clone()),
            "Consignment" => self.read(variables["id"].as_str().unwrap()),
            "Consignments" => self.list(variables),
            other => panic!("{other}"),
        };
        serde_json::to_writer(reply, &json!({"data": data})).unwrap();
    }

    fn save(&self, mut record: Value) -> Value {
        let mut records = self.records.lock().unwrap();
        let number = records.len() + 1;
        let names = json!({
            "id": format!("00000000-0000-4000-8000-{number:012}"),
            "number": format!("C-{number:09}"),
            "status": "DRAFT",
        });
        let fields = record.as_object_mut().unwrap();
        fields.extend(names.as_object().unwrap().clone());
        let forms = fields["forms"].as_array().unwrap().iter();
        let forms: Vec<Value> = forms.map(|form| json!({"type": form})).collect();
        fields.insert("forms".to_owned(), forms.into());
        let seconds = (number / 60 % 60, number % 60);
        let updated = format!("2026-11-20T10:{:02}:{:02}Z", seconds.0, seconds.1);
        fields.insert("updatedAt".to_owned(), updated.into());
        records.push(record);
        json!({"createOrSaveConsignment": {"data": names}})
    }

    fn read(&self, id: &str) -> Value {
        let number: usize = id.rsplit('-').next().unwrap().parse().unwrap();
        json!({"consignment": self.records.lock().unwrap()[number - 1]})
    }

    /// All of the records in each list: a date only leaves records out.
    fn list(&self, variables: &Value) -> Value {
        let records = self.records.lock().unwrap();
        let start: usize = variables["after"]
            .as_str()
            .map_or(0, |after| after.parse().unwrap());
        let size = usize::try_from(variables["first"].as_u64().unwrap()).unwrap();
        let end = (start + size).min(records.len());
        let page = records.iter().rev().take(end).skip(start);
        let edges: Vec<Value> = page.map(|record| json!({"node": record})).collect();
        let info = json!({"hasNextPage": end < records.len(), "endCursor": end.to_string()});
        json!({"consignments": {"totalCount": records.len(), "pageInfo": info, "edges": edges}})
    }
}
