//! `web_form` without a browser: what it refuses, and that it works without its script.

use std::io::{Read, Write};
use std::net::TcpStream;

use processes::Running;
use url::form_urlencoded;

use super::app;

/// What is in the way of a cattle declaration: texts of questions and their answers.
const ANSWERS: [(&str, &str); 13] = [
    ("f.declaration.accept", "true"),
    ("f.origin.pic", "QAZZ7777"),
    ("f.destination.pic", "QDZZ3333"),
    ("q.3.0", "24"),
    ("q.4.0", "Angus"),
    ("q.5.0", "Steer : M"),
    ("q.17.", "Yes"),
    ("q.56.", "No"),
    ("q.58.", "No"),
    ("q.59.", "No"),
    ("q.70.", "No"),
    ("q.88.", "No"),
    ("q.96.", "No"),
];

/// The application, which is killed at the end of the test.
struct WebForm {
    host: String,
    _running: Running,
}

impl WebForm {
    fn start() -> Self {
        let running = Running::start(app("web_form"));
        let url = running.url("url");
        assert_eq!(url.host_str(), Some("127.0.0.1"));
        let host = url.authority().to_owned();
        Self {
            host,
            _running: running,
        }
    }

    /// Sends a request, and returns the status and the whole reply. Not by [`processes::http`]: the host varies, and a body that
    /// is too long is refused while it is sent.
    fn send(&self, method: &str, host: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let length = body.len();
        let head = format!(
            "{method} / HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: {length}\r\n"
        );
        let kind = "content-type: application/x-www-form-urlencoded";
        let _ = write!(stream, "{head}{kind}\r\n\r\n{body}");
        let mut reply = String::new();
        let _ = stream.read_to_string(&mut reply);
        let status = reply.split(' ').nth(1).and_then(|text| text.parse().ok());
        (status.unwrap_or_else(|| panic!("no reply: {reply}")), reply)
    }

    fn page(&self) -> String {
        let (status, page) = self.send("GET", &self.host, "");
        assert_eq!(status, 200, "{page}");
        page
    }

    fn token(&self) -> String {
        between(&self.page(), "name=\"token\" value=\"", "\"").to_owned()
    }

    /// Posts fields with the token of the page.
    fn post(&self, fields: &[(&str, &str)]) -> (u16, String) {
        let mut body = form_urlencoded::Serializer::new(String::new());
        body.append_pair("token", &self.token());
        let body = body.extend_pairs(fields).finish();
        self.send("POST", &self.host, &body)
    }

    /// Presses a button, and returns the page.
    fn press(&self, button: &str, fields: &[(&str, &str)]) -> String {
        let (status, reply) = self.post(&[&[("do", button)], fields].concat());
        assert_eq!(status, 303, "{reply}");
        self.page()
    }

    /// Fills in all that is needed.
    fn fill_in(&self) {
        self.press("add q.1.", &[]);
        self.press("update", &ANSWERS);
        self.press("leave q.146.", &[("q.102.", "No")]);
        let page = self.press("leave q.157.", &[]);
        assert!(page.contains("Ready to be submitted"), "{page}");
    }
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = text
        .split_once(start)
        .unwrap_or_else(|| panic!("no {start} in {text}"));
    rest.split_once(end).unwrap().0
}

#[test]
fn another_host_name_gets_nothing() {
    let form = WebForm::start();
    let port = form.host.split_once(':').unwrap().1;
    for host in ["attacker.example", &format!("attacker.example:{port}"), ""] {
        let (status, reply) = form.send("GET", host, "");
        assert_eq!(status, 421, "{host}: {reply}");
        assert!(!reply.contains("<form"), "{reply}");
    }
    let body = format!("do=update&token={}&f.origin.name=Mallory", form.token());
    assert_eq!(form.send("POST", "attacker.example", &body).0, 421);
    assert!(!form.page().contains("Mallory"));
}

#[test]
fn a_post_of_another_site_is_refused() {
    let form = WebForm::start();
    let token = form.token();
    for body in [
        "do=update&f.origin.name=Mallory".to_owned(),
        "do=update&f.origin.name=Mallory&token=".to_owned(),
        format!("do=update&f.origin.name=Mallory&token={}", "0".repeat(32)),
        format!("do=update&f.origin.name=Mallory&token={token}&token={token}"),
    ] {
        let (status, reply) = form.send("POST", &form.host, &body);
        assert_eq!(status, 403, "{body}: {reply}");
    }
    assert!(!form.page().contains("Mallory"));
    assert_ne!(
        token,
        WebForm::start().token(),
        "each run has its own token"
    );
}

#[test]
fn nonsense_is_refused_and_nothing_of_it_is_kept() {
    let form = WebForm::start();
    for field in [
        ("q.no-such-question.", "Yes"),
        ("q.17.0", "Yes"),
        ("q.17.x", "Yes"),
        ("q.17", "Yes"),
        ("q.9001.", "an answer to a heading"),
        ("q.1.", "an answer to a section"),
        ("q.20.", "LT2Months"),
        ("f.colour", "red"),
        ("f.answers", "[]"),
        ("f.declaration.accept", "perhaps"),
        ("do", "add q.17."),
        ("do", "add"),
        ("do", "remove q.1.7"),
        ("do", "leave q.no-such-question."),
    ] {
        let (status, reply) = form.post(&[field, ("f.origin.name", "Kept")]);
        let is_button = field == ("do", "add");
        assert_eq!(
            status,
            if is_button { 303 } else { 400 },
            "{field:?}: {reply}"
        );
        let kept = form.page().contains("value=\"Kept\"");
        assert_eq!(kept, is_button, "{field:?}");
        form.press("update", &[("f.origin.name", "")]);
    }
    let token = form.token();
    for body in ["f.origin.name=%FF&do=update", "%FF"] {
        let (status, reply) = form.send("POST", &form.host, &format!("token={token}&{body}"));
        assert_eq!(status, 400, "{body}: {reply}");
    }
    assert_eq!(form.send("PUT", &form.host, "").0, 405);
}

