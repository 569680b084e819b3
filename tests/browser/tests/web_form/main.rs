//! The application `web_form` in headless Chromium, by mouse and keyboard.
//!
//! `ENVD_SDK_TEST_CHROMIUM` names the browser. With `ENVD_SDK_PICTURES` all pages that are checked are kept in that folder, as
//! pictures, and the printed receipt beside them.

mod screen;

use envd_sdk::fake::Fault;
use screen::{Screen, Site};

/// Begins a draft with the mouse, and returns its path.
fn begin(screen: &Screen) -> String {
    screen.go("");
    screen.send("form[action$='/new'] button");
    screen.path()
}

/// Fills in where and when.
fn fill_in_movement(screen: &Screen, draft: &str) {
    screen.go(&format!("{draft}/movement"));
    screen.enter("f.origin.pic", "qazz 7777");
    screen.enter("f.destination.pic", "QDZZ3333");
    screen.enter("f.movementDate", "15/1/2099");
    screen.enter("f.movementTime", "5.15");
    screen.save();
}

fn fill_in_animals(screen: &Screen, draft: &str, breed: &str) {
    screen.go(&format!("{draft}/q1"));
    screen.send("button[name=add]");
    screen.enter("q.3.0", "24");
    screen.enter("q.4.0", breed);
    screen.value("document.getElementById('q.5.0').value = 'Steer : M'");
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
    screen.click("[id='f.declaration.accept']");
    screen.save();
}

/// The pages of a complete declaration, with their fields.
const COMPLETE: &str = "movement f.origin.pic=QAZZ7777&f.destination.pic=QDZZ3333&f.movementDate=15/1/2099&f.movementTime=05:15
    q1 add=q.1.
    q1 q.3.0=24&q.4.0=Angus&q.5.0=Steer : M
    q9001 q.17.=Yes
    q9002 q.56.=No&q.58.=No&q.59.=No&q.70.=No&q.88.=No&q.96.=No&q.102.=No
    q146 none=q.146.
    q157 none=q.157.
    declaration f.declaration.fullName=Sam Sample&f.declaration.accept=true";

/// A draft with everything in it.
fn complete(site: &Site, screen: &Screen) -> String {
    let draft = begin(screen);
    for line in COMPLETE.lines() {
        let (page, fields) = line.trim().split_once(' ').unwrap();
        site.fill_in(&format!("{draft}/{page}"), fields);
    }
    draft
}

#[test]
fn each_page_is_accessible_in_each_state_and_short_on_a_phone() {
    let site = Site::start();
    let screen = Screen::open(&site);
    screen.assert_accessible("an empty list");
    let draft = begin(&screen);
    screen.assert_accessible("the tasks of a new draft");
    for page in [
        "forms",
        "addresses",
        "q9001",
        "q9002",
        "q9004",
        "declaration",
        "check",
    ] {
        screen.go(&format!("{draft}/{page}"));
        screen.assert_accessible(page);
    }
    screen.go(&format!("{draft}/movement"));
    screen.enter("f.origin.pic", "QAZZ777");
    screen.enter("f.destination.pic", "NE000004");
    screen.save();
    screen.sees("There is a problem");
    screen.sees("The register says that this PIC is Blocked");
    assert!(screen.tab.get_title().unwrap().starts_with("Error: "));
    screen.assert_accessible("errors");
    // The link of an error leads to its field.
    screen.click("#summary a");
    assert_eq!(screen.value("document.activeElement.id"), "f.origin.pic");

    screen.go(&format!("{draft}/q9001"));
    screen.click("[id='q.17..2']");
    screen.save();
    screen.sees("A question follows");
    screen.assert_accessible("a question that follows");

    let draft = complete(&site, &screen);
    screen.go(&format!("{draft}/q1"));
    for row in 1..4 {
        screen.send("button[name=add]");
        screen.enter(&format!("q.3.{row}"), "24");
        screen.enter(&format!("q.4.{row}"), "Brahman");
        screen.value(&format!(
            "document.getElementById('q.5.{row}').value = 'Cow : F'"
        ));
    }
    screen.save();
    screen.go(&format!("{draft}/q1"));
    screen.assert_accessible("four rows");
    sign(&screen, &draft);
    for page in [
        "",
        "/movement",
        "/check",
        "/forms",
        "/q9002",
        "/declaration",
    ] {
        screen.go(&format!("{draft}{page}"));
        assert!(screen.screens() <= 3.0, "{page}: {}", screen.screens());
    }
    screen.go(&format!("{draft}/check"));
    screen.assert_accessible("a check of all answers");
    screen.send("#submit");
    screen.sees("This is what the service has now");
    screen.assert_accessible("a receipt");
    let printed = screen.printed();
    let pages = printed
        .windows(11)
        .filter(|part| part == b"/Type /Page")
        .count();
    let trees = printed
        .windows(12)
        .filter(|part| part == b"/Type /Pages")
        .count();
    assert_eq!(pages - trees, 1, "the receipt is one sheet");
    screen.go("");
    screen.assert_accessible("a list");
    assert_eq!(site.submitted(), 1);
}

