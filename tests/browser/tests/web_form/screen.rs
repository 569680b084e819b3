//! A tab of headless Chromium that shows the application.

use std::env;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use headless_chrome::protocol::cdp::types::Event;
use headless_chrome::protocol::cdp::{Emulation, Input, Page, Runtime};
use headless_chrome::{Browser, LaunchOptions, Tab};
use serde_json::{Value, from_value, json};

/// The setting that names the browser.
const BROWSER: &str = "ENVD_SDK_TEST_CHROMIUM";

/// The test file of axe-core; see its licence beside it.
const AXE: &str = include_str!("../../axe/axe.min.js");

/// Runs before the scripts of each page: a line between page and server that the test holds. `net.hold` is `request` or `reply`,
/// and `net.held` has what waits; `net.portal` is the page that answers in place of the server.
const NET: &str = "window.net = { hold: '', held: [], portal: '' };
    const fetched = window.fetch;
    window.fetch = async (...all) => {
        const held = () => new Promise((resolve, reject) => {
            net.held.push((goes) => goes ? resolve() : reject(new TypeError('Failed to fetch')));
            document.body.dataset.held = net.held.length;
        });
        if (net.portal) return new Response(net.portal, { headers: { 'content-type': 'text/html' } });
        if (net.hold === 'request') await held();
        const reply = net.hold === 'reply';
        const answer = await fetched(...all);
        if (reply) await held();
        return answer;
    };";

/// A declaration that is complete, by the names of its fields.
const COMPLETE: &str = "f.forms LPAC1, f.origin.pic QAZZ7777, f.destination.pic QDZZ3333, f.movementDate 27/11/2026,
    f.movementTime 05:15, f.declaration.fullName Sam Sample, f.declaration.accept true, row +1.0, none 146., none 157.,
    q.3.0 24, q.4.0 Angus, q.5.0 Steer : M, q.17. Yes, q.56. No, q.58. No, q.59. No, q.70. No, q.88. No, q.96. No, q.102. No";

/// The application as a process, which is killed at the end of the test.
struct Site {
    process: Child,
    url: String,
}

/// The application, a browser, and what its console has said.
pub(crate) struct Screen {
    site: Site,
    pub(crate) tab: Arc<Tab>,
    browser: Browser,
    console: Arc<Mutex<Vec<String>>>,
}

impl Screen {
    /// Starts the application, and opens a new declaration in light colours.
    pub(crate) fn open(width: u32, height: u32) -> Self {
        let path = env::var_os(BROWSER).map(PathBuf::from);
        let path = path.unwrap_or_else(|| panic!("set {BROWSER} to the path of Chromium"));
        let options = LaunchOptions {
            path: Some(path),
            // Chromium refuses to run as root with its sandbox.
            sandbox: false,
            args: vec![OsStr::new("--hide-scrollbars")],
            idle_browser_timeout: Duration::from_secs(120),
            ..LaunchOptions::default()
        };
        let browser = Browser::new(options).unwrap();
        let tab = browser.new_tab().unwrap();
        let mut screen = Self {
            site: Site::start(None),
            tab,
            browser,
            console: Arc::default(),
        };
        screen.prepare(width, height);
        screen.go("/new");
        screen
    }

    /// As [`open`](Self::open), with a declaration that is complete but for some other values: `field value, ..`.
    pub(crate) fn complete(others: &str) -> Self {
        let screen = Self::open(1280, 900);
        screen.give(&format!("{COMPLETE}, {others}"));
        screen
    }

    /// Puts fields into the document of the page. Later ones count, but for lists.
    pub(crate) fn give(&self, fields: &str) {
        let mut document = serde_json::Map::new();
        for field in fields.split(',').map(str::trim).filter(|it| !it.is_empty()) {
            let (name, value) = field.split_once(' ').unwrap_or((field, ""));
            let values = document.entry(name).or_insert(Value::Array(Vec::new()));
            match values {
                Value::Array(values) if matches!(name, "row" | "none") => values.push(value.into()),
                values => *values = vec![value].into(),
            }
        }
        let document = json!({"version": 1, "fields": document});
        self.value(&format!(
            "localStorage.setItem('web_form.' + document.forms[0].dataset.key, {})",
            Value::from(document.to_string())
        ));
        self.reload();
    }

