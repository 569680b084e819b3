//! The demonstration: four hosts serve the accounts, and one is killed while it sends.

use std::time::{Duration, Instant};

use envd_sdk::Client;
use envd_sdk::auth::TokenManager;
use envd_sdk::fake::{Fake, Fault, UserRecord, World};
use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
use envd_sdk::profile::ServiceProfile;
use envd_sync::Replica;
use envd_sync::outbox::Outbox;
use tokio::time::{sleep, timeout};

use super::cli::Failure;
use super::counts::{self, CREATE, LIST};
use super::processes::Hosts;
use super::service::{self, Service};

const ACCOUNTS: usize = 36;
const HOSTS: usize = 4;
const KILLED: usize = 2;

/// The time limit of a step.
const LIMIT: Duration = Duration::from_secs(40);

pub(crate) async fn tell(service: &Service) -> Result<(), Failure> {
    service.drop_tables().await?;
    let reported = play(service).await;
    service.drop_tables().await?;
    reported
}

async fn play(service: &Service) -> Result<(), Failure> {
    let fake = fake(&service.profile).await?;
    let web = Web::start(service, &fake).await?;
    let ended = scenes(&web).await;
    if ended.is_err() {
        web.show_waiting().await;
    }
    ended
}

async fn scenes(web: &Web<'_>) -> Result<(), Failure> {
    let fake = web.fake;
    println!("{ACCOUNTS} accounts, {HOSTS} hosts, one database.\n");

    println!("1. Each host takes accounts that are due, and copies their consignments.\n");
    let mut hosts = Hosts::start(HOSTS, fake)?;
    until("each account is listed", || {
        fake.request_count(LIST) >= ACCOUNTS
    })
    .await?;
    web.until_idle().await?;
    counts::table(fake, HOSTS);

    println!(
        "\n2. The web server writes a declaration for each account, and makes the accounts due. All access tokens\n   \
         have just expired: one host gets a new one, and the others find it in the database.\n"
    );
    let requests = fake.token_requests();
    let begun = Instant::now();
    fake.expire_access_tokens();
    web.write().await?;
    web.until_sent().await?;
    let requests = fake.token_requests() - requests;
    let took = begun.elapsed();
    counts::table(fake, HOSTS);
    println!(
        "\n   All sent in {:.1} s, with {requests} request to the identity provider.",
        took.as_secs_f64()
    );

    println!(
        "\n3. It writes another for each account. Host {KILLED} is killed while the service processes its request.\n"
    );
    let before = counts::of_host(fake, KILLED, CREATE);
    let slow = Fault::latency(Duration::from_millis(600));
    fake.on_operation(CREATE).fault(slow).forever();
    web.write().await?;
    let what = format!("host {KILLED} sends a declaration");
    until(&what, || counts::of_host(fake, KILLED, CREATE) > before).await?;
    hosts.kill(KILLED)?;
    let begun = Instant::now();
    web.until_sent().await?;
    counts::table(fake, HOSTS);
    println!(
        "\n   Its heartbeats ended, so others took its jobs. Before they sent again what it had been sending, they\n   \
         looked for it at the service; {:.1} s after it was killed all was sent.\n",
        begun.elapsed().as_secs_f64()
    );
    web.until_idle().await?;
    drop(hosts);
    web.end(requests).await
}

/// The web server that the users see. It is not a host.
struct Web<'a> {
    fake: &'a Fake,
    service: &'a Service,
    manager: TokenManager,
    outboxes: Vec<Outbox>,
}

impl<'a> Web<'a> {
    /// Logs the user in, and schedules all of the user's accounts for the hosts.
    async fn start(service: &'a Service, fake: &'a Fake) -> Result<Self, Failure> {
        service.migrate().await?;
        let manager = service.manager(fake.provider().build()?)?;
        let login = manager.provider().authorization().start()?;
        let callback = fake.consent(login.url())?;
        manager.complete_login(login, callback.as_str()).await?;

        service.queue().wake(&accounts()).await?;
        let client = Client::builder(fake.graphql_url()).profile(&service.profile);
        let client = client.token_source(manager.clone());
        let client = client.build()?;
        let copies = service.copies()?;
        let outboxes = accounts().into_iter();
        Ok(Self {
            outboxes: outboxes
                .map(|id| Outbox::new(&Replica::new(&client.account(id), copies.clone())))
                .collect(),
            fake,
            service,
            manager,
        })
    }

