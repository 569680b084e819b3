//! The application `web_form` in headless Chromium, by mouse and keyboard.
//!
//! `ENVD_SDK_TEST_CHROMIUM` names the browser. With `ENVD_SDK_PICTURE` the last test writes the picture of the README there.

mod screen;

use std::{env, fs};

use screen::Screen;

/// All questions of a cattle declaration that are answered by No.
const NO: [&str; 7] = ["56", "58", "59", "70", "88", "96", "102"];

/// Fills in the PICs, one row of animals and the first question.
fn begin(screen: &Screen) {
    screen.enter("f.origin.pic", "QAZZ7777");
    screen.enter("f.destination.pic", "QDZZ3333");
    screen.click("add.q.1.");
    screen.until_text("Animals in this consignment, row 1");
    // The new row has the focus: one goes on typing.
    screen.until("document.activeElement.id === 'q.3.0'");
    screen.enter("q.3.0", "24");
    screen.enter("q.4.0", "Angus");
    screen.click("q.5.0");
    screen
        .tab
        .type_str("Steer")
        .unwrap()
        .press_key("Enter")
        .unwrap();
    screen.until("document.getElementById('q.5.0').value === 'Steer : M'");
    screen.click("q.17.");
}

/// Sets a field, as a day or a time: how it is typed depends on the language of the machine.
fn set(screen: &Screen, id: &str, value: &str) {
    screen.click(id);
    screen.value(&format!("document.activeElement.value = '{value}'"));
    screen.value("document.activeElement.blur()");
    screen.until(&format!(
        "document.getElementById('{id}').defaultValue === '{value}'"
    ));
}

fn answer_the_rest(screen: &Screen) {
    for question in NO {
        let no = format!("q.{question}..2");
        screen.click(&no);
        screen.until(&format!("document.getElementById('{no}').defaultChecked"));
    }
    for section in ["146", "157"] {
        screen.click(&format!("leave.q.{section}."));
        screen.until(&format!("!document.getElementById('leave.q.{section}.')"));
    }
    screen.until_no_text("Ready to be submitted.");
    screen.click("f.declaration.accept");
    screen.until_text("Ready to be submitted.");
}

/// Looks at all answers, and submits them.
fn submit(screen: &Screen) {
    screen.click("review");
    screen.until_text("Check your answers");
    screen.click("submit");
}

#[test]
fn a_cattle_declaration_is_filled_in_mended_and_submitted() {
    let screen = Screen::open(1280, 900);
    begin(&screen);

    // A question appears and vanishes; the focus stays, and a screen reader hears of it.
    let asked = "Time the cattle were held";
    screen.until_no_text(asked);
    screen.tab.press_key("ArrowRight").unwrap();
    screen.until_text(asked);
    assert_eq!(screen.focus(), "q.17..2");
    screen.until(
        "document.getElementById('spoken').textContent === 'Now asked: Time the cattle were held.'",
    );
    screen.click("why.q.20.");
    screen.until_text("Because “Did the vendor breed all of them?” is answered No.");
    screen.click("q.17.");
    screen.until_no_text(asked);
    assert_eq!(screen.focus(), "q.17.");

    // A PIC is broken and mended.
    let finding = "PIC of origin QAZZ777 is not a PIC.";
    screen.enter("f.origin.pic", "QAZZ777");
    screen.until_text(finding);
    screen.until("document.getElementById('f.origin.pic').matches('[aria-invalid=true]')");
    screen.until("document.getElementById('spoken').textContent.includes('is not a PIC')");
    screen.enter("f.origin.pic", "QAZZ7777");
    screen.until_no_text(finding);

    // What is missing stops it, and the list leads to the fields.
    screen.click("review");
    screen
        .until("document.activeElement.id === 'blockers' && document.title.startsWith('Error: ')");
    screen.until_text("“Growth hormone used at any time?” is not answered.");
    screen.until("document.getElementById('note.q.88.').innerText === 'Choose Yes or No'");
    screen.value("document.querySelector('#blockers a[href=\"#q.88.\"]').click()");
    screen.until("document.activeElement.id === 'q.88.'");
    answer_the_rest(&screen);
    screen.until("!document.getElementById('blockers') && !document.title.includes('Error')");

    // All answers before, and after; a link of them leads to the field.
    screen.click("review");
    screen.until_text("Check your answers");
    screen.until_text("Demo Meats");
    screen.value("document.querySelector('button[value=\"change q.4.0\"]').click()");
    screen.until("document.activeElement.id === 'q.4.0'");
    set(&screen, "f.movementDate", "2026-12-02");
    submit(&screen);
    screen.until_text("Submitted");
    screen.until_text("under the number C-");
    screen.until_text("2 Dec 2026");
    screen.until_text("Angus");
    assert_eq!(screen.focus(), "outcome");
    let spoken = screen.value("document.getElementById('spoken').textContent");
    let number = screen.value("document.querySelector('#outcome strong').textContent");
    assert_eq!(
        spoken,
        format!("Submitted under the number {}.", number.as_str().unwrap())
    );
    let printed = "fetch(document.querySelector('#outcome a').href).then((reply) => reply.text()).then((pdf) => pdf.slice(0, 5))";
    assert_eq!(screen.value(printed), "%PDF-");
    screen.assert_quiet_console();
}