    fn prepare(&mut self, width: u32, height: u32) {
        let said = Arc::clone(&self.console);
        self.tab
            .add_event_listener(Arc::new(move |event: &Event| {
                if let Some(text) = complaint(event) {
                    said.lock().unwrap().push(text);
                }
            }))
            .unwrap();
        self.tab.enable_log().unwrap().enable_runtime().unwrap();
        self.before_scripts(NET);
        self.resize(width, height);
        self.colours("light");
    }

    /// A script that runs before those of each page.
    pub(crate) fn before_scripts(&self, source: &str) {
        let script = from_value(json!({"source": source}));
        let script: Page::AddScriptToEvaluateOnNewDocument = script.unwrap();
        self.tab.call_method(script).unwrap();
    }

    /// Goes to a page of the application.
    pub(crate) fn go(&self, path: &str) {
        self.tab
            .navigate_to(&format!("{}{path}", self.site.url))
            .unwrap();
        self.tab.wait_until_navigated().unwrap();
        self.until("true");
    }

    /// Opens the page in a second tab, and returns the first one.
    pub(crate) fn second_tab(&mut self) -> Arc<Tab> {
        let path = self.path();
        let first = std::mem::replace(&mut self.tab, self.browser.new_tab().unwrap());
        self.prepare(1280, 900);
        self.go(&path);
        first
    }

    pub(crate) fn path(&self) -> String {
        self.value("location.pathname").as_str().unwrap().to_owned()
    }

    /// Ends the application, and starts it at the same address.
    pub(crate) fn restart(&mut self) {
        let port = self.site.url.rsplit(':').next().unwrap().to_owned();
        self.site.process.kill().unwrap();
        self.site.process.wait().unwrap();
        self.site = Site::start(Some(&port));
    }

    /// Plays steps, one a line: see [`step`](Self::step).
    pub(crate) fn play(&self, steps: &str) {
        for step in steps.lines().map(str::trim).filter(|step| !step.is_empty()) {
            self.step(step);
        }
    }

    fn step(&self, step: &str) {
        let (verb, rest) = step.split_once(' ').unwrap_or((step, ""));
        let (id, text) = rest.split_once(' ').unwrap_or((rest, ""));
        let at = format!("document.getElementById({})", Value::from(id));
        match verb {
            "click" => self.click(rest),
            // Also while a reply is on its way.
            "tap" => self.click_now(rest),
            "enter" => self.enter(id, text),
            // Without leaving the field.
            "type" => {
                self.click_now(id);
                self.value(&format!("{at}.select?.()"));
                self.tab.type_str(text).unwrap();
            }
            "leave" => drop(self.tab.press_key("Tab").unwrap()),
            "key" => drop(self.tab.press_key(rest).unwrap()),
            "see" => self.until_text(rest),
            "show" => self.until_now(&shows(rest)),
            "miss" => self.until(&format!("!{}", shows(rest))),
            "has" => self.until_now(&format!("{at}?.value === {}", Value::from(text))),
            "ticked" => self.until_now(&format!("{at}?.checked === true")),
            "focus" => self.until(&format!("document.activeElement.id === {}", Value::from(rest))),
            "gone" => self.until_now(&format!("!{at}")),
            "hears" => self.until_now(&format!("document.getElementById('spoken').textContent.includes({})", Value::from(rest))),
            "warns" => self.until_now(&format!("[...document.querySelectorAll('[role=alert]:not([hidden])')].some((it) => it.textContent.includes({}))", Value::from(rest))),
            "calm" => self.until("!document.querySelector('[role=alert]:not([hidden])')"),
            // `hold request`, `hold reply`, `hold` for nothing; what is held is let go or lost by its number, from 1.
            "hold" => drop(self.value(&format!("net.hold = '{rest}'"))),
            "release" | "lose" => {
                self.until_now(&format!("net.held.length >= {rest}"));
                self.value(&format!("net.held[{rest} - 1]({})", verb == "release"));
            }
            "held" => self.until_now(&format!("net.held.length >= {rest}")),
            "go" => self.go(rest),
            "reload" => self.reload(),
            "back" => drop(self.value("history.back()")),
            "until" => self.until(rest),
            _ => panic!("no such step: {step}"),
        }
    }

    pub(crate) fn resize(&self, width: u32, height: u32) {
        let metrics =
            json!({"width": width, "height": height, "deviceScaleFactor": 1.0, "mobile": false});
        let metrics: Emulation::SetDeviceMetricsOverride = from_value(metrics).unwrap();
        self.tab.call_method(metrics).unwrap();
    }

