//! The application `web_form` in headless Chromium, by mouse and keyboard.
//!
//! `ENVD_SDK_TEST_CHROMIUM` names the browser. If `ENVD_SDK_PICTURES` names a folder, the tests write a picture of each checked page
//! to it, the printed receipt, and `web_form.png`, the picture of the README.

mod screen;

use processes::Mode;
use screen::{Screen, Site};

/// The pages of a complete declaration, with their fields.
const COMPLETE: &str = "movement f.origin.pic=QAZZ7777&f.destination.pic=QDZZ3333&f.movementDate=15/1/2099&f.movementTime=05:15
    q1 add=q.1.
    q1 q.3.0=24&q.4.0=Angus&q.5.0=Steer : M
    q9001 q.17.=Yes
    q9002 q.56.=No&q.58.=No&q.59.=No&q.70.=No&q.88.=No&q.96.=No&q.102.=No
    q146 none=q.146.
    q157 none=q.157.
    declaration f.declaration.fullName=Sam Sample&f.declaration.accept=true";

/// A sentence of the receipt: the page shows the record of the service.
const RECEIPT: &str = "This is what the service has now";

/// Begins a draft with the mouse, and returns its path.
fn begin(screen: &Screen) -> String {
    screen.go("");
    screen.send("form[action$='/new'] button");
    screen.path()
}

/// A draft with all answers.
fn complete(site: &Site, screen: &Screen) -> String {
    let draft = begin(screen);
    for line in COMPLETE.lines() {
        let (page, fields) = line.trim().split_once(' ').unwrap();
        site.fill_in(&format!("{draft}/{page}"), fields);
    }
    draft
}

fn fill_in_movement(screen: &Screen, draft: &str) {
    screen.go(&format!("{draft}/movement"));
    screen.enter("f.origin.pic", "qazz 7777");
    screen.enter("f.destination.pic", "QDZZ3333");
    screen.enter("f.movementDate", "15/1/2099");
    screen.enter("f.movementTime", "5.15");
    screen.save();
}

fn fill_in_animals(screen: &Screen, draft: &str) {
    screen.go(&format!("{draft}/q1"));
    screen.send("button[name=add]");
    screen.enter("q.3.0", "24");
    screen.enter("q.4.0", "Angus");
    screen.choose("q.5.0", "Steer : M");
    screen.save();
}

fn fill_in_questions(screen: &Screen, draft: &str) {
    screen.go(&format!("{draft}/q9001"));
    screen.click("[id='q.17.']");
    screen.save();
    screen.go(&format!("{draft}/q9002"));
    for question in ["56", "58", "59", "70", "88", "96", "102"] {
        screen.click(&format!("[id='q.{question}..2']"));
    }
    screen.save();
    for page in ["q146", "q157"] {
        screen.go(&format!("{draft}/{page}"));
        screen.send("button[name=none]");
    }
}

fn sign(screen: &Screen, draft: &str) {
    screen.go(&format!("{draft}/declaration"));
    screen.enter("f.declaration.fullName", "Sam Sample");
    if screen.count("[id='f.declaration.accept']:checked") == 0 {
        screen.click("[id='f.declaration.accept']");
    }
    screen.save();
}

#[test]
fn each_page_is_accessible_in_each_state() {
    let site = Site::start();
    let screen = Screen::open(&site);
    screen.assert_accessible("an empty list");
    let draft = begin(&screen);
    screen.assert_accessible("the tasks of a new draft");
    for page in [
        "forms",
        "movement",
        "addresses",
        "q1",
        "q9001",
        "q9002",
        "q146",
        "q9004",
        "q157",
        "declaration",
        "check",
    ] {
        screen.go(&format!("{draft}/{page}"));
        screen.assert_accessible(&format!("{page} without answers"));
    }
    screen.go(&format!("{draft}/movement"));
    screen.enter("f.origin.pic", "QAZZ777");
    screen.enter("f.destination.pic", "NE000004");
    screen.enter("f.movementDate", "2/12/2026");
    screen.enter("f.movementTime", "5:15");
    screen.save();
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

    screen.go(&format!("{draft}/q9001"));
    screen.click("[id='q.17..2']");
    screen.save();
    screen.sees("A question follows");
    screen.assert_accessible("a question that follows");
    screen.save();
    screen.sees("There is a problem");
    screen.assert_accessible("an error at radio buttons");
    screen.go(&format!("{draft}/0"));
    screen.sees("Nothing was done");
    screen.assert_accessible("a page that does not exist");
}

