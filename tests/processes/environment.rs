//! Settings of a whole process: login data that other users of the machine can read in the arguments of the browser and in files,
//! and proxies.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use envd_sdk::auth::{PendingLogin, StaticToken, TokenManager};
use envd_sdk::fake::Fake;
use envd_sdk::loopback::Loopback;
use envd_sdk::{Client, RetryPolicy};
use processes::{Folder, Program, again, http, task, within};
use url::Url;

/// A substitute for the browser, which runs until the test has read its arguments.
const BROWSER: &str = "#!/bin/sh\necho $$ >\"$HOME/started\"\nread line <\"$HOME/seen\"\n";

/// The id of a user other than that of the test.
const OTHER_USER: &str = "65534";

/// Runs a test in a separate process, since the environment variables BROWSER and HOME apply to a whole process.
fn run_with_browser(test: &str) {
    let home = Folder::new();
    let everybody = || fs::Permissions::from_mode(0o755);
    // The other user may read the directory; the permissions of the file must protect it.
    fs::set_permissions(home.path(""), everybody()).unwrap();
    let browser = home.write("browser", BROWSER);
    fs::set_permissions(&browser, everybody()).unwrap();
    for name in ["started", "seen"] {
        let mut make = Command::new("mkfifo");
        make.arg(home.path(name));
        Program(make).run().well();
    }
    let mut child = again(test, &[&home.text("")]);
    child.env("HOME", home.path("")).env("BROWSER", &browser);
    Program(child).run().with(0).shows("1 passed");
}

/// A login after the start of the browser, with the arguments of its process.
struct BrowserLogin {
    fake: Fake,
    manager: TokenManager,
    listener: Loopback,
    login: PendingLogin,
    arguments: String,
    page: PathBuf,
    _browser: Browser,
}

/// Ends the browser process on drop.
struct Browser(PathBuf);

impl Drop for Browser {
    fn drop(&mut self) {
        // OK to ignore: the test reports its own failure.
        let _ = fs::write(self.0.join("seen"), "\n");
    }
}

impl BrowserLogin {
    async fn begin(home: &Path) -> Self {
        let fake = Fake::start().await;
        let mut listener = Loopback::bind().await.unwrap();
        let provider = fake
            .provider()
            .redirect_uri(listener.redirect_uri().as_str());
        let manager = TokenManager::builder(provider.build().unwrap())
            .build()
            .unwrap();
        let login = manager.provider().authorization().start().unwrap();
        listener.open_browser(&login).await.unwrap();
        // Blocks until the browser opens the other end.
        let pid = fs::read_to_string(home.join("started")).unwrap();
        let browser = Browser(home.to_owned());
        let arguments = read_as_other_user(&PathBuf::from(format!("/proc/{}/cmdline", pid.trim())));
        let arguments = arguments.expect("the arguments of a process are readable");
        let argument = arguments
            .split('\0')
            .find(|text| text.starts_with("file://"));
        let page = Url::parse(argument.unwrap_or_else(|| panic!("{arguments}"))).unwrap();
        Self {
            fake,
            manager,
            listener,
            login,
            arguments,
            page: page.to_file_path().unwrap(),
            _browser: browser,
        }
    }
}

/// Reads a file as another user if the test runs as root, else as the same user.
fn read_as_other_user(path: &Path) -> Option<String> {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return fs::read_to_string(path).ok();
    }
    let mut reader = Command::new("setpriv");
    reader.args(["--reuid", OTHER_USER, "--regid", OTHER_USER]);
    reader.args(["--clear-groups", "cat"]).arg(path);
    let read = Program(reader).run();
    (read.code == Some(0)).then_some(read.stdout)
}

fn parameter(url: &Url, name: &str) -> String {
    let mut pairs = url.query_pairs();
    let found = pairs.find(|(known, _)| known == name).unwrap();
    found.1.into_owned()
}

/// Row 47.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn the_arguments_of_the_browser_do_not_show_the_login() {
    let Some(task) = task() else {
        return run_with_browser(concat!(
            module_path!(),
            "::the_arguments_of_the_browser_do_not_show_the_login"
        ));
    };
    let started = BrowserLogin::begin(Path::new(&task[0])).await;
    for name in ["state", "nonce", "code_challenge"] {
        let secret = parameter(started.login.url(), name);
        assert!(
            !started.arguments.contains(&secret),
            "{}",
            started.arguments
        );
    }
    let metadata = fs::metadata(&started.page).unwrap();
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    if metadata.uid() == 0 {
        assert!(
            read_as_other_user(&started.page).is_none(),
            "other users can read the page"
        );
    }
    // Sandboxed browsers do not read hidden files.
    assert_eq!(started.page.parent(), Some(Path::new(&task[0])));
    let name = started.page.file_name().unwrap().to_str().unwrap();
    assert!(!name.starts_with('.'));

    let page = fs::read_to_string(&started.page).unwrap();
    let (_, link) = page.split_once("href=\"").unwrap();
    let (link, _) = link.split_once('"').unwrap();
    let address = Url::parse(&link.replace("&amp;", "&")).unwrap();
    assert_eq!(&address, started.login.url());
    let callback = started.fake.consent(&address).unwrap();
    let browser = std::thread::spawn(move || http::get(&callback));
    let tokens = started.listener.log_in(&started.manager, started.login);
    let tokens = within("a login by the browser", tokens).await.unwrap();
    browser.join().unwrap();
    assert!(!started.page.exists());
    assert!(tokens.subject().is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_listener_that_is_dropped_deletes_the_page() {
    let Some(task) = task() else {
        return run_with_browser(concat!(
            module_path!(),
            "::a_listener_that_is_dropped_deletes_the_page"
        ));
    };
    let started = BrowserLogin::begin(Path::new(&task[0])).await;
    assert!(started.page.exists());
    drop(started.listener);
    assert!(!started.page.exists());
}

/// HTTP libraries read the proxy variables of the environment once, if at all, so the test runs in a separate process.
#[tokio::test]
async fn proxies_of_the_environment_are_ignored() {
    if task().is_some() {
        let client = Client::builder("https://api.example.invalid/graphql")
            .token_source(StaticToken::new("b34r3r").unwrap())
            .retry(RetryPolicy::none());
        assert!(client.build().unwrap().user_details().await.is_err());
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = connections.clone();
    // It closes each connection, and ends with the test program.
    thread::spawn(move || {
        for _ in listener.incoming() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    let mut child = again!(proxies_of_the_environment_are_ignored, "");
    for name in ["ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY"] {
        child.env(name, &address).env(name.to_lowercase(), &address);
    }
    Program(child).run().with(0).shows("1 passed");
    assert_eq!(connections.load(Ordering::SeqCst), 0);
}