#[test]
fn what_is_typed_while_a_reply_is_on_its_way_is_not_lost() {
    let screen = Screen::open(1280, 900);
    // Each post waits until the test lets it go.
    screen.value(
        "(() => { const fetched = window.fetch; let release; const held = new Promise((resolve) => release = resolve);
           window.release = release; window.fetch = async (...all) => { await held; return fetched(...all); }; })()",
    );
    screen.click_now("q.17.");
    screen.click_now("f.origin.name");
    screen.tab.type_str("Sample").unwrap();
    screen.value("window.release()");
    screen.until("document.getElementById('q.17.').defaultChecked");
    assert_eq!(screen.focus(), "f.origin.name");
    screen
        .tab
        .type_str(" Station")
        .unwrap()
        .press_key("Tab")
        .unwrap();
    screen.until("document.getElementById('f.origin.name').defaultValue === 'Sample Station'");
    screen.assert_quiet_console();
}

/// A click each 0.35 s, and replies that take 300, 1000 and 2000 ms: so many clicks fall between a post and its reply.
#[test]
fn what_is_chosen_while_a_reply_is_on_its_way_is_kept() {
    let screen = Screen::open(1280, 900);
    for (round, clicks) in [1, 3, 6].into_iter().enumerate() {
        // Another answer in each round.
        let answer = |question: &str| match round % 2 {
            0 => format!("q.{question}..2"),
            _ => format!("q.{question}."),
        };
        screen.hold_replies();
        for (done, question) in NO.iter().enumerate() {
            screen.click_now(&answer(question));
            if (done + 1) % clicks == 0 {
                screen.release();
            }
        }
        // A box, and a text that is not left yet.
        screen.click_now("f.declaration.accept");
        screen.click_now("f.origin.name");
        screen.tab.type_str("Sample").unwrap();
        screen.release_all();
        screen.until(&format!(
            "document.getElementById('f.declaration.accept').defaultChecked === {}",
            round % 2 == 0
        ));
        for question in NO {
            let kept = format!(
                "document.getElementById('{}').defaultChecked",
                answer(question)
            );
            assert_eq!(
                screen.value(&kept),
                true,
                "{question}, {clicks} clicks a reply"
            );
        }
    }
    assert_eq!(
        screen.value("document.getElementById('f.origin.name').value"),
        "SampleSampleSample"
    );
    screen.assert_quiet_console();
}

#[test]
fn a_second_click_on_submit_does_nothing() {
    let screen = Screen::open(1280, 900);
    begin(&screen);
    answer_the_rest(&screen);
    screen.click("review");
    screen.until_text("Check your answers");
    screen.hold_replies();
    screen.click_now("submit");
    screen.until_now("document.getElementById('submit').ariaDisabled === 'true'");
    screen.click_now("submit");
    screen.release_all();
    screen.until_text("Submitted");
    let number = screen.value("document.querySelector('#outcome strong').textContent");
    // A tab that does not know it yet.
    let late = "fetch('/', { method: 'POST', body: new URLSearchParams({ token: document.querySelector('[name=token]').value,
        do: 'submit', 'f.origin.pic': 'QBZZ2222' }) }).then((reply) => reply.ok)";
    assert_eq!(screen.value(late), true);
    screen.reload();
    screen.until_text("Submitted");
    assert_eq!(
        screen.value("document.querySelector('#outcome strong').textContent"),
        number
    );
    screen.assert_quiet_console();
}

