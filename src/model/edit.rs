//! Converts a record to the input that saves it, in the formats of section 2 of the specification, and lists what is lost.

use super::{
    Address, AddressInput, Answer, AnswerInput, Consignment, ConsignmentForm, ConsignmentInput,
    ConsignmentSummary, Day, Declaration, DeclarationInput, FormType, Maybe, Party, PartyInput,
    Template, TemplateInput, Timestamp,
};

/// Converts all data that can be sent, in the formats of section 2 of the specification.
///
/// The record keeps its id and number, which identify it in a save (assumed). Parts without a field in the input are dropped;
/// [`not_carried_over`](Consignment::not_carried_over) lists them. A field that was not read, or was null, is not sent, so a
/// save leaves it unchanged (assumed). An answer without a row is sent with a null row, as in the samples (spec 2.4).
///
/// | field | sent value |
/// | --- | --- |
/// | `movement_date` | the day: `2023-06-10` for `2023-06-10T00:00:00`; a UTC instant within a day is unchanged |
/// | `movement_time` | hours and minutes: `05:15` for `05:15:00` |
/// | `declaration.date` | the digits of day, hours, minutes and seconds as written, without fraction and zone |
/// | `declaration.signature` | the Base64 text without the prefix `file:..;data:..;base64,` |
///
/// A text that does not have the format of its field is sent unchanged: the server and the validator report it. The same
/// applies to a `movement_date` such as `2026-11-22T13:00:00Z`, which may be midnight of the 23rd in Sydney.
///
/// Dates are never converted between time zones. The service treats a date without a zone as UTC, so a date with `Z` keeps its
/// instant, and no date moves to another day however often a record is read and saved.
///
/// ```
/// # test_support::example(async {
/// use envd_sdk::model::ConsignmentInput;
/// use envd_sdk::ops::ConsignmentFilter;
///
/// let fake = envd_sdk::fake::Fake::start().await;
/// let account = fake.client().build()?.account(fake.account_id());
/// let mut list = account.consignments(&ConsignmentFilter::default()).items();
/// let first = list.next().await.ok_or("none")??;
/// let consignment = account.consignment(first.id.ok_or("no id")?).await?.value;
///
/// let edited = ConsignmentInput::from(&consignment).movement("2026-12-01", "06:00");
/// assert_eq!(edited.id.value(), consignment.id.as_ref());
/// # Ok(()) });
/// ```
impl From<&Consignment> for ConsignmentInput {
    fn from(record: &Consignment) -> Self {
        let answers = record.answers.iter().map(AnswerInput::from).collect();
        let declaration = record.declaration.as_ref();
        Self {
            id: record.id.clone().into(),
            number: record.number.clone().into(),
            forms: forms(&record.forms),
            origin: party(record.origin.as_ref()),
            destination: party(record.destination.as_ref()),
            owner: record.owner.as_ref().map(PartyInput::from).into(),
            consignee: record.consignee.as_ref().map(PartyInput::from).into(),
            declaration: declaration.map(DeclarationInput::from).into(),
            movement_date: formed(record.movement_date.as_deref(), day),
            movement_time: formed(record.movement_time.as_deref(), time),
            status: record.status.clone().into(),
            // A list that was not read must not empty the one on the server.
            answers: if record.answers.is_empty() {
                Maybe::Absent
            } else {
                Maybe::Value(answers)
            },
        }
    }
}

/// Creates a new consignment with the forms and parties of a template. It has no id, so a save creates it.
///
/// The specification mentions the flow "create from a template" (4.1), but not its operation. It is implemented here: the
/// template's fields become an input, and the save creates a new consignment. Data that the server may store with a template
/// but does not return (answers, a declaration) is not included.
impl From<&Template> for ConsignmentInput {
    fn from(template: &Template) -> Self {
        Self {
            forms: forms(&template.forms),
            origin: party(template.origin.as_ref()),
            destination: party(template.destination.as_ref()),
            owner: template.owner.as_ref().map(PartyInput::from).into(),
            consignee: template.consignee.as_ref().map(PartyInput::from).into(),
            ..Self::default()
        }
    }
}

