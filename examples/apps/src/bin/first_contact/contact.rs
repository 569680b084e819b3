//! The conversation with a service: its client, the profile so far, the findings and the shapes of the replies.

use std::collections::BTreeMap;
use std::fs;

use envd_sdk::auth::{StaticToken, TokenManager};
use envd_sdk::profile::{ServiceProfile, Sourced};
use envd_sdk::register::RegisterBuilder;
use envd_sdk::{Account, Call, Client, ClientBuilder};
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::cli::{self, Failure};
use super::finding::{Finding, Verdict};
use super::settings::Settings;
use super::shape::{self, Samples};
use super::table::Columns;

pub(crate) struct Contact<'a> {
    settings: &'a Settings,
    manager: Option<TokenManager>,
    pub(crate) client: Client,
    /// Known once the user is.
    pub(crate) account: Option<Account>,
    profile: ServiceProfile,
    findings: Vec<Finding>,
    samples: Samples,
    replies: BTreeMap<String, Value>,
}

impl<'a> Contact<'a> {
    /// With the profile of the file, if it is there, and the roles of the arguments.
    pub(crate) fn new(
        settings: &'a Settings,
        client: ClientBuilder,
        manager: Option<TokenManager>,
        arguments: &Arguments,
    ) -> Result<Self, Failure> {
        let mut profile = settings.profile().clone();
        if let Some(file) = arguments.profile.as_ref().filter(|file| file.exists()) {
            let text = fs::read_to_string(file)?;
            let read = ServiceProfile::from_json(&text);
            profile = read.map_err(|error| format!("{}: {error}", file.display()))?;
        }
        if !arguments.roles.is_empty() {
            let roles = profile
                .roles
                .value
                .into_iter()
                .chain(arguments.roles.clone());
            profile.roles = Sourced::seen(roles.collect());
        }
        Ok(Self {
            settings,
            manager,
            client: client.profile(&profile).build()?,
            account: None,
            profile,
            findings: Vec::new(),
            samples: Samples::default(),
            replies: BTreeMap::new(),
        })
    }

    /// The profile, with what the client has learned.
    pub(crate) fn profile(&self) -> ServiceProfile {
        let mut profile = self.profile.clone();
        profile.operations = self.client.profile().operations;
        profile
    }

    /// Changes the profile; further questions go by it.
    pub(crate) fn change(
        &mut self,
        change: impl FnOnce(&mut ServiceProfile),
    ) -> Result<(), Failure> {
        self.profile = self.profile();
        change(&mut self.profile);
        let client = Client::builder(self.settings.graphql_url()?).profile(&self.profile);
        let client = client.clock(self.settings.clock());
        let client = match &self.manager {
            Some(manager) => client.token_source(manager.clone()),
            None => client.token_source(token()?),
        };
        self.client = client.build()?;
        let id = self.account.as_ref().map(|account| account.id().clone());
        self.account = id.map(|id| self.client.account(id));
        Ok(())
    }

    /// The register, with the token of the user or without.
    pub(crate) fn register(&self, has_token: bool) -> Result<RegisterBuilder, Failure> {
        let register = self
            .settings
            .register_without_token()?
            .profile(&self.profile);
        Ok(match &self.manager {
            _ if !has_token => register,
            Some(manager) => register.token_source(manager.clone()),
            None => register.token_source(token()?),
        })
    }

    /// Says what was found, and keeps it if the profile did not say so already.
    pub(crate) fn settle(
        &mut self,
        what: (&str, &str),
        assumed: impl Into<String>,
        found: impl Into<String>,
        change: impl FnOnce(&mut ServiceProfile),
    ) -> Result<(), Failure> {
        let before = self.profile();
        self.change(change)?;
        let verdict = if self.profile == before {
            Verdict::AsAssumed
        } else {
            Verdict::Changed
        };
        self.tell(what, assumed, found, verdict);
        Ok(())
    }

    pub(crate) fn tell(
        &mut self,
        (what, entry): (&str, &str),
        assumed: impl Into<String>,
        found: impl Into<String>,
        verdict: Verdict,
    ) {
        self.findings.push(Finding {
            what: what.to_owned(),
            assumed: assumed.into(),
            found: found.into(),
            verdict,
            entry: entry.to_owned(),
        });
    }

