//! A tab of headless Chromium that shows the application.

use std::env;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use headless_chrome::protocol::cdp::types::Event;
use headless_chrome::protocol::cdp::{Emulation, Network, Page, Runtime};
use headless_chrome::{Browser, LaunchOptions, Tab};
use serde_json::Value;

/// The setting that names the browser.
const BROWSER: &str = "ENVD_SDK_TEST_CHROMIUM";

/// The test file of axe-core; see its licence beside it.
const AXE: &str = include_str!("../../axe/axe.min.js");

/// The application, a browser, and what the console of the browser has said.
pub(crate) struct Screen {
    example: Child,
    pub(crate) tab: Arc<Tab>,
    /// Ends with it.
    _browser: Browser,
    console: Arc<Mutex<Vec<String>>>,
}

impl Screen {
    /// Starts the application, and opens it in light colours.
    pub(crate) fn open(width: u32, height: u32) -> Self {
        let (example, url) = start_example();
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
        let console = Arc::new(Mutex::new(Vec::new()));
        let said = Arc::clone(&console);
        tab.add_event_listener(Arc::new(move |event: &Event| {
            if let Some(text) = complaint(event) {
                said.lock().unwrap().push(text);
            }
        }))
        .unwrap();
        tab.enable_log().unwrap().enable_runtime().unwrap();
        let screen = Self {
            example,
            tab,
            _browser: browser,
            console,
        };
        screen.resize(width, height);
        screen.colours("light");
        screen.tab.navigate_to(&url).unwrap();
        screen.tab.wait_until_navigated().unwrap();
        screen
    }

    pub(crate) fn resize(&self, width: u32, height: u32) {
        let metrics = Emulation::SetDeviceMetricsOverride {
            width,
            height,
            device_scale_factor: 1.0,
            mobile: false,
            scale: None,
            screen_width: None,
            screen_height: None,
            position_x: None,
            position_y: None,
            dont_set_visible_size: None,
            screen_orientation: None,
            viewport: None,
            display_feature: None,
            device_posture: None,
        };
        self.tab.call_method(metrics).unwrap();
    }

    /// `light` or `dark`. Without motion, so that no colour is measured on its way.
    pub(crate) fn colours(&self, scheme: &str) {
        let feature = |name: &str, value: &str| Emulation::MediaFeature {
            name: name.to_owned(),
            value: value.to_owned(),
        };
        let media = Emulation::SetEmulatedMedia {
            media: None,
            features: Some(vec![
                feature("prefers-color-scheme", scheme),
                feature("prefers-reduced-motion", "reduce"),
            ]),
        };
        self.tab.call_method(media).unwrap();
    }

    /// The value of a JavaScript expression, once it is settled.
    pub(crate) fn value(&self, expression: &str) -> Value {
        let evaluate = Runtime::Evaluate {
            expression: format!("(async () => JSON.stringify(await ({expression})))()"),
            await_promise: Some(true),
            return_by_value: Some(true),
            object_group: None,
            include_command_line_api: None,
            silent: None,
            context_id: None,
            generate_preview: None,
            user_gesture: None,
            throw_on_side_effect: None,
            timeout: None,
            disable_breaks: None,
            repl_mode: None,
            allow_unsafe_eval_blocked_by_csp: Some(false),
            unique_context_id: None,
            serialization_options: None,
        };
        let result = self.tab.call_method(evaluate).unwrap();
        assert!(
            result.exception_details.is_none(),
            "{expression}: {:?}",
            result.exception_details
        );
        let json = result.result.value.unwrap_or_default();
        json.as_str()
            .map_or(Value::Null, |json| serde_json::from_str(json).unwrap())
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
                const holds = () => document.readyState === 'complete' && ({condition});
                const end = setTimeout(() => resolve(false), 20000);
                const look = () => {{
                    if (!holds()) return;
                    clearTimeout(end);
                    observer.disconnect();
                    resolve(true);
                }};
                addEventListener('load', look);
                const observer = new MutationObserver(look);
                observer.observe(document, {{ subtree: true, childList: true, attributes: true, characterData: true }});
                look();
            }})"
        );
        assert_eq!(
            self.value(&wait),
            true,
            "never: {condition}\n{}",
            self.text()
        );
    }

    /// Waits for a text on the page.
    pub(crate) fn until_text(&self, text: &str) {
        self.until(&format!(
            "document.querySelector('#declaration').innerText.includes({})",
            Value::from(text)
        ));
    }

    pub(crate) fn until_no_text(&self, text: &str) {
        self.until(&format!(
            "!document.querySelector('#declaration').innerText.includes({})",
            Value::from(text)
        ));
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
        self.until(&format!("{field}?.defaultValue === {}", Value::from(text)));
    }

    /// From now on each reply of the application waits for [`release`](Self::release): a slow line.
    pub(crate) fn hold_replies(&self) {
        self.value(
            "(() => { const fetched = window.fetch; window.held = [];
               window.fetch = async (...all) => {
                   const reply = await fetched(...all);
                   if (window.held) await new Promise((resolve) => document.body.dataset.held = window.held.push(resolve));
                   return reply;
               }; })()",
        );
    }

    /// Hands out the reply that is held, once there is one.
    pub(crate) fn release(&self) {
        self.until_now("document.body.dataset.held > 0");
        self.value(
            "(() => { window.held.shift()(); document.body.dataset.held = window.held.length; })()",
        );
    }

    /// Hands out the replies that wait, and those to come at once.
    pub(crate) fn release_all(&self) {
        self.value("(() => { const held = window.held; window.held = null; held.forEach((go) => go()); })()");
    }

    /// Takes the network from the page, or gives it back. The console complains of each post without it.
    pub(crate) fn connect(&self, is_online: bool) {
        let enable = Network::Enable {
            max_total_buffer_size: None,
            max_resource_buffer_size: None,
            max_post_data_size: None,
            report_direct_socket_traffic: None,
            enable_durable_messages: None,
        };
        self.tab.call_method(enable).unwrap();
        let conditions = Network::EmulateNetworkConditions {
            offline: !is_online,
            latency: 0.0,
            download_throughput: -1.0,
            upload_throughput: -1.0,
            connection_Type: None,
            packet_loss: None,
            packet_queue_length: None,
            packet_reordering: None,
        };
        self.tab.call_method(conditions).unwrap();
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
        while self.value("document.readyState") != "complete" {}
    }

    /// The id of the element that has the focus.
    pub(crate) fn focus(&self) -> String {
        let id = self.value("document.activeElement.id");
        id.as_str().unwrap_or_default().to_owned()
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

    pub(crate) fn assert_quiet_console(&self) {
        let console = self.console.lock().unwrap();
        assert!(console.is_empty(), "{console:#?}");
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.example.kill();
        let _ = self.example.wait();
    }
}

/// Builds and starts the application. Returns its address.
fn start_example() -> (Child, String) {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let arguments = [
        "run", "--quiet", "--locked", "-p", "apps", "--bin", "web_form",
    ];
    command.args(arguments).current_dir(root);
    // What cargo has set for this package: build scripts that read it would run again.
    for (name, _) in env::vars()
        .filter(|(name, _)| name.starts_with("CARGO_MANIFEST_") || name.starts_with("CARGO_PKG_"))
    {
        command.env_remove(name);
    }
    let mut example = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let stdout = example.stdout.take().unwrap();
    BufReader::new(stdout).read_line(&mut line).unwrap();
    let line: Value = serde_json::from_str(&line).unwrap();
    (example, line["url"].as_str().unwrap().to_owned())
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
