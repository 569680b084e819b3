//! Login data that other users of the machine can read: the arguments of the browser process, and files.

use std::env;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use envd_sdk::auth::{PendingLogin, TokenManager};
use envd_sdk::fake::Fake;
use envd_sdk::loopback::Loopback;
use url::{Position, Url};

use crate::fixed_date::start_fake;

/// A substitute for the browser, which runs until the test has read its arguments.
const BROWSER: &str = "#!/bin/sh\necho $$ >\"$HOME/started\"\nread line <\"$HOME/seen\"\n";

/// The environment variable with the home directory of a child process that runs the test.
const HOME: &str = "ENVD_SDK_TEST_BROWSER_HOME";

/// The id of a user other than that of the test.
const OTHER_USER: &str = "65534";

/// Runs the test in a separate process, since the environment variables BROWSER and HOME apply to a whole process.
fn run_in_separate_process(test: &str) {
    let home = env::temp_dir().join(format!("envd-sdk-{test}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&home);
    fs::create_dir(&home).unwrap();
    // The other user may read the directory; the permissions of the file must protect it.
    fs::set_permissions(&home, fs::Permissions::from_mode(0o755)).unwrap();
    let browser = home.join("browser");
    fs::write(&browser, BROWSER).unwrap();
    fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).unwrap();
    for name in ["started", "seen"] {
        let made = Command::new("mkfifo").arg(home.join(name)).status();
        assert!(made.unwrap().success());
    }
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", &format!("browser::{test}"), "--test-threads=1"]);
    child.env(HOME, &home).env("HOME", &home);
    let output = child.env("BROWSER", &browser).output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && stdout.contains("1 passed"),
        "{stdout}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    fs::remove_dir_all(&home).unwrap();
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
        let fake = start_fake().await;
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
    reader.args([
        "--reuid",
        OTHER_USER,
        "--regid",
        OTHER_USER,
        "--clear-groups",
        "cat",
    ]);
    let output = reader.arg(path).output().unwrap();
    output
        .status
        .success()
        .then(|| String::from_utf8(output.stdout).unwrap())
}

fn parameter(url: &Url, name: &str) -> String {
    let mut pairs = url.query_pairs();
    pairs
        .find(|(known, _)| known == name)
        .unwrap()
        .1
        .into_owned()
}

/// Requests the callback, as the browser does after the redirect.
fn request_callback(callback: &Url) {
    let mut stream = TcpStream::connect(callback.authority()).unwrap();
    let target = &callback[Position::BeforePath..Position::AfterQuery];
    let request = format!(
        "GET {target} HTTP/1.1\r\nHost: {}\r\n\r\n",
        callback.authority()
    );
    stream.write_all(request.as_bytes()).unwrap();
    stream.read_to_end(&mut Vec::new()).unwrap();
}

/// Row 47.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn the_arguments_of_the_browser_do_not_show_the_login() {
    let Some(home) = env::var_os(HOME).map(PathBuf::from) else {
        return run_in_separate_process("the_arguments_of_the_browser_do_not_show_the_login");
    };
    let started = BrowserLogin::begin(&home).await;
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
    assert_eq!(started.page.parent(), Some(home.as_path()));
    assert!(
        !started
            .page
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with('.')
    );

    let page = fs::read_to_string(&started.page).unwrap();
    let link = page
        .split("href=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    let address = Url::parse(&link.replace("&amp;", "&")).unwrap();
    assert_eq!(&address, started.login.url());
    let callback = started.fake.consent(&address).unwrap();
    let browser = std::thread::spawn(move || request_callback(&callback));
    let checked = started.listener.receive(started.login).await.unwrap();
    browser.join().unwrap();
    assert!(!started.page.exists());
    assert!(
        started
            .manager
            .redeem(checked)
            .await
            .unwrap()
            .subject()
            .is_some()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_listener_that_is_dropped_deletes_the_page() {
    let Some(home) = env::var_os(HOME).map(PathBuf::from) else {
        return run_in_separate_process("a_listener_that_is_dropped_deletes_the_page");
    };
    let started = BrowserLogin::begin(&home).await;
    assert!(started.page.exists());
    drop(started.listener);
    assert!(!started.page.exists());
}
