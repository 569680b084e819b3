//! Hosts are suspended for longer than their leases last.

use std::process::Command;

use super::host_process::HostProcess;
use super::yard::{Yard, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_host_sends_when_it_is_suspended_is_sent_once() {
    let Some(yard) = Yard::start().await else {
        return;
    };
    let hosts = ["host-0", "host-1", "host-2"].map(|name| yard.host(name));
    for host in &hosts {
        yard.write_until_sends(host).await;
        signal("STOP", host);
        until("it runs on", || async { is_stopped(host) }).await;
        // The others need its leases to end for that.
        yard.until_sent().await;
        signal("CONT", host);
    }
    // All of them serve again.
    for host in &hosts {
        yard.write_until_sends(host).await;
    }
    yard.check().await;
    hosts.into_iter().for_each(HostProcess::stop);
}

fn signal(name: &str, host: &HostProcess) {
    let id = host.id().to_string();
    let status = Command::new("kill")
        .args([&format!("-{name}"), &id])
        .status();
    assert!(status.unwrap().success());
}

/// Whether all threads of the process are stopped: a signal reaches them one after the other.
fn is_stopped(host: &HostProcess) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", host.id())).unwrap();
    tasks.into_iter().all(|task| {
        let stat = std::fs::read_to_string(task.unwrap().path().join("stat")).unwrap();
        let (_, state) = stat.rsplit_once(") ").unwrap();
        state.starts_with('T')
    })
}
