//! The application `web_form` on a fake of the test, and its pages as a browser without scripts gets them.

use std::sync::Mutex;

use envd_sdk::fake::Fake;
use serde_json::Value;
use url::Url;

use super::{Folder, Mode, Program, Proxy, Running, http};

/// The pages of a complete cattle declaration, with their fields.
const COMPLETE: &str = "\
movement f.origin.pic=qazz 7777&f.destination.pic=QDZZ3333&f.movementDate=15/1/2099&f.movementTime=5.15
q1 add=q.1.
q1 q.3.0=24&q.4.0=Angus&q.5.0=Steer : M
q9001 q.17.=Yes
q9002 q.56.=No&q.58.=No&q.59.=No&q.70.=No&q.88.=No&q.96.=No&q.102.=No
q146 none=q.146.
q9004 q.151.=
q157 none=q.157.
declaration f.declaration.fullName=Sam Sample&f.declaration.accept=true";

/// The application, which a test can kill. The fake and the store outlive it.
#[derive(Debug)]
pub struct FormSite {
    pub fake: Fake,
    /// Stands between the application and the service.
    pub proxy: Proxy,
    pub folder: Folder,
    program: String,
    running: Mutex<Running>,
}

/// A declaration of the application.
#[derive(Debug)]
pub struct FormDraft<'s> {
    site: &'s FormSite,
    pub id: String,
}

/// A reply of the application.
#[derive(Debug)]
pub struct FormPage {
    pub status: u16,
    /// Where it leads, without the secret part of the address.
    pub to: String,
    pub text: String,
}

impl FormSite {
    /// Starts the application at this path, without the suffix of executables.
    pub async fn start(program: &str) -> Self {
        let fake = Fake::start().await;
        let proxy = Proxy::of(&fake).await;
        let folder = Folder::new();
        let running = run(program, &fake, &proxy, &folder, 0);
        Self {
            fake,
            proxy,
            folder,
            program: program.to_owned(),
            running: Mutex::new(running),
        }
    }

    /// Kills the application, and returns its port.
    pub fn kill(&self) -> u16 {
        self.running.lock().unwrap().process.kill();
        self.url().port().unwrap()
    }

    /// Starts the application again with its store, at this port or at a free one for 0.
    pub fn start_again(&self, port: u16) {
        let before = self.url();
        *self.running.lock().unwrap() =
            run(&self.program, &self.fake, &self.proxy, &self.folder, port);
        // A page that was open before still has an address.
        assert_eq!(before.path(), self.url().path());
    }

    /// Kills the application, and starts it again at another port.
    pub fn restart(&self) {
        self.kill();
        self.start_again(0);
    }

    /// Holds back the reply of the service to a coming request, counted from 1, and all later replies.
    pub fn hold_reply(&self, number: usize) {
        self.proxy.hold_reply(self.proxy.statements() + number);
    }

    /// Cuts the line to the service, once the service has carried out what it has received.
    pub async fn cut_line(&self) {
        self.proxy.set(Mode::Cut);
        self.proxy.settle().await;
    }

    /// The address of the list, with the secret part.
    pub fn url(&self) -> Url {
        self.running.lock().unwrap().url("url")
    }

    /// Sends a request to a path behind the secret part.
    pub fn send(&self, method: &str, path: &str, headers: &[&str], body: &str) -> FormPage {
        let base = self.url();
        let url = Url::parse(&format!("{base}{path}")).unwrap();
        let text = http::send(method, &url, headers, body);
        let status = text.split(' ').nth(1).and_then(|it| it.parse().ok());
        let to = http::header(&text, "location").unwrap_or_default();
        FormPage {
            status: status.unwrap_or_else(|| panic!("no reply: {text}")),
            to: to.replacen(base.path(), "", 1),
            text,
        }
    }

    pub fn get(&self, path: &str) -> FormPage {
        self.send("GET", path, &[], "")
    }

    pub fn post(&self, path: &str, body: &str) -> FormPage {
        let origin = format!("origin: {}", self.url().origin().ascii_serialization());
        self.send("POST", path, &[&origin], body)
    }

    /// The list of declarations, with this query.
    pub fn list(&self, query: &str) -> FormPage {
        self.get(query).with(200)
    }