    /// `light` or `dark`. Without motion, so that no colour is measured on its way.
    pub(crate) fn colours(&self, scheme: &str) {
        let colours = json!({"name": "prefers-color-scheme", "value": scheme});
        let motion = json!({"name": "prefers-reduced-motion", "value": "reduce"});
        let media = json!({"features": [colours, motion]});
        let media: Emulation::SetEmulatedMedia = from_value(media).unwrap();
        self.tab.call_method(media).unwrap();
    }

    /// The value of a JavaScript expression, once it is settled.
    pub(crate) fn value(&self, expression: &str) -> Value {
        self.try_value(expression).unwrap()
    }

    /// The value of an expression; `None` where the page goes meanwhile.
    fn try_value(&self, expression: &str) -> Option<Value> {
        let evaluate = json!({
            "expression": format!("(async () => JSON.stringify(await ({expression})))()"),
            "awaitPromise": true, "returnByValue": true, "allowUnsafeEvalBlockedByCSP": false,
        });
        let evaluate: Runtime::Evaluate = from_value(evaluate).unwrap();
        let result = self.tab.call_method(evaluate).ok()?;
        assert!(
            result.exception_details.is_none(),
            "{expression}: {:?}",
            result.exception_details
        );
        let json = result.result.value.unwrap_or_default();
        let json = json.as_str().unwrap_or("null");
        Some(serde_json::from_str(json).unwrap())
    }

    /// Waits until a condition of the page holds and all that was entered is posted.
    pub(crate) fn until(&self, condition: &str) {
        self.until_now(&format!(
            "!('busy' in document.body.dataset) && ({condition})"
        ));
    }

    /// Waits until a condition of the page holds, also while a post is on its way.
    pub(crate) fn until_now(&self, condition: &str) {
        let wait = format!(
            "new Promise((resolve) => {{
                const holds = () => {{ try {{ return document.readyState === 'complete' && ({condition}); }} catch {{ return false; }} }};
                const end = setTimeout(() => resolve(false), 20000);
                const look = () => {{
                    if (!holds()) return;
                    clearTimeout(end);
                    observer.disconnect();
                    resolve(true);
                }};
                for (const event of ['load', 'focusin', 'popstate', 'hashchange']) addEventListener(event, look);
                const observer = new MutationObserver(look);
                observer.observe(document, {{ subtree: true, childList: true, attributes: true, characterData: true }});
                look();
            }})"
        );
        // Each page that comes meanwhile begins with the condition.
        let mut pages = (0..100).map(|_| self.try_value(&wait));
        let held = pages.find_map(|held| held);
        assert_eq!(
            held,
            Some(true.into()),
            "never: {condition}\n{}",
            self.text()
        );
    }

    /// Waits for a text on the page.
    fn until_text(&self, text: &str) {
        self.until(&shows(text));
    }

    pub(crate) fn text(&self) -> String {
        let text = self.value("document.body.innerText");
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Clicks on an element with the mouse, once it is there and nothing is on its way.
    pub(crate) fn click(&self, id: &str) {
        self.until(&format!(
            "document.getElementById({}) !== null",
            Value::from(id)
        ));
        self.click_now(id);
    }

    /// Clicks on an element with the mouse.
    pub(crate) fn click_now(&self, id: &str) {
        let found = format!("document.getElementById({})", Value::from(id));
        self.value(&format!("{found}.scrollIntoView({{ block: 'center' }})"));
        let selector = format!("[id='{id}']");
        let element = self.tab.find_element(&selector).unwrap();
        element.click().unwrap();
    }

    /// Replaces the text of a field, and leaves it by the tab key.
    pub(crate) fn enter(&self, id: &str, text: &str) {
        self.click(id);
        let field = format!("document.getElementById({})", Value::from(id));
        self.value(&format!("{field}.select?.()"));
        self.tab.type_str(text).unwrap().press_key("Tab").unwrap();
        self.until(&format!("{field}?.value === {}", Value::from(text)));
    }

    /// Draws a stroke on an element with the mouse.
    pub(crate) fn draw(&self, id: &str) {
        self.value(&format!(
            "document.getElementById('{id}').scrollIntoView({{ block: 'center' }})"
        ));
        let found = self.tab.find_element(&format!("[id='{id}']")).unwrap();
        let middle = found.get_midpoint().unwrap();
        let strokes = [
            ("mousePressed", -40.0),
            ("mouseMoved", 40.0),
            ("mouseReleased", 40.0),
        ];
        for (kind, by) in strokes {
            let event = json!({
                "type": kind, "x": middle.x + by, "y": middle.y + by / 4.0,
                "button": "left", "buttons": 1, "clickCount": 1,
            });
            let event: Input::DispatchMouseEvent = from_value(event).unwrap();
            self.tab.call_method(event).unwrap();
        }
    }

    /// Whether the page may run its script.
    pub(crate) fn allow_script(&self, is_allowed: bool) {
        let value = !is_allowed;
        self.tab
            .call_method(Emulation::SetScriptExecutionDisabled { value })
            .unwrap();
    }

    pub(crate) fn reload(&self) {
        self.tab.reload(false, None).unwrap();
        self.tab.wait_until_navigated().unwrap();
        self.until("true");
    }

    /// The page as it is printed.
    pub(crate) fn printed_pages(&self) -> usize {
        let pdf = self.tab.print_to_pdf(None).unwrap();
        let pages = pdf.windows(11).filter(|part| part == b"/Type /Page");
        let trees = pdf.windows(12).filter(|part| part == b"/Type /Pages");
        pages.count() - trees.count()
    }

    /// Asserts that axe-core finds nothing, in light and dark, on a wide screen and on a phone.
    pub(crate) fn assert_accessible(&self, state: &str) {
        self.value(&format!(
            "window.axe ? 0 : (() => {{ {AXE}; return 0; }})()"
        ));
        for (width, height) in [(360, 740), (1280, 900)] {
            self.resize(width, height);
            for scheme in ["light", "dark"] {
                self.colours(scheme);
                let place = format!("{state}, {width} px, {scheme}");
                let found = self.value(
                    "axe.run(document, { resultTypes: ['violations'] }).then((result) => result.violations.map(
                        (v) => `${v.impact}: ${v.help}: ${v.nodes.map((node) => node.html + ' ' + node.failureSummary)}`))",
                );
                assert_eq!(found, Value::Array(Vec::new()), "{place}");
                let fits = self.value("document.documentElement.scrollWidth <= innerWidth");
                assert_eq!(fits, true, "{place}: it scrolls sideways");
            }
        }
        self.colours("light");
    }

    /// The page in a picture.
    pub(crate) fn picture(&self) -> Vec<u8> {
        let format = Page::CaptureScreenshotFormatOption::Png;
        self.tab
            .capture_screenshot(format, None, None, true)
            .unwrap()
    }
}