/// Converts all data that can be sent; the forms imply the species.
impl From<&Template> for TemplateInput {
    fn from(template: &Template) -> Self {
        Self {
            id: template.id.clone().into(),
            number: template.number.clone().into(),
            name: template.name.clone().into(),
            // As with the answers of a consignment.
            forms: if template.forms.is_empty() {
                Maybe::Absent
            } else {
                Maybe::Value(forms(&template.forms))
            },
            origin: template.origin.as_ref().map(PartyInput::from).into(),
            destination: template.destination.as_ref().map(PartyInput::from).into(),
            owner: template.owner.as_ref().map(PartyInput::from).into(),
            consignee: template.consignee.as_ref().map(PartyInput::from).into(),
        }
    }
}

impl From<&Party> for PartyInput {
    fn from(party: &Party) -> Self {
        Self {
            name: party.name.clone().into(),
            pic: party.pic.clone().into(),
            address: party.address.as_ref().map(AddressInput::from).into(),
        }
    }
}

impl From<&Address> for AddressInput {
    fn from(address: &Address) -> Self {
        Self {
            line1: address.line1.clone().into(),
            town: address.town.clone().into(),
            state: address.state.clone().into(),
            postcode: address.postcode.clone().into(),
        }
    }
}

impl From<&Answer> for AnswerInput {
    fn from(answer: &Answer) -> Self {
        Self {
            question_id: answer.question_id.clone().into(),
            index: answer.index.map_or(Maybe::Null, Maybe::Value),
            value: answer.value.clone().into(),
        }
    }
}

/// Date and signature in the formats of the specification (2.3), like the [`ConsignmentInput`] of a record.
impl From<&Declaration> for DeclarationInput {
    fn from(declaration: &Declaration) -> Self {
        Self {
            accept: declaration.accept.into(),
            full_name: declaration.full_name.clone().into(),
            phone: declaration.phone.clone().into(),
            email: declaration.email.clone().into(),
            date: formed(declaration.date.as_ref().map(Timestamp::as_str), date_time),
            signature: formed(declaration.signature.as_deref(), signature),
            certificate_number: declaration.certificate_number.clone().into(),
            address: declaration.address.as_ref().map(AddressInput::from).into(),
        }
    }
}

fn party(party: Option<&Party>) -> PartyInput {
    party.map(PartyInput::from).unwrap_or_default()
}

/// A text in the format for a save.
fn formed(text: Option<&str>, form: fn(&str) -> String) -> Maybe<String> {
    text.map(form).into()
}

fn forms(forms: &[ConsignmentForm]) -> Vec<FormType> {
    forms
        .iter()
        .filter_map(|form| form.form_type.clone())
        .collect()
}

impl ConsignmentSummary {
    /// The day of the movement as written; see [`Consignment::movement_day`].
    pub fn movement_day(&self) -> Option<Day> {
        read_day(self.movement_date.as_deref()?)
    }
}

impl ConsignmentInput {
    /// The day of the movement as written; see [`Consignment::movement_day`].
    pub fn movement_day(&self) -> Option<Day> {
        read_day(self.movement_date.value()?)
    }
}

impl Consignment {
    /// The day of the movement as written, without conversion between time zones. `None` if it is missing or cannot be parsed,
    /// or if it is a UTC instant within a day, which may be the next day in Australia.
    ///
    /// ```
    /// use envd_sdk::model::{Consignment, Day};
    ///
    /// let mut record = Consignment::default();
    /// record.movement_date = Some("2023-06-10T00:00:00".to_owned());
    /// assert_eq!(record.movement_day(), Day::new(2023, 6, 10));
    /// ```
    pub fn movement_day(&self) -> Option<Day> {
        read_day(self.movement_date.as_deref()?)
    }

