//! `Debug` of the public types has no personal data and no secrets. `tests/architecture/shown.txt` lists all of them.

use std::fmt::Debug;

use envd_sdk::auth::{
    AccessToken, DeviceLogin, FileStore, Inspection, LoginRequest, LogoutReport, MemoryStore,
    PendingLogin, PrivateFile, Provider, ProviderBuilder, StaticToken, StoreGuard, TokenManager,
    TokenManagerBuilder, TokenSet, TokenStore,
};
use envd_sdk::fake::{
    Fake, FakeBuilder, Fault, InProcess, InProcessReply, On, Received, User, UserRecord,
    WebsiteEdit, World,
};
use envd_sdk::graphql::OperationBody;
use envd_sdk::model::{
    AccountProperty, Address, AddressInput, Answer, AnswerInput, Comment, CommentInput,
    Consignment, ConsignmentInput, ConsignmentSummary, ConsignmentText, ConsignmentUserMapping,
    Day, Declaration, DeclarationInput, FieldDiff, FormType, Maybe, Party, PartyInput, PdfUrl, Pic,
    Question, SavedTemplate, ServerError, Template, TemplateInput, UserAccount, UserDetails,
    WithExtra, record_diff,
};
use envd_sdk::ops::{AccountChoice, ConsignmentFilter};
use envd_sdk::register::{LookupMany, LookupResult, PropertySearch, Register, RegisterBuilder};
use envd_sdk::validate::{ContentHash, Context, Finding, Form, Item, Questionnaire, SavedForm};
use envd_sdk::{
    AsReceived, Call, Client, ClientBuilder, Clock, DryRun, Error, HttpOptions, Items, Page, Pager,
    Secret,
};
use serde::de::value::Error as Refused;
use serde::de::{DeserializeOwned, Deserializer, Visitor};
use serde::{Serialize, forward_to_deserialize_any};
use serde_json::json;
use test_support::{PLANTED, hides, hides_text};

use crate::calls;
use crate::fixed_date::{fake_builder, fixture, log_in, manual, start_fake};
use crate::scripted::register_at;

/// The names of the fields of a record, as its derived `Deserialize` asks for them.
struct FieldNames<'n>(&'n mut &'static [&'static str]);

