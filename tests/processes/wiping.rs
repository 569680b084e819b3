//! Memory that held secrets is overwritten (zeroized) before it is freed. The global allocator scans each freed block.

use std::error::Error;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};

use envd_sdk::HttpOptions;
use envd_sdk::auth::{
    AssertionSigner, BoxFuture, FileStore, PendingLogin, Provider, ProviderBuilder, Record,
    TokenManager,
};
use test_support::TestFolder;

/// Searches each freed block of memory for a text.
///
/// Reports only the sizes of the blocks, so that the text exists only as a constant of the program.
mod freed_blocks {
    // OK because a global allocator requires it, and the library itself forbids unsafe code.
    #![allow(unsafe_code)]

    use std::alloc::{GlobalAlloc, Layout, System};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

    static NEEDLE: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
    static LENGTH: AtomicUsize = AtomicUsize::new(0);
    static SIZES: [AtomicUsize; 64] = [const { AtomicUsize::new(0) }; 64];
    static FOUND: AtomicUsize = AtomicUsize::new(0);
    static SCAN_LOCK: Mutex<()> = Mutex::new(());

    struct Scanner;

    #[global_allocator]
    static SCANNER: Scanner = Scanner;

    // `realloc` and `alloc_zeroed` are the default methods, so a block that grows is freed as well.
    // SAFETY: all memory is allocated and freed by the system allocator with the requested layout.
    unsafe impl GlobalAlloc for Scanner {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // SAFETY: the caller guarantees the same for this function. Zeroed, so that no block contains data of an earlier
            // block.
            unsafe { System.alloc_zeroed(layout) }
        }

        unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
            let length = LENGTH.load(Ordering::Acquire);
            if length > 0 && layout.size() >= length {
                // SAFETY: the block is ours until it is freed below, and `alloc` has initialized all of it; the needle is a static text.
                let (block, needle) = unsafe {
                    let needle = NEEDLE.load(Ordering::Acquire);
                    (
                        std::slice::from_raw_parts(block, layout.size()),
                        std::slice::from_raw_parts(needle, length),
                    )
                };
                if block.windows(length).any(|bytes| bytes == needle) {
                    let index = FOUND.fetch_add(1, Ordering::AcqRel);
                    if let Some(size) = SIZES.get(index) {
                        size.store(layout.size(), Ordering::Release);
                    }
                }
            }
            // SAFETY: the caller guarantees the same for this function.
            unsafe { System.dealloc(block, layout) }
        }
    }

    /// Runs the work; returns the sizes of the blocks freed during it that contained the text.
    pub(crate) fn with<T>(needle: &'static str, work: impl FnOnce() -> T) -> (T, Vec<usize>) {
        let guard = SCAN_LOCK.lock().unwrap();
        FOUND.store(0, Ordering::Release);
        NEEDLE.store(needle.as_ptr().cast_mut(), Ordering::Release);
        LENGTH.store(needle.len(), Ordering::Release);
        let done = work();
        LENGTH.store(0, Ordering::Release);
        let found = FOUND.load(Ordering::Acquire).min(SIZES.len());
        let sizes = SIZES[..found].iter();
        let sizes = sizes.map(|size| size.load(Ordering::Acquire)).collect();
        drop(guard);
        (done, sizes)
    }
}

/// Runs the work, and asserts that no block freed during it contains the text.
#[track_caller]
fn wiped<T>(needle: &'static str, work: impl FnOnce() -> T) -> T {
    let (done, found) = freed_blocks::with(needle, work);
    assert_eq!(found, Vec::<usize>::new(), "{needle}");
    done
}

/// Sends these chunks once on each connection. The server frees no memory, so it does not affect the result.
fn serve(pieces: &'static [&'static str]) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut request = [0; 16_384];
        while let Ok((mut stream, _)) = listener.accept() {
            let mut read = 0;
            while !is_complete(&request[..read]) {
                match stream.read(&mut request[read..]) {
                    Ok(more @ 1..) => read += more,
                    _ => break,
                }
            }
            for piece in pieces {
                stream.write_all(piece.as_bytes()).unwrap();
                stream.flush().unwrap();
            }
        }
    });
    address
}

/// Whether the request body is complete.
fn is_complete(request: &[u8]) -> bool {
    let text = std::str::from_utf8(request).unwrap();
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse::<usize>().unwrap())
    });
    body.len() >= length.unwrap_or_default()
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

fn provider(server: SocketAddr) -> ProviderBuilder {
    Provider::builder("app")
        .authorize_url(format!("http://{server}/authorize"))
        .token_url(format!("http://{server}/token"))
        .audience("https://api.example")
        .redirect_uri("https://app.example/callback")
        .scopes(["offline_access"])
}

