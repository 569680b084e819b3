//! `web_form` without a browser: what it refuses, and that it works without its script.

use processes::{Running, http};
use url::{Url, form_urlencoded};

use super::app;

/// A complete cattle declaration.
const COMPLETE: [(&str, &str); 21] = [
    ("f.forms", "LPAC1"),
    ("f.declaration.accept", "true"),
    ("f.origin.pic", "QAZZ7777"),
    ("f.destination.pic", "QDZZ3333"),
    ("f.movementDate", "27/11/2026"),
    ("f.movementTime", "5:15"),
    ("row", "+1.0"),
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
    ("q.102.", "No"),
    ("none", "146."),
    ("none", "157."),
    ("checked", "yes"),
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

    /// Sends a request, and returns the status and the complete reply.
    fn send(&self, request: &str, host: &str, origin: &str, body: &str) -> (u16, String) {
        let (method, path) = request.split_once(' ').unwrap();
        let url = Url::parse(&format!("http://{}{path}", self.host)).unwrap();
        let host = format!("host: {host}");
        let kind = "content-type: application/x-www-form-urlencoded";
        let mut headers = vec![host.as_str(), kind];
        let of_page = format!("origin: {origin}");
        headers.extend((!origin.is_empty()).then_some(of_page.as_str()));
        let reply = http::send(method, &url, &headers, body);
        let status = reply.split(' ').nth(1).and_then(|text| text.parse().ok());
        (status.unwrap_or_else(|| panic!("no reply: {reply}")), reply)
    }

    fn page(&self, path: &str) -> String {
        let (status, page) = self.send(&format!("GET {path}"), &self.host, "", "");
        assert_eq!(status, 200, "{page}");
        page
    }

    fn post(&self, path: &str, body: &str) -> (u16, String) {
        let origin = format!("http://{}", self.host);
        self.send(&format!("POST {path}"), &self.host, &origin, body)
    }
}

/// A page without its script: the fields of the document are posted with each button.
struct Filled<'a> {
    form: &'a WebForm,
    key: &'a str,
    fields: Vec<(String, String)>,
}

impl<'a> Filled<'a> {
    fn new(form: &'a WebForm, key: &'a str, fields: &[(&str, &str)]) -> Self {
        let mut filled = Self {
            form,
            key,
            fields: Vec::new(),
        };
        filled.set(&[("version", "1")]);
        filled.set(fields);
        filled
    }

    /// Sets fields, and adds to lists.
    fn set(&mut self, fields: &[(&str, &str)]) {
        for (name, value) in fields {
            if !matches!(*name, "row" | "none") {
                self.fields.retain(|(known, _)| known != name);
            }
            self.fields.push(((*name).to_owned(), (*value).to_owned()));
        }
    }

    fn press(&mut self, button: &str) -> (u16, String) {
        let version: u64 = self.fields[0].1.parse().unwrap();
        self.fields[0].1 = (version + 1).to_string();
        let mut body = form_urlencoded::Serializer::new(String::new());
        let body = body.extend_pairs(&self.fields).finish();
        self.form
            .post(&format!("/declaration/{}{button}", self.key), &body)
    }

    fn page(&mut self, button: &str) -> String {
        let (status, page) = self.press(button);
        assert_eq!(status, 200, "{page}");
        page
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
        for request in ["GET /", "GET /declaration/1", "POST /declaration/1?save"] {
            let (status, reply) = form.send(request, host, &format!("http://{host}"), "");
            assert_eq!(status, 421, "{host}: {reply}");
            assert!(!reply.contains("<form"), "{reply}");
        }
    }
}

#[test]
fn a_post_of_another_site_is_refused() {
    let form = WebForm::start();
    let port = form.host.split_once(':').unwrap().1;
    let other_port = "http://127.0.0.1:1".to_owned();
    for origin in [
        "",
        "null",
        "http://attacker.example",
        &other_port,
        &format!("http://localhost:{port}"),
    ] {
        for path in [
            "/declaration/1",
            "/declaration/1?submit",
            "/?cut",
            "/sent/1?withdraw",
        ] {
            let (status, reply) = form.send(&format!("POST {path}"), &form.host, origin, "");
            assert_eq!(status, 403, "{origin} {path}: {reply}");
        }
    }
    assert!(form.page("/").contains("is <strong>there</strong>"));
}

#[test]
fn nonsense_is_not_sent_and_harms_nothing() {
    let form = WebForm::start();
    for (name, value) in [
        ("q.no-such-question.", "Yes"),
        ("q.17.0", "Yes"),
        ("q.17.x", "Yes"),
        ("q.17", "Yes"),
        ("q.9001.", "an answer to a heading"),
        ("q.1.", "an answer to a section"),
        ("q.20.", "LT2Months"),
        ("f.colour", "red"),
        ("f.answers", "[]"),
        ("f.forms", "LPAC9"),
        ("f.declaration.accept", "perhaps"),
        ("row", "+17."),
        ("row", "+"),
        ("row", "\u{e9}1.0"),
        ("row", "-1.7"),
        ("row", "+1.9223372036854775807"),
        ("none", "no-such-question."),
    ] {
        let mut filled = Filled::new(&form, "1", &[("f.origin.name", "Kept"), (name, value)]);
        let page = filled.page("");
        assert!(page.contains("value=\"Kept\""), "{name} {value}");
        for button in ["?review", "?save", "?submit", "?other"] {
            assert_eq!(filled.press(button).0, 200, "{name} {value} {button}");
        }
    }
    for body in ["f.origin.name=%FF", "%FF"] {
        assert_eq!(form.post("/declaration/1", body).0, 400, "{body}");
    }
    assert_eq!(
        form.send(
            "PUT /declaration/1",
            &form.host,
            &format!("http://{}", form.host),
            ""
        )
        .0,
        405
    );
    assert_eq!(form.send("GET /sent/7", &form.host, "", "").0, 404);
    assert!(form.page("/").contains("<b>0</b> sent"));
}

