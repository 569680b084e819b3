//! Process-wide settings: login data that other users could read in the arguments of the browser and in files, and proxies.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use envd_sdk::auth::{StaticToken, TokenManager};
use envd_sdk::fake::Fake;
use envd_sdk::loopback::Loopback;
use envd_sdk::{Client, RetryPolicy};
use processes::{Folder, Program, again, http, task, within};
use url::Url;

/// A substitute for the browser, which runs until the test has read its arguments.
const BROWSER: &str = "#!/bin/sh\necho $$ >\"$HOME/started\"\nread line <\"$HOME/seen\"\n";

/// The id of a user other than that of the test.
const OTHER_USER: &str = "65534";

/// Runs the test in a separate process, because the environment variables BROWSER and HOME are process-wide.
fn run_with_browser() {
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
    let mut child = again!(
        the_arguments_of_the_browser_do_not_show_the_login,
        home.text("")
    );
    child.env("HOME", home.path("")).env("BROWSER", &browser);
    Program(child).run().with(0).shows("1 passed");
}

/// Ends the browser process on drop.
struct Browser(PathBuf);

impl Drop for Browser {
    fn drop(&mut self) {
        // OK to ignore: the test reports its own failure.
        let _ = fs::write(self.0.join("seen"), "\n");
    }
}

/// Reads a file as another user if the test runs as root, otherwise as the same user.
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
        return run_with_browser();
    };
    let home = Path::new(&task[0]);
    let fake = Fake::start().await;
    let mut listener = Loopback::bind().await.unwrap();
    let redirect = listener.redirect_uri().as_str();
    let provider = fake.provider().redirect_uri(redirect).build();
    let manager = TokenManager::builder(provider.unwrap()).build().unwrap();
    let login = manager.provider().authorization().start().unwrap();
    listener.open_browser(&login).await.unwrap();
    // Blocks until the browser opens the other end.
    let pid = fs::read_to_string(home.join("started")).unwrap();
    let _browser = Browser(home.to_owned());
    let arguments = read_as_other_user(&PathBuf::from(format!("/proc/{}/cmdline", pid.trim())));
    let arguments = arguments.expect("the arguments of a process are readable");
    for name in ["state", "nonce", "code_challenge"] {
        let secret = parameter(login.url(), name);
        assert!(!arguments.contains(&secret), "{arguments}");
    }
    let mut texts = arguments.split('\0');
    let address = texts.find(|text| text.starts_with("file://"));
    let file = Url::parse(address.unwrap_or_else(|| panic!("{arguments}"))).unwrap();
    let file = file.to_file_path().unwrap();
    let metadata = fs::metadata(&file).unwrap();
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    if metadata.uid() == 0 {
        let read = read_as_other_user(&file);
        assert!(read.is_none(), "other users can read the page");
    }
    // Sandboxed browsers do not read hidden files.
    assert_eq!(file.parent(), Some(home));
    let name = file.file_name().unwrap().to_str().unwrap();
    assert!(!name.starts_with('.'));

    let page = fs::read_to_string(&file).unwrap();
    let (_, link) = page.split_once("href=\"").unwrap();
    let (link, _) = link.split_once('"').unwrap();
    let address = Url::parse(&link.replace("&amp;", "&")).unwrap();
    assert_eq!(&address, login.url());
    let callback = fake.consent(&address).unwrap();
    let browser = std::thread::spawn(move || http::get(&callback));
    let tokens = listener.log_in(&manager, login);
    let tokens = within("a login by the browser", tokens).await.unwrap();
    browser.join().unwrap();
    assert!(!file.exists());
    assert!(tokens.subject().is_some());
}

/// HTTP libraries read the proxy variables only once, if at all, so the test runs in a separate process.
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
    // Closes each connection; the thread ends with the test program.
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