#[test]
fn a_usual_load_is_short_on_a_phone_and_its_receipt_is_one_sheet() {
    let site = Site::start();
    let screen = Screen::open(&site);
    let draft = complete(&site, &screen);
    screen.go(&format!("{draft}/q1"));
    screen.send("button[name=add]");
    screen.enter("q.3.1", "12");
    screen.enter("q.4.1", "Brahman");
    screen.choose("q.5.1", "Cow : F");
    screen.save();
    screen.go(&format!("{draft}/q1"));
    screen.assert_accessible("two rows");
    sign(&screen, &draft);
    for page in [
        "",
        "/forms",
        "/movement",
        "/q1",
        "/q9001",
        "/q9002",
        "/declaration",
        "/check",
    ] {
        screen.go(&format!("{draft}{page}"));
        let screens = screen.screens();
        assert!(screens <= 3.0, "{page}: {screens} screens");
    }
    screen.go(&draft);
    screen.assert_accessible("the tasks of a complete draft");
    screen.go(&format!("{draft}/check"));
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

#[test]
fn a_declaration_is_filled_in_and_submitted_with_the_keyboard_alone() {
    let site = Site::start();
    let screen = Screen::open(&site);
    screen.tab_to("form[action$='/new'] button");
    screen.press_enter();
    let draft = screen.path();
    screen.tab_to("a[href$='/movement']");
    screen.press_enter();
    for (field, text) in [
        ("f.origin.pic", "QAZZ7777"),
        ("f.destination.pic", "QDZZ3333"),
        ("f.movementDate", "15/1/2099"),
        ("f.movementTime", "5.15"),
    ] {
        screen.tab_to(&format!("[id='{field}']"));
        screen.insert(text);
    }
    // Enter in a field saves the page and continues.
    screen.press_enter();
    assert_eq!(screen.path(), format!("{draft}/addresses"));
    screen.tab_to(".buttons button");
    screen.press_enter();

    screen.tab_to("button[name=add]");
    screen.press_enter();
    for (field, text) in [("q.3.0", "24"), ("q.4.0", "Angus"), ("q.5.0", "Steer")] {
        screen.tab_to(&format!("[id='{field}']"));
        screen.tab.type_str(text).unwrap();
    }
    // Enter removes no row, although that button is nearer.
    screen.tab_to("[id='q.4.0']");
    screen.press_enter();
    assert_eq!(screen.path(), format!("{draft}/q9001"));
    screen.tab_to("[id='q.17.']");
    screen.keys(&[" "]);
    screen.press_enter();
    for question in ["56", "58", "59", "70", "88", "96", "102"] {
        screen.tab_to(&format!("[id='q.{question}.']"));
        screen.keys(&["ArrowDown"]);
    }
    screen.press_enter();
    assert_eq!(screen.path(), format!("{draft}/q146"));
    screen.tab_to("button[name=none]");
    screen.press_enter();
    screen.tab_to(".buttons button");
    screen.press_enter();
    screen.tab_to("button[name=none]");
    screen.press_enter();
    screen.tab_to("[id='f.declaration.fullName']");
    screen.insert("Sam Sample");
    screen.tab_to("[id='f.declaration.accept']");
    screen.keys(&[" "]);
    screen.tab_to(".buttons button");
    screen.press_enter();
    assert_eq!(screen.path(), format!("{draft}/check"));
    screen.sees("Steer : M");
    screen.tab_to("#submit");
    screen.press_enter();
    screen.reload_until(RECEIPT);
    assert_eq!(site.submitted(), 1);
}

#[test]
fn two_browsers_with_one_section_see_both_values() {
    let site = Site::start();
    let one = Screen::open(&site);
    let other = Screen::open(&site);
    let draft = complete(&site, &one);
    let page = format!("{draft}/q1");
    one.go(&page);
    other.go(&page);
    one.enter("q.4.0", "Brahman");
    one.save();
    other.enter("q.4.0", "Hereford");
    other.save();
    other.sees("This page was changed elsewhere");
    other.sees("Saved elsewhere: Brahman");
    assert_eq!(other.field("q.4.0"), "Hereford");
    other.assert_accessible("a page that was changed elsewhere");
    other.save();
    sign(&other, &draft);
    // A check from before the last edit submits nothing.
    one.go(&format!("{draft}/check"));
    one.sees("Hereford");
    site.fill_in(&page, "q.3.0=42");
    one.send("#submit");
    one.sees("The declaration has changed");
    one.assert_accessible("a check that is stale");
    assert_eq!(site.submitted(), 0);
    sign(&other, &draft);
    for screen in [&one, &other] {
        screen.go(&format!("{draft}/check"));
        screen.sees("42");
    }
    other.send("#submit");
    one.send("#submit");
    one.sees("Submitted");
    assert_eq!(site.submitted(), 1);
}

#[test]
fn a_double_click_back_a_reload_and_a_stale_tab_send_nothing_twice() {
    let site = Site::start();
    let screen = Screen::open(&site);
    screen.double_click("form[action$='/new'] button");
    screen.until("location.pathname.split('/').length === 3");
    screen.go("");
    assert_eq!(screen.count("table th[scope=row]"), 1);

    let draft = complete(&site, &screen);
    let rows = format!("{draft}/q146");
    screen.go(&rows);
    screen.double_click("button[name=add]");
    screen.until("document.querySelector('.row')");
    screen.go(&rows);
    assert_eq!(screen.count(".row"), 1);
    screen.send("button[name=remove]");
    screen.send("button[name=none]");

    let stale = Screen::open(&site);
    stale.go(&format!("{draft}/check"));
    screen.go(&format!("{draft}/check"));
    screen.double_click("#submit");
    // The second request may reply while the first one still waits for the service.
    screen.until("document.getElementById('outcome')");
    screen.reload_until(RECEIPT);
    assert_eq!(screen.path(), draft);
    screen.reload();
    screen.reload_until(RECEIPT);
    screen.value("setTimeout(() => history.back())");
    screen.until("!document.body.innerText.includes('Number C-')");
    stale.send("#submit");
    stale.reload_until(RECEIPT);
    assert_eq!(site.submitted(), 1);
}

#[test]
fn a_kill_at_each_step_loses_nothing() {
    let mut site = Site::start();
    let screen = Screen::open(&site);
    let draft = begin(&screen);
    for fill_in in [fill_in_movement, fill_in_animals, fill_in_questions, sign] {
        fill_in(&screen, &draft);
        site.restart();
        screen.reload();
    }
    // The application is down when the page is sent. A reload sends the page again.
    screen.go(&format!("{draft}/declaration"));
    screen.enter("f.declaration.phone", "0491 570 156");
    let port = site.kill();
    screen.click(".buttons button");
    screen.until("location.href.startsWith('chrome-error')");
    site.start_again(port);
    screen.reload();
    screen.go(&format!("{draft}/check"));
    screen.sees("0491 570 156");
    screen.send("#submit");
    screen.reload_until(RECEIPT);
    screen.sees("Angus");
    assert_eq!(site.submitted(), 1);
}

/// At each request of a submit: a list, the creation, and the submit by id.
#[test]
fn a_kill_between_the_yes_of_the_service_and_the_reply_leaves_one_record() {
    for number in 1..=3 {
        let mut site = Site::start();
        let screen = Screen::open(&site);
        let draft = complete(&site, &screen);
        screen.go(&format!("{draft}/check"));
        site.hold_reply(number);
        screen.click("#submit");
        site.until_held();
        let port = site.kill();
        site.set_line(Mode::Cut);
        screen.until("location.href.startsWith('chrome-error')");
        site.set_line(Mode::Pass);
        site.start_again(port);
        // The reload posts the page again.
        screen.reload();
        screen.go(&draft);
        screen.reload_until("Number C-");
        assert_eq!(site.submitted(), 1, "request {number}");
    }
}

#[test]
fn a_slow_or_cut_line_shows_a_waiting_declaration_and_sends_it_once() {
    let site = Site::start();
    let screen = Screen::open(&site);
    let draft = complete(&site, &screen);
    screen.go(&format!("{draft}/check"));
    site.set_line(Mode::Cut);
    screen.send("#submit");
    screen.sees("Waiting");
    screen.sees("This is what is to be sent");
    screen.assert_accessible("a declaration that waits");
    screen.go("");
    screen.assert_accessible("a list with a declaration that waits");
    screen.go(&draft);
    site.set_line(Mode::Pass);
    screen.send("button[value='try again']");
    screen.reload_until("Number C-");
    assert_eq!(site.submitted(), 1);
}

#[test]
fn a_refusal_is_shown_with_the_words_of_the_service() {
    let site = Site::start();
    let screen = Screen::open(&site);
    let draft = complete(&site, &screen);
    site.fake
        .on_operation("CreateOrSaveConsignment")
        .refuse("003", "the service is being moved");
    screen.go(&format!("{draft}/check"));
    screen.send("#submit");
    screen.sees("Refused");
    screen.sees("The service says:");
    screen.sees("the service is being moved");
    screen.assert_accessible("a refused declaration");
    sign(&screen, &draft);
    screen.send("#submit");
    screen.reload_until(RECEIPT);
    assert_eq!(site.submitted(), 1);
}

#[test]
fn a_question_of_the_outbox_is_answered_by_a_button() {
    let site = Site::start();
    let screen = Screen::open(&site);
    let draft = complete(&site, &screen);
    site.fill_in(&format!("{draft}/movement"), "f.movementDate=1/10/2025");
    sign(&screen, &draft);
    screen.send("#submit");
    screen.sees("The day of the movement is over");
    screen.assert_accessible("a question of the outbox");
    screen.send("button[value='keep mine']");
    screen.reload_until(RECEIPT);
}

#[test]
fn a_signature_is_drawn_kept_and_shown() {
    let site = Site::start();
    let screen = Screen::open(&site);
    let draft = complete(&site, &screen);
    screen.go(&format!("{draft}/declaration"));
    screen.draw("#ink");
    screen.assert_accessible("a signature");
    screen.save();
    let is_shown = "document.querySelector('dd img')?.naturalWidth === 600";
    screen.until(is_shown);
    screen.go(&format!("{draft}/declaration"));
    let is_drawn = "document.getElementById('ink').getContext('2d').getImageData(0, 0, 600, 180).data.some((it) => it)";
    screen.until(is_drawn);
    screen.go(&format!("{draft}/check"));
    screen.send("#submit");
    screen.until(is_shown);
    assert_eq!(screen.printed_pages(), 1);
    // "Clear" removes it again.
    let draft = complete(&site, &screen);
    screen.go(&format!("{draft}/declaration"));
    screen.draw("#ink");
    screen.click("#clear");
    screen.save();
    assert_eq!(screen.count("dd img"), 0);
}

#[test]
fn without_scripts_a_typed_name_signs() {
    let site = Site::start();
    let screen = Screen::open(&site);
    screen.without_script();
    let draft = begin(&screen);
    fill_in_movement(&screen, &draft);
    fill_in_animals(&screen, &draft);
    fill_in_questions(&screen, &draft);
    screen.go(&format!("{draft}/declaration"));
    let canvas = screen.value("document.getElementById('ink').getClientRects().length");
    assert_eq!(canvas, 0, "the canvas is hidden");
    sign(&screen, &draft);
    screen.send("#submit");
    screen.reload_until(RECEIPT);
    screen.sees("Sam Sample");
    assert_eq!(site.submitted(), 1);
}