    async fn write(&self) -> Result<(), Failure> {
        let from = PartyInput::new("QAZZ7777");
        let to = PartyInput::new("QDZZ3333");
        let input = ConsignmentInput::new([FormType::Lpac1], from, to);
        let input = input.movement("2099-01-15", "05:15");
        for outbox in &self.outboxes {
            outbox.save(input.clone()).await?;
        }
        self.service.queue().wake(&accounts()).await
    }

    async fn until_sent(&self) -> Result<(), Failure> {
        for outbox in &self.outboxes {
            let is_sent = || async { Ok(outbox.declarations().await?.is_empty()) };
            until_async("all declarations are sent", is_sent).await?;
        }
        Ok(())
    }

    /// Waits until no account is due, running or waiting for a retry.
    async fn until_idle(&self) -> Result<(), Failure> {
        let is_idle = || async {
            let status = self.service.queue().status().await?;
            Ok(["due", "running", "retried"]
                .iter()
                .all(|count| status[count] == 0))
        };
        until_async("no account is due", is_idle).await
    }

    /// Prints why the demonstration does not continue.
    async fn show_waiting(&self) {
        counts::table(self.fake, HOSTS);
        println!("{:?}", self.service.queue().status().await);
        for outbox in &self.outboxes {
            match outbox.declarations().await {
                Ok(waiting) if waiting.is_empty() => {}
                waiting => println!("{}: {waiting:?}", outbox.account().id().as_str()),
            }
        }
    }

    /// Compares the records of the service with the database.
    async fn end(&self, token_requests: usize) -> Result<(), Failure> {
        let status = self.service.queue().status().await?;
        println!("   The status of the accounts: {status}");
        let mut written = 0;
        let mut found = 0;
        for outbox in &self.outboxes {
            let sent = service::history(outbox).await?;
            written += sent.len();
            found += sent.iter().filter(|one| one.is_adopted).count();
        }
        drop(self.manager.logout(None).await);
        let records: Vec<usize> = accounts()
            .iter()
            .map(|id| counts::records(self.fake, id))
            .collect();
        println!(
            "\n{written} declarations were written, and the service has {}: each is there once. Of these {found} were on\n\
             their way when host {KILLED} was killed; they were found there, and not sent again.",
            records.iter().sum::<usize>()
        );
        if records.iter().any(|records| *records != 2) || token_requests != 1 {
            return Err("expected two records in each account, and one new token".into());
        }
        Ok(())
    }
}

/// A fake in which one user has all accounts.
async fn fake(profile: &ServiceProfile) -> Result<Fake, Failure> {
    let user = UserRecord::new("kim@example.com").role("Producer");
    let user = accounts()
        .into_iter()
        .fold(user, |user, id| user.account(id, "LPA", "QAZZ7777"));
    let world = World::empty().user(user);
    let latency = Duration::from_millis(150);
    Ok(Fake::builder()
        .profile(profile)
        .world(world)
        .latency(latency)
        .start()
        .await?)
}

fn accounts() -> Vec<String> {
    (1..=ACCOUNTS)
        .map(|number| format!("envd-{number:03}"))
        .collect()
}

async fn until(what: &str, is_so: impl Fn() -> bool) -> Result<(), Failure> {
    until_async(what, || async { Ok(is_so()) }).await
}

async fn until_async<F>(what: &str, is_so: impl Fn() -> F) -> Result<(), Failure>
where
    F: Future<Output = Result<bool, Failure>>,
{
    let polling = async {
        while !is_so().await? {
            sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    };
    timeout(LIMIT, polling)
        .await
        .map_err(|_| format!("the hosts take too long until {what}"))?
}
