//! End to end from login to logout in the steps of the quickstart, with a check after each step.

use std::time::{Duration, SystemTime};

use envd_sdk::auth::{MemoryStore, TokenManager};
use envd_sdk::fake::Fake;
use envd_sdk::model::{
    AnswerInput, CommentInput, ConsignmentInput, ConsignmentNumber, ConsignmentStatus, Day,
    FormType, Jurisdiction, PartyInput, TemplateInput,
};
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::validate::{Context, Questionnaire, Report, Rule};
use envd_sdk::{Account, Client, Clock};

use crate::fixed_date::fake_builder;

/// A fake whose clock stands at noon of 2026-11-20, UTC.
async fn fake() -> Fake {
    let noon = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_176_000);
    let fake = fake_builder().clock(Clock::manual(noon));
    fake.start().await.unwrap()
}

async fn logged_in(fake: &Fake) -> TokenManager {
    let manager = TokenManager::builder(fake.provider().build().unwrap())
        .store(MemoryStore::new())
        .account("sam")
        .build()
        .unwrap();
    let login = manager.provider().authorization().start().unwrap();
    let callback = fake.consent(login.url()).unwrap();
    manager
        .complete_login(login, callback.as_str())
        .await
        .unwrap();
    manager
}

fn draft(today: Day) -> ConsignmentInput {
    let origin = PartyInput::new("QAZZ7777").name("Sample Station");
    let destination = PartyInput::new("QDZZ3333").name("Demo Meats");
    ConsignmentInput::new([FormType::Lpahrg0], origin, destination)
        .status(ConsignmentStatus::Draft)
        .movement(today.plus_days(3).unwrap(), "05:15")
}

fn answered(mut input: ConsignmentInput) -> ConsignmentInput {
    for (question, value) in [("17", "Yes"), ("70", "No"), ("185", "Yes")] {
        input = input.answer(AnswerInput::new(question, value));
    }
    for (question, value) in [
        ("3", "160"),
        ("4", "Rangeland"),
        ("5", "Mixed"),
        ("8", "No"),
    ] {
        input = input.answer(AnswerInput::new(question, value).row(0));
    }
    input
}

async fn numbers(account: &Account) -> Vec<ConsignmentNumber> {
    let filter = ConsignmentFilter::default().page_size(100);
    let page = account
        .consignments_page(&filter, None)
        .await
        .unwrap()
        .value;
    let nodes = page.edges.iter().filter_map(|edge| edge.node.as_ref());
    nodes.filter_map(|node| node.number.clone()).collect()
}

fn context(today: Day) -> Context {
    Context::on(today).account_pic("QAZZ7777")
}

/// Checks that the validator and the server report the same error for an invalid PIC.
async fn assert_same_error(account: &Account, questionnaire: &Questionnaire, today: Day) {
    let mut wrong = answered(draft(today));
    wrong.origin.pic = "QAZZ777".into();
    let report = questionnaire.validate(&wrong, &context(today));
    let refused = account.save_consignment(wrong).await.unwrap_err();
    let server_report = Report::from_server_errors(refused.server_errors());
    let codes = |report: &Report| -> Vec<String> {
        report
            .errors()
            .map(|finding| finding.code.clone())
            .collect()
    };
    assert_eq!(codes(&report), ["origin.pic"]);
    assert_eq!(codes(&server_report), ["origin.pic"]);
    assert_eq!(report.errors().next().unwrap().rule, Rule::PicFormat);
}

#[tokio::test]
async fn a_producer_goes_from_login_to_logout() {
    let fake = fake().await;
    let manager = logged_in(&fake).await;
    let client: Client = fake.client().token_source(manager.clone()).build().unwrap();

    let user = client.registered_user().await.unwrap().value;
    let producer = user.producer_accounts().next().unwrap();
    let account = client.account(producer.envd_account_id.clone().unwrap());
    assert_eq!(account.id().as_str(), "envd-100201");

    let questions = client.questions().await.unwrap().value.items;
    let questionnaire = Questionnaire::prepare(&questions);
    let today = Day::today_in(Jurisdiction::Qld, fake.clock().now());
    assert_same_error(&account, &questionnaire, today).await;

    let input = answered(draft(today));
    assert!(questionnaire.validate(&input, &context(today)).is_valid());
    let saved = account.save_consignment(input.clone()).await.unwrap();
    assert_eq!(saved.problems, []);
    let number = saved.value.number.unwrap();
    assert!(numbers(&account).await.contains(&number));

    let mut submission = input.status(ConsignmentStatus::Submitted);
    submission.number = number.as_str().into();
    let submitted = account.save_consignment(submission).await.unwrap().value;
    assert_eq!(submitted.status, Some(ConsignmentStatus::Submitted));
    assert_eq!(submitted.number, Some(number.clone()));

    let text = "The truck comes at five.";
    let comment = CommentInput::new(&number, text);
    let _ = account.create_comment(comment).await.unwrap();
    let comments = account.comments(&number).await.unwrap().value;
    assert_eq!(comments[0].comment_text.as_deref(), Some(text));

    let copy = account.copy_consignment(&number).await.unwrap().value;
    let copied = copy.number.unwrap();
    assert_ne!(copied, number);
    let _ = account.delete_consignment(&copied).await.unwrap();
    assert!(!numbers(&account).await.contains(&copied));

    let template = TemplateInput::new("Goats to Demo Meats", [FormType::Lpahrg0]);
    let template = account.save_template(template).await.unwrap().value;
    assert!(template.number.is_some());

    assert!(manager.logout(None).await.problems.is_empty());
    let refused = client.user_details().await.unwrap_err();
    assert!(refused.is_reauth_required(), "{refused:?}");
}

#[tokio::test]
async fn a_missing_answer_is_a_problem_beside_the_saved_record() {
    let fake = fake().await;
    let account = fake.client().build().unwrap().account(fake.account_id());
    let input = draft(Day::of(fake.clock().now())).answer(AnswerInput::new("185", "Yes"));

    let saved = account.save_consignment(input).await.unwrap();
    assert!(saved.value.number.is_some());
    let report = Report::from_server_errors(&saved.problems);
    assert!(
        report
            .at("answers.17")
            .any(|finding| finding.message == "Required")
    );
    assert!(saved.strict().unwrap_err().may_have_applied());
}