#[test]
fn a_declaration_is_filled_in_by_the_keyboard_alone() {
    let site = Site::start();
    let screen = Screen::open(&site);
    // Past the link to the page, the name of the site, and the button.
    screen.keys(&["Tab", "Tab", "Tab"]);
    screen.press_enter();
    let draft = screen.path();
    screen.go(&format!("{draft}/movement"));
    screen.keys(&["Tab", "Tab", "Tab", "Tab"]);
    assert_eq!(screen.value("document.activeElement.id"), "f.origin.pic");
    for text in ["QAZZ7777", "QDZZ3333", "15/1/2099", "5.15"] {
        screen.tab.type_str(text).unwrap();
        screen.keys(&["Tab"]);
    }
    // Enter saves and goes on; it removes no row.
    screen.press_enter();
    assert_eq!(screen.path(), format!("{draft}/addresses"));
    fill_in_animals(&screen, &draft, "Angus");
    screen.go(&format!("{draft}/q1"));
    screen.enter("q.4.0", "Brahman");
    screen.press_enter();
    screen.go(&format!("{draft}/q1"));
    assert_eq!(screen.field("q.4.0"), "Brahman");
}

#[test]
fn two_browsers_lose_nothing_and_are_asked() {
    let site = Site::start();
    let (one, other) = (Screen::open(&site), Screen::open(&site));
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
    // Both submit what is there.
    for screen in [&one, &other] {
        screen.go(&format!("{draft}/check"));
        screen.sees("Hereford");
    }
    other.send("#submit");
    one.send("#submit");
    one.sees("Submitted");
    assert_eq!(site.submitted(), 1);
}

#[test]
fn a_double_click_back_and_a_reload_send_nothing_twice() {
    let site = Site::start();
    let screen = Screen::open(&site);
    let draft = complete(&site, &screen);
    screen.go(&format!("{draft}/check"));
    screen.double_click("#submit");
    std::thread::sleep(std::time::Duration::from_secs(4));
    eprintln!("PATH {} SUBMITTED {} STATE {:?}", screen.path(), site.submitted(), screen.value("[document.readyState, performance.getEntriesByType('navigation')[0].type]"));
    screen.until("document.body.innerText.includes('This is what the service has now')");
    assert_eq!(screen.path(), draft);
    screen.reload();
    screen.value("setTimeout(() => history.back())");
    screen.until("document.body.innerText.includes('This is what the service has now')");
    assert_eq!(site.submitted(), 1);
}

#[test]
fn a_kill_and_lost_lines_at_each_step_leave_one_record() {
    let mut site = Site::start();
    let screen = Screen::open(&site);
    let draft = begin(&screen);
    for step in 0..4 {
        let fill_in = |screen: &Screen| match step {
            0 => fill_in_movement(screen, &draft),
            1 => fill_in_animals(screen, &draft, "Angus"),
            2 => fill_in_questions(screen, &draft),
            _ => sign(screen, &draft),
        };
        fill_in(&screen);
        site.restart();
        screen.reload();
    }
    // The server is away when the page is sent. The browser sends it again when it is reloaded.
    screen.go(&format!("{draft}/check"));
    let port = site.kill();
    screen.click("#submit");
    screen.until("location.href.startsWith('chrome-error')");
    site.start_again(port);
    // The reply of the service to the creation is lost as well.
    site.fake
        .on_operation("CreateOrSaveConsignment")
        .fault(Fault::dropped_after());
    screen.go(&format!("{draft}/check"));
    screen.send("#submit");
    site.restart();
    screen.reload();
    for _ in 0..1_000 {
        if screen.text().contains("This is what the service has now") {
            break;
        }
        screen.reload();
    }
    screen.sees("This is what the service has now");
    assert_eq!(site.submitted(), 1);
}

#[test]
fn a_signature_is_drawn_kept_and_shown_and_a_name_signs_without_scripts() {
    let site = Site::start();
    let screen = Screen::open(&site);
    let draft = complete(&site, &screen);
    screen.go(&format!("{draft}/declaration"));
    screen.draw("ink");
    screen.save();
    let is_shown = "document.querySelector('dd img')?.naturalWidth === 600";
    screen.until(is_shown);
    screen.go(&format!("{draft}/declaration"));
    let drawn = "document.getElementById('ink').getContext('2d').getImageData(0, 0, 600, 180).data.some((it) => it)";
    screen.until(drawn);
    screen.go(&format!("{draft}/check"));
    screen.send("#submit");
    screen.until(is_shown);

    // Nothing of it is in another draft, and without scripts there is no place to draw.
    let draft = complete(&site, &screen);
    screen.without_script();
    screen.go(&format!("{draft}/declaration"));
    let canvas = screen.tab.find_element("#ink").unwrap();
    assert!(canvas.get_box_model().is_err(), "it is not shown");
    screen.go(&format!("{draft}/check"));
    screen.click("#submit");
    screen.tab.wait_for_element("#outcome").unwrap();
    assert_eq!(site.submitted(), 2);
}