    /// The fields of this record that an input created from it does not carry, by their wire names.
    ///
    /// The service generates most of them, such as `heads` and `updatedAt`. A lost list element is reported by its list, and a
    /// partly lost date or time by its field: a time in `movementDate`, seconds in `movementTime`, a fraction of a second or a
    /// zone other than UTC in `declaration.date`. Fields missing in the record are not listed.
    ///
    /// ```
    /// use envd_sdk::model::Consignment;
    ///
    /// let record: Consignment = serde_json::from_str(
    ///     r#"{"number": "C-900000101", "heads": 24, "movementDate": "2023-06-10T06:30:00"}"#,
    /// )?;
    /// assert_eq!(record.not_carried_over(), ["heads", "movementDate"]);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn not_carried_over(&self) -> Vec<&'static str> {
        let date = self.declaration.as_ref().and_then(|it| it.date.as_ref());
        let day = &self.movement_date;
        let time = &self.movement_time;
        let found = [
            ("species", self.species.is_some()),
            ("heads", self.heads.is_some()),
            ("pdfUrl", self.pdf_url.is_some()),
            ("createdBy", self.created_by.is_some()),
            ("updatedAt", self.updated_at.is_some()),
            ("updatedBy", self.updated_by.is_some()),
            ("submittedAt", self.submitted_at.is_some()),
            ("questions", !self.questions.is_empty()),
            ("movementDate", day.as_deref().is_some_and(loses_time)),
            ("movementTime", time.as_deref().is_some_and(loses_seconds)),
            ("declaration.date", date.is_some_and(loses_instant)),
        ];
        named(found).chain(of_forms(&self.forms)).collect()
    }
}

impl Template {
    /// The fields of this record that a [`TemplateInput`](super::TemplateInput) created from it does not carry, by their wire
    /// names. Fields missing in the record are not listed.
    ///
    /// ```
    /// use envd_sdk::model::Template;
    ///
    /// let record: Template = serde_json::from_str(r#"{"name": "To the yards", "species": "CATTLE"}"#)?;
    /// assert_eq!(record.not_carried_over(), ["species"]);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn not_carried_over(&self) -> Vec<&'static str> {
        let species = [("species", self.species.is_some())];
        named(species).chain(of_forms(&self.forms)).collect()
    }
}

fn named<const N: usize>(found: [(&'static str, bool); N]) -> impl Iterator<Item = &'static str> {
    found
        .into_iter()
        .filter_map(|(name, lost)| lost.then_some(name))
}

/// An input only names its forms, so a form without a name is lost completely.
fn of_forms(forms: &[ConsignmentForm]) -> impl Iterator<Item = &'static str> {
    let nameless = forms.iter().any(|form| form.form_type.is_none());
    let numbered = forms.iter().any(|form| form.serial_number.is_some());
    named([("forms", nameless), ("forms.serialNumber", numbered)])
}

fn loses_time(text: &str) -> bool {
    let clock = WrittenTime::read(text).and_then(|written| written.clock);
    read_day(text).is_some() && clock.is_some_and(|clock| !clock.is_midnight())
}

fn loses_seconds(text: &str) -> bool {
    read_time(text).is_some_and(|clock| !clock.has_whole_minutes())
}

fn loses_instant(date: &Timestamp) -> bool {
    let clock = WrittenTime::read(date.as_str()).and_then(|written| written.clock);
    clock.is_some_and(|clock| !clock.has_whole_seconds() || !clock.is_utc())
}

/// A day with a time, parsed from an ISO 8601 text. The zone is kept separate, and nothing is converted.
pub(super) struct WrittenTime<'a> {
    pub(super) day: Day,
    /// `None` if the text is a day only.
    pub(super) clock: Option<ClockTime<'a>>,
}

impl<'a> WrittenTime<'a> {
    /// Parses a day, optionally followed by `T` or a space and a time.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let (day, rest) = text.split_at_checked(10)?;
        let day = Day::parse(day).ok()?;
        let clock = match rest.strip_prefix(['T', 't', ' ']) {
            Some(time) => Some(ClockTime::read(time)?),
            None if rest.is_empty() => None,
            None => return None,
        };
        Some(Self { day, clock })
    }
}

/// A time of day: hours and minutes, optional seconds with a fraction, optional zone.
pub(super) struct ClockTime<'a> {
    minutes: &'a str,
    seconds: Option<&'a str>,
    fraction: &'a str,
    zone: &'a str,
}