/// Logs in, which sends the client's credentials, and drops the runtime.
fn log_in(provider: &Provider) -> bool {
    runtime().block_on(async {
        let manager = TokenManager::builder(provider.clone()).build().unwrap();
        let login = provider.authorization().start().unwrap();
        let state = login.url().query_pairs().find(|(name, _)| name == "state");
        let callback = format!(
            "https://app.example/callback?code=c0de&state={}",
            state.unwrap().1
        );
        manager.complete_login(login, &callback).await.is_ok()
    })
}

#[test]
fn the_scanner_finds_only_blocks_that_were_not_wiped() {
    const NEEDLE: &str = "n33dle-of-the-scanner";
    let ((), found) = freed_blocks::with(NEEDLE, || {
        drop(std::hint::black_box(NEEDLE.to_owned()));
        let mut grows = NEEDLE.to_owned();
        grows.reserve_exact(1_000);
        drop(envd_sdk::Secret::new(std::hint::black_box(grows)));
    });
    // The dropped block, and the block before the text grew.
    assert_eq!(found, [NEEDLE.len(), NEEDLE.len()]);
}

/// Occurs only in the replies, and is longer than the widest register, whose contents may remain on the stack.
const MEMBER: &str =
    "\"refresh_token\":\"n33dle-of-the-refresh-token-and-longer-than-any-register-of-the-machine\"";

/// Replies with a body in parts of about this size: with a length, truncated, and with chunked encoding.
fn replies(padding: usize, size: usize) -> [(&'static [&'static str], bool); 3] {
    const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
    let padding = "x".repeat(padding);
    let body = format!(r#"{{"x":"{padding}","access_token":"n33dle",{MEMBER},"expires_in":600}}"#);
    let bytes = body.as_bytes().chunks(size);
    let pieces: Vec<String> = bytes
        .map(|piece| String::from_utf8(piece.to_vec()).unwrap())
        .collect();
    let chunked = pieces
        .iter()
        .map(|piece| format!("{:x}\r\n{piece}\r\n", piece.len()));
    let chunked = chunked.collect::<String>() + "0\r\n\r\n";
    let length = |length| format!("{HEAD}content-length: {length}\r\n\r\n");
    let whole = [vec![length(body.len())], pieces.clone()].concat();
    let cut = [vec![length(body.len() + 9)], pieces].concat();
    let chunked = vec![format!("{HEAD}transfer-encoding: chunked\r\n\r\n"), chunked];
    [(whole, true), (cut, false), (chunked, true)].map(|(pieces, good)| {
        let pieces = pieces.into_iter().map(|piece| &*piece.leak());
        (&*pieces.collect::<Vec<_>>().leak(), good)
    })
}

#[test]
fn a_reply_of_the_token_endpoint_is_wiped() {
    for (padding, size) in [(0, 10_000), (0, 50), (30_000, 40_000), (30_000, 7_000)] {
        for (i, (pieces, good)) in replies(padding, size).into_iter().enumerate() {
            let logged_in = wiped(MEMBER, || log_in(&provider(serve(pieces)).build().unwrap()));
            assert_eq!(logged_in, good, "{padding} {size} {i}");
        }
    }
}

/// Renews the access token and keeps the refresh token.
const RENEWED: &str = "HTTP/1.1 200 OK\r\ncontent-length: 39\r\nconnection: close\r\n\r\n\
                       {\"access_token\":\"a-2\",\"expires_in\":600}";

// Each test has its own token: while one test scans, the others may free theirs.

/// The text of a record with an expired access token, in memory that is never freed.
fn stored(token: &str) -> &'static str {
    let tokens = format!(
        r#""access_token":"a-1","refresh_token":"{token}","id_token":"{token}","issued_at_ms":1,"lifetime_ms":1,"generation":1"#
    );
    format!(r#"{{"form":1,"tokens":{{{tokens}}}}}"#).leak()
}

#[test]
fn a_stored_record_is_wiped_when_it_is_read_and_written() {
    const TOKEN: &str = "n33dle-of-the-record-and-longer-than-any-register-of-the-machine-is";
    let text = stored(TOKEN);
    let damaged = ["\"generation\":1", "\"lifetime_ms\":1"].map(|part| {
        let damaged = text.replace(part, "\"other\":1");
        &*damaged.leak()
    });
    let back = wiped(TOKEN, || {
        let record = Record::from_secret_json(&text.into()).unwrap();
        let back = record.to_secret_json();
        // A truncated record is an error, and the parts that were read are wiped as well.
        for damaged in damaged {
            assert!(Record::from_secret_json(&(*damaged).into()).is_err());
        }
        back.expose().len()
    });
    assert!(back >= text.len());
}

#[test]
fn a_session_in_a_file_is_wiped_from_the_refresh_to_the_logout() {
    const TOKEN: &str = "n33dle-of-the-session-and-longer-than-any-register-of-the-machine-is";
    let text = stored(TOKEN);
    let folder = TestFolder::new();
    let ledger = format!(
        r#"{{"form":1,"writes":1,"accounts":{{"default":{{"version":1,"record":{text}}}}}}}"#
    );
    let file = folder.write("tokens.json", ledger.leak());
    let server = serve(&[RENEWED]);
    let provider = provider(server).revoke_url(format!("http://{server}/revoke"));
    let provider = provider.build().unwrap();
    let renewed = wiped(TOKEN, || {
        runtime().block_on(async {
            let store = FileStore::new(&file);
            let manager = TokenManager::builder(provider.clone()).store(store);
            let manager = manager.build().unwrap();
            let token = manager.access_token().await.unwrap();
            let report = manager.logout(None).await;
            assert!(report.problems.is_empty(), "{report:?}");
            token.expose() == "a-2"
        })
    });
    assert!(renewed);
}

#[test]
fn the_code_and_the_secret_of_a_login_are_wiped() {
    const TOKEN: &str = "n33dle-of-the-login-and-longer-than-any-register-of-the-machine-is";
    let server = serve(&[RENEWED]);
    wiped(TOKEN, || {
        let provider = provider(server).client_secret(TOKEN).build().unwrap();
        let login = provider.authorization().start().unwrap();
        let saved = login.to_secret_json();
        let login = PendingLogin::from_secret_json(&provider, &saved).unwrap();
        let state = login.url().query_pairs().find(|(name, _)| name == "state");
        // The caller has to wipe its own copy.
        let mut callback = String::with_capacity(1_000);
        for part in ["code=", TOKEN, "&state=", &state.unwrap().1] {
            callback.push_str(part);
        }
        let callback = envd_sdk::Secret::new(callback);
        runtime().block_on(async {
            let manager = TokenManager::builder(provider.clone()).build().unwrap();
            let tokens = manager.complete_login(login, callback.expose()).await;
            assert!(tokens.is_ok(), "{tokens:?}");
        });
    });
}

/// The HTTP library keeps a copy of each header, as with access tokens; here the copy is in base64.
#[test]
fn the_secret_of_a_basic_header_is_wiped() {
    const TOKEN: &str = "n33dle-of-the-header-and-longer-than-any-register-of-the-machine-is";
    let server = serve(&[RENEWED]);
    wiped(TOKEN, || {
        let provider = provider(server).client_secret_basic(TOKEN);
        assert!(log_in(&provider.build().unwrap()));
    });
}

const SIGNATURE: &str = "n33dle of the signature, which is longer than a register of any machine.";
/// printf '%s' "$SIGNATURE" | base64, which has no padding.
const IN_BASE64: &str = "bjMzZGxlIG9mIHRoZSBzaWduYXR1cmUsIHdoaWNoIGlzIGxvbmdlciB0aGFuIGEgcmVnaXN0ZXIgb2YgYW55IG1hY2hpbmUu";

struct Key;

impl AssertionSigner for Key {
    fn alg(&self) -> &'static str {
        "ES256"
    }

    fn sign<'a>(
        &'a self,
        _: &'a [u8],
    ) -> BoxFuture<'a, Result<Vec<u8>, Box<dyn Error + Send + Sync>>> {
        Box::pin(async { Ok(SIGNATURE.as_bytes().to_vec()) })
    }
}