#[test]
fn what_is_changed_while_it_waits_is_sent_with_it_or_marked() {
    let screen = Screen::open(1280, 900);
    begin(&screen);
    answer_the_rest(&screen);
    screen.click("line");
    screen.until_text("Restore the line");
    submit(&screen);
    screen.until_text("What you change until then goes with it.");
    screen.enter("f.origin.pic", "QAZZ777");
    screen.until_text("What you changed last does not go with it: correct it first.");
    screen.enter("f.origin.pic", "QAZZ7777");
    screen.enter("q.4.0", "Brahman");
    screen.until_text("What you change until then goes with it.");
    screen.click("line");
    screen.until_text("Submitted");
    screen.until_text("Brahman");
    screen.assert_quiet_console();
}

#[test]
fn what_is_entered_without_a_connection_is_kept_and_sent_later() {
    let screen = Screen::open(1280, 900);
    let told = "No connection. What you entered is kept here and sent when it is back.";
    let tells = format!(
        "!document.getElementById('trouble').hidden && document.getElementById('trouble').innerText.includes('{told}')"
    );
    screen.connect(false);
    screen.click_now("q.17.");
    screen.until(&tells);
    screen.click_now("f.origin.name");
    screen
        .tab
        .type_str("Sample")
        .unwrap()
        .press_key("Tab")
        .unwrap();
    screen.click_now("review");
    screen.until_now(
        "document.getElementById('trouble').innerText.includes('Then press “Check and submit” again.')",
    );
    screen.assert_accessible("without a connection");
    screen.connect(true);
    screen.until("document.getElementById('q.17.').defaultChecked && document.getElementById('trouble').hidden");
    assert_eq!(
        screen.value("document.getElementById('f.origin.name').defaultValue"),
        "Sample"
    );
    assert_eq!(
        screen.value("Object.keys(localStorage)"),
        serde_json::json!([])
    );

    // The page is loaded again while a text is typed and an answer is lost.
    screen.value("window.fetch = async () => { throw new TypeError('Failed to fetch'); }");
    screen.click_now("q.56..2");
    screen.until(&tells);
    screen.click_now("f.destination.name");
    screen.tab.type_str("Test Ya").unwrap();
    let kept = screen.value("Object.values(localStorage).join()");
    assert!(!kept.to_string().contains("token"), "{kept}");
    screen.reload();
    screen.until("document.getElementById('q.56..2').defaultChecked");
    assert_eq!(
        screen.value("document.getElementById('f.destination.name').defaultValue"),
        "Test Ya"
    );
    assert_eq!(
        screen.value("Object.keys(localStorage)"),
        serde_json::json!([])
    );
}

#[test]
fn rows_are_copied_removed_and_brought_back_and_are_a_table_on_a_wide_screen() {
    let screen = Screen::open(1280, 900);
    begin(&screen);
    screen.click("copy.q.1.0");
    screen.until("document.activeElement.id === 'q.3.1'");
    for (id, value) in [("q.3.1", "24"), ("q.4.1", "Angus"), ("q.5.1", "Steer : M")] {
        assert_eq!(
            screen.value(&format!("document.getElementById('{id}').value")),
            value
        );
    }
    screen.enter("q.4.1", "Brahman");
    screen.click("remove.q.1.0");
    screen.until("document.activeElement.id === 'undo' && !document.getElementById('q.4.0')");
    screen.click("undo");
    screen.until("document.getElementById('q.4.0').value === 'Angus'");
    screen.until(
        "document.getElementById('q.4.1').value === 'Brahman' && !document.getElementById('undo')",
    );
    let top = "['q.3.0', 'q.4.0', 'q.5.0'].map((id) => Math.round(document.getElementById(id).getBoundingClientRect().top))";
    for (width, lines) in [(1280, 1), (768, 1), (360, 3)] {
        screen.resize(width, 900);
        assert_eq!(
            screen.value(&format!("new Set({top}).size")),
            lines,
            "{width} px"
        );
    }
    // It is asked before all is removed.
    screen.click("start");
    screen.click("new");
    screen.until("!document.getElementById('q.4.0')");
    screen.assert_quiet_console();
}