impl<'a> ClockTime<'a> {
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let (minutes, mut rest) = text.split_at_checked(5)?;
        let (hour, minute) = minutes.split_once(':')?;
        (hour.len() == 2).then_some(())?;
        two_digits(hour, 24)?;
        two_digits(minute, 60)?;
        let mut seconds = None;
        let mut fraction = "";
        if let Some(after) = rest.strip_prefix(':') {
            let (found, after) = after.split_at_checked(2)?;
            two_digits(found, 60)?;
            seconds = Some(found);
            rest = after;
            if let Some(digits) = rest.strip_prefix('.') {
                let end = digits.find(|c: char| !c.is_ascii_digit());
                (fraction, rest) = digits.split_at(end.unwrap_or(digits.len()));
                (!fraction.is_empty()).then_some(())?;
            }
        }
        is_zone(rest).then_some(Self {
            minutes,
            seconds,
            fraction,
            zone: rest,
        })
    }

    /// Whether it is exactly the beginning of a day.
    pub(super) fn is_midnight(&self) -> bool {
        self.minutes == "00:00" && self.has_whole_minutes()
    }

    /// Whether dropping the seconds loses nothing.
    pub(super) fn has_whole_minutes(&self) -> bool {
        self.seconds.is_none_or(|seconds| seconds == "00") && self.has_whole_seconds()
    }

    /// Whether dropping the fraction loses nothing.
    pub(super) fn has_whole_seconds(&self) -> bool {
        self.fraction.bytes().all(|digit| digit == b'0')
    }

    /// Whether the zone is UTC, or missing, which the service treats as UTC.
    pub(super) fn is_utc(&self) -> bool {
        self.zone.is_empty() || self.says_utc()
    }

    fn says_utc(&self) -> bool {
        self.zone.eq_ignore_ascii_case("z") || (!self.zone.is_empty() && is_zero(self.zone))
    }
}

fn two_digits(text: &str, limit: u8) -> Option<u8> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse()
        .ok()
        .filter(|number| *number < limit)
        .filter(|_| digits)
}

/// Empty, `Z`, or an offset in hours and minutes.
fn is_zone(text: &str) -> bool {
    let Some(offset) = text.strip_prefix(['+', '-']) else {
        return text.is_empty() || text.eq_ignore_ascii_case("z");
    };
    let (hours, minutes) = offset.split_at_checked(2).unwrap_or_default();
    let minutes = minutes.strip_prefix(':').unwrap_or(minutes);
    two_digits(hours, 24).is_some() && (minutes.is_empty() || two_digits(minutes, 60).is_some())
}

fn is_zero(zone: &str) -> bool {
    zone.bytes().all(|byte| !(b'1'..=b'9').contains(&byte))
}

/// Formats `declaration.date` as yyyy-MM-ddTHH:mm:ss (spec 2.3). A text that is not a date and time is unchanged.
///
/// The digits are kept as written, whatever the zone. The service treats a text without a zone as UTC, so a date with `Z` keeps
/// its instant, and a date with another zone keeps the day that the declarer wrote.
pub(super) fn date_time(text: &str) -> String {
    let Some(written) = WrittenTime::read(text) else {
        return text.to_owned();
    };
    let (minutes, seconds) = written
        .clock
        .map_or(("00:00", None), |clock| (clock.minutes, clock.seconds));
    format!("{}T{minutes}:{}", written.day, seconds.unwrap_or("00"))
}

/// Formats `movementDate` as yyyy-MM-dd (spec 2.1). A text that is not a day is unchanged.
pub(super) fn day(text: &str) -> String {
    read_day(text).map_or_else(|| text.to_owned(), |day| day.to_string())
}

/// The day of a movement as written.
///
/// A UTC instant within a day has none: `2026-11-22T13:00:00Z` may be midnight of the 23rd in Sydney, and a movement must not
/// change its day silently.
pub(super) fn read_day(text: &str) -> Option<Day> {
    let written = WrittenTime::read(text)?;
    let is_instant = |clock: &ClockTime<'_>| clock.says_utc() && !clock.is_midnight();
    (!written.clock.as_ref().is_some_and(is_instant)).then_some(written.day)
}

