//! `web_form` without a browser: pages as a browser without scripts gets them, and what the service has afterwards.
//!
//! The service is a fake of the test, so that it outlives the application when that is killed.

use std::collections::BTreeSet;

use envd_sdk::fake::{Fake, Fault};
use processes::{Folder, Mode, Proxy, Running, http, until};
use serde_json::Value;
use url::{Url, form_urlencoded};

use super::app;

type Fields<'a> = &'a [(&'a str, &'a str)];

/// The pages of a complete cattle declaration, with their fields.
const COMPLETE: [(&str, Fields); 9] = [
    (
        "movement",
        &[
            ("f.origin.pic", "qazz 7777"),
            ("f.destination.pic", "QDZZ3333"),
            ("f.movementDate", "15/1/2099"),
            ("f.movementTime", "5.15"),
        ],
    ),
    ("q1", &[("add", "q.1.")]),
    (
        "q1",
        &[("q.3.0", "24"), ("q.4.0", "Angus"), ("q.5.0", "Steer : M")],
    ),
    ("q9001", &[("q.17.", "Yes")]),
    (
        "q9002",
        &[
            ("q.56.", "No"),
            ("q.58.", "No"),
            ("q.59.", "No"),
            ("q.70.", "No"),
            ("q.88.", "No"),
            ("q.96.", "No"),
            ("q.102.", "No"),
        ],
    ),
    ("q146", &[("none", "q.146.")]),
    ("q9004", &[("q.151.", "")]),
    ("q157", &[("none", "q.157.")]),
    (
        "declaration",
        &[
            ("f.declaration.fullName", "Sam Sample"),
            ("f.declaration.accept", "true"),
        ],
    ),
];

/// A reply with its page.
struct Reply {
    status: u16,
    /// Where it leads, behind the secret part of the address.
    to: String,
    text: String,
}

impl Reply {
    #[track_caller]
    fn has(self, part: &str) -> Self {
        assert!(self.text.contains(part), "no {part} in {}", self.text);
        self
    }

    #[track_caller]
    fn lacks(self, part: &str) -> Self {
        assert!(!self.text.contains(part), "{part} in {}", self.text);
        self
    }

    #[track_caller]
    fn with(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }

    /// The value of a field in the page.
    fn value(&self, name: &str) -> String {
        let start = format!("name=\"{name}\" value=\"");
        let (_, rest) = self
            .text
            .split_once(&start)
            .unwrap_or_else(|| panic!("no {name} in {}", self.text));
        rest.split_once('"').unwrap().0.to_owned()
    }
}

/// The application on a fake of the test.
struct Site {
    fake: Fake,
    graphql: String,
    folder: Folder,
    running: Running,
    base: Url,
}

impl Site {
    async fn start() -> Self {
        let fake = Fake::start().await;
        let graphql = fake.graphql_url().to_string();
        Self::start_with(fake, graphql)
    }

    fn start_with(fake: Fake, graphql: String) -> Self {
        let folder = Folder::new();
        let running = Self::run(&fake, &graphql, &folder);
        let base = running.url("url");
        Self {
            fake,
            graphql,
            folder,
            running,
            base,
        }
    }

    fn run(fake: &Fake, graphql: &str, folder: &Folder) -> Running {
        let program = app("web_form").at(fake).env("ENVD_GRAPHQL_URL", graphql);
        Running::start(program.arg("--store").arg(folder.path("form.db")))
    }

    /// Kills the application, and starts it again with its store.
    fn restart(&mut self) {
        self.running.process.kill();
        self.running = Self::run(&self.fake, &self.graphql, &self.folder);
        let path = self.base.path().to_owned();
        self.base = self.running.url("url");
        // A page that was open before still has an address.
        assert_eq!(self.base.path(), path);
    }