#[test]
fn a_body_of_one_megabyte_is_refused() {
    let form = WebForm::start();
    let name = "x".repeat(1_000_000);
    let body = format!("do=update&token={}&f.origin.name={name}", form.token());
    assert_eq!(form.send("POST", &form.host, &body).0, 413);
    assert!(form.page().contains("New declaration"));
}

#[test]
fn what_is_entered_is_escaped_and_the_page_allows_no_other_script() {
    let form = WebForm::start();
    let text = "</script><script>alert(1)</script>\"'&";
    form.press("add q.1.", &[]);
    let page = form.press("update", &[("f.origin.pic", text), ("q.4.0", text)]);
    assert!(!page.contains("<script>"), "{page}");
    assert!(page.contains("&lt;script&gt;"), "{page}");
    let policy = between(&page, "content-security-policy: ", "\r\n");
    assert!(policy.starts_with("default-src 'none'; script-src 'self';"));
    assert!(!policy.contains("unsafe"), "{policy}");
    assert!(page.contains("cache-control: no-store"), "{page}");
}

#[test]
fn questions_rows_and_findings_come_and_go_without_the_script() {
    let form = WebForm::start();
    let asked = "Time the cattle were held";
    assert!(!form.page().contains(asked));
    let page = form.press("update", &[("q.17.", "No")]);
    assert!(page.contains(asked), "{page}");
    assert!(page.contains("Because “Did the vendor breed all of them?” is answered No."));
    // The answer and what hides its question on one page: it is kept for later.
    let both = [("q.17.", "Yes"), ("q.20.", "LT2Months")];
    assert!(!form.press("update", &both).contains(asked));
    let page = form.press("update", &[("q.17.", "No")]);
    let kept = between(&page, "value=\"LT2Months\"", ">");
    assert!(kept.contains("checked"), "{kept}");

    let page = form.press("add q.1.", &[]);
    assert!(page.contains("Animals in this consignment, row 1"));
    let page = form.press("add q.1.", &[("q.4.0", "Angus")]);
    assert!(page.contains("Animals in this consignment, row 2"));
    assert!(page.contains("Row 2 of “Animals in this consignment” is empty"));
    let page = form.press("remove q.1.0", &[]);
    assert!(!page.contains("Angus") && page.contains("q.4.1"), "{page}");

    let page = form.press("update", &[("f.origin.pic", "QAZZ777")]);
    let note = between(&page, "id=\"note.f.origin.pic\">", "</div>");
    assert!(note.contains("QAZZ777 is not a PIC"), "{note}");
    let page = form.press("update", &[("f.origin.pic", "QAZZ7777")]);
    assert!(!page.contains("id=\"note.f.origin.pic\""), "{page}");
    let page = form.press("update", &[("f.forms", "LPAC1"), ("f.forms", "LPASL1")]);
    assert!(page.contains("The forms are for more than one species."));
}

#[test]
fn without_reception_it_is_kept_and_submitted_once_later() {
    let form = WebForm::start();
    let page = form.press("submit", &[]);
    assert!(page.contains("“Growth hormone used at any time?” is not answered."));
    assert!(!page.contains("id=\"outcome\""), "nothing is sent: {page}");
    form.fill_in();
    form.press("cut", &[]);
    let page = form.press("submit", &[]);
    assert!(page.contains("No reception: kept in the outbox"), "{page}");
    // Corrected while it waits.
    form.press("submit", &[("q.4.0", "Brahman")]);
    let page = form.press("connect", &[]);
    let number = between(&page, "under the number <strong>", "<").to_owned();
    assert!(number.starts_with("C-"), "{page}");
    form.press("new", &[]);
    form.fill_in();
    let page = form.press("submit", &[]);
    let next = between(&page, "under the number <strong>", "<");
    let count = |number: &str| number[2..].parse::<u64>().unwrap();
    assert_eq!(count(next), count(&number) + 1, "one record each");
}

#[test]
fn the_refusal_of_the_service_stands_beside_the_field_until_that_changes() {
    let form = WebForm::start();
    form.fill_in();
    // The property of another account, which only the service knows.
    let page = form.press("submit", &[("f.origin.pic", "QBZZ2222")]);
    assert!(page.contains("The service refused it"), "{page}");
    let note = between(&page, "id=\"note.f.origin.pic\">", "</div>");
    assert!(
        note.contains("is not the PIC of the selected account"),
        "{note}"
    );
    let page = form.press(
        "update",
        &[("f.origin.pic", "QBZZ2222"), ("q.4.0", "Brahman")],
    );
    assert!(page.contains("id=\"note.f.origin.pic\""), "{page}");
    let page = form.press("update", &[("f.origin.pic", "QAZZ7777")]);
    assert!(!page.contains("id=\"note.f.origin.pic\""), "{page}");
    assert!(
        form.press("submit", &[])
            .contains("<title>Submitted</title>")
    );
}
