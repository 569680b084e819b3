//! Hosts are killed while they send.

use super::host_process::HostProcess;
use super::yard::Yard;

/// In each round a host is killed when the service has received a request of it, and a new one comes.
async fn hosts_are_killed(ahead: [i64; 3]) {
    let Some(yard) = Yard::start().await else {
        return;
    };
    let start = |number: usize| {
        let mut settings = yard.settings(&format!("host-{number}"));
        settings.ahead = ahead[number % 3];
        HostProcess::start(&settings)
    };
    let mut hosts: Vec<HostProcess> = (0..3).map(start).collect();
    for round in 0..3 {
        let host = hosts.remove(0);
        yard.write_until_sends(&host).await;
        host.kill();
        hosts.push(start(3 + round));
        yard.until_sent().await;
    }
    yard.check().await;
    for host in hosts {
        host.stop();
    }
    assert_eq!(yard.count("lease_host IS NOT NULL").await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_hosts_send_when_they_are_killed_is_sent_once() {
    hosts_are_killed([0; 3]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_hosts_send_is_sent_once_when_their_clocks_are_ten_minutes_apart() {
    hosts_are_killed([0, 600, -600]).await;
}