#[test]
fn a_client_assertion_is_wiped_with_its_signature() {
    for needle in [SIGNATURE, IN_BASE64] {
        let server = serve(&[RENEWED]);
        wiped(needle, || {
            let provider = provider(server).issuer("https://id.example/");
            assert!(log_in(&provider.private_key_jwt(Key).build().unwrap()));
        });
    }
}

#[test]
fn the_text_of_a_client_certificate_is_wiped() {
    // The second-last line of its key.
    const PEM: &str = include_str!("../fixtures/tls/client.pem");
    let key: &'static str = PEM.lines().rev().nth(2).unwrap();
    assert!(key.len() == 64, "{key}");
    let server = serve(&[]);
    wiped(key, || {
        let options = HttpOptions::default().client_certificate(PEM);
        drop(provider(server).http(options.clone()));
        drop(options);
    });
}

#[test]
fn the_codes_of_a_login_on_another_device_are_wiped() {
    const CODE: &str = "n33dle-of-the-device-and-longer-than-any-register-of-the-machine-is";
    // For both endpoints.
    let body = format!(
        r#"{{"device_code":"{CODE}","user_code":"{CODE}","verification_uri":"https://id.example/","expires_in":60,"access_token":"a"}}"#
    );
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
    let server = serve(vec![&*head.leak(), &*body.leak()].leak());
    let clock = envd_sdk::Clock::manual(std::time::SystemTime::UNIX_EPOCH);
    wiped(CODE, || {
        let provider = provider(server).device_authorization_url(format!("http://{server}/device"));
        let provider = provider.clock(clock.clone()).build().unwrap();
        runtime().block_on(async {
            let manager = TokenManager::builder(provider.clone()).build().unwrap();
            let login = provider.authorization().start_device().await.unwrap();
            assert_eq!(login.user_code(), CODE);
            clock.advance(login.interval());
            manager.complete_device_login(login).await.unwrap();
        });
    });
}
