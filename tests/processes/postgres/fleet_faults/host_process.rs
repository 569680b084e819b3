//! A host as a process: this test binary, with its settings in the environment.

use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, SystemTime};

use envd_sdk::auth::StaticToken;
use envd_sdk::auth::postgres::deadpool_postgres::tokio_postgres::{Config, NoTls};
use envd_sdk::sync::fleet::FleetEvent;
use envd_sdk::{Client, Clock, RetryPolicy};

use super::super::database;
use super::yard::{HOST, fleet};

const SETTINGS: &str = "ENVD_SDK_TEST_FLEET_HOST";
/// Distinguishes lines of the host from those of the test harness.
const PREFIX: &str = "@@";

/// The settings of a host.
#[derive(Clone)]
pub(super) struct HostSettings {
    pub(super) name: String,
    pub(super) schema: String,
    pub(super) service: String,
    pub(super) token: String,
    /// The port of the database, which may be that of a proxy.
    pub(super) database_port: Option<u16>,
    /// Seconds that its clock is ahead.
    pub(super) ahead: i64,
}

/// A host that runs. Killed when it is dropped.
pub(super) struct HostProcess {
    pub(super) name: String,
    process: Child,
    events: Arc<Mutex<Vec<String>>>,
}

impl HostProcess {
    pub(super) fn start(settings: &HostSettings) -> Self {
        let (_binary, module) = module_path!().split_once("::").unwrap();
        let port = settings.database_port.map(|port| port.to_string());
        let text = [
            &settings.name,
            &settings.schema,
            &settings.service,
            &settings.token,
            &port.unwrap_or_default(),
            &settings.ahead.to_string(),
        ];
        let mut process = Command::new(env::current_exe().unwrap())
            .args(["--exact", &format!("{module}::host_process")])
            .args(["--nocapture", "--test-threads=1"])
            .env(SETTINGS, text.map(String::as_str).join("\n"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (output, events) = (process.stdout.take().unwrap(), Arc::default());
        let written: Arc<Mutex<Vec<String>>> = Arc::clone(&events);
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if let Some((_, event)) = line.split_once(PREFIX) {
                    written.lock().unwrap().push(event.to_owned());
                }
            }
        });
        Self {
            name: settings.name.clone(),
            process,
            events,
        }
    }

    /// How often it has reported an event of a kind.
    pub(super) fn count(&self, kind: &str) -> usize {
        let events = self.events.lock().unwrap();
        events.iter().filter(|event| *event == kind).count()
    }

    /// Kills the process (with SIGKILL on Unix).
    pub(super) fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Lets it give its leases back and end.
    pub(super) fn stop(mut self) {
        drop(self.process.stdin.take());
        assert!(self.process.wait().unwrap().success());
    }

    #[cfg(target_os = "linux")]
    pub(super) fn id(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for HostProcess {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Passes at once unless a parent has set the settings.
#[test]
fn host_process() {
    let Ok(settings) = env::var(SETTINGS) else {
        return;
    };
    let settings: Vec<&str> = settings.split('\n').collect();
    let [name, schema, service, token, port, ahead] = settings[..] else {
        panic!("{} settings", settings.len());
    };
    let settings = HostSettings {
        name: name.to_owned(),
        schema: schema.to_owned(),
        service: service.to_owned(),
        token: token.to_owned(),
        database_port: port.parse().ok(),
        ahead: ahead.parse().unwrap(),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(serve(&settings));
}

async fn serve(settings: &HostSettings) {
    let client = Client::builder(&*settings.service)
        .token_source(StaticToken::new(settings.token.as_str()).unwrap())
        .header(HOST, &*settings.name)
        .retry(RetryPolicy::none())
        .clock(skewed(settings.ahead))
        .build()
        .unwrap();
    let config = database_of(settings);
    let pool = database::pool_of(config.clone(), 6);
    let fleet = fleet(pool, &settings.schema).listen(config, NoTls);
    let ahead = settings.ahead;
    let fleet = fleet.replica(move |replica| replica.clock(skewed(ahead)));
    let running = fleet.build().unwrap().run(move |id| {
        let account = client.account(id);
        async { Ok(account) }
    });
    let running = running.on_event(|event| println!("\n{PREFIX}{}", kind(event)));
    let handle = running.handle();
    thread::spawn(move || {
        let _ = std::io::stdin().read_line(&mut String::new());
        handle.stop();
    });
    running.await;
}

fn skewed(ahead: i64) -> Clock {
    let by = Duration::from_secs(ahead.unsigned_abs());
    let now = SystemTime::now();
    Clock::starting_at(if ahead < 0 { now - by } else { now + by })
}

fn database_of(settings: &HostSettings) -> Config {
    let Some(port) = settings.database_port else {
        return database::config();
    };
    let mut config = database::config_without_host();
    config.host("127.0.0.1").port(port);
    config.connect_timeout(Duration::from_secs(2));
    config
}

fn kind(event: &FleetEvent) -> String {
    match event {
        FleetEvent::Synced { .. } => "synced".to_owned(),
        FleetEvent::Passed { .. } => "passed".to_owned(),
        FleetEvent::LeaseLost { .. } => "lease lost".to_owned(),
        FleetEvent::DatabaseFailed { error, .. } => match std::error::Error::source(error)
            .and_then(|source| source.downcast_ref::<envd_sdk::auth::StoreError>())
        {
            Some(error) if error.is_newer_version() => "newer version".to_owned(),
            _ => "database failed".to_owned(),
        },
        FleetEvent::Failed { error, .. } => format!("failed: {error}"),
        _ => "another event".to_owned(),
    }
}
