//! Declarations in a farmer's words: their states, and the effect of each answer to a question.

use chrono::{DateTime, FixedOffset, NaiveDate};

use super::decision::Decision;
use super::declaration::{Declaration, DeclarationState, Wanted};
use super::row::Reason;
use envd_sdk::model::Timestamp;

impl Declaration {
    /// Where it is, in a farmer's words, for a list on a screen: the declaration, the event, its time, and the question.
    ///
    /// Times are those of the eastern states without daylight saving (AEST).
    ///
    /// ```
    /// # test_support::example(async {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    /// # use envd_sync::{Outbox, Replica};
    /// # let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"))
    /// #     .movement("2099-01-15", "05:15");
    /// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
    /// let written = outbox.submit(input).await?;
    /// assert_eq!(
    ///     written.sentence(),
    ///     "Waiting to be sent: the declaration from QAZZ7777 to QDZZ3333 for 15 January 2099"
    /// );
    /// outbox.send().await?;
    /// let sent = outbox.declaration(written.id).await?.ok_or("it is gone")?;
    /// assert!(sent.sentence().starts_with("Submitted as C-"));
    /// # Ok(()) });
    /// ```
    #[must_use]
    pub fn sentence(&self) -> String {
        let it = self.name();
        let time = self.last_time();
        match self.reason {
            _ if self.state == DeclarationState::Confirmed => self.confirmed(),
            Some(Reason::Refused) => {
                format!("Refused by the service{time}: please correct {it}, or send it once more")
            }
            Some(Reason::OutcomeUnknown) => format!(
                "Sent, but no answer came{time}: looking on the website for {it} before it is sent again"
            ),
            Some(Reason::ReadFailed) => {
                format!("The service gave no usable answer{time} about {it}: trying again")
            }
            Some(Reason::ServiceUnresponsive) => format!(
                "The service has given no usable answer about {it} for too long{}: try again?",
                self.first_try()
            ),
            Some(Reason::NoReception) => match &self.trouble {
                Some(trouble) => format!("Waiting: {it}. {trouble}"),
                None => format!("Waiting for reception: {it}"),
            },
            Some(Reason::LoginNeeded) => format!("Waiting until you log in again: {it}"),
            Some(Reason::WaitsForAnother) => {
                format!("Waiting until it is known what became of another new declaration: {it}")
            }
            Some(Reason::AnotherUser) => format!(
                "Not sent: {} wrote {it}, and another user is logged in now. Send it as yourself, or should {0} log in again?",
                self.writers.join(", ")
            ),
            Some(Reason::Conflict) => format!(
                "Someone changed {it} on the website after you wrote yours; noticed{time}. Nothing was sent. {}",
                match self.wanted {
                    Wanted::Delete => "Delete it anyway?",
                    _ => "Which one counts?",
                }
            ),
            Some(Reason::NotADraft) if self.wanted == Wanted::Withdraw => format!(
                "Others may rely on {it}, which is submitted on the website; noticed{time}. Make it a draft again?"
            ),
            Some(Reason::NotADraft) => format!(
                "On the website {it} is submitted or locked; noticed{time}. Nothing was sent. {} anyway?",
                self.action()
            ),
            Some(Reason::Gone) => format!(
                "The website does not show {it} any more; noticed{time}. Someone may have deleted it. Make it again?"
            ),
            Some(Reason::Candidates) => match self.candidates.len() {
                1 => format!(
                    "The website has a record that may be {it}; noticed{time}. Is it the same one, or is yours to be made as well?"
                ),
                several => format!(
                    "The website has {several} records that may be {it}; noticed{time}. Is one of them the same, or is yours to be made as well?"
                ),
            },
            Some(Reason::OtherRecord) => format!(
                "The service answered{time} with another record than {it}. Is that one yours?"
            ),
            Some(Reason::NotAdopted) => format!(
                "The record that you chose for {it} is gone, or belongs to another declaration here. Which one is it?"
            ),
            Some(Reason::NotAfterPassed) => format!(
                "Too late for {it}: it was to be sent by {}, and was not. Send it anyway?",
                self.not_after.as_ref().map(spoken).unwrap_or_default()
            ),
            Some(Reason::MovementPassed) => {
                format!("The day of the movement is over: send {it} anyway?")
            }
            Some(Reason::MovementUnreadable) => format!(
                "The day of the movement, “{}”, cannot be read: please correct {it}",
                self.movement_day().unwrap_or_default()
            ),
            Some(Reason::FormRetired) => format!(
                "The service does not accept the form of {it} for new declarations any more: please choose another form"
            ),
            Some(Reason::TookTheirs) => {
                format!("Discarded{time}: the website's {it} counts, and yours was not sent")
            }
            Some(Reason::GivenUp) => format!("Discarded{time}: {it}"),
            None => match (self.state, self.wanted) {
                (DeclarationState::Discarded, _) => format!("Discarded{time}: {it}"),
                (DeclarationState::Sending, _) => format!("Being sent: {it}"),
                (_, Wanted::Withdraw) => {
                    format!("Submitted, and waiting to be made a draft again: {it}")
                }
                (_, Wanted::Delete) => format!("Waiting to be deleted: {it}"),
                _ => format!("Waiting to be sent: {it}"),
            },
        }
    }

