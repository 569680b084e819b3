//! What a second user of the machine can see of a login: the arguments of the browser's process, and files.

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

use crate::dated::start_fake;

/// A program in place of the browser: runs, with its arguments, until the test has read them.
const BROWSER: &str = "#!/bin/sh\necho $$ >\"$HOME/started\"\nread line <\"$HOME/seen\"\n";

/// The folder in which a child process plays the login.
const HOME: &str = "ENVD_SDK_TEST_BROWSER_HOME";

/// Another user than that of the test.
const STRANGER: &str = "65534";

/// In a process of its own: the variables that name the browser and the home directory count for a whole process.
fn alone(test: &str) {
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
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    fs::remove_dir_all(&home).unwrap();
}

/// A login whose browser has started, and its arguments in `/proc`.
struct Scene {
    fake: Fake,
    manager: TokenManager,
    listener: Loopback,
    login: PendingLogin,
    arguments: String,
    page: PathBuf,
    _browser: Browser,
}

/// Ends the browser's process when the test is over, however it ends.
struct Browser(PathBuf);

impl Drop for Browser {
    fn drop(&mut self) {
        // OK to ignore: the test has reported the failure.
        let _ = fs::write(self.0.join("seen"), "\n");
    }
}

impl Scene {
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
        // Waits for the browser to open the other end.
        let pid = fs::read_to_string(home.join("started")).unwrap();
        let browser = Browser(home.to_owned());
        let arguments = seen_by_a_stranger(&PathBuf::from(format!("/proc/{}/cmdline", pid.trim())));
        let arguments = arguments.expect("a process shows its arguments to all");
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

/// Reads a file as another user, if the test may become one.
fn seen_by_a_stranger(path: &Path) -> Option<String> {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return fs::read_to_string(path).ok();
    }
    let mut reader = Command::new("setpriv");
    reader.args([
        "--reuid",
        STRANGER,
        "--regid",
        STRANGER,
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

/// The browser follows the redirect, the user consents, and the browser requests the callback.
fn come_back(callback: &Url) {
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
        return alone("the_arguments_of_the_browser_do_not_show_the_login");
    };
    let scene = Scene::begin(&home).await;
    for name in ["state", "nonce", "code_challenge"] {
        let secret = parameter(scene.login.url(), name);
        assert!(!scene.arguments.contains(&secret), "{}", scene.arguments);
    }
    let about = fs::metadata(&scene.page).unwrap();
    assert_eq!(about.permissions().mode() & 0o777, 0o600);
    if about.uid() == 0 {
        assert!(
            seen_by_a_stranger(&scene.page).is_none(),
            "the page is open to others"
        );
    }
    // Browsers in a sandbox read no hidden files.
    assert_eq!(scene.page.parent(), Some(home.as_path()));
    assert!(
        !scene
            .page
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with('.')
    );

    let page = fs::read_to_string(&scene.page).unwrap();
    let link = page
        .split("href=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    let address = Url::parse(&link.replace("&amp;", "&")).unwrap();
    assert_eq!(&address, scene.login.url());
    let callback = scene.fake.consent(&address).unwrap();
    let browser = std::thread::spawn(move || come_back(&callback));
    let checked = scene.listener.receive(scene.login).await.unwrap();
    browser.join().unwrap();
    assert!(!scene.page.exists());
    assert!(
        scene
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
        return alone("a_listener_that_is_dropped_deletes_the_page");
    };
    let scene = Scene::begin(&home).await;
    assert!(scene.page.exists());
    drop(scene.listener);
    assert!(!scene.page.exists());
}
