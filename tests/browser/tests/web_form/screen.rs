//! A tab of headless Chromium that shows the application.

use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use headless_chrome::protocol::cdp::types::Event;
use headless_chrome::protocol::cdp::{Emulation, Input, Network, Page, Runtime};
use headless_chrome::types::PrintToPdfOptions;
use headless_chrome::{Browser, LaunchOptions, Tab};
use processes::FormSite;
use serde_json::{Value, from_value, json};

/// The setting that names the browser.
const BROWSER: &str = "ENVD_SDK_TEST_CHROMIUM";

/// The script of axe-core; its licence is in the same folder.
const AXE: &str = include_str!("../../axe/axe.min.js");

/// Returns the faults of a page: the violations that axe-core finds, and scrolling sideways.
const CHECK: &str = "async () => {
    const { violations } = await axe.run(document, { resultTypes: ['violations'] });
    const found = violations.map((v) => `${v.impact}: ${v.help}: ${v.nodes.map((node) => node.html + ' ' + node.failureSummary)}`);
    if (document.documentElement.scrollWidth > innerWidth) found.push('it scrolls sideways');
    return found;
}";

/// The longest wait for the next page.
const LONGEST: Duration = Duration::from_secs(60);

/// The application, next to the folder of the tests.
pub(crate) async fn site() -> FormSite {
    let tests = env::current_exe().unwrap();
    let program = tests.ancestors().nth(2).unwrap().join("web_form");
    FormSite::start(program.to_str().unwrap()).await
}

pub(crate) struct Screen {
    pub(crate) tab: Arc<Tab>,
    _browser: Browser,
    console: Arc<Mutex<Vec<String>>>,
    /// Each navigation and each load of a page.
    loads: Receiver<()>,
    base: String,
}

impl Screen {
    /// A browser of its own, with the list of declarations.
    pub(crate) fn open(site: &FormSite) -> Self {
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
        let console: Arc<Mutex<Vec<String>>> = Arc::default();
        let complaints = Arc::clone(&console);
        let (load, loads) = channel();
        tab.add_event_listener(Arc::new(move |event: &Event| {
            if let Some(text) = complaint(event) {
                complaints.lock().unwrap().push(text);
            }
            let is_load = matches!(
                event,
                Event::PageLoadEventFired(_)
                    | Event::PageFrameNavigated(_)
                    | Event::PageNavigatedWithinDocument(_)
            );
            if is_load {
                let _ = load.send(());
            }
        }))
        .unwrap();
        tab.enable_log().unwrap().enable_runtime().unwrap();
        let screen = Self {
            tab,
            _browser: browser,
            console,
            loads,
            base: site.url().into(),
        };
        screen.resize(1280);
        screen.colours("light");
        screen.go("");
        screen
    }

    /// Goes to a page of the application, by its path behind the secret part.
    pub(crate) fn go(&self, path: &str) {
        self.mark();
        self.tab
            .navigate_to(&format!("{}{path}", self.base))
            .unwrap();
        self.until_another_page();
    }

    /// The path behind the secret part.
    pub(crate) fn path(&self) -> String {
        self.tab.get_url().replacen(&self.base, "", 1)
    }

    pub(crate) fn reload(&self) {
        self.mark();
        self.tab.reload(false, None).unwrap();
        self.until_another_page();
    }

    /// Clicks on what a selector of CSS finds, with the mouse.
    pub(crate) fn click(&self, selector: &str) {
        let middle = self.middle(selector);
        self.press(middle, 1);
    }

    /// Clicks on an element twice with the mouse, in one place.
    pub(crate) fn double_click(&self, selector: &str) {
        let middle = self.middle(selector);
        self.press(middle, 1);
        self.press(middle, 2);
    }

    fn press(&self, at: (f64, f64), count: u32) {
        self.mouse("mousePressed", at, count);
        self.mouse("mouseReleased", at, count);
    }

    fn mouse(&self, kind: &str, (x, y): (f64, f64), count: u32) {
        let event: Input::DispatchMouseEvent = from_value(json!({
            "type": kind, "x": x, "y": y, "clickCount": count, "button": "left", "buttons": 1,
        }))
        .unwrap();
        self.tab.call_method(event).unwrap();
    }