    /// What a decision will do, in a farmer's words, for its button. It speaks of the question as it was when this was read.
    ///
    /// ```
    /// # test_support::example(async {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    /// # use envd_sync::{Outbox, Replica};
    /// # let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
    /// # fake.on_operation("CreateOrSaveConsignment").refuse("003", "the service is being moved");
    /// let id = outbox.save(input).await?.id;
    /// outbox.send().await?;
    /// let refused = outbox.declaration(id).await?.ok_or("it is gone")?;
    /// for decision in refused.decisions() {
    ///     println!("{decision}: {}", refused.consequence(&decision));
    /// }
    /// # let resend = envd_sync::outbox::Decision::Resend;
    /// # assert_eq!(refused.consequence(&resend), "The same text is sent once more.");
    /// # Ok(()) });
    /// ```
    #[must_use]
    pub fn consequence(&self, decision: &Decision) -> String {
        let submits = match self.wanted {
            Wanted::Submit => ", and submitted",
            _ => "",
        };
        match (decision, self.reason) {
            (Decision::KeepMine, Some(Reason::Conflict | Reason::NotADraft)) => self.overwrite(),
            (Decision::KeepMine, Some(Reason::Gone)) => {
                format!("It is made again on the website under a new number{submits}.")
            }
            (Decision::KeepMine, Some(Reason::MovementUnreadable)) => {
                "It is sent with this day. The service may refuse it.".to_owned()
            }
            (Decision::KeepMine, Some(Reason::FormRetired)) => {
                "It is sent with this form. The service may refuse it.".to_owned()
            }
            (Decision::KeepMine, _) => format!(
                "{} unchanged, although it is late.",
                match self.wanted {
                    Wanted::Submit => "It is sent and submitted",
                    _ => "It is sent",
                }
            ),
            (Decision::TakeTheirs, Some(Reason::Gone)) => {
                "It stays gone from the website. Yours is discarded and not sent.".to_owned()
            }
            (Decision::TakeTheirs, _) if self.wanted == Wanted::Delete => {
                "It stays on the website unchanged. Your delete is discarded.".to_owned()
            }
            (Decision::TakeTheirs, _) => {
                "The website's text stays unchanged. Yours is discarded and not sent.".to_owned()
            }
            (Decision::Resend, Some(Reason::Refused)) => {
                "The same text is sent once more.".to_owned()
            }
            (Decision::Resend, Some(Reason::ServiceUnresponsive)) => {
                "The website is looked at once more; what is not there is sent again.".to_owned()
            }
            (Decision::Resend, _) if self.consignment.is_some() => {
                "That record is not yours: the same text is sent to yours once more.".to_owned()
            }
            (Decision::Resend, _) if self.wanted == Wanted::Delete => {
                "That is not yours: nothing is deleted, unless yours is found after all.".to_owned()
            }
            (Decision::Resend, _) => {
                format!("That is not yours: a new one is made on the website{submits}.")
            }
            (Decision::Adopt(id), _) => format!(
                "The record {id} is taken for yours. If it is not as you wrote it, you are asked which one counts."
            ),
            (Decision::SendAsMe, _) => format!(
                "It is sent under your login{submits}, as if you had written it yourself."
            ),
            (Decision::Discard, _) if self.row.is_expecting() => {
                "Your words here are discarded. Nothing is deleted on the website. An earlier request may still arrive there: you will see it here."
                    .to_owned()
            }
            (Decision::Discard, _) if self.wanted == Wanted::Delete => {
                "Your delete is discarded, and nothing is deleted on the website.".to_owned()
            }
            (Decision::Discard, _) => {
                "Your words here are discarded and not sent. Nothing is deleted on the website."
                    .to_owned()
            }
        }
    }

