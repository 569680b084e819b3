//! Tests with `PgBouncer` between store and server.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, fs};

use envd_postgres::deadpool_postgres::Pool;
use envd_postgres::deadpool_postgres::tokio_postgres::config::Host;
use envd_postgres::deadpool_postgres::tokio_postgres::{Config, NoTls};
use envd_sdk::ErrorKind;
use envd_sdk::auth::{StoreErrorKind, TokenStore};
use envd_sdk::fake::check_token_store;
use processes::{Folder, Process};

use super::both::Store;
use super::database::{self, Database, chain, is_of};
use super::faults::record;
use crate::stores::sessions::KEY;

/// A process that listens on a Unix socket in a temporary directory, so it needs no free port. Killed on drop.
pub(super) struct Pooler {
    _process: Process,
    directory: Folder,
}

impl Pooler {
    pub(super) async fn start(pool_mode: &str) -> Self {
        let directory = Folder::new();
        let path = directory.path("");
        let root = fs::metadata(&path).unwrap().uid() == 0;
        fs::set_permissions(&path, Permissions::from_mode(0o777)).unwrap();
        let settings = directory.path("pgbouncer.ini");
        fs::write(&settings, ini(&path, pool_mode)).unwrap();
        let mut command = Command::new(program());
        if root {
            command.args(["-u", "nobody"]);
        }
        command.arg("-q").arg(&settings).stderr(Stdio::null());
        let pooler = Self {
            _process: Process::start(command),
            directory,
        };
        let is_ready = async || {
            tokio::time::sleep(Duration::from_millis(10)).await;
            pooler.config().connect(NoTls).await.is_ok()
        };
        processes::until("a pooler that has started", is_ready).await;
        pooler
    }

    pub(super) fn config(&self) -> Config {
        let mut config = database::config_without_host();
        config.host_path(self.directory.path("")).port(6432);
        config
    }

    pub(super) fn pool(&self, size: usize) -> Pool {
        database::pool_of(self.config(), size)
    }
}

fn program() -> PathBuf {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    let mut programs = folders.map(|folder| folder.join("pgbouncer"));
    programs
        .find(|program| program.is_file())
        .expect("PgBouncer is installed")
}

fn ini(directory: &Path, pool_mode: &str) -> String {
    let server = database::config();
    let Host::Tcp(host) = &server.get_hosts()[0] else {
        panic!("{} must name a TCP address", database::URL);
    };
    let port = server.get_ports().first().copied().unwrap_or(5432);
    let user = server.get_user().unwrap();
    let password = server.get_password().map_or_else(String::new, |password| {
        format!(" password='{}'", String::from_utf8_lossy(password))
    });
    format!(
        "[databases]\n* = host={host} port={port} user={user}{password}\n\
         [pgbouncer]\nlisten_addr =\nunix_socket_dir = {}\nlisten_port = 6432\n\
         auth_type = any\npool_mode = {pool_mode}\ndefault_pool_size = 12\n",
        directory.display()
    )
}

/// The pooler has fewer connections than the stores: each lock occupies one until its transaction ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behind_transaction_pooling_the_store_keeps_the_requirements() {
    let database = Database::new().await;
    let pooler = Pooler::start("transaction").await;
    database::store(&pooler.pool(2), &database.schema)
        .migrate()
        .await
        .unwrap();
    let pool = pooler.pool(16);
    let store = database::store(&pool, &database.schema);
    check_token_store(move || store.clone()).await;
    // Settings of a transaction end with it on each connection of the pooler.
    for _ in 0..16 {
        let connection = pool.get().await.unwrap();
        let row = connection.query_typed_one("SHOW search_path", &[]).await;
        assert_eq!(row.unwrap().get::<_, &str>(0), "\"$user\", public");
    }
}

/// The pooler may use another connection for each transaction, so a transaction must not rely on earlier settings.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behind_transaction_pooling_stores_of_copies_do_all_that_they_do() {
    let (database, _) = Database::new_sync().await;
    let pooler = Pooler::start("transaction").await;
    let pool = pooler.pool(16);
    let mut hosts = tokio::task::JoinSet::new();
    for number in 0..4 {
        let [_, store] = Store::both(&pool, &format!("{}_{number}", database.schema));
        hosts.spawn(async move { store.use_everything().await });
    }
    for done in hosts.join_all().await {
        done.unwrap_or_else(|error| panic!("{}", chain(&error)));
    }
    for _ in 0..16 {
        let connection = pool.get().await.unwrap();
        for (setting, value) in [("search_path", "\"$user\", public"), ("lock_timeout", "0")] {
            let row = connection
                .query_typed_one(&format!("SHOW {setting}"), &[])
                .await;
            assert_eq!(row.unwrap().get::<_, &str>(0), value);
        }
    }
    for number in 0..4 {
        let schema = format!("\"{}_{number}\"", database.schema);
        database.run(&format!("DROP SCHEMA {schema} CASCADE")).await;
    }
}

#[tokio::test]
async fn statement_pooling_is_named_in_the_error() {
    let database = Database::new().await;
    let pooler = Pooler::start("statement").await;
    let store = database::store(&pooler.pool(2), &database.schema);
    let errors = [
        store.load(KEY).await.unwrap_err(),
        store.swap(KEY, None, &record(1)).await.unwrap_err(),
        store.lock(KEY, Duration::ZERO).await.unwrap_err(),
    ];
    for error in errors {
        is_of(&error, StoreErrorKind::Unsupported);
        let text = chain(&error);
        assert!(
            text.contains("statement") && text.contains("08P01"),
            "{text}"
        );
        let error: envd_sdk::Error = error.into();
        assert!(error.kind() == ErrorKind::Store && !error.is_retryable());
    }
}
