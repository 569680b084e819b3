//! The facts that the rules need (day, account, user), and the choices between readings of the specification.

use crate::model::{AccountId, Accreditations, Day, UserDetails};

/// Whether the consignment is new.
///
/// See [`Context`] for an example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// A new consignment; forms must be open on the day (spec 9.3, 9.4).
    #[default]
    Create,
    /// A change to an existing record; its forms may be closed for new consignments.
    Update,
}

/// Facts outside the consignment that the rules need: the day, the account and the user.
///
/// A rule whose fact is missing is not checked.
///
/// ```
/// use envd_sdk::model::Day;
/// use envd_sdk::validate::{Context, Operation};
///
/// let context = Context::on(Day::parse("2026-11-20")?)
///     .operation(Operation::Update)
///     .account_pic("QAZZ7777");
/// # let _ = context;
/// # Ok::<(), envd_sdk::model::TextError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Context {
    pub(super) today: Day,
    pub(super) operation: Operation,
    pub(super) account_pic: Option<String>,
    /// `None` if nothing is known about the user.
    pub(super) accreditations: Option<Accreditations>,
    pub(super) advice: bool,
}

impl Context {
    /// The rules of this day, for a new consignment and without facts about the user.
    pub fn on(today: Day) -> Self {
        Self {
            today,
            operation: Operation::Create,
            account_pic: None,
            accreditations: None,
            advice: false,
        }
    }

    /// As [`on`](Self::on), with the [accreditations](UserDetails::accreditations_of) that the user has for an account.
    ///
    /// User details do not include the PIC of an account (spec 2.8): set [`account_pic`](Self::account_pic) if you know it.
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::model::{ConsignmentInput, Day, FormType, PartyInput};
    /// use envd_sdk::ops::AccountChoice;
    /// use envd_sdk::validate::{Context, validate_fields};
    ///
    /// let fake = envd_sdk::fake::Fake::builder().accreditation("eU", false).start().await?;
    /// let client = fake.client().build()?;
    /// let user = client.registered_user().await?.value;
    /// let account = client.account(AccountChoice::Default.among(&user)?);
    ///
    /// let context = Context::of(&user, &account, Day::parse("2026-11-20")?).account_pic("QAZZ7777");
    /// let origin = PartyInput::new("QAZZ7777");
    /// let destination = PartyInput::new("QDZZ3333");
    /// let input = ConsignmentInput::new([FormType::Euc1], origin, destination);
    /// assert!(!validate_fields(&input, &context).is_valid());
    /// # Ok(()) });
    /// ```
    pub fn of(user: &UserDetails, account: impl Into<AccountId>, today: Day) -> Self {
        Self {
            accreditations: user.accreditations_of(account),
            ..Self::on(today)
        }
    }

    /// Whether the consignment is new; [`Operation::Create`] unless set.
    #[must_use]
    pub fn operation(mut self, operation: Operation) -> Self {
        self.operation = operation;
        self
    }

    /// The PIC of the selected LPA account: the origin must have the same PIC (spec 7.2).
    #[must_use]
    pub fn account_pic(mut self, pic: impl Into<String>) -> Self {
        self.account_pic = Some(pic.into());
        self
    }

    /// The accreditations of the user, which [`of`](Self::of) takes from the user details. A form of a program that the user is
    /// not accredited for is an error (spec 1.3).
    ///
    /// Forms of the LPA program need `lPA`, EUC1 also `eU`, LPAHRG0 also `hRG` (spec 2.8, 9.3), MSAC1 `mSA`, and those of
    /// the NFAS program `nFAS`. A form is an error only if an accreditation is false; `hRG`, however, must be true.
    /// See [`Policy::accreditations_are_advice`](super::Policy::accreditations_are_advice).
    #[must_use]
    pub fn accreditations(mut self, accreditations: &Accreditations) -> Self {
        self.accreditations = Some(accreditations.clone());
        self
    }

    /// Whether to collect advice; off unless set. Advice covers answers that are ignored, and values that a person would query:
    /// a head count of "two dozen", no animals, a movement years ago, a PIC that looks mistyped.
    #[must_use]
    pub fn advice(mut self, wanted: bool) -> Self {
        self.advice = wanted;
        self
    }
}
/// Choices where the specification is open; the documentation of this module describes the defaults.
///
/// ```
/// use envd_sdk::model::{AnswerInput, ConsignmentInput, FormType, PartyInput, Question};
/// use envd_sdk::validate::{Explanation, Policy, Questionnaire};
///
/// let questions: Vec<Question> = serde_json::from_str(
///     r#"[{"id": "17", "forms": ["LPAC1"], "type": "STRING", "childQuestions": [
///           {"id": "20", "type": "STRING", "triggers": [{"questionId": "17", "value": "No"}]}]},
///         {"id": "30", "forms": ["LPAC1"], "type": "STRING",
///          "triggers": [{"questionId": "20", "value": "bought"}]}]"#,
/// )?;
/// // Question 20 no longer applies, but its answer is still there.
/// let origin = PartyInput::new("QAZZ7777");
/// let destination = PartyInput::new("QDZZ3333");
/// let input = ConsignmentInput::new([FormType::Lpac1], origin, destination)
///     .answer(AnswerInput::new("17", "Yes"))
///     .answer(AnswerInput::new("20", "bought"));
///
/// let explain = |policy| Questionnaire::prepare_with(&questions, policy).explain("30", None, &input);
/// assert_ne!(explain(Policy::default()), Explanation::Applies);
/// let counting = Policy::default().stale_answers_count(true);
/// assert_eq!(explain(counting), Explanation::Applies);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Policy {
    pub(super) stale_answers_count: bool,
    pub(super) accreditations_are_advice: bool,
}

impl Policy {
    /// Whether a stale answer still triggers other questions, after a change to its parent or trigger made its own question not
    /// apply. Off unless set. assumed: the specification does not say.
    ///
    /// Answers to questions of other forms never trigger anything. [`prune`](super::Questionnaire::prune) keeps stale answers
    /// that trigger others.
    #[must_use]
    pub fn stale_answers_count(mut self, count: bool) -> Self {
        self.stale_answers_count = count;
        self
    }

    /// Whether a form that the user is not accredited for is advice instead of an error. assumed: spec 1.3 says that users
    /// create forms only of programs that they are accredited for, but shows the server checking an accreditation for LPAHRG0
    /// only.
    ///
    /// [`validate_fields`](super::validate_fields) takes no policy; there, leave the accreditations out of the context.
    #[must_use]
    pub fn accreditations_are_advice(mut self, advice: bool) -> Self {
        self.accreditations_are_advice = advice;
        self
    }
}
