//! The application `web_form` in headless Chromium, by mouse and keyboard.
//!
//! `ENVD_SDK_TEST_CHROMIUM` names the browser. If `ENVD_SDK_PICTURES` names a folder, the tests write a picture of each checked page
//! to it, the printed receipt, and `web_form.png`, the picture of the README.

mod screen;

use processes::{FormDraft, FormSite, Mode};
use screen::{Screen, site};

/// All pages of a new declaration.
const PAGES: &str = "forms movement addresses q1 q9001 q9002 q146 q9004 q157 declaration check";

/// The pages that a usual load fills in.
const SHORT_PAGES: &str = "forms movement q1 q9001 q9002 declaration";

/// A sentence of the receipt: the page shows the record of the service.
const RECEIPT: &str = "This is what the service has now";

/// Begins a draft with the mouse.
fn begin<'s>(site: &'s FormSite, screen: &Screen) -> FormDraft<'s> {
    screen.go("");
    screen.send("form[action$='/new'] button");
    site.draft(&screen.path()[1..])
}

impl Screen {
    fn fill_in_movement(&self, draft: &FormDraft<'_>) {
        self.save_movement(draft, ["qazz 7777", "QDZZ3333", "15/1/2099", "5.15"]);
    }

    fn save_movement(&self, draft: &FormDraft<'_>, texts: [&str; 4]) {
        self.go(&draft.path("movement"));
        let fields = [
            "f.origin.pic",
            "f.destination.pic",
            "f.movementDate",
            "f.movementTime",
        ];
        for (field, text) in fields.into_iter().zip(texts) {
            self.enter(field, text);
        }
        self.save();
    }

    fn fill_in_animals(&self, draft: &FormDraft<'_>) {
        self.go(&draft.path("q1"));
        self.send("button[name=add]");
        self.fill_in_row(0, "24", "Angus", "Steer : M");
    }

    fn fill_in_row(&self, row: usize, head: &str, breed: &str, sex: &str) {
        self.enter(&format!("q.3.{row}"), head);
        self.enter(&format!("q.4.{row}"), breed);
        self.choose(&format!("q.5.{row}"), sex);
        self.save();
    }

    fn fill_in_questions(&self, draft: &FormDraft<'_>) {
        self.go(&draft.path("q9001"));
        self.click("[id='q.17.']");
        self.save();
        self.go(&draft.path("q9002"));
        for question in ["56", "58", "59", "70", "88", "96", "102"] {
            self.click(&format!("[id='q.{question}..2']"));
        }
        self.save();
        for page in ["q146", "q157"] {
            self.go(&draft.path(page));
            self.send("button[name=none]");
        }
    }

    fn sign(&self, draft: &FormDraft<'_>) {
        self.go(&draft.path("declaration"));
        self.enter("f.declaration.fullName", "Sam Sample");
        if self.count("[id='f.declaration.accept']:checked") == 0 {
            self.click("[id='f.declaration.accept']");
        }
        self.save();
    }

    /// Fills in the fields of a page with the keyboard.
    fn type_into(&self, fields: &[(&str, &str)]) {
        for (field, text) in fields {
            self.tab_to(&format!("[id='{field}']"));
            self.tab.type_str(text).unwrap();
        }
    }

    fn press_enter_on(&self, selector: &str) {
        self.tab_to(selector);
        self.press_enter();
    }

    /// Waits for the record of the service on the receipt. The service has no other.
    fn sees_one_receipt(&self, site: &FormSite) {
        self.reload_until(RECEIPT);
        assert_eq!(site.submitted(), 1);
    }