#[test]
fn what_the_service_would_take_and_looks_odd_is_asked() {
    let screen = Screen::open(1280, 900);
    begin(&screen);
    answer_the_rest(&screen);
    for (field, odd, right, asked) in [
        ("q.3.0", "two dozen", "24", "looks wrong: two dozen"),
        ("q.3.0", "-2", "24", "looks wrong: -2"),
        (
            "f.destination.pic",
            "QAZZ7777",
            "QDZZ3333",
            "is also the PIC of origin",
        ),
        (
            "f.movementDate",
            "2019-11-20",
            "2026-11-27",
            "Check the year",
        ),
    ] {
        for (text, is_odd) in [(odd, true), (right, false)] {
            set(&screen, field, text);
            assert_eq!(screen.text().contains(asked), is_odd, "{text}");
            assert_ne!(
                screen.text().contains("Ready to be submitted."),
                is_odd,
                "{text}"
            );
        }
    }
    // Advice does not stop it; a day that is half typed does.
    screen.click("f.declaration.accept");
    screen.until_text("The declaration is not accepted.");
    screen.click("review");
    screen.until_text("Look at this again");
    screen.value("document.querySelector('button[value=\"change f.declaration.accept\"]').click()");
    screen.until("document.activeElement.id === 'f.declaration.accept'");
    screen.value("document.getElementById('f.movementDate').value = ''");
    screen.value("document.getElementById('f.movementDate').focus()");
    screen.tab.type_str("02").unwrap();
    screen.value("document.activeElement.blur()");
    screen.until_text("Enter a day of the move that exists.");
    screen.assert_quiet_console();
}

#[test]
fn large_text_fits_a_phone_and_without_script_nothing_is_covered() {
    let screen = Screen::open(360, 740);
    begin(&screen);
    screen.click("review");
    screen.until("document.activeElement.id === 'blockers'");
    screen.value("document.documentElement.style.fontSize = '200%'");
    assert_eq!(
        screen.value("document.documentElement.scrollWidth <= innerWidth"),
        true
    );
    screen.allow_script(false);
    screen.reload();
    let covered = screen.value(
        "(() => { const skip = document.querySelector('.skip'), update = document.querySelector('.update'); skip.focus();
           const [a, b] = [skip, update].map((it) => it.getBoundingClientRect());
           return b.height === 0 || a.bottom > b.top && a.top < b.bottom && a.right > b.left && a.left < b.right; })()",
    );
    assert_eq!(covered, false);
}

#[test]
fn it_is_accessible_in_each_state() {
    let screen = Screen::open(1280, 900);
    screen.assert_accessible("the empty form");
    begin(&screen);
    screen.tab.press_key("ArrowRight").unwrap();
    screen.enter("f.origin.pic", "QAZZ777");
    screen.click("review");
    screen.until("document.activeElement.id === 'blockers'");
    screen.assert_accessible("with findings");
    screen.enter("f.origin.pic", "QAZZ7777");
    screen.click("q.17.");
    answer_the_rest(&screen);
    screen.enter("q.3.0", "two dozen");
    screen.click("copy.q.1.0");
    screen.click("remove.q.1.1");
    screen.until("document.activeElement.id === 'undo'");
    screen.assert_accessible("with a removed row and advice");
    screen.click("review");
    screen.until_text("Check your answers");
    screen.assert_accessible("all answers");
    screen.click("line");
    screen.until_text("Restore the line");
    screen.click("submit");
    screen.until_text("No reception: kept in the outbox");
    assert_eq!(screen.focus(), "outcome");
    screen.assert_accessible("kept in the outbox");
    // The property of another account: the service refuses it.
    screen.enter("f.origin.pic", "QBZZ2222");
    submit(&screen);
    screen.click("line");
    screen.until_text("The service refused it");
    screen.until_text("PIC of origin is not the PIC of the selected account.");
    screen.assert_accessible("refused");
    screen.enter("f.origin.pic", "QAZZ7777");
    submit(&screen);
    screen.until_text("Submitted");
    screen.assert_accessible("submitted");
    screen.assert_quiet_console();
}

#[test]
fn a_picture_of_it_is_small() {
    let screen = Screen::open(1100, 1100);
    screen.enter("f.destination.pic", "QDZZ3333");
    screen.enter("f.origin.name", "Sample Station");
    screen.enter("f.destination.name", "Test Yards");
    set(&screen, "f.movementDate", "2026-11-27");
    set(&screen, "f.movementTime", "05:15");
    screen.click("q.17..2");
    screen.click("why.q.20.");
    screen.enter("f.origin.pic", "QAZZ777");
    screen.value("document.activeElement.blur()");
    let section = "document.getElementById('f.origin.pic').closest('section')";
    screen.value(&format!(
        "scrollBy(0, {section}.getBoundingClientRect().top - 74)"
    ));
    let picture = screen.picture();
    if let Some(file) = env::var_os("ENVD_SDK_PICTURE") {
        fs::write(file, &picture).unwrap();
    }
    assert!(picture.len() < 150_000, "{} bytes", picture.len());
}