    /// The middle of an element, scrolled into view. Nothing covers it.
    fn middle(&self, selector: &str) -> (f64, f64) {
        let selector = Value::from(selector);
        let middle = self.value(&format!(
            "(() => {{
                const it = document.querySelector({selector});
                if (!it) return null;
                it.scrollIntoView({{ block: 'center' }});
                const box = it.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2;
                return it.contains(document.elementFromPoint(x, y)) ? [x, y] : null;
            }})()"
        ));
        from_value(middle).unwrap_or_else(|_| panic!("no {selector} to click in\n{}", self.text()))
    }

    /// Clicks on a button that sends a page, and waits for the next one.
    pub(crate) fn send(&self, selector: &str) {
        self.mark();
        self.click(selector);
        self.until_another_page();
    }

    /// Saves a page by its main button.
    pub(crate) fn save(&self) {
        self.send(".buttons button:not([name])");
    }

    /// Like [`send`](Self::send), with a double click.
    pub(crate) fn send_twice(&self, selector: &str) {
        self.mark();
        self.double_click(selector);
        self.until_another_page();
    }

    fn mark(&self) {
        self.value("window.isOld = true");
    }

    /// Waits until the next page has replaced the marked one and is complete.
    fn until_another_page(&self) {
        self.until("!window.isOld");
    }

    /// Replaces the text of a field.
    pub(crate) fn enter(&self, id: &str, text: &str) {
        self.click(&format!("[id='{id}']"));
        self.value(&format!("document.getElementById('{id}').select()"));
        self.insert(text);
    }

    /// Inserts text at the cursor, in one call for all characters.
    pub(crate) fn insert(&self, text: &str) {
        self.tab.send_character(text).unwrap();
    }

    /// Chooses a value of a list.
    pub(crate) fn choose(&self, id: &str, value: &str) {
        self.value(&format!(
            "document.getElementById('{id}').value = '{value}'"
        ));
        assert_eq!(self.field(id), value);
    }

    /// Presses Tab until an element has the focus.
    pub(crate) fn tab_to(&self, selector: &str) {
        let selector = Value::from(selector);
        let is_there = format!("document.activeElement.matches({selector})");
        for _ in 0..100 {
            if self.value(&is_there) == true {
                return;
            }
            self.keys(&["Tab"]);
        }
        panic!("Tab does not reach {selector}");
    }

    /// The id of the element with the focus.
    pub(crate) fn focused(&self) -> String {
        let id = self.value("document.activeElement.id");
        id.as_str().unwrap_or_default().to_owned()
    }

    /// Presses keys one after the other.
    pub(crate) fn keys(&self, keys: &[&str]) {
        for key in keys {
            self.tab.press_key(key).unwrap();
        }
    }

    /// Sends the page by the enter key.
    pub(crate) fn press_enter(&self) {
        self.mark();
        self.keys(&["Enter"]);
        self.until_another_page();
    }

    /// The value of a JavaScript expression.
    pub(crate) fn value(&self, expression: &str) -> Value {
        self.evaluate(&format!("JSON.stringify({expression})"), false)
    }

    fn evaluate(&self, expression: &str, is_promise: bool) -> Value {
        let evaluate: Runtime::Evaluate = from_value(json!({
            "expression": expression, "awaitPromise": is_promise, "returnByValue": true, "allowUnsafeEvalBlockedByCSP": false,
        })).unwrap();
        let answer = self.tab.call_method(evaluate).unwrap();
        assert!(answer.exception_details.is_none(), "{answer:?}");
        let json = answer.result.value.unwrap_or_default();
        serde_json::from_str(json.as_str().unwrap_or("null")).unwrap()
    }

    /// Waits for a page for which a condition holds.
    pub(crate) fn until(&self, condition: &str) {
        let expression = format!("document.readyState === 'complete' && !!({condition})");
        let evaluate = json!({"expression": expression, "returnByValue": true});
        loop {
            // An error: the page is being replaced.
            let evaluate: Runtime::Evaluate = from_value(evaluate.clone()).unwrap();
            let answer = self.tab.call_method(evaluate);
            if answer.is_ok_and(|answer| answer.result.value == Some(true.into())) {
                return;
            }
            let loaded = self.loads.recv_timeout(LONGEST);
            assert!(loaded.is_ok(), "never: {condition}\n{}", self.text());
        }
    }

    /// Reloads the page until it has a text, such as a state that the outbox reaches in the background.
    pub(crate) fn reload_until(&self, text: &str) {
        for _ in 0..1_000 {
            if self.text().contains(text) {
                return;
            }
            self.reload();
        }
        self.sees(text);
    }

    /// How many elements a selector of CSS finds.
    pub(crate) fn count(&self, selector: &str) -> usize {
        let count = self.value(&format!(
            "document.querySelectorAll({}).length",
            Value::from(selector)
        ));
        count.as_u64().unwrap().try_into().unwrap()
    }

    #[track_caller]
    pub(crate) fn sees(&self, text: &str) {
        assert!(self.text().contains(text), "no {text} in {}", self.text());
    }

    pub(crate) fn text(&self) -> String {
        let text = self.value("document.body.innerText");
        text.as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn field(&self, id: &str) -> String {
        let value = self.value(&format!("document.getElementById('{id}').value"));
        value.as_str().unwrap_or_default().to_owned()
    }

    /// Draws a stroke on an element with the mouse.
    pub(crate) fn draw(&self, selector: &str) {
        let (x, y) = self.middle(selector);
        self.mouse("mousePressed", (x - 40.0, y - 10.0), 1);
        self.mouse("mouseMoved", (x + 40.0, y + 10.0), 1);
        self.mouse("mouseReleased", (x + 40.0, y + 10.0), 1);
    }

    pub(crate) fn without_script(&self) {
        let disable: Emulation::SetScriptExecutionDisabled =
            from_value(json!({"value": true})).unwrap();
        self.tab.call_method(disable).unwrap();
    }

    /// Slows the line between the browser and the application, as at the edge of reception.
    pub(crate) fn slow_line(&self) {
        let enable: Network::Enable = from_value(json!({})).unwrap();
        self.tab.call_method(enable).unwrap();
        let conditions: Network::EmulateNetworkConditions = from_value(json!({
            "offline": false, "latency": 300.0, "downloadThroughput": 50_000.0, "uploadThroughput": 20_000.0,
        })).unwrap();
        self.tab.call_method(conditions).unwrap();
    }

    pub(crate) fn resize(&self, width: u32) {
        self.resize_to(width, 740);
    }

    fn resize_to(&self, width: u32, height: u64) {
        let metrics: Emulation::SetDeviceMetricsOverride = from_value(
            json!({"width": width, "height": height, "deviceScaleFactor": 1.0, "mobile": false}),
        )
        .unwrap();
        self.tab.call_method(metrics).unwrap();
    }

    /// `light` or `dark`.
    pub(crate) fn colours(&self, scheme: &str) {
        let feature = json!({"name": "prefers-color-scheme", "value": scheme});
        let media: Emulation::SetEmulatedMedia =
            from_value(json!({"features": [feature]})).unwrap();
        self.tab.call_method(media).unwrap();
    }

    /// Asserts that axe-core finds nothing and that nothing scrolls sideways, from a phone to a desk, in light and dark.
    pub(crate) fn assert_accessible(&self, state: &str) {
        self.value(&format!("window.axe ? 0 : (() => {{ {AXE}; }})()"));
        let check = format!("({CHECK})().then(JSON.stringify)");
        for width in [360, 1280] {
            self.resize(width);
            for scheme in ["light", "dark"] {
                self.colours(scheme);
                let place = format!("{state}, {width} px, {scheme}");
                let found = self.evaluate(&check, true);
                assert_eq!(found, Value::Array(Vec::new()), "{place}");
                self.keep_picture(&place, width);
            }
        }
        self.resize(1280);
        self.colours("light");
    }

    /// Writes a picture of the whole page to the folder `ENVD_SDK_PICTURES`, if that is set.
    pub(crate) fn keep_picture(&self, name: &str, width: u32) {
        let Some(folder) = env::var_os("ENVD_SDK_PICTURES") else {
            return;
        };
        let height = self.value("document.documentElement.scrollHeight");
        self.resize_to(width, height.as_u64().unwrap());
        let format = Page::CaptureScreenshotFormatOption::Png;
        let picture = self.tab.capture_screenshot(format, None, None, true);
        let file = PathBuf::from(folder).join(format!("{name}.png"));
        std::fs::write(file, picture.unwrap()).unwrap();
        self.resize(width);
    }

    /// How many heights of a phone the page has.
    pub(crate) fn screens(&self) -> f64 {
        self.resize(360);
        let height = self.value("document.documentElement.scrollHeight / 740");
        self.resize(1280);
        height.as_f64().unwrap()
    }

    /// How many sheets of A4 the page has when it is printed.
    pub(crate) fn printed_pages(&self) -> usize {
        let options = PrintToPdfOptions {
            paper_width: Some(8.27),
            paper_height: Some(11.69),
            ..PrintToPdfOptions::default()
        };
        let pdf = self.tab.print_to_pdf(Some(options)).unwrap();
        if let Some(folder) = env::var_os("ENVD_SDK_PICTURES") {
            std::fs::write(PathBuf::from(folder).join("printed.pdf"), &pdf).unwrap();
        }
        let pdf = String::from_utf8_lossy(&pdf);
        pdf.matches("/Type /Page\n").count()
    }
}

/// At the end of each test the console is empty.
impl Drop for Screen {
    fn drop(&mut self) {
        let console = self.console.lock().unwrap();
        assert!(
            console.is_empty() || std::thread::panicking(),
            "{console:#?}"
        );
    }
}

/// A message on the console of the browser, except for replies that a test provokes.
fn complaint(event: &Event) -> Option<String> {
    let text = match event {
        Event::RuntimeConsoleAPICalled(call) => format!("{:?}", call.params.args),
        Event::RuntimeExceptionThrown(thrown) => format!("{:?}", thrown.params.exception_details),
        Event::LogEntryAdded(entry) => format!("{:?}", entry.params.entry),
        _ => return None,
    };
    let is_expected = text.contains("status of 4") || text.contains("ERR_CONNECTION");
    (!is_expected).then_some(text)
}