#[test]
fn a_body_of_one_megabyte_is_refused() {
    let form = WebForm::start();
    let body = format!("f.origin.name={}", "x".repeat(1_000_000));
    assert_eq!(form.post("/declaration/1", &body).0, 413);
    assert!(form.page("/declaration/1").contains("New declaration"));
}

#[test]
fn what_is_entered_is_escaped_and_the_page_allows_no_other_script() {
    let form = WebForm::start();
    let text = "</script><script>alert(1)</script>\"'&";
    let fields = [
        ("f.forms", "LPAC1"),
        ("row", "+1.0"),
        ("f.origin.pic", text),
        ("q.4.0", text),
        ("q.hidden.", text),
        ("row", text),
    ];
    let page = Filled::new(&form, "1", &fields).page("");
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
    let mut filled = Filled::new(&form, "1", &[("f.forms", "LPAC1")]);
    assert!(!filled.page("").contains(asked));
    filled.set(&[("q.17.", "No"), ("q.20.", "LT2Months")]);
    let page = filled.page("");
    assert!(page.contains(asked), "{page}");
    assert!(page.contains("Because “Did the vendor breed all of them?” is answered No."));
    // The answer to a question that does not apply stays in the page.
    filled.set(&[("q.17.", "Yes")]);
    let page = filled.page("");
    assert!(!page.contains(asked), "{page}");
    assert!(
        page.contains("<input type=\"hidden\" name=\"q.20.\" value=\"LT2Months\">"),
        "{page}"
    );

    // The button has the row that it adds.
    for row in ["+1.0", "+1.1"] {
        let page = filled.page("");
        assert!(
            page.contains(&format!("name=\"row\" value=\"{row}\"")),
            "{page}"
        );
        filled.set(&[("row", row)]);
    }
    filled.set(&[("q.4.0", "Angus"), ("q.3.0", "24")]);
    let page = filled.page("");
    assert!(
        page.contains("Row 2 of “Animals in this consignment” is empty"),
        "{page}"
    );
    assert!(page.contains("24 head in 2 rows"), "{page}");
    filled.set(&[("row", "-1.0")]);
    let page = filled.page("");
    assert!(
        !page.contains("id=\"q.4.0\"") && page.contains("id=\"q.4.1\""),
        "{page}"
    );
    assert!(page.contains("0 head in 1 row"), "{page}");
    filled.set(&[("row", "+1.0")]);
    assert!(filled.page("").contains("value=\"Angus\""));

    filled.set(&[("f.origin.pic", "QAZZ777")]);
    let page = filled.page("");
    let note = between(&page, "id=\"note.f.origin.pic\">", "</div>");
    assert!(note.contains("“QAZZ777” is not a PIC"), "{note}");
    filled.set(&[("f.origin.pic", "qazz 7777"), ("f.forms", "LPAC1,LPASL1")]);
    let page = filled.page("");
    assert!(!page.contains("id=\"note.f.origin.pic\""), "{page}");
    assert!(page.contains("The forms are for more than one species."));
}

#[test]
fn what_was_reviewed_is_submitted_and_nothing_else() {
    let form = WebForm::start();
    let mut filled = Filled::new(&form, "1", &COMPLETE);
    let page = filled.page("?review");
    let hash = between(&page, "name=\"hash\" value=\"", "\"").to_owned();
    for (changed, given) in [
        ("q.3.0", "42"),
        ("f.destination.pic", "QAZZ7777"),
        ("hash", ""),
        ("hash", "0"),
    ] {
        let mut other = Filled::new(&form, "1", &COMPLETE);
        other.set(&[("hash", &hash), (changed, given)]);
        let page = other.page("?submit");
        assert!(
            page.contains("The declaration is not the one that you checked."),
            "{changed} {given}"
        );
    }
    assert!(form.page("/").contains("<b>0</b> sent"));
    // Case, spaces and the format of the date do not matter.
    filled.set(&[
        ("hash", &hash),
        ("f.origin.pic", "qazz 7777 "),
        ("f.movementDate", "27.11.26"),
    ]);
    let (status, reply) = filled.press("?submit");
    assert_eq!(status, 303, "{reply}");
    assert!(reply.contains("location: /sent/1\r\n"), "{reply}");
    // Later posts of any kind lead to the sent declaration.
    filled.set(&[("q.3.0", "42")]);
    for button in ["", "?review", "?submit", "?save"] {
        assert!(
            filled.press(button).1.contains("location: /sent/1\r\n"),
            "{button}"
        );
    }
    assert!(form.page("/sent/1").contains("24 head in 1 row"));
    assert!(form.page("/").contains("<b>1</b> sent"));
}
