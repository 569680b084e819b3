//! The database restarts or is away, and networks are cut.

use super::super::database::{self, Database};
use super::super::outages::restart;
use super::host_process::HostProcess;
use super::yard::{Yard, until};
use processes::{Mode, Proxy};

const NAMES: [&str; 3] = ["host-0", "host-1", "host-2"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_sent_when_the_database_restarts_is_sent_once() {
    let database = Database::new_exclusive().await;
    let yard = Yard::on(database).await;
    let hosts = NAMES.map(|name| yard.host(name));
    for host in &hosts {
        yard.write_until_sends(host).await;
        restart(&yard.database).await;
        yard.until_sent().await;
    }
    yard.check().await;
    hosts.into_iter().for_each(HostProcess::stop);
}

/// A failover of twelve seconds, which is four leases: what matters is that all of them end while it lasts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_sent_when_the_database_is_away_for_longer_than_the_leases_is_sent_once() {
    let Some(yard) = Yard::start().await else {
        return;
    };
    let proxy = database::proxy().await;
    let start = |name| {
        let mut settings = yard.settings(name);
        settings.database_port = Some(proxy.address().port());
        HostProcess::start(&settings)
    };
    let hosts = NAMES.map(start);
    for host in &hosts {
        yard.write_until_sends(host).await;
        let failures = hosts.each_ref().map(|host| host.count("database failed"));
        proxy.set(Mode::Cut);
        until("the leases do not end", || async {
            yard.count("lease_until > now()").await == 0
        })
        .await;
        for (host, before) in hosts.iter().zip(failures) {
            let what = format!("{} does not notice", host.name);
            until(&what, || async { host.count("database failed") > before }).await;
        }
        proxy.set(Mode::Pass);
        yard.until_sent().await;
    }
    yard.check().await;
    hosts.into_iter().for_each(HostProcess::stop);
}

/// Other hosts send what the host had; its late statements change nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_host_sends_whose_database_is_silent_is_sent_once() {
    let Some(yard) = Yard::start().await else {
        return;
    };
    let proxy = database::proxy().await;
    let mut settings = yard.settings("cut off");
    settings.database_port = Some(proxy.address().port());
    let cut_off = HostProcess::start(&settings);
    let other = yard.host("other");
    for silence in [Mode::HoldReplies, Mode::HoldRequests] {
        yard.write_until_sends(&cut_off).await;
        let failures = cut_off.count("database failed");
        proxy.set(silence);
        yard.until_sent().await;
        until("the silence is not noticed", || async {
            cut_off.count("database failed") > failures
        })
        .await;
        proxy.set(Mode::Pass);
    }
    yard.write().await;
    yard.check().await;
    cut_off.stop();
    other.stop();
}

/// The replies of the service are lost with the connection; what it has saved is found there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_host_sends_whose_network_is_cut_is_sent_once() {
    let Some(yard) = Yard::start().await else {
        return;
    };
    let port = yard.fake.graphql_url().port().unwrap();
    let proxy = Proxy::start("127.0.0.1", port).await;
    let mut settings = yard.settings("cut off");
    let through = proxy.address().port().to_string();
    settings.service = settings.service.replace(&port.to_string(), &through);
    let cut_off = HostProcess::start(&settings);
    for _ in 0..3 {
        proxy.set(Mode::Pass);
        yard.write_until_sends(&cut_off).await;
        proxy.set(Mode::Cut);
    }
    let other = yard.host("other");
    proxy.set(Mode::Pass);
    yard.write().await;
    yard.check().await;
    cut_off.stop();
    other.stop();
}