    /// Submits from the check of all answers, and waits for the page after it.
    fn submit(&self, draft: &FormDraft<'_>) {
        self.go(&draft.path("check"));
        self.send("#submit");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn each_page_is_accessible_in_each_state() {
    let site = site().await;
    let screen = Screen::open(&site);
    screen.assert_accessible("an empty list");
    let draft = begin(&site, &screen);
    screen.assert_accessible("the tasks of a new draft");
    for page in PAGES.split(' ') {
        screen.go(&draft.path(page));
        screen.assert_accessible(&format!("{page} without answers"));
    }
    screen.save_movement(&draft, ["QAZZ777", "NE000004", "2/12/2026", "5:15"]);
    screen.sees("There is a problem");
    screen.sees("The register says that this PIC is Blocked");
    assert!(screen.tab.get_title().unwrap().starts_with("Error: "));
    screen.assert_accessible("errors");
    // The picture of the README.
    screen.resize(860);
    screen.keep_picture("web_form", 860);
    screen.resize(1280);
    // The link of an error leads to its field.
    screen.click("#summary a");
    assert_eq!(screen.focused(), "f.origin.pic");

    screen.go(&draft.path("q9001"));
    screen.click("[id='q.17..2']");
    screen.save();
    screen.sees("A question follows");
    screen.assert_accessible("a question that follows");
    screen.save();
    screen.sees("There is a problem");
    screen.assert_accessible("an error at radio buttons");
    screen.go(&draft.path("0"));
    screen.sees("Nothing was done");
    screen.assert_accessible("a page that does not exist");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_usual_load_is_short_on_a_phone_and_its_receipt_is_one_sheet() {
    let site = site().await;
    let screen = Screen::open(&site);
    let draft = site.begin_complete();
    screen.go(&draft.path("q1"));
    screen.send("button[name=add]");
    screen.fill_in_row(1, "12", "Brahman", "Cow : F");
    screen.go(&draft.path("q1"));
    screen.assert_accessible("two rows");
    screen.sign(&draft);
    for page in ["", "check"].into_iter().chain(SHORT_PAGES.split(' ')) {
        screen.go(&draft.path(page));
        let screens = screen.screens();
        assert!(screens <= 3.0, "{page}: {screens} screens");
    }
    screen.go(&draft.path(""));
    screen.assert_accessible("the tasks of a complete draft");
    screen.go(&draft.path("check"));
    screen.assert_accessible("a check of all answers");
    screen.send("#submit");
    screen.reload_until(RECEIPT);
    screen.sees("36 head");
    screen.assert_accessible("a receipt");
    assert_eq!(screen.printed_pages(), 1);
    screen.go("");
    screen.assert_accessible("a list");
    assert_eq!(site.submitted(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_declaration_is_filled_in_and_submitted_with_the_keyboard_alone() {
    let site = site().await;
    let screen = Screen::open(&site);
    screen.press_enter_on("form[action$='/new'] button");
    let draft = site.draft(&screen.path()[1..]);
    screen.press_enter_on("a[href$='/movement']");
    screen.type_into(&[
        ("f.origin.pic", "QAZZ7777"),
        ("f.destination.pic", "QDZZ3333"),
        ("f.movementDate", "15/1/2099"),
        ("f.movementTime", "5.15"),
    ]);
    // Enter in a field saves the page and continues.
    screen.press_enter();
    assert_eq!(screen.path(), draft.path("addresses"));
    screen.press_enter_on(".buttons button");

    screen.press_enter_on("button[name=add]");
    screen.type_into(&[("q.3.0", "24"), ("q.4.0", "Angus"), ("q.5.0", "Steer")]);
    // Enter removes no row, although that button is nearer.
    screen.press_enter_on("[id='q.4.0']");
    assert_eq!(screen.path(), draft.path("q9001"));
    screen.tab_to("[id='q.17.']");
    screen.keys(&[" "]);
    screen.press_enter();
    for question in ["56", "58", "59", "70", "88", "96", "102"] {
        screen.tab_to(&format!("[id='q.{question}.']"));
        screen.keys(&["ArrowDown"]);
    }
    screen.press_enter();
    assert_eq!(screen.path(), draft.path("q146"));
    screen.press_enter_on("button[name=none]");
    screen.press_enter_on(".buttons button");
    screen.press_enter_on("button[name=none]");
    screen.type_into(&[("f.declaration.fullName", "Sam Sample")]);
    screen.tab_to("[id='f.declaration.accept']");
    screen.keys(&[" "]);
    screen.press_enter_on(".buttons button");
    assert_eq!(screen.path(), draft.path("check"));
    screen.sees("Steer : M");
    screen.press_enter_on("#submit");
    screen.sees_one_receipt(&site);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn two_browsers_with_one_section_see_both_values() {
    let site = site().await;
    let one = Screen::open(&site);
    let other = Screen::open(&site);
    let draft = site.begin_complete();
    one.go(&draft.path("q1"));
    other.go(&draft.path("q1"));
    one.enter("q.4.0", "Brahman");
    one.save();
    other.enter("q.4.0", "Hereford");
    other.save();
    other.sees("This page was changed elsewhere");
    other.sees("Saved elsewhere: Brahman");
    assert_eq!(other.field("q.4.0"), "Hereford");
    other.assert_accessible("a page that was changed elsewhere");
    other.save();
    other.sign(&draft);
    // A check from before the last edit submits nothing.
    one.go(&draft.path("check"));
    one.sees("Hereford");
    draft.save("q1", "q.3.0=42");
    one.send("#submit");
    one.sees("The declaration has changed since you checked it");
    one.assert_accessible("a check that is stale");
    assert_eq!(site.submitted(), 0);
    other.sign(&draft);
    for screen in [&one, &other] {
        screen.go(&draft.path("check"));
        screen.sees("42");
    }
    other.send("#submit");
    one.send("#submit");
    one.sees("Submitted");
    assert_eq!(site.submitted(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_double_click_back_a_reload_and_a_stale_tab_send_nothing_twice() {
    let site = site().await;
    let screen = Screen::open(&site);
    screen.send_twice("form[action$='/new'] button");
    screen.go("");
    assert_eq!(screen.count("table th[scope=row]"), 1);

    let draft = site.begin_complete();
    let rows = draft.path("q146");
    screen.go(&rows);
    screen.send_twice("button[name=add]");
    screen.go(&rows);
    assert_eq!(screen.count(".row"), 1);
    screen.send("button[name=remove]");
    screen.send("button[name=none]");

    let stale = Screen::open(&site);
    stale.go(&draft.path("check"));
    screen.go(&draft.path("check"));
    screen.send_twice("#submit");
    screen.reload_until(RECEIPT);
    assert_eq!(screen.path(), draft.path(""));
    screen.reload();
    screen.reload_until(RECEIPT);
    screen.value("setTimeout(() => history.back())");
    screen.until("!document.body.innerText.includes('Number C-')");
    stale.send("#submit");
    stale.sees_one_receipt(&site);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_kill_at_each_step_loses_nothing() {
    let site = site().await;
    let screen = Screen::open(&site);
    let draft = begin(&site, &screen);
    for fill_in in [
        Screen::fill_in_movement,
        Screen::fill_in_animals,
        Screen::fill_in_questions,
        Screen::sign,
    ] {
        fill_in(&screen, &draft);
        let port = site.kill();
        site.start_again(port);
        screen.reload();
    }
    // The application is down when the page is sent. A reload sends the page again.
    screen.go(&draft.path("declaration"));
    screen.enter("f.declaration.phone", "0491 570 156");
    let port = site.kill();
    screen.click(".buttons button");
    screen.until("location.href.startsWith('chrome-error')");
    site.start_again(port);
    screen.reload();
    screen.go(&draft.path("check"));
    screen.sees("0491 570 156");
    screen.send("#submit");
    screen.sees_one_receipt(&site);
    screen.sees("Angus");
}

/// At each request of a submit: a list, the creation, and the submit by id.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_kill_between_the_yes_of_the_service_and_the_reply_leaves_one_record() {
    for number in 1..=3 {
        let site = site().await;
        let screen = Screen::open(&site);
        let draft = site.begin_complete();
        screen.go(&draft.path("check"));
        site.hold_reply(number);
        screen.click("#submit");
        site.proxy.stopped().await;
        let port = site.kill();
        site.cut_line().await;
        screen.until("location.href.startsWith('chrome-error')");
        site.proxy.set(Mode::Pass);
        site.start_again(port);
        // The reload posts the page again.
        screen.reload();
        screen.go(&draft.path(""));
        screen.reload_until("Number C-");
        assert_eq!(site.submitted(), 1, "request {number}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_slow_line_to_the_browser_with_double_clicks_sends_nothing_twice() {
    let site = site().await;
    let screen = Screen::open(&site);
    screen.slow_line();
    screen.send_twice("form[action$='/new'] button");
    let draft = site.draft(&screen.path()[1..]);
    screen.fill_in_movement(&draft);
    screen.go(&draft.path("q1"));
    screen.send_twice("button[name=add]");
    assert_eq!(screen.count(".row"), 1);
    screen.fill_in_row(0, "24", "Angus", "Steer : M");
    screen.fill_in_questions(&draft);
    screen.sign(&draft);
    screen.go(&draft.path("check"));
    screen.send_twice("#submit");
    screen.sees_one_receipt(&site);
    screen.go("");
    assert_eq!(screen.count("table th[scope=row]"), 1);
}

/// The service takes longer than the page waits for it, at each request of a submit: a list, the creation, and the submit by id.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_slow_line_to_the_service_shows_a_waiting_declaration_and_sends_it_once() {
    for number in 1..=3 {
        let site = site().await;
        let screen = Screen::open(&site);
        let draft = site.begin_complete();
        screen.go(&draft.path("check"));
        site.hold_reply(number);
        screen.send_twice("#submit");
        screen.sees("Waiting");
        screen.reload();
        screen.sees("Waiting");
        site.proxy.set(Mode::Pass);
        screen.reload_until("Number C-");
        assert_eq!(site.submitted(), 1, "request {number}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_cut_line_shows_a_waiting_declaration_and_sends_it_once() {
    let site = site().await;
    let screen = Screen::open(&site);
    let draft = site.begin_complete();
    screen.go(&draft.path("check"));
    site.cut_line().await;
    screen.send("#submit");
    screen.sees("Waiting");
    screen.sees("This is what is to be sent");
    screen.assert_accessible("a declaration that waits");
    screen.go("");
    screen.assert_accessible("a list with a declaration that waits");
    screen.go(&draft.path(""));
    site.proxy.set(Mode::Pass);
    screen.send("button[value='try again']");
    screen.reload_until("Number C-");
    assert_eq!(site.submitted(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_refusal_is_shown_with_the_words_of_the_service() {
    let site = site().await;
    let screen = Screen::open(&site);
    let draft = site.begin_complete();
    site.fake
        .on_operation("CreateOrSaveConsignment")
        .refuse("003", "the service is being moved");
    screen.submit(&draft);
    screen.sees("Refused");
    screen.sees("The service says:");
    screen.sees("the service is being moved");
    screen.assert_accessible("a refused declaration");
    screen.sign(&draft);
    screen.send("#submit");
    screen.sees_one_receipt(&site);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_question_of_the_outbox_is_answered_by_a_button() {
    let site = site().await;
    let screen = Screen::open(&site);
    let draft = site.begin_complete();
    draft.save("movement", "f.movementDate=1/10/2025");
    screen.sign(&draft);
    screen.send("#submit");
    screen.sees("The day of the movement is over");
    screen.assert_accessible("a question of the outbox");
    screen.send("button[value='keep mine']");
    screen.reload_until(RECEIPT);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_signature_is_drawn_kept_and_shown() {
    let site = site().await;
    let screen = Screen::open(&site);
    let draft = site.begin_complete();
    screen.go(&draft.path("declaration"));
    screen.draw("#ink");
    screen.assert_accessible("a signature");
    screen.save();
    let is_shown = "document.querySelector('dd img')?.naturalWidth === 600";
    screen.until(is_shown);
    screen.go(&draft.path("declaration"));
    let is_drawn = "document.getElementById('ink').getContext('2d').getImageData(0, 0, 600, 180).data.some((it) => it)";
    screen.until(is_drawn);
    screen.submit(&draft);
    screen.until(is_shown);
    assert_eq!(screen.printed_pages(), 1);
    // "Clear" removes it again.
    let draft = site.begin_complete();
    screen.go(&draft.path("declaration"));
    screen.draw("#ink");
    screen.click("#clear");
    screen.save();
    assert_eq!(screen.count("dd img"), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn without_scripts_a_typed_name_signs() {
    let site = site().await;
    let screen = Screen::open(&site);
    screen.without_script();
    let draft = begin(&site, &screen);
    screen.fill_in_movement(&draft);
    screen.fill_in_animals(&draft);
    screen.fill_in_questions(&draft);
    screen.go(&draft.path("declaration"));
    let canvas = screen.value("document.getElementById('ink').getClientRects().length");
    assert_eq!(canvas, 0, "the canvas is hidden");
    screen.sign(&draft);
    screen.send("#submit");
    screen.sees_one_receipt(&site);
    screen.sees("Sam Sample");
}