    /// Asks one of our queries, says whether the service has it as it is assumed, and keeps the shape of the reply.
    pub(crate) async fn ask<T: Send + 'static>(
        &mut self,
        operation: &str,
        call: impl Fn(&Client, &Account) -> Call<envd_sdk::Outcome<T>>,
    ) -> Result<Option<T>, Failure> {
        let nobody = self.client.account("");
        let account = self.account.clone().unwrap_or(nobody);
        let asked = call(&self.client, &account).await;
        let entry = format!("operations.{operation}");
        let what = (operation, entry.as_str());
        let answer = match asked {
            Ok(outcome) => outcome.value,
            Err(error) if error.is_unauthorized() || error.is_transport() => {
                return Err(error.into());
            }
            Err(error) => {
                self.tell(what, "our document", cli::printable(&error), Verdict::Look);
                return Ok(None);
            }
        };
        let said = self.profile.operations.get(operation).cloned();
        let learned = self.client.profile().operations.remove(operation);
        let differs = learned.filter(|learned| said.is_none_or(|said| said.value != learned.value));
        match differs {
            None => self.tell(what, "our document", "answered", Verdict::AsAssumed),
            Some(differs) => {
                let at = differs
                    .value
                    .record_at
                    .map(|at| format!("the record at {at}"));
                let without = differs.value.left_out;
                let without =
                    (!without.is_empty()).then(|| format!("without {}", without.join(", ")));
                let found: Vec<String> = at.into_iter().chain(without).collect();
                self.tell(what, "our document", found.join(", "), Verdict::Changed);
            }
        }
        let sent: Value = serde_json::from_str(&call(&self.client, &account).dry_run()?.body)?;
        let name = sent["operationName"].as_str().unwrap_or_default();
        let document = sent["query"].as_str().unwrap_or_default();
        let read = self
            .client
            .execute_document::<Value>(document, name, &sent["variables"]);
        if let Ok(reply) = read.await {
            self.keep(name, &json!({"data": reply.value}));
        }
        Ok(Some(answer))
    }

    /// Keeps the shape of a reply.
    pub(crate) fn keep(&mut self, name: &str, reply: &Value) {
        let shape = self.samples.of("", reply);
        self.replies.insert(name.to_owned(), shape);
    }

    pub(crate) fn replies(&self) -> &BTreeMap<String, Value> {
        &self.replies
    }

    /// The findings, on the screen or for a program.
    pub(crate) fn show(&self, is_json: bool) -> Result<(), Failure> {
        if is_json {
            for finding in &self.findings {
                cli::announce(&finding.to_json())?;
            }
            return Ok(());
        }
        let columns = Columns::new([24, 11, 28]);
        println!(
            "{}",
            columns.headings(["WHAT", "VERDICT", "ASSUMED"], "FOUND")
        );
        for finding in &self.findings {
            let cells = [&*finding.what, finding.verdict.as_str(), &finding.assumed];
            println!("{}", columns.line(cells, cli::printable(&finding.found)));
        }
        let changed = self
            .findings
            .iter()
            .filter(|finding| finding.verdict == Verdict::Changed);
        let entries: Vec<&str> = changed.map(|finding| finding.entry.as_str()).collect();
        match entries.as_slice() {
            [] => println!("\nThe service is as this profile says."),
            entries => println!("\nThe profile has new entries: {}.", entries.join(", ")),
        }
        Ok(())
    }

    /// The findings and the shapes of the replies, without a value of a record.
    pub(crate) fn report(&self) -> String {
        let mut report: Vec<String> = self
            .findings
            .iter()
            .map(|found| {
                let verdict = found.verdict.as_str();
                format!(
                    "{}: {} ({verdict}; {})",
                    found.what, found.found, found.entry
                )
            })
            .collect();
        for (name, reply) in &self.replies {
            report.push(String::new());
            let mut lines = Vec::new();
            shape::lines(name, reply, &mut lines);
            report.extend(lines);
        }
        report.join("\n") + "\n"
    }
}

fn token() -> Result<StaticToken, Failure> {
    let token = Settings::access_token().ok_or("there is no access token")?;
    Ok(StaticToken::new(&token)?)
}
