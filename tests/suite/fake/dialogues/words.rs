//! The words of the dialogues.

use std::time::Duration;

use envd_sdk::fake::controls::{Assumptions, Deleted, TotalCount};
use envd_sdk::profile::{ComparedDate, ListOrder, Lists};
use serde::de::DeserializeOwned;
use test_support::script::{Argument, Refusal, Rest, Words};
use test_support::words;

words! {
    "setting";
    pub(super) enum Setting {
        AccessTokenLifetime(Duration) = "access_token_lifetime",
        Accreditation(String, YesNo) = "accreditation",
        ClientAssertions = "client_assertions",
        ClientSecret(String) = "client_secret",
        Clock(String) = "clock",
        CodeLifetime(Duration) = "code_lifetime",
        FirstPage(u32) = "first_page",
        NoConsignments = "no_consignments",
        RefreshOverlap(Duration) = "refresh_overlap",
        RefreshTokenLifetime(Duration) = "refresh_token_lifetime",
        RegisterToken(String) = "register_token",
        ReturnTo(String) = "return_to",
        SampleAnd(Rest) = "sample_and",
        Producer = "user producer",
        Receiver = "user receiver",
    }
}

words! {
    "step";
    /// A step other than a request. A change of the website happens a minute after the previous event, except with `also_change`.
    pub(super) enum Verb {
        Accepted(String) = "accepted",
        Authorize(Rest) = "authorize",
        Approve(String) = "approve",
        Claims(String) = "claims",
        Consent(Rest) = "consent",
        Deny(String) = "deny",
        Held(String) = "held",
        Jwt(Rest) = "jwt",
        Refuse(Rest) = "refuse",
        RequestsForTokens = "requests_for_tokens",
        Typed(String) = "typed",
        Unsigned(String) = "unsigned",
        Advance(Duration) = "advance",
        Assume(Assumption) = "assume",
        BeforeList(String, usize, EarlyEdit) = "before_list",
        DenyLogins(YesNo) = "deny_logins",
        Expire = "expire",
        Restore(String) = "restore",
        Revoke(String) = "revoke",
        RevokeLogins = "revoke_logins",
        Token(String) = "token",
        Withdraw(String) = "withdraw",
        Change(String, Rest) = "change",
        AlsoChange(String, Rest) = "also_change",
        Delete(String) = "delete",
        Insert(String, Rest) = "insert",
    }
}

words! {
    "edit";
    pub(super) enum EarlyEdit {
        Insert(Rest) = "insert",
        Change(String, Rest) = "change",
    }
}

words! {
    "word";
    pub(super) enum YesNo {
        Yes = "yes",
        No = "no",
    }
}

words! {
    "assumption";
    pub(super) enum Assumption {
        Nothing = "nothing",
        Order(Named<ListOrder>) = "order",
        Comparing(Named<ComparedDate>) = "comparing",
        CursorsByPosition = "cursors_by_position",
        Lag(usize) = "lag",
        Deleted(Deletion) = "deleted",
        Total(Total) = "total",
    }
}

words! {
    "kind";
    pub(super) enum Deletion {
        Filtered = "filtered",
        Hidden = "hidden",
        Listed = "listed",
    }
}

words! {
    "total";
    pub(super) enum Total {
        Exact = "exact",
        Null = "null",
        Fixed(i32) = "fixed:",
        OffBy(i32) = "off_by:",
    }
}

/// A value by its name in a profile.
#[derive(Clone, Debug)]
pub(super) struct Named<T>(T);

impl<T: DeserializeOwned> Argument for Named<T> {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        let word = words.next("a name")?;
        // The error lists the names.
        let value = serde_json::from_value(word.into());
        value
            .map(Self)
            .map_err(|error| Refusal::new(error.to_string()))
    }
}

impl YesNo {
    pub(super) fn is_yes(&self) -> bool {
        matches!(self, Self::Yes)
    }
}

impl Assumption {
    pub(super) fn assumptions(self) -> Assumptions {
        let all = Assumptions::default();
        match self {
            Self::Nothing => all,
            Self::Order(Named(order)) => all.lists(Lists::default().ordered(order)),
            Self::Comparing(Named(date)) => all.lists(Lists::default().comparing(date)),
            Self::CursorsByPosition => all.cursors_by_position(),
            Self::Lag(lists) => all.list_lag(lists),
            Self::Deleted(Deletion::Filtered) => all.deleted(Deleted::Filtered),
            Self::Deleted(Deletion::Hidden) => all.deleted(Deleted::Hidden),
            Self::Deleted(Deletion::Listed) => all.deleted(Deleted::Listed),
            Self::Total(Total::Exact) => all.total_count(TotalCount::Exact),
            Self::Total(Total::Null) => all.total_count(TotalCount::Null),
            Self::Total(Total::Fixed(number)) => all.total_count(TotalCount::Fixed(number)),
            Self::Total(Total::OffBy(number)) => all.total_count(TotalCount::OffBy(number)),
        }
    }
}
