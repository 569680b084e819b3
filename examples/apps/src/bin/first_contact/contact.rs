//! The state of a run: the client, the profile so far, the findings and the shapes of the replies.

use std::collections::BTreeMap;
use std::error::Error;
use std::iter;

use envd_sdk::auth::{StaticToken, TokenManager};
use envd_sdk::profile::{ServiceProfile, Sourced};
use envd_sdk::register::RegisterBuilder;
use envd_sdk::{AccountClient, Call, Client, ClientBuilder, ErrorKind};
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::cli::{self, Failure};
use super::finding::{Finding, Verdict};
use super::settings::Settings;
use super::shape::{self, Samples, Words};
use super::table::Columns;

pub(crate) struct Contact<'a> {
    settings: &'a Settings,
    manager: Option<TokenManager>,
    pub(crate) client: Client,
    /// Set after the query of the user.
    pub(crate) account: Option<AccountClient>,
    /// The schema of the service, if it permits introspection.
    pub(crate) schema: Option<String>,
    pub(crate) words: Words,
    profile: ServiceProfile,
    findings: Vec<Finding>,
    samples: Samples,
    replies: BTreeMap<String, Value>,
    has_failed: bool,
}

impl<'a> Contact<'a> {
    /// Starts with the profile of the file, if there is one, and the roles of the arguments.
    pub(crate) fn new(
        settings: &'a Settings,
        profile: Option<ServiceProfile>,
        client: ClientBuilder,
        manager: Option<TokenManager>,
        arguments: &Arguments,
    ) -> Result<Self, Failure> {
        let mut profile = profile.unwrap_or_else(|| settings.profile().clone());
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
            schema: None,
            words: Words::new(&profile)?,
            profile,
            findings: Vec::new(),
            samples: Samples::default(),
            replies: BTreeMap::new(),
            has_failed: false,
        })
    }

    /// The profile, including the differences that the client has detected.
    pub(crate) fn profile(&self) -> ServiceProfile {
        let mut profile = self.profile.clone();
        profile.operations = self.client.profile().operations;
        profile
    }

    /// Changes the profile, which later queries then use.
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

    /// The register, with or without the user's token.
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

    /// Reports a result, and adds it to the profile if it is new.
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
            words: String::new(),
            verdict,
            entry: entry.to_owned(),
        });
    }

    /// Adds the text of the service to the last finding.
    pub(crate) fn quote(&mut self, words: String) {
        if let Some(finding) = self.findings.last_mut() {
            finding.words = words;
        }
    }

    /// Reports a failed query. Returns an error if further queries would fail too.
    pub(crate) fn fail(
        &mut self,
        what: (&str, &str),
        assumed: &str,
        error: envd_sdk::Error,
    ) -> Result<(), Failure> {
        self.has_failed = true;
        let mut found = cli::printable(&error);
        // The refusal of a token may be the source of the error that no other token is available.
        let layers = iter::successors(Some(&error as &dyn Error), |error| (**error).source());
        let layers: Vec<&envd_sdk::Error> = layers.filter_map(|it| it.downcast_ref()).collect();
        let status = layers.iter().find_map(|error| error.http_status());
        let status = status.map(|status| format!("HTTP {status}"));
        if let Some(status) = status.filter(|status| !found.contains(status)) {
            found = format!("{found} ({status})");
        }
        self.tell(what, assumed, found, Verdict::Look);
        let reports: Vec<String> = layers.iter().map(|error| error.report()).collect();
        let words = reports.iter().flat_map(|report| report.lines().skip(1));
        let words: Vec<&str> = words.map(str::trim).collect();
        self.quote(words.join("; "));
        // After a successful query the token is valid: the service then refuses only this operation.
        let is_token = error.kind() == ErrorKind::Unauthorized || error.is_reauth_required();
        if matches!(
            error.kind(),
            ErrorKind::Connect | ErrorKind::Timeout | ErrorKind::Transport
        ) || (is_token && self.replies.is_empty())
        {
            return Err(error.into());
        }
        Ok(())
    }

    /// Runs one of our queries, reports whether the service works as assumed, and keeps the shape of the reply.
    pub(crate) async fn ask<T: Send + 'static>(
        &mut self,
        operation: &str,
        call: impl Fn(&Client, &AccountClient) -> Call<envd_sdk::Outcome<T>>,
    ) -> Result<Option<T>, Failure> {
        let nobody = self.client.account("");
        let account = self.account.clone().unwrap_or(nobody);
        let asked = call(&self.client, &account).await;
        let entry = format!("operations.{operation}");
        let what = (operation, entry.as_str());
        let answer = match asked {
            Ok(outcome) => outcome.value,
            Err(error) => {
                self.fail(what, "our document", error)?;
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
    fn keep(&mut self, name: &str, reply: &Value) {
        let shape = self.samples.of(&self.words, true, "", reply);
        self.replies.insert(name.to_owned(), shape);
    }

    /// Keeps the shape of a reply of the register.
    pub(crate) fn keep_of_register(&mut self, name: &str, reply: &Value) {
        let shape = self.samples.of(&self.words, false, "", reply);
        self.replies.insert(name.to_owned(), shape);
    }

    pub(crate) fn replies(&self) -> &BTreeMap<String, Value> {
        &self.replies
    }

    /// Prints the findings, as a table or as JSON.
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
            let found = match finding.words.as_str() {
                "" => finding.found.clone(),
                words => format!("{}; {words}", finding.found),
            };
            println!("{}", columns.line(cells, cli::printable(found)));
        }
        let changed = self
            .findings
            .iter()
            .filter(|finding| finding.verdict == Verdict::Changed);
        let entries: Vec<&str> = changed.map(|finding| finding.entry.as_str()).collect();
        match entries.as_slice() {
            // Unanswered queries may differ from the assumptions, so do not say that all is as assumed.
            [] if self.has_failed => println!("\nThe profile has no new entries."),
            [] => println!("\nThe service behaves as this profile says."),
            entries => println!("\nThe profile has new entries: {}.", entries.join(", ")),
        }
        Ok(())
    }

    /// The findings and the shapes of the replies, without values of records.
    pub(crate) fn report(&self) -> String {
        let mut report: Vec<String> = self
            .findings
            .iter()
            .map(|found| {
                let verdict = found.verdict.as_str();
                let line = format!(
                    "{}: {} ({verdict}; {})",
                    found.what, found.found, found.entry
                );
                cli::printable(line)
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