    fn send(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Reply {
        let url = Url::parse(&format!("{}{path}", self.base)).unwrap();
        let text = http::send(method, &url, headers, body);
        let status = text
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        let to = http::header(&text, "location").unwrap_or_default();
        Reply {
            status: status.unwrap_or_else(|| panic!("no reply: {text}")),
            to: to.replacen(self.base.path(), "", 1),
            text,
        }
    }

    fn page(&self, path: &str) -> Reply {
        self.send("GET", path, &[], "").with(200)
    }

    fn post(&self, path: &str, body: &str) -> Reply {
        let origin = format!("origin: {}", self.base.origin().ascii_serialization());
        self.send("POST", path, &[&origin], body)
    }

    /// Posts a page like a browser: its hidden fields, and the entered values.
    fn post_from(&self, page: &Reply, path: &str, fields: Fields<'_>) -> Reply {
        let mut body = form_urlencoded::Serializer::new(String::new());
        body.append_pair("token", &page.value("token"));
        if page.text.contains("name=\"version\"") {
            body.append_pair("version", &page.value("version"));
        }
        body.extend_pairs(fields);
        self.post(path, &body.finish())
    }

    fn fill_in(&self, id: &str, section: &str, fields: Fields<'_>) -> Reply {
        let path = format!("/{id}/{section}");
        self.post_from(&self.page(&path), &path, fields)
    }

    /// Begins a draft, and returns its id.
    fn begin(&self) -> String {
        let list = self.page("");
        let id = list.value("id");
        self.post_from(&list, "/new", &[("id", &id)]).with(303);
        id
    }

    fn begin_complete(&self) -> String {
        let id = self.begin();
        for (section, fields) in COMPLETE {
            let saved = self.fill_in(&id, section, fields).with(303);
            assert!(!saved.to.contains("checked"), "{section}: {}", saved.to);
        }
        id
    }

    fn submit(&self, id: &str) -> Reply {
        let check = self.page(&format!("/{id}/check"));
        self.post_from(&check, &format!("/{id}/submit"), &[])
    }

    /// Waits until a page has a text.
    async fn until(&self, path: &str, text: &str) {
        until(text, async || self.page(path).text.contains(text)).await;
    }

    /// The records that were made here: status, breed and number of head.
    fn records(&self) -> Vec<[String; 3]> {
        let records = self.fake.consignments(self.fake.account_id());
        let mut new: Vec<Value> = records;
        new.retain(|record| {
            record["movementDate"]
                .as_str()
                .unwrap_or_default()
                .starts_with("2099-01-15")
        });
        let answer = |record: &Value, question: &str| {
            let answers = record["answers"].as_array().cloned().unwrap_or_default();
            let mut answers = answers.iter();
            let found = answers.find(|answer| answer["questionId"] == question);
            found.map_or(String::new(), |answer| {
                answer["value"].as_str().unwrap_or_default().to_owned()
            })
        };
        let seen = new.iter().map(|record| {
            let status = record["status"].as_str().unwrap_or_default().to_owned();
            [status, answer(record, "4"), answer(record, "3")]
        });
        seen.collect()
    }

    #[track_caller]
    fn has_one_record(&self, breed: &str, head: &str) {
        assert_eq!(self.records(), [["SUBMITTED", breed, head]]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_declaration_is_filled_in_page_by_page_checked_and_submitted() {
    let site = Site::start().await;
    let id = site.begin();
    // Nothing is wrong before a page was sent, and nothing can be submitted.
    site.page(&format!("/{id}/movement")).lacks("problem");
    site.page(&format!("/{id}/check"))
        .has("Still to do")
        .lacks("id=\"submit\"");
    site.page(&format!("/{id}"))
        .has(">To do<")
        .lacks(">Incomplete<");
    let mut next = BTreeSet::new();
    for (section, fields) in COMPLETE {
        next.insert(site.fill_in(&id, section, fields).to.replace(&id, ""));
    }
    for page in [
        "//addresses",
        "//q1?#row.q.1.0",
        "//q9001",
        "//q9002",
        "//q146",
        "//q9004",
        "//q157",
        "//declaration",
        "//check",
    ] {
        assert!(next.contains(page), "{page}: {next:?}");
    }
    site.page(&format!("/{id}/movement"))
        .has("value=\"QAZZ7777\"")
        .has("Sample Station, Sampleton, QLD")
        .has("value=\"15 Jan 2099\"");
    site.page(&format!("/{id}/check"))
        .has("Angus")
        .has("id=\"submit\"");
    assert_eq!(site.submit(&id).with(303).to, format!("/{id}"));
    let receipt = site.page(&format!("/{id}"));
    let receipt = receipt
        .has("Submitted")
        .has("This is what the service has now")
        .has("Number <strong>C-")
        .has("24 head");
    site.has_one_record("Angus", "24");
    assert!(site.page(&format!("/{id}/pdf")).text.contains("Tj"));

    // By its number, and by a part of it.
    let number = receipt.text.split("Number <strong>").nth(1).unwrap();
    let number = number.split('<').next().unwrap();
    site.page(&format!("?number={number}")).has(number);
    site.page("?number=C-0000")
        .lacks(number)
        .has("No declaration has a number");

    // The next load: what a clerk would keep.
    let list = site.page("");
    let next = list.value("id");
    site.post_from(&list, "/new", &[("id", &next), ("like", &id)])
        .with(303);
    site.page(&format!("/{next}/movement"))
        .has("value=\"QDZZ3333\"")
        .lacks("2099");
    site.page(&format!("/{next}/declaration"))
        .has("value=\"Sam Sample\"")
        .lacks("checked");
    site.page(&format!("/{next}/q1")).lacks("Angus");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn what_is_wrong_is_said_at_the_top_and_at_the_field_once_the_page_was_sent() {
    let site = Site::start().await;
    let id = site.begin();
    let fields = [
        ("f.origin.pic", "QAZZ777"),
        ("f.destination.pic", "NE000004"),
        ("f.movementDate", "soon"),
        ("f.movementTime", "5.15"),
    ];
    let saved = site.fill_in(&id, "movement", &fields).with(303);
    assert!(
        saved.to.ends_with("/movement?checked=1&new="),
        "{}",
        saved.to
    );
    // The typed text is stored, even if it is wrong.
    site.page(&saved.to)
        .has("<title>Error: Where and when")
        .has("<a href=\"#f.origin.pic\">PIC of origin “QAZZ777” is not a PIC.")
        .has("id=\"note.f.origin.pic\"")
        .has("value=\"soon\"")
        .has("The register says that this PIC is Blocked.");
    site.page(&format!("/{id}/movement"))
        .lacks("Error")
        .has("value=\"soon\"");
    let later = [("f.origin.pic", "QAZZ77"), ("later", "1")];
    assert_eq!(site.fill_in(&id, "movement", &later).to, format!("/{id}"));

    // Questions that follow from an answer are shown before they are missing.
    let saved = site.fill_in(&id, "q9001", &[("q.17.", "No")]);
    assert!(
        saved.to.ends_with("/q9001?new=q.20.#field.q.20."),
        "{}",
        saved.to
    );
    site.page(saved.to.split('#').next().unwrap())
        .has("A question follows")
        .lacks("Error")
        .has("Did the vendor breed all of them?” is answered No");
    let saved = site.fill_in(&id, "q9001", &[("q.17.", "No")]);
    site.page(&saved.to)
        .has("Error: ")
        .has("“Time the cattle were held”");
    // Its answer stays when it does not apply, and is not sent.
    site.fill_in(&id, "q9001", &[("q.20.", "LT2Months")]);
    site.fill_in(&id, "q9001", &[("q.17.", "Yes")]);
    site.page(&format!("/{id}/q9001")).lacks("q.20.");
    site.fill_in(&id, "q9001", &[("q.17.", "No")]);
    site.page(&format!("/{id}/q9001"))
        .has("value=\"LT2Months\" id=\"q.20.\" checked");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_stale_page_shows_both_values_and_other_pages_merge() {
    let site = Site::start().await;
    let id = site.begin_complete();
    let path = format!("/{id}/q1");
    let stale = site.page(&path);
    site.fill_in(&id, "q1", &[("q.4.0", "Brahman")]);
    site.fill_in(&id, "q9004", &[("q.151.", "A note")]);
    let asked = site
        .post_from(&stale, &path, &[("q.3.0", "24"), ("q.4.0", "Hereford")])
        .with(409);
    let asked = asked
        .has("This page was changed elsewhere")
        .has("value=\"Hereford\"")
        .has("Saved elsewhere: Brahman");
    site.page(&path).has("value=\"Brahman\"");
    // The person has seen both.
    site.post_from(&asked, &path, &[("q.4.0", "Hereford")])
        .with(303);
    site.page(&path).has("value=\"Hereford\"");
    site.page(&format!("/{id}/q9004")).has("value=\"A note\"");

    // Nothing typed is dropped with a row that is gone.
    site.fill_in(&id, "q1", &[("add", "q.1.")]);
    let stale = site.page(&path);
    site.fill_in(&id, "q1", &[("remove", "q.1.1")]);
    site.post_from(&stale, &path, &[("q.4.1", "Wagyu")])
        .with(409)
        .has("no longer has a field for Wagyu");

    // Another text has no signature: with another answer, and without a row.
    let id = site.begin_complete();
    let check = format!("/{id}/check");
    site.fill_in(&id, "q1", &[("add", "q.1.")]);
    site.page(&check).lacks("Tick “I declare”");
    site.fill_in(&id, "q1", &[("q.4.1", "Wagyu")]);
    site.page(&check).has("Tick “I declare”");
    site.fill_in(&id, "declaration", &[("f.declaration.accept", "true")]);
    site.fill_in(&id, "q1", &[("remove", "q.1.1")]);
    site.page(&check).has("Tick “I declare”");

    // A check of older answers submits nothing; nor does a signature under them.
    let id = site.begin_complete();
    let check = site.page(&format!("/{id}/check"));
    site.fill_in(&id, "q1", &[("q.3.0", "42")]);
    site.post_from(&check, &format!("/{id}/submit"), &[])
        .with(409)
        .has("The declaration has changed")
        .has("Tick “I declare”");
    assert_eq!(site.records().len(), 0);
    site.fill_in(&id, "declaration", &[("f.declaration.accept", "true")]);
    site.submit(&id).with(303);
    site.has_one_record("Angus", "42");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_page_that_is_sent_twice_counts_once() {
    let site = Site::start().await;
    let list = site.page("");
    let id = list.value("id");
    for _ in 0..2 {
        site.post_from(&list, "/new", &[("id", &id)]).with(303);
    }
    assert_eq!(site.page("").text.matches("Saved ").count(), 1);
    let path = format!("/{id}/q1");
    let page = site.page(&path);
    for _ in 0..2 {
        site.post_from(&page, &path, &[("add", "q.1.")]).with(303);
    }
    assert_eq!(site.page(&path).text.matches("class=\"row\"").count(), 1);
    let page = site.page(&path);
    for _ in 0..2 {
        site.post_from(&page, &path, &[("q.4.0", "Angus"), ("remove", "q.1.0")])
            .with(303);
    }
    site.page(&path).lacks("class=\"row\"");

    let id = site.begin_complete();
    let check = site.page(&format!("/{id}/check"));
    let submit = format!("/{id}/submit");
    // A double click: both are on their way at once. Then Back, and once more.
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| site.post_from(&check, &submit, &[]).with(303));
        }
    });
    site.post_from(&check, &submit, &[]).with(303);
    site.has_one_record("Angus", "24");
    // Every other page leads to the receipt.
    for path in ["/check", "/q1", "/movement"] {
        assert_eq!(
            site.send("GET", &format!("/{id}{path}"), &[], "")
                .with(303)
                .to,
            format!("/{id}")
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn drafts_outlive_a_kill() {
    let mut site = Site::start().await;
    let id = site.begin_complete();
    let open = site.page(&format!("/{id}/q1"));
    site.restart();
    site.post_from(
        &open,
        &format!("/{id}/q1"),
        &[("q.3.0", "25"), ("q.4.0", "Brahman")],
    )
    .with(303);
    site.restart();
    site.page(&format!("/{id}/q1")).has("value=\"Brahman\"");
    site.fill_in(&id, "declaration", &[("f.declaration.accept", "true")]);
    site.submit(&id).with(303);
    site.restart();
    site.page(&format!("/{id}")).has("Submitted");
    site.has_one_record("Brahman", "25");
}

/// Killed at each request of a submit, after the service has carried it out and before the reply.
#[test]
fn a_kill_between_the_services_yes_and_the_reply_leaves_one_record() {
    let killed = |number| {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).enable_all().build().unwrap();
        runtime.block_on(killed_at(number))
    };
    let held = std::thread::scope(|scope| {
        let cases: Vec<_> = (1..=4)
            .map(|number| scope.spawn(move || killed(number)))
            .collect();
        cases
            .into_iter()
            .map(|case| case.join().unwrap())
            .filter(|was_held| *was_held)
            .count()
    });
    // At least a list, a creation and a submit.
    assert!(held >= 3, "{held}");
}

/// Whether there was such a request.
async fn killed_at(number: usize) -> bool {
    let fake = Fake::start().await;
    let proxy = Proxy::of(&fake).await;
    let graphql = proxy.through(fake.graphql_url());
    let mut site = Site::start_with(fake, graphql);
    let id = site.begin_complete();
    let check = site.page(&format!("/{id}/check"));
    let submit = format!("/{id}/submit");
    let before = proxy.statements();
    proxy.hold_reply(before + number);
    // The page waits for the service as long as its patience lasts.
    site.post_from(&check, &submit, &[]).with(303);
    let was_held = proxy.statements() == before + number;
    site.running.process.kill();
    proxy.set(Mode::Cut);
    proxy.settle().await;
    proxy.set(Mode::Pass);
    site.restart();
    // The user comes back to the page, and presses the button once more.
    site.post_from(&check, &submit, &[]).with(303);
    site.until(&format!("/{id}"), "Number <strong>C-").await;
    site.has_one_record("Angus", "24");
    was_held
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn what_waits_is_shown_can_be_taken_back_and_goes_when_the_line_is_there() {
    let site = Site::start().await;
    let id = site.begin_complete();
    site.fake
        .on_path("/v2/graphql")
        .fault(Fault::status(503))
        .forever();
    site.submit(&id).with(303);
    let receipt = site
        .page(&format!("/{id}"))
        .has(">Waiting<")
        .has("This is what is to be sent")
        .has("Angus");
    assert_eq!(site.records().len(), 0);
    site.post_from(
        &receipt,
        &format!("/{id}/decide"),
        &[("decision", "change")],
    )
    .with(303);
    site.fill_in(&id, "q1", &[("q.4.0", "Brahman")]);
    site.fill_in(&id, "declaration", &[("f.declaration.accept", "true")]);
    site.submit(&id).with(303);
    site.fake.clear_scripts();
    let receipt = site.page(&format!("/{id}"));
    site.post_from(
        &receipt,
        &format!("/{id}/decide"),
        &[("decision", "try again")],
    )
    .with(303);
    site.until(&format!("/{id}"), "Number <strong>C-").await;
    site.has_one_record("Brahman", "24");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn what_the_service_refuses_is_shown_with_its_words_and_corrected() {
    let site = Site::start().await;
    let id = site.begin_complete();
    site.fake
        .on_operation("CreateOrSaveConsignment")
        .refuse("003", "the service is being moved");
    site.submit(&id).with(303);
    let receipt = site
        .page(&format!("/{id}"))
        .has(">Refused<")
        .has("The service says:")
        .has("the service is being moved")
        .has("value=\"resend\"");
    assert_eq!(site.records().len(), 0);
    site.post_from(
        &receipt,
        &format!("/{id}/decide"),
        &[("decision", "change")],
    )
    .with(303);
    site.page(&format!("/{id}"))
        .has("Your declaration")
        .has(">Refused<");
    site.fill_in(&id, "declaration", &[("f.declaration.accept", "true")]);
    site.submit(&id).with(303);
    site.page(&format!("/{id}")).has("Number <strong>C-");
    site.has_one_record("Angus", "24");
    // An answer to a question that is over changes nothing, and an unknown one is refused.
    for (decision, status) in [
        ("resend", 303),
        ("adopt x", 303),
        ("change", 303),
        ("burn it", 400),
    ] {
        site.post_from(
            &receipt,
            &format!("/{id}/decide"),
            &[("decision", decision)],
        )
        .with(status);
    }
    site.has_one_record("Angus", "24");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_question_of_the_outbox_is_answered_on_its_page() {
    let site = Site::start().await;
    for (decision, state) in [("keep mine", "Submitted"), ("discard", "Discarded")] {
        let id = site.begin_complete();
        let day = [("f.movementDate", "1/10/2025")];
        site.fill_in(&id, "movement", &day).with(303);
        let accept = [("f.declaration.accept", "true")];
        site.fill_in(&id, "declaration", &accept).with(303);
        let check = site.page(&format!("/{id}/check"));
        site.submit(&id).with(303);
        let asked = site
            .page(&format!("/{id}"))
            .has(">Asked<")
            .has("The day of the movement is over")
            .lacks("?.</p>");
        let fields = [("decision", decision)];
        site.post_from(&asked, &format!("/{id}/decide"), &fields)
            .with(303);
        let receipt = site.page(&format!("/{id}"));
        receipt
            .has(&format!(">{state}<"))
            .has("Start another from this one");
        // The declaration is closed: an older page neither changes nor submits it.
        site.post_from(&check, &format!("/{id}/submit"), &[])
            .with(303);
        site.page(&format!("/{id}")).has(&format!(">{state}<"));
        site.page("").lacks("<h2>Drafts</h2>");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn any_text_that_a_browser_sends_is_kept_or_refused_with_a_sentence() {
    let site = Site::start().await;
    let id = site.begin_complete();
    let long = "1200 tags ".repeat(121);
    for text in [
        "\u{fffd}",
        "\u{1f404} Ängus",
        "a\u{0}b",
        "<script>\"'&",
        "x\u{202e}x",
        &long,
    ] {
        site.fill_in(&id, "q9004", &[("q.151.", text)]).with(303);
        let shown = text
            .trim()
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
            .replace('"', "&quot;")
            .replace('\'', "&#x27;");
        let page = site
            .page(&format!("/{id}/q9004?checked=1"))
            .has(&format!("value=\"{shown}\""))
            .lacks("<script>");
        assert_eq!(
            page.text
                .contains("The text has 1209 characters. Use at most 1000."),
            text.len() > 1_000
        );
    }
    let page = site.page(&format!("/{id}/q9004"));
    let (token, version) = (page.value("token"), page.value("version"));
    for (fields, status) in [
        (format!("token={token}&version={version}&q.151.=%FF"), 400),
        (format!("token={token}&version={}&q.151.=x", u64::MAX), 400),
        (format!("token={token}&q.151.=x"), 400),
        (format!("token={version}&version={version}&q.151.=x"), 403),
        (format!("version={version}&q.151.=x"), 403),
        (
            format!("token={token}&version={version}&add=q.{}.0", u64::MAX),
            400,
        ),
        (
            format!("token={token}&version={version}&remove=q.146.7"),
            400,
        ),
        (
            format!(
                "token={token}&version={version}&q.151.={}",
                "x".repeat(1_000_000)
            ),
            413,
        ),
    ] {
        let refused = site.post(&format!("/{id}/q9004"), &fields).with(status);
        refused.has("Nothing was");
    }
    for path in [
        format!("/{id}/q{}", u64::MAX),
        format!("/{}", u64::MAX),
        format!("/{id}x/check"),
        format!("/{id}/%FF"),
    ] {
        site.send("GET", &path, &[], "").with(400);
    }
    site.send("GET", &format!("/{}", "0".repeat(32)), &[], "")
        .with(404);
    // Nonsense in known fields is stored, and said.
    for (section, name, value) in [
        ("addresses", "f.origin.address.state", "XX"),
        ("q9001", "q.17.", "Perhaps"),
    ] {
        let saved = site.fill_in(&id, section, &[(name, value)]).with(303);
        site.page(&saved.to).has("Error: ");
    }
    site.fill_in(&id, "forms", &[("f.forms", "LPAC9")])
        .with(303);
    site.page(&format!("/{id}/check"))
        .has("LPAC9 is not known as a form");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn there_are_at_most_200_rows_and_200_drafts() {
    let site = Site::start().await;
    let id = site.begin();
    let path = format!("/{id}/q146");
    for _ in 0..200 {
        site.fill_in(&id, "q146", &[("add", "q.146.")]).with(303);
    }
    let page = site
        .page(&path)
        .has("There are 200 rows.")
        .lacks("name=\"add\"");
    site.post_from(&page, &path, &[("add", "q.146.")])
        .with(409)
        .has("There are 200 rows already.");
    let rows: Vec<(String, String)> = (0..200)
        .map(|row| (format!("q.148.{row}"), format!("Number {row}")))
        .collect();
    let rows: Vec<(&str, &str)> = rows
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    site.post_from(&page, &path, &rows).with(303);
    site.page(&path).has("value=\"Number 199\"");
    let list = site.page("");
    for number in 1..200 {
        site.post_from(&list, "/new", &[("id", &format!("{number:032x}"))])
            .with(303);
    }
    let refused = site.post_from(&list, "/new", &[("id", &format!("{:032x}", 200))]);
    refused.with(409).has("There are 200 drafts already.");
    site.post_from(&list, &format!("/{id}/delete"), &[])
        .with(303);
    site.post_from(&list, "/new", &[("id", &format!("{:032x}", 200))])
        .with(303);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn other_hosts_sites_and_users_get_nothing() {
    let site = Site::start().await;
    let id = site.begin();
    let port = site.base.port().unwrap();
    for host in ["attacker.example", &format!("attacker.example:{port}"), ""] {
        let host = format!("host: {host}");
        site.send("GET", "", &[&host], "").with(421).lacks("<form");
    }
    let own = format!("http://127.0.0.1:{port}");
    for origin in [
        "",
        "null",
        "http://attacker.example",
        "http://127.0.0.1:1",
        &format!("http://localhost:{port}"),
    ] {
        let origin = format!("origin: {origin}");
        let headers: &[&str] = if origin == "origin: " {
            &[]
        } else {
            &[&origin]
        };
        site.send("POST", &format!("/{id}/delete"), headers, "")
            .with(403)
            .has("Nothing was changed");
    }
    // Another user of the machine does not know the address.
    for path in ["", "new", &id, "0123456789abcdef0123456789abcdef"] {
        let reply = http::get(&Url::parse(&format!("{own}/{path}")).unwrap());
        assert!(reply.starts_with("HTTP/1.1 404"), "{reply}");
    }
    let page = site.page(&format!("/{id}"));
    let policy = http::header(&page.text, "content-security-policy").unwrap();
    assert!(
        policy.starts_with("default-src 'none'; script-src 'self';") && !policy.contains("unsafe"),
        "{policy}"
    );
    assert_eq!(http::header(&page.text, "cache-control"), Some("no-store"));
    #[cfg(unix)]
    for file in ["form.db", "form.db.session"] {
        let data = std::fs::metadata(site.folder.path(file)).unwrap();
        let mode = std::os::unix::fs::MetadataExt::mode(&data);
        assert_eq!(mode & 0o077, 0, "{file}");
    }
}
