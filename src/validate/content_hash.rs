//! The hash that identifies a list of questions.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

use crate::model::{Question, QuestionId, QuestionType, ValidatorType};

/// The SHA-256 hash of a list of questions: see [`Questionnaire::content_hash`](super::Questionnaire::content_hash).
///
/// `Display` and JSON show it as 64 hexadecimal digits.
///
/// ```
/// use envd_sdk::validate::{ContentHash, Questionnaire};
///
/// let hash = Questionnaire::prepare(&[]).content_hash();
/// let stored = serde_json::to_string(&hash)?;
/// assert_eq!(serde_json::from_str::<ContentHash>(&stored)?, hash);
/// assert_eq!(hash.to_string().len(), 64);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash([u8; 32]);

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({self})")
    }
}

impl Serialize for ContentHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ContentHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let mut hash = [0; 32];
        let is_hex = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        for (nth, byte) in hash.iter_mut().enumerate().filter(|_| is_hex) {
            let digits = text.get(2 * nth..2 * nth + 2).unwrap_or_default();
            *byte = u8::from_str_radix(digits, 16).map_err(serde::de::Error::custom)?;
        }
        is_hex.then_some(Self(hash)).ok_or_else(|| {
            serde::de::Error::custom("a content hash is a text of 64 hexadecimal digits")
        })
    }
}

/// The bytes that are hashed: equal exactly for equal lists.
///
/// They encode everything that the service sends, including values that this version of the crate does not understand. The hash
/// is therefore the same in later versions. Null and absent are equal, and so are lists that sort to the same display order.
#[derive(Debug, Default)]
pub(super) struct HashedContent(Vec<u8>);

impl HashedContent {
    pub(super) fn hash(&self) -> ContentHash {
        let hash = Sha256::new_with_prefix(b"envd-sdk questions 1");
        ContentHash(hash.chain_update(&self.0).finalize().into())
    }

    /// Adds a question without its children. They follow, and name their parent by its position.
    pub(super) fn add(&mut self, question: &Question, parent: Option<usize>) {
        let parent = parent.and_then(|parent| u32::try_from(parent).ok());
        self.0.extend(parent.unwrap_or(u32::MAX).to_le_bytes());
        self.text(question.id.as_ref().map(QuestionId::as_str));
        self.text(question.text.as_deref());
        self.text(question.help.as_deref());
        self.text(question.tip.as_deref());
        self.text(question.question_type.as_ref().map(QuestionType::as_str));
        self.0.push(question.order.is_some().into());
        self.0
            .extend(question.order.unwrap_or_default().to_le_bytes());
        self.0.push(question.read_only.map_or(2, u8::from));
        self.count(question.forms.len());
        for form in &question.forms {
            self.text(Some(form.as_str()));
        }
        self.count(question.triggers.len());
        for trigger in &question.triggers {
            self.text(trigger.question_id.as_ref().map(QuestionId::as_str));
            self.text(trigger.value.as_deref());
        }
        self.count(question.validators.len());
        for validator in &question.validators {
            self.text(validator.validator_type.as_ref().map(ValidatorType::as_str));
            self.text(validator.parameter.as_deref());
            self.text(validator.error_message.as_deref());
        }
        self.count(question.acceptable_answers.len());
        for choice in &question.acceptable_answers {
            self.text(choice.display_name.as_deref());
            self.text(choice.value.as_deref());
        }
    }

    /// A length prefix, so that two adjacent texts cannot be read as one.
    fn text(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.count(text.len()),
            // Not `usize::MAX`: a form that is saved in a browser, with 32 bits, is opened elsewhere with 64.
            None => self.0.extend(u64::MAX.to_le_bytes()),
        }
        self.0.extend(text.unwrap_or_default().as_bytes());
    }

    fn count(&mut self, count: usize) {
        self.0.extend((count as u64).to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::validate::Questionnaire;

    fn hash(list: &Value) -> ContentHash {
        let list: Vec<Question> = serde_json::from_value(list.clone()).unwrap();
        Questionnaire::prepare(&list).content_hash()
    }

    fn list() -> Value {
        json!([{"id": "1", "order": 1, "text": "Bred here?", "help": "h", "tip": "t", "readOnly": false, "forms": ["LPAC1"],
            "type": "SINGLE_CHOICE", "triggers": [{"questionId": "2", "value": "Yes"}],
            "validators": [{"type": "required", "parameter": "", "errorMessage": "Answer it."}],
            "acceptableAnswers": [{"displayName": "Yes", "value": "Y"}],
            "childQuestions": [{"id": "3", "type": "STRING", "forms": ["LPAC1"]}]},
            {"id": "2", "type": "STRING", "forms": ["LPAC1"]}])
    }

    #[test]
    fn the_hash_of_a_list_is_the_same_in_each_process_and_version() {
        let shown = hash(&list()).to_string();
        let known = "ac4091641d195043408312ff38e2cf213e1d4c557467caaf7417869c0ade28a4";
        assert_eq!(shown, known);
        let mut same = list();
        same[1]["triggers"] = json!(null);
        same[1]["text"] = json!(null);
        assert_eq!(hash(&same).to_string(), shown);
        let read: ContentHash = serde_json::from_value(json!(shown)).unwrap();
        assert_eq!(read, hash(&list()));
        for wrong in [
            json!("00"),
            json!("é".repeat(32)),
            json!(shown + "0"),
            json!(7),
        ] {
            assert!(serde_json::from_value::<ContentHash>(wrong).is_err());
        }
    }

    #[test]
    fn each_change_of_a_question_changes_the_hash() {
        let before = hash(&list());
        for (path, value) in [
            ("/0/id", json!("9")),
            ("/0/order", json!(2)),
            ("/0/order", json!(null)),
            ("/0/text", json!("Bred here")),
            ("/0/help", json!("")),
            ("/0/tip", json!("x")),
            ("/0/readOnly", json!(true)),
            ("/0/forms", json!(["LPAC1", "EUC1"])),
            ("/0/type", json!("COLOUR")),
            ("/0/triggers/0/value", json!("No")),
            ("/0/triggers/0/questionId", json!("3")),
            ("/0/validators/0/type", json!("maxLength")),
            ("/0/validators/0/parameter", json!("x")),
            ("/0/validators/0/errorMessage", json!("x")),
            ("/0/acceptableAnswers/0/value", json!("Yes")),
            ("/0/acceptableAnswers/0/displayName", json!("Y")),
            ("/0/childQuestions", json!([])),
            ("/1/id", json!("4")),
        ] {
            let mut changed = list();
            *changed.pointer_mut(path).unwrap() = value;
            assert_ne!(hash(&changed), before, "{path}");
        }
        let mut moved = list();
        let child = moved[0]["childQuestions"][0].take();
        moved[0]["childQuestions"] = json!([]);
        moved.as_array_mut().unwrap().insert(1, child);
        assert_ne!(hash(&moved), before);
    }
}