    /// The effect of keep-mine on a record that another user changed or submitted.
    fn overwrite(&self) -> String {
        let is_submitted = self.reason == Some(Reason::NotADraft);
        match (self.wanted, is_submitted) {
            (Wanted::Delete, false) => {
                "It is deleted on the website, with the changes that someone made there.".to_owned()
            }
            (Wanted::Delete, true) => {
                "It is deleted on the website although it is submitted or locked. The service may refuse that."
                    .to_owned()
            }
            (Wanted::Withdraw, _) => {
                "It becomes a draft on the website, with your text: it no longer counts as submitted.".to_owned()
            }
            (Wanted::Save, true) => {
                "Your text replaces the one on the website, which stays submitted. The service may refuse that."
                    .to_owned()
            }
            (Wanted::Submit, true) => {
                "Your text replaces the one on the website, and is submitted in its place. The service may refuse that."
                    .to_owned()
            }
            (Wanted::Save, false) => {
                "Your text replaces the one on the website. Changes that someone made there to the same fields are lost."
                    .to_owned()
            }
            (Wanted::Submit, false) => {
                "Your text replaces the one on the website, and is submitted. Changes that someone made there to the same fields are lost."
                    .to_owned()
            }
        }
    }

    fn action(&self) -> &'static str {
        match self.wanted {
            Wanted::Delete => "Delete it",
            Wanted::Submit => "Submit yours in its place",
            Wanted::Save | Wanted::Withdraw => "Change it",
        }
    }

    fn confirmed(&self) -> String {
        let number = self.number.as_ref();
        let problems = if self.is_adopted {
            ", problems unknown"
        } else if self.findings.is_empty() {
            ""
        } else {
            ", with problems"
        };
        let known = |what: &str| match number {
            Some(number) => format!("{what} ({number}){problems}"),
            None => format!("{what}{problems}"),
        };
        match (self.wanted, number) {
            (Wanted::Save, _) if self.row.may_be_submitted() => {
                known("Changed, and still submitted")
            }
            (Wanted::Save, _) => known("Saved as a draft"),
            (Wanted::Submit, Some(number)) => format!("Submitted as {number}{problems}"),
            (Wanted::Submit, None) => known("Submitted"),
            (Wanted::Withdraw, _) => known("A draft again"),
            (Wanted::Delete, _) => format!("Deleted: {}", self.name()),
        }
    }

    /// Which declaration it is: its number, or where it goes.
    fn name(&self) -> String {
        if let Some(number) = &self.number {
            return number.to_string();
        }
        let pics = self.input.as_ref().and_then(|input| {
            let from = input.origin.pic.value()?;
            let to = input.destination.pic.value()?;
            Some(format!(" from {from} to {to}"))
        });
        let day = self.movement_day().and_then(|day| spoken_day(&day));
        let day = day.map(|day| format!(" for {day}"));
        let what = if self.consignment.is_some() || pics.is_some() {
            "the declaration"
        } else {
            "a declaration"
        };
        format!(
            "{what}{}{}",
            pics.unwrap_or_default(),
            day.unwrap_or_default()
        )
    }

    /// The day of the movement, in the form that the user wrote.
    fn movement_day(&self) -> Option<String> {
        let input = self.input.as_ref()?;
        input.movement_date.value().cloned()
    }

    /// When the last event happened.
    fn last_time(&self) -> String {
        let last = self.history.last();
        last.map_or_else(String::new, |event| format!(" at {}", spoken(&event.at)))
    }

    /// Since when it was tried.
    fn first_try(&self) -> String {
        let mut tried = self
            .history
            .iter()
            .filter(|event| event.event == "marked" || event.event == "unclear");
        tried.next().map_or_else(String::new, |event| {
            format!(", since {}", spoken(&event.at))
        })
    }
}

/// An instant for people, in the time of Brisbane.
fn spoken(at: &Timestamp) -> String {
    let instant = DateTime::parse_from_rfc3339(at.as_str()).ok();
    let east = FixedOffset::east_opt(10 * 60 * 60);
    let Some((instant, east)) = instant.zip(east) else {
        return at.to_string();
    };
    let instant = instant.with_timezone(&east);
    instant.format("%-I:%M %P AEST on %-d %B %Y").to_string()
}

/// A day for people; `None`: it cannot be read.
fn spoken_day(day: &str) -> Option<String> {
    let day = NaiveDate::parse_from_str(day.get(..10)?, "%Y-%m-%d").ok()?;
    Some(day.format("%-d %B %Y").to_string())
}