impl<'de> Deserializer<'de> for FieldNames<'_> {
    type Error = Refused;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        *self.0 = fields;
        self.deserialize_any(visitor)
    }

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Refused> {
        Err(serde::de::Error::custom("only the names are wanted"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// Plants a text in each field of a record, in the first shape that the field accepts, and returns the fields that `Debug`
/// shows. Nested records have their own rows.
fn shows<T: DeserializeOwned + Serialize + Debug>() -> String {
    let mut fields: &[&str] = &[];
    let _ = T::deserialize(FieldNames(&mut fields));
    assert!(!fields.is_empty(), "the record has no names of fields");
    let mut planted = json!({});
    for field in fields {
        let text = format!("planted-{field}-");
        let record = json!({"name": text, "line1": text, "value": text, "fullName": text, "email": text, "text": text});
        for shape in [json!(text), json!([text]), record.clone(), json!([record])] {
            let mut trial = planted.clone();
            trial[*field] = shape;
            let read = serde_json::from_value::<T>(trial.clone());
            let kept = read.map(|read| json!(read).to_string().contains(&text));
            if matches!(kept, Ok(true)) {
                planted = trial;
                break;
            }
        }
    }
    let record: T = serde_json::from_value(planted).unwrap();
    let line = format!("{record:?}");
    let lines = format!("{record:#?}");
    let is_shown = |field: &&&str| {
        let text = format!("planted-{field}-");
        line.contains(&text) || lines.contains(&text)
    };
    let shown: Vec<&str> = fields.iter().filter(is_shown).copied().collect();
    let path = std::any::type_name::<T>();
    let name = path.rsplit("::").next().unwrap_or(path);
    format!("{name}: {}", shown.join(" "))
}

#[test]
fn debug_of_a_record_shows_codes_ids_and_times() {
    let found = [
        shows::<Consignment>(),
        shows::<ConsignmentSummary>(),
        shows::<Party>(),
        shows::<Address>(),
        shows::<Answer>(),
        shows::<Declaration>(),
        shows::<Comment>(),
        shows::<ConsignmentUserMapping>(),
        shows::<SavedTemplate>(),
        shows::<Template>(),
        shows::<UserAccount>(),
        shows::<UserDetails>(),
        shows::<AccountProperty>(),
        shows::<PartyInput>(),
        shows::<AddressInput>(),
        shows::<AnswerInput>(),
        shows::<DeclarationInput>(),
        shows::<CommentInput>(),
        shows::<TemplateInput>(),
    ];
    // `questions` contain only texts of the service.
    let expected = [
        "Consignment: id number status species movementDate movementTime updatedAt submittedAt questions",
        "ConsignmentSummary: id number status species movementDate movementTime updatedAt",
        "Party: pic",
        "Address: state",
        "Answer: questionId",
        "Declaration: date",
        "Comment: commentId consignmentNumber role createdAt",
        "ConsignmentUserMapping: mappingId role pic",
        "SavedTemplate: id number",
        "Template: id number species",
        "UserAccount: envdAccountId accountId accountType roles",
        "UserDetails: defaultAccount roles",
        "AccountProperty: ",
        "PartyInput: pic",
        "AddressInput: state",
        "AnswerInput: questionId",
        "DeclarationInput: date",
        "CommentInput: consignmentNumber",
        "TemplateInput: id number forms",
    ];
    assert_eq!(found, expected);
}

#[test]
fn debug_of_an_input_hides_personal_data_signature_and_answers() {
    let wire = fixture("consignments/lpahrg0.json")["input"].take();
    let input: ConsignmentInput = serde_json::from_value(wire.clone()).unwrap();
    let texts = [
        "/owner/name",
        "/origin/name",
        "/origin/address/line1",
        "/declaration/fullName",
        "/declaration/phone",
        "/declaration/email",
        "/declaration/signature",
    ];
    for text in texts.into_iter().filter_map(|at| wire.pointer(at)) {
        hides_text::<ConsignmentInput>(&input, text.as_str().unwrap());
    }
    // Most answers are short words that occur elsewhere, so one distinctive answer is searched for.
    hides_text::<ConsignmentInput>(&input, "Rangeland");
}

#[test]
fn debug_of_what_is_made_of_an_input_hides_its_values() {
    let mut input = ConsignmentInput::new(
        [FormType::Lpac1],
        PartyInput::new(PLANTED),
        PartyInput::new("QDZZ3333"),
    );
    input.origin.pic = Maybe::from("QAZZ7777");
    input.origin.name = PLANTED.into();
    let input = input
        .answer(AnswerInput::new("17", PLANTED))
        .movement(PLANTED, "05:15");
    let mut other = input.clone();
    other.movement_date = Maybe::Absent;
    for difference in record_diff(&input, &other) {
        hides::<FieldDiff>(&difference);
    }
    let text = ConsignmentText::parse(&serde_json::to_string(&input).unwrap()).unwrap();
    hides::<ConsignmentText>(&text);
    hides::<WithExtra<ConsignmentInput>>(&WithExtra::from(other.clone()).extra("colour", PLANTED));
    let url = format!("https://example.com/{PLANTED}?authToken={PLANTED}");
    hides::<PdfUrl>(&PdfUrl::from(url));
    // A PIC identifies a property, not a person.
    hides::<Pic>(&Pic::parse("QAZZ7777").unwrap());
    let error = json!({"message": PLANTED, "path": [PLANTED, "origin"],
        "extensions": {"data": {"Code": PLANTED, "Message": PLANTED, "Description": PLANTED}}});
    let error = ServerError::from_value(error);
    hides::<ServerError>(&error);
    hides::<Finding>(&Finding::from_server(&ServerError::from_value(
        json!({"message": PLANTED, "extensions": {"data": {"Description": PLANTED}}}),
    )));

    let questions: Vec<Question> = serde_json::from_value(json!([
        {"id": "17", "forms": ["LPAC1"], "type": "STRING", "text": PLANTED}]))
    .unwrap();
    let questionnaire = Questionnaire::prepare(&questions);
    hides::<Questionnaire>(&questionnaire);
    hides::<ContentHash>(&questionnaire.content_hash());
    let form = questionnaire.form(&other, &Context::on(Day::parse("2026-11-20").unwrap()));
    hides::<Form>(&form);
    hides::<SavedForm>(&form.save());
    for mut item in form.items() {
        assert_eq!(item.value.as_deref(), Some(PLANTED));
        // The text of a question comes from the service.
        item.text.clear();
        hides::<Item>(&item);
    }
}

#[tokio::test]
async fn debug_of_a_client_and_its_calls_hides_tokens_headers_and_records() {
    let fake = start_fake().await;
    let token = fake.access_token();
    let source = StaticToken::new(token.expose()).unwrap();
    hides_text::<StaticToken>(&source, token.expose());
    hides_text::<Fake>(&fake, token.expose());
    hides::<HttpOptions>(&HttpOptions::default().client_certificate(PLANTED));
    let builder = fake.client().token_source(source).header("x-key", PLANTED);
    hides::<ClientBuilder>(&builder);
    hides_text::<ClientBuilder>(&builder, token.expose());
    let client = builder.build().unwrap();
    hides::<Client>(&client);
    hides_text::<Client>(&client, token.expose());
    let call = client.questions().header("x-office", PLANTED);
    hides::<Call<_>>(&call);
    hides::<DryRun>(&call.dry_run().unwrap());
    hides::<OperationBody<_>>(&OperationBody {
        name: "Save",
        document: "mutation Save { save }",
        variables: PLANTED,
    });

    let account = client.account(fake.account_id());
    let mut input = calls::input();
    input.origin.name = PLANTED.into();
    let saved = account.save_consignment(input.clone()).await.unwrap().value;
    let read = account.consignment(saved.id.unwrap()).received().await;
    let read = read.unwrap().value;
    assert!(read.json().contains(PLANTED));
    hides::<AsReceived<_>>(&read);
    let mut pager = account.consignments(&ConsignmentFilter::default());
    let page = pager.next_page().await.unwrap().unwrap();
    hides::<Page<_>>(&page);
    hides::<Pager<_>>(&pager);
    hides::<Items<_>>(&pager.items());
    for request in fake.requests() {
        hides::<Received>(&request);
    }
    input.destination = PartyInput::new(PLANTED);
    let refused = account.save_consignment(input).await.unwrap_err();
    assert!(refused.server_errors()[0].message().contains(PLANTED));
    hides::<Error>(&refused);
    hides::<AccountChoice>(&AccountChoice::Label(PLANTED.to_owned()));
}

#[tokio::test]
async fn debug_of_a_fake_and_its_world_hides_texts() {
    let fake = fake_builder().user(User::Receiver).start().await.unwrap();
    hides_text::<Fake>(&fake, fake.access_token().expose());
    let builder = fake_builder().register_token(PLANTED.into());
    hides::<FakeBuilder>(&builder);
    let user = UserRecord::new(PLANTED).name(PLANTED, PLANTED);
    hides::<UserRecord>(&user);
    let world = World::sample().user(user);
    hides::<World>(&world.property(json!({"PIC": "QAZZ7777", "LastName": PLANTED})));
    for edit in [
        WebsiteEdit::change("C-900000101", json!({"owner": {"name": PLANTED}})),
        WebsiteEdit::insert(json!({"owner": PLANTED})),
    ] {
        hides::<WebsiteEdit>(&edit);
    }
    let script = fake.on_operation("UserDetails");
    script.fault(Fault::status(500).json(json!({"message": PLANTED})));
    hides::<On<'_>>(&script);
    hides::<Fault>(&Fault::status(500).json(json!({"message": PLANTED})));
    let reply = || {
        InProcessReply::status(200)
            .header("x-key", PLANTED)
            .json(PLANTED)
    };
    hides::<InProcessReply>(&reply());
    hides::<InProcess>(&InProcess::new(move |_| async move { Ok(reply()) }));
}

#[tokio::test]
async fn debug_of_a_register_hides_token_and_records() {
    let fake = start_fake().await;
    let source = StaticToken::new(PLANTED).unwrap();
    let builder = register_at(fake.register_url())
        .token_source(source)
        .header("x-api-key", PLANTED);
    hides::<RegisterBuilder>(&builder);
    let register = builder.build().unwrap();
    hides::<Register>(&register);
    hides::<PropertySearch>(&PropertySearch::text(PLANTED).last_name(PLANTED));
    let mut search = register.search(&PropertySearch::text("sampleton"));
    let page = search.next_page().await.unwrap().unwrap();
    let look_ups = register.lookup_many(["QAZZ7777", PLANTED]);
    hides::<LookupMany>(&look_ups);
    let answers = look_ups.collect().await;
    for answer in &answers {
        hides::<LookupResult>(answer);
    }
    let shown = format!("{search:?} {page:?} {:?} {answers:?}", page.records);
    assert!(!shown.contains("Sam") && !shown.contains("sample"));
}

#[tokio::test]
async fn debug_of_logins_and_stores_hides_tokens_and_accounts() {
    let fake = manual().0.client_secret(PLANTED).start().await.unwrap();
    let settings = || fake.provider().client_secret_basic(PLANTED);
    hides::<ProviderBuilder>(&settings());
    let provider = settings().build().unwrap();
    hides::<Provider>(&provider);
    let builder = TokenManager::builder(provider.clone()).account(PLANTED);
    hides::<TokenManagerBuilder>(&builder);
    let manager = builder.build().unwrap();
    let request = provider.authorization().param("login_hint", PLANTED);
    hides::<LoginRequest>(&request);
    hides::<PendingLogin>(&request.expected_subject(PLANTED).start().unwrap());
    let device = provider.authorization().start_device().await.unwrap();
    hides_text::<DeviceLogin>(&device, device.user_code());
    let tokens = log_in(&fake, &manager).await.unwrap();
    for token in [
        Some(tokens.access_token()),
        tokens.refresh_token(),
        tokens.id_token(),
    ] {
        let token = token.unwrap().expose();
        hides_text::<TokenSet>(&tokens, token);
        hides_text::<TokenManager>(&manager, token);
        hides_text::<Inspection>(&manager.inspect().await, token);
    }
    hides::<TokenManager>(&manager);
    hides_text::<LogoutReport>(&manager.logout(None).await, tokens.access_token().expose());
    hides::<AccessToken>(&AccessToken::new(PLANTED).unwrap());
    hides::<Secret>(&Secret::new(PLANTED));
    hides::<Clock>(fake.clock());

    let store = MemoryStore::new();
    let guard = store
        .lock(PLANTED, std::time::Duration::ZERO)
        .await
        .unwrap();
    hides::<StoreGuard>(&guard);
    hides::<MemoryStore>(&store);
    let path = std::path::Path::new("/home")
        .join(PLANTED)
        .join("tokens.json");
    hides::<FileStore>(&FileStore::new(&path));
    hides::<PrivateFile>(&PrivateFile::new(&path, "token file"));
}
