//! Each account has one host at a time, by the clock of the database.

use std::collections::HashSet;
use std::time::Duration;

use futures_util::future::join_all;

use super::rows::{LEASE, Rows, done, names};

#[tokio::test]
async fn the_oldest_due_is_claimed_first_and_what_is_claimed_is_not_claimed_again() {
    let late = [("young", 1), ("old", 300), ("future", -60), ("middle", 20)];
    let Some(rows) = Rows::new(&late).await else {
        return;
    };
    let claims = rows.claim("a", 2).await;
    assert_eq!(names(&claims), ["old", "middle"]);
    assert!(claims[0].late >= Duration::from_secs(300));
    assert!(claims[0].sync_in() <= -300.0 && claims[0].outbox_in().is_none());
    assert_eq!(names(&rows.claim("b", 9).await), ["young"]);
    assert!(rows.claim("a", 9).await.is_empty());
    rows.drop().await;
}

#[tokio::test]
async fn claims_at_the_same_time_share_no_account() {
    let accounts: Vec<String> = (0..200).map(|number| format!("envd-{number}")).collect();
    let late: Vec<_> = accounts.iter().map(|account| (&**account, 5)).collect();
    let Some(rows) = Rows::new(&late).await else {
        return;
    };
    let hosts: Vec<String> = (0..8).map(|host| host.to_string()).collect();
    let (mut claimed, mut seen) = (0, HashSet::new());
    // A claim passes over what another one is claiming, so it may come back with less than there is.
    while claimed < accounts.len() {
        let claims = join_all(hosts.iter().map(|host| rows.claim(host, 7))).await;
        for claim in claims.into_iter().flatten() {
            claimed += 1;
            assert!(seen.insert(claim.account), "claimed twice");
        }
    }
    rows.drop().await;
}

#[tokio::test]
async fn who_comes_after_the_lease_gets_another_number_and_who_lost_it_writes_nothing() {
    let Some(rows) = Rows::new(&[("one", 5)]).await else {
        return;
    };
    let first = rows.claim("a", 1).await.remove(0);
    let held = rows.tables.prolong("a", LEASE, &["one"]).await.unwrap();
    assert_eq!(held, [("one".to_owned(), first.number)]);
    rows.run("UPDATE {table} SET lease_until = now()").await;
    let second = rows.claim("b", 1).await.remove(0);
    assert_eq!(second.number, first.number + 1);
    assert!(
        rows.tables
            .prolong("a", LEASE, &["one"])
            .await
            .unwrap()
            .is_empty()
    );
    assert_eq!(rows.give_back("a", done(first, 60.0)).await, 0);
    assert_eq!(rows.tables.release("a").await.unwrap(), 0);
    assert_eq!(rows.text("one", "lease_host").await, "b");
    assert_eq!(rows.give_back("b", done(second, 60.0)).await, 1);
    assert!(rows.claim("b", 1).await.is_empty());
    rows.drop().await;
}

#[tokio::test]
async fn what_was_not_ended_stays_due_when_a_host_stops() {
    let Some(rows) = Rows::new(&[("one", 5), ("two", 4)]).await else {
        return;
    };
    let mut claims = rows.claim("a", 2).await;
    assert_eq!(rows.give_back("a", done(claims.remove(0), 60.0)).await, 1);
    assert_eq!(rows.tables.release("a").await.unwrap(), 1);
    let again = rows.claim("b", 2).await;
    assert_eq!(names(&again), ["two"]);
    assert!(again[0].late >= Duration::from_secs(4));
    rows.drop().await;
}

#[tokio::test]
async fn what_is_announced_is_due_at_once_also_if_a_host_works_on_the_account() {
    let Some(rows) = Rows::new(&[("idle", -300), ("busy", 5), ("told", 4)]).await else {
        return;
    };
    let all = ["idle", "busy", "told", "unknown"].map(str::to_owned);
    let mut claims = rows.claim("a", 9).await;
    rows.tables.announce(&all).await.unwrap();
    let told = claims.remove(1);
    let told = super::rows::done(told, 600.0);
    let told = crate::sync::fleet::claims::Done {
        told: Some(300.0),
        ..told
    };
    rows.give_back("a", told).await;
    rows.give_back("a", done(claims.remove(0), 600.0)).await;
    let mut due = rows.claim("b", 9).await;
    due.sort_by(|one, other| one.account.cmp(&other.account));
    assert_eq!(names(&due), ["busy", "idle"]);
    assert!(due.iter().all(|claim| claim.outbox_in() <= Some(0.0)));
    // The service has told this one to wait, so an entry does not make it due before.
    rows.tables.announce(&all).await.unwrap();
    let wait = rows
        .text("told", "round(extract(epoch FROM due_at - now()) / 10)")
        .await;
    assert_eq!(wait, "30");
    rows.drop().await;
}

#[tokio::test]
async fn the_clock_of_a_claim_is_that_of_the_database() {
    let Some(rows) = Rows::new(&[("one", 5)]).await else {
        return;
    };
    let claim = rows.claim("a", 1).await.remove(0);
    let shown = claim
        .clock
        .now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    let ahead = rows
        .text(
            "one",
            &format!(
                "{} - extract(epoch FROM clock_timestamp())",
                shown.as_secs_f64()
            ),
        )
        .await;
    let ahead: f64 = ahead.parse().unwrap();
    assert!(ahead <= 0.001, "{ahead}");
    rows.drop().await;
}

#[tokio::test]
async fn no_more_than_the_next_second_is_drawn_from_the_budget() {
    let Some(rows) = Rows::new(&[]).await else {
        return;
    };
    let part = Duration::from_millis(900);
    let first = rows.tables.draw(part).await.unwrap().unwrap();
    assert!(first <= part);
    let second = rows.tables.draw(part).await.unwrap();
    // A slow machine may be past the first part already.
    if let Some(second) = second {
        assert!(second <= part * 2);
        let far = Duration::from_secs(3_600);
        assert!(
            rows.tables
                .draw(far)
                .await
                .unwrap()
                .is_none_or(|ahead| ahead >= far)
        );
        assert_eq!(rows.tables.draw(part).await.unwrap(), None);
    }
    rows.drop().await;
}