/// Formats `movementTime` as HH:mm (spec 2.1). A text that is not a time is unchanged.
pub(super) fn time(text: &str) -> String {
    read_time(text)
        .map_or(text, |clock| clock.minutes)
        .to_owned()
}

/// Parses a time of day, alone or after a day.
pub(super) fn read_time(text: &str) -> Option<ClockTime<'_>> {
    ClockTime::read(text).or_else(|| WrittenTime::read(text)?.clock)
}

/// Formats `declaration.signature` as Base64 (spec 2.3), without the file name and media type that public material shows as a
/// prefix (`file:signature.png;data:image/png;base64,`).
pub(super) fn signature(text: &str) -> String {
    let prefixed = text.starts_with("data:") || text.starts_with("file:");
    let bare = text.split_once(";base64,").filter(|_| prefixed);
    bare.map_or(text, |(_, image)| image).to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use test_support::script::rows;

    use super::*;

    fn full() -> Value {
        let address =
            json!({"line1": "1 Road", "town": "Roma", "state": "QLD", "postcode": "4455"});
        let party = |pic: &str| json!({"name": "Sample", "pic": pic, "address": address});
        json!({
            "id": "c-1",
            "number": "C1",
            "status": "DRAFT",
            "origin": party("QAZZ7777"),
            "destination": party("QDZZ3333"),
            "owner": party("QBZZ2222"),
            "consignee": party("QCZZ8888"),
            "declaration": {
                "accept": true, "fullName": "Sam Sample", "phone": "0491570156", "email": "s@example.com",
                "date": "2026-11-20T10:00:00", "signature": "c2ln", "certificateNumber": "A1", "address": address,
            },
            "movementDate": "2026-11-23",
            "movementTime": "05:15",
            "answers": [{"questionId": "3", "index": 0, "value": "160"}, {"questionId": "17", "index": null, "value": "Yes"}],
        })
    }

    #[test]
    fn what_was_read_and_can_be_sent_is_sent() {
        let mut read = full();
        read["forms"] =
            json!([{"type": "LPAC1", "serialNumber": "9"}, {"type": "NEW7", "serialNumber": "8"}]);
        let record: Consignment = serde_json::from_value(read).unwrap();
        let mut wanted = full();
        wanted["forms"] = json!(["LPAC1", "NEW7"]);
        let sent = serde_json::to_value(ConsignmentInput::from(&record));
        assert_eq!(sent.unwrap(), wanted);
    }

    #[test]
    fn what_was_not_read_is_not_sent() {
        let input = ConsignmentInput::from(&Consignment::default());
        let wanted = json!({"forms": [], "origin": {}, "destination": {}});
        assert_eq!(serde_json::to_value(input).unwrap(), wanted);
    }

    #[test]
    fn a_template_gives_a_new_consignment_and_its_own_input() {
        let with = |fields: Value| {
            let mut record = full();
            let members = record.as_object_mut().unwrap();
            members.retain(|name, _| {
                ["origin", "destination", "owner", "consignee"].contains(&name.as_str())
            });
            members.extend(fields.as_object().unwrap().clone());
            record
        };
        let names = json!({"id": "t-1", "number": "T1", "name": "To the works", "forms": [{"type": "LPAC1"}]});
        let template: Template = serde_json::from_value(with(names)).unwrap();
        let consignment = serde_json::to_value(ConsignmentInput::from(&template)).unwrap();
        assert_eq!(consignment, with(json!({"forms": ["LPAC1"]})));
        let again = serde_json::to_value(TemplateInput::from(&template)).unwrap();
        let names =
            json!({"id": "t-1", "number": "T1", "name": "To the works", "forms": ["LPAC1"]});
        assert_eq!(again, with(names));
        let unread = TemplateInput::from(&Template::default());
        assert_eq!(serde_json::to_value(unread).unwrap(), json!({}));
    }

    #[test]
    fn a_template_names_what_its_inputs_lack() {
        for row in rows(
            r#"
            {"name": "To the works", "forms": [{"type": "LPAC1"}]}  |
            {"species": "CATTLE"}                                   | species
            {"forms": [{"type": "LPAC1"}, {}]}                      | forms
            {"forms": [{"type": "LPAC1", "serialNumber": "9"}]}     | forms.serialNumber
            "#,
        ) {
            let template: Template = serde_json::from_str(row[0]).unwrap();
            assert_eq!(template.not_carried_over().join(" "), row[1]);
        }
    }

    #[test]
    fn a_summary_has_the_day_of_its_movement() {
        for (date, day) in [
            (json!("2023-06-10T06:30:00"), Day::new(2023, 6, 10)),
            (json!("soon"), None),
            (json!(null), None),
        ] {
            let summary = json!({"movementDate": date});
            let summary: ConsignmentSummary = serde_json::from_value(summary).unwrap();
            assert_eq!(summary.movement_day(), day);
        }
    }

    /// Texts as received, and as sent.
    const SENT: &str = "
        date_time | 2026-11-20T09:45:00Z                    | 2026-11-20T09:45:00
        date_time | 2026-11-20T09:45:00.1234567+00:00       | 2026-11-20T09:45:00
        # Midnight in Sydney is the day before in UTC; the declarer wrote the 20th.
        date_time | 2026-11-20T00:00:00+11:00               | 2026-11-20T00:00:00
        date_time | 2026-11-20T23:30:00-0930                | 2026-11-20T23:30:00
        date_time | 2026-11-20 09:45                        | 2026-11-20T09:45:00
        date_time | 2026-11-20                              | 2026-11-20T00:00:00
        date_time | 2026-11-20T09:45:00                     | same
        day       | 2023-06-10T00:00:00                     | 2023-06-10
        day       | 2023-06-10T00:00:00.000Z                | 2023-06-10
        day       | 2023-06-10T05:15:00                     | 2023-06-10
        day       | 2023-06-10T05:15:00+10:00               | 2023-06-10
        day       | 2023-06-10                              | same
        # Perhaps the 11th in Australia: for the server to judge.
        day       | 2023-06-10T14:00:00Z                    | same
        day       | 2023-06-10T14:00:00.0000000+00:00       | same
        time      | 05:15:00                                | 05:15
        time      | 05:15:00.0000000                        | 05:15
        time      | 2023-06-10T05:15:00Z                    | 05:15
        signature | file:signature.png;data:image/png;base64,iVBORw0= | iVBORw0=
        signature | data:image/png;base64,iVBORw0=          | iVBORw0=
        signature | iVBORw0=                                | same
        signature | Sam Sample                              | same
        signature | a;base64,b                              | same
    ";

    #[test]
    fn what_stands_beside_the_digits_is_lost_and_what_cannot_be_read_stays() {
        for row in rows(SENT) {
            let sent = match row[0] {
                "date_time" => date_time(row[1]),
                "day" => day(row[1]),
                "time" => time(row[1]),
                _ => signature(row[1]),
            };
            let expected = if row[2] == "same" { row[1] } else { row[2] };
            assert_eq!(sent, expected, "{row:?}");
        }
        // The last ones have five bytes, with a multi-byte character across one of the checked positions.
        for text in
            "05:15 5:15 24:00 05:60 five +5:15 05:15pm 1é:00 é1:00 05é15 05:1é 0５:0".split(' ')
        {
            assert_eq!(time(text), text);
        }
        let unreadable = "|soon|2026-02-30T00:00:00|2026-11-20T24:00:00|2026-11-20T09:45:00 o'clock|2026-11-20T09:45:00.Z|\
            2026-11-20T09:45:00+1|2026-11-20T09:4|２０２６-11-20|2026-11-20T+9:45:00|\
             2026-11-20T1é:00|2026-11-20T12:0é|2026-11-20T09:45:é|2026-11-20T09:45:00+é0|2026-11-é";
        for text in unreadable.split('|') {
            assert_eq!([date_time(text), day(text)], [text, text]);
        }
    }
}