    /// Begins a draft.
    pub fn begin(&self) -> FormDraft<'_> {
        self.begin_with("")
    }

    /// Begins a draft for the next load after a declaration.
    pub fn begin_like(&self, draft: &FormDraft<'_>) -> FormDraft<'_> {
        self.begin_with(&format!("&like={}", draft.id))
    }

    fn begin_with(&self, fields: &str) -> FormDraft<'_> {
        let list = self.list("");
        let token = list.value("token");
        let id = list.value("id");
        let body = format!("token={token}&id={id}{fields}");
        self.post("/new", &body).with(303);
        self.draft(&id)
    }

    /// The draft with this id.
    pub fn draft(&self, id: &str) -> FormDraft<'_> {
        let id = id.to_owned();
        FormDraft { site: self, id }
    }

    /// A draft that can be submitted.
    pub fn begin_complete(&self) -> FormDraft<'_> {
        let draft = self.begin();
        draft.complete();
        draft
    }

    /// The records of the service for the day of the tests: status, breed and number of head.
    pub fn records(&self) -> Vec<[String; 3]> {
        let mut records: Vec<Value> = self.fake.consignments(self.fake.account_id());
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        records.retain(|record| text(&record["movementDate"]).starts_with("2099-01-15"));
        let answer = |record: &Value, question: &str| {
            let mut answers = record["answers"].as_array().into_iter().flatten();
            let found = answers.find(|answer| answer["questionId"] == question);
            found.map_or_else(String::new, |answer| text(&answer["value"]))
        };
        let columns = |record: &Value| {
            let breed = answer(record, "4");
            let head = answer(record, "3");
            [text(&record["status"]), breed, head]
        };
        records.iter().map(columns).collect()
    }

    /// How many of the [`records`](Self::records) are submitted.
    pub fn submitted(&self) -> usize {
        let mut records = self.records();
        records.retain(|[status, ..]| status == "SUBMITTED");
        records.len()
    }

    #[track_caller]
    pub fn has_one_record(&self, breed: &str, head: &str) {
        assert_eq!(self.records(), [["SUBMITTED", breed, head]]);
    }
}

fn run(program: &str, fake: &Fake, proxy: &Proxy, folder: &Folder, port: u16) -> Running {
    let program = Program::new(program)
        .at(fake)
        .env("ENVD_GRAPHQL_URL", proxy.through(fake.graphql_url()))
        .arg("--port")
        .arg(port.to_string())
        .arg("--store")
        .arg(folder.path("form.db"));
    Running::start(program)
}

impl FormDraft<'_> {
    /// Its path behind the secret part, or the path of one of its pages.
    pub fn path(&self, page: &str) -> String {
        match page {
            "" => format!("/{}", self.id),
            page => format!("/{}/{page}", self.id),
        }
    }

    pub fn page(&self, page: &str) -> FormPage {
        self.site.get(&self.path(page)).with(200)
    }

    /// The page that a reply leads to.
    pub fn follow(&self, reply: &FormPage) -> FormPage {
        let (path, _anchor) = reply.to.split_once('#').unwrap_or((&reply.to, ""));
        self.site.get(path).with(200)
    }

    /// Posts a page that was read earlier: its hidden fields, and these fields.
    pub fn post_from(&self, shown: &FormPage, page: &str, fields: &str) -> FormPage {
        let token = shown.value("token");
        let mut body = format!("token={token}&{fields}");
        if shown.text.contains("name=\"version\"") {
            let version = shown.value("version");
            body = format!("{body}&version={version}");
        }
        self.site.post(&self.path(page), &body)
    }

    /// Reads a page and posts it with these fields.
    pub fn save(&self, page: &str, fields: &str) -> FormPage {
        self.post_from(&self.page(page), page, fields).with(303)
    }

    /// Saves all pages, and returns where each save leads.
    pub fn complete(&self) -> Vec<String> {
        let save = |line: &str| {
            let (page, fields) = line.split_once(' ').unwrap();
            self.save(page, fields).to.replace(&self.path(""), "")
        };
        COMPLETE.lines().map(save).collect()
    }

    pub fn sign(&self) {
        self.save("declaration", "f.declaration.accept=true");
    }

    pub fn submit(&self) {
        let check = self.page("check");
        let sent = self.post_from(&check, "submit", "").with(303);
        assert_eq!(sent.to, self.path(""));
    }

    /// Presses a button of the receipt.
    pub fn decide(&self, decision: &str) -> FormPage {
        let receipt = self.page("");
        self.post_from(&receipt, "decide", &format!("decision={decision}"))
    }
}

impl FormPage {
    #[track_caller]
    pub fn has(self, part: &str) -> Self {
        assert!(self.text.contains(part), "no {part} in {}", self.text);
        self
    }

    #[track_caller]
    pub fn lacks(self, part: &str) -> Self {
        assert!(!self.text.contains(part), "{part} in {}", self.text);
        self
    }

    #[track_caller]
    pub fn with(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }

    /// The value of a hidden or text field.
    #[track_caller]
    pub fn value(&self, name: &str) -> String {
        let start = format!("name=\"{name}\" value=\"");
        let found = self.text.split_once(&start);
        let (_, rest) = found.unwrap_or_else(|| panic!("no {name} in {}", self.text));
        rest.split('"').next().unwrap().to_owned()
    }
}