/// At the end of each test its console has said nothing.
impl Drop for Screen {
    fn drop(&mut self) {
        let console = self.console.lock().unwrap();
        assert!(
            console.is_empty() || std::thread::panicking(),
            "{console:#?}"
        );
    }
}

/// The condition that the page has a text.
fn shows(text: &str) -> String {
    format!(
        "document.querySelector('#declaration').innerText.includes({})",
        Value::from(text)
    )
}

impl Site {
    /// Builds and starts the application, at a port or a free one.
    fn start(port: Option<&str>) -> Self {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let arguments = [
            "run",
            "--quiet",
            "--locked",
            "-p",
            "apps",
            "--bin",
            "web_form",
            "--",
            "--port",
            port.unwrap_or("0"),
        ];
        command.args(arguments).current_dir(root);
        // What cargo has set for this package: build scripts that read it would run again.
        for (name, _) in env::vars().filter(|(name, _)| {
            name.starts_with("CARGO_MANIFEST_") || name.starts_with("CARGO_PKG_")
        }) {
            command.env_remove(name);
        }
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let stdout = process.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let line: Value = serde_json::from_str(&line).unwrap();
        let url = line["url"]
            .as_str()
            .unwrap()
            .trim_end_matches('/')
            .to_owned();
        Self { process, url }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What a browser complains of on its console.
fn complaint(event: &Event) -> Option<String> {
    match event {
        Event::RuntimeConsoleAPICalled(call) => Some(format!("{:?}", call.params.args)),
        Event::RuntimeExceptionThrown(thrown) => {
            Some(format!("{:?}", thrown.params.exception_details))
        }
        Event::LogEntryAdded(entry) => Some(format!("{:?}", entry.params.entry)),
        _ => None,
    }
}
