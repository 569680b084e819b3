//! The application `web_form` in headless Chromium, by mouse and keyboard: steps that [`Screen::play`] reads.
//!
//! `ENVD_SDK_TEST_CHROMIUM` names the browser. With `ENVD_SDK_PICTURE` the last test writes the picture of the README there.

mod screen;

use std::{env, fs};

use screen::Screen;

/// From a complete declaration to its receipt.
const SUBMIT: &str = "
    click review
    see Check your answers
    click submit
    see under the number C-";

#[test]
fn a_cattle_declaration_is_filled_in_mended_and_submitted() {
    let screen = Screen::open(1280, 900);
    screen.play(
        "enter f.origin.pic qazz 7777
        enter f.destination.pic QDZZ3333
        enter f.movementDate 2.12.26
        see 2 Dec 2026
        enter f.movementTime 5.15
        click add.q.1.
        focus q.3.0
        enter q.3.0 24
        enter q.4.0 Angus
        click q.5.0
        type q.5.0 Steer
        key Enter
        has q.5.0 Steer : M
        click q.17.
        miss Time the cattle were held
        key ArrowRight
        see Time the cattle were held
        focus q.17..2
        hears Now asked: Time the cattle were held.
        click why.q.20.
        see Because “Did the vendor breed all of them?” is answered No.
        click q.17.
        miss Time the cattle were held
        focus q.17.
        hears No longer asked: Time the cattle were held.
        enter f.origin.pic QAZZ777
        see PIC of origin “QAZZ777” is not a PIC. Enter 8 letters and digits.
        hears is not a PIC
        until document.getElementById('f.origin.pic').matches('[aria-invalid=true]')
        enter f.origin.pic QAZZ7777
        miss is not a PIC
        click review
        focus blockers
        until document.title.startsWith('Error: ')
        see “Growth hormone used at any time?”: choose Yes or No.",
    );
    // One sentence for one thing.
    let sentence = "“Growth hormone used at any time?”: choose Yes or No.";
    let said = "document.getElementById('note.q.88.').innerText === document.querySelector('#blockers a[href=\"#q.88.\"]').innerText";
    assert!(screen.text().contains(sentence));
    assert_eq!(screen.value(said), true);
    screen.value("document.querySelector('#blockers a[href=\"#q.88.\"]').click()");
    screen.play("focus q.88.");
    for question in ["56", "58", "59", "70", "88", "96", "102"] {
        screen.play(&format!("click q.{question}..2"));
    }
    screen.play(
        "click leave.q.146.
        gone leave.q.146.
        click leave.q.157.
        gone leave.q.157.
        click f.declaration.accept
        see Ready to be submitted.
        gone blockers
        until !document.title.includes('Error')
        click review
        see Check your answers
        hears Check your answers
        focus outcome
        see Demo Meats
        see Cattle declaration",
    );
    screen.value("document.querySelector('button[formaction=\"?#q.17.\"]').click()");
    screen.play("focus q.17.");
    screen.play(SUBMIT);
    screen.play("see 2 Dec 2026\n see Angus\n see QAZZ7777\n see 05:15\n see 24 head in 1 row");
    assert!(screen.path().starts_with("/sent/"));
    let pdf = "fetch(document.querySelector('#outcome a').href).then((it) => it.text()).then((pdf) => pdf.slice(0, 5))";
    assert_eq!(screen.value(pdf), "%PDF-");
    // Back stays in the site, and what is sent is not kept here.
    screen.play("back\n see under the number C-");
    assert_eq!(
        screen.value("Object.keys(localStorage)"),
        serde_json::json!([])
    );
}

/// Replies of 300, 1,000 and 2,000 ms and a click each 0.35 s: so many clicks fall between a post and its reply.
#[test]
fn what_is_entered_while_a_reply_is_on_its_way_is_kept() {
    let screen = Screen::open(1280, 900);
    for (round, clicks) in [1, 3, 6].into_iter().enumerate() {
        let answer = |question: &str| match round % 2 {
            0 => format!("q.{question}..2"),
            _ => format!("q.{question}."),
        };
        screen.play("hold reply");
        let questions = ["56", "58", "59", "70", "88", "96", "102"];
        for (done, question) in (1..).zip(questions) {
            screen.play(&format!("tap {}", answer(question)));
            if done % clicks == 0 {
                screen.value("net.held.at(-1)?.(true)");
            }
        }
        screen.play("tap f.declaration.accept\n type f.origin.name Sample Station\n hold");
        screen.value("net.held.toReversed().forEach((it) => it(true))");
        screen.play("calm\n has f.origin.name Sample Station\n leave\n calm");
        for question in questions {
            screen.play(&format!("ticked {}", answer(question)));
        }
        let accepted = screen.value("document.getElementById('f.declaration.accept').checked");
        assert_eq!(accepted, round % 2 == 0);
    }
}

#[test]
fn an_edit_while_the_check_is_on_its_way_stops_the_check() {
    for reply in ["request", "reply"] {
        let screen = Screen::complete("");
        screen.play(&format!(
            "see Ready to be submitted.\n hold {reply}\n tap review\n held 1"
        ));
        screen.play(
            "type q.3.0 42
            hold
            release 1
            warns You changed the declaration meanwhile
            until true
            has q.3.0 42
            leave
            click review
            see Check your answers
            see 42 head in 1 row
            click submit
            see under the number C-
            see 42 head in 1 row",
        );
    }
}

#[test]
fn what_waits_is_shown_as_it_is_sent_and_can_be_withdrawn() {
    let screen = Screen::complete("");
    screen.play(
        "see Ready to be submitted.
        click line
        see Restore the line
        click review
        click submit
        see Waiting to be submitted
        see Angus",
    );
    // The declaration is not to be changed before it is withdrawn, whatever another page posts.
    let other = "fetch('/declaration/' + document.forms[0].dataset.key + '?save', { method: 'POST', body: new URLSearchParams({
        version: 99, 'q.4.0': 'Brahman' }) }).then((it) => new URL(it.url).pathname)";
    assert_eq!(screen.value(other), screen.path());
    screen.play(
        "reload
        see Angus
        miss Brahman
        click withdraw
        see It is kept in the outbox as a draft
        has q.4.0 Angus
        enter q.4.0 Brahman
        see What you changed since does not go with it before you save it.
        enter f.origin.pic QAZZ777
        click review
        see to fix before you submit
        enter f.origin.pic QAZZ7777
        click line
        see Saved as a draft",
    );
    screen.play(SUBMIT);
    screen.play("see Brahman\n miss Angus\n go /\n see 1 sent, 0 waiting, 0 drafts");
}

#[test]
fn a_second_tab_says_that_the_declaration_is_open_and_goes_on_when_it_is_closed() {
    let mut screen = Screen::open(1280, 900);
    screen.play("enter f.origin.pic QAZZ7777\n enter f.destination.pic QDZZ3333\n click f.declaration.accept\n calm");
    let first = screen.second_tab();
    screen.play("warns This declaration is open in another tab.");
    assert_eq!(screen.value("document.getElementById('main').inert"), true);
    first.close(true).unwrap();
    screen.play("calm\n has f.origin.pic QAZZ7777\n has f.destination.pic QDZZ3333\n ticked f.declaration.accept");
}

#[test]
fn what_nobody_declares_and_what_has_no_animals_is_not_submitted() {
    for (given, said) in [
        (
            "f.declaration.accept",
            "Tick “I declare” when all of it is true and complete.",
        ),
        (
            "q.3.0 0",
            "“Number of head” in row 1 is 0: the row has no animals. Check it.",
        ),
        (
            "q.3.0, q.4.0, q.5.0, row -1.0",
            "“Animals in this consignment” has no row. Add the animals.",
        ),
        (
            "q.3.0, q.4.0, q.5.0, row -1.0, none 1.",
            "“Animals in this consignment” has no row. Add the animals.",
        ),
    ] {
        let screen = Screen::complete(given);
        screen.play(&format!(
            "click review\n focus blockers\n see {said}\n gone leave.q.1."
        ));
    }
}

#[test]
fn without_storage_the_page_says_so_and_goes_on() {
    for refuses in [
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } });",
        "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };",
    ] {
        let screen = Screen::open(1280, 900);
        screen.before_scripts(refuses);
        screen.play(
            "reload
            calm
            click q.17..2
            warns This browser keeps nothing for this page
            see Time the cattle were held
            click review
            focus blockers
            ticked q.17..2
            go /
            see Declarations",
        );
    }
}

#[test]
fn a_signature_counts_as_soon_as_it_is_drawn() {
    let screen = Screen::complete("");
    screen.play("see Ready to be submitted.");
    screen.draw("ink");
    screen.play(
        "until Object.values(localStorage)[0].includes('iVBOR')
        click review
        see Signature
        until document.querySelector('.signature img')?.naturalWidth === 600
        back
        see Ready to be submitted.",
    );
    let drawn = "new Promise((done) => { const look = () => document.getElementById('ink').getContext('2d').getImageData(0, 0, 600, 180).data.some((it) => it) ? done(true) : requestAnimationFrame(look); look(); })";
    assert_eq!(screen.value(drawn), true);
    screen.play(SUBMIT);
    screen.play("until document.querySelector('.signature img')?.naturalWidth === 600");
}

#[test]
fn removed_rows_come_back_whatever_was_done_meanwhile() {
    let screen = Screen::complete("row +1.1, q.3.1 12, q.4.1 Brahman, q.5.1 Cow : F");
    screen.play(
        "see 36 head in 2 rows
        click remove.q.1.0
        focus undo.q.1.0
        see 12 head in 1 row
        click remove.q.1.1
        gone q.4.1
        click add.q.1.
        focus q.3.2
        enter q.3.2 7
        enter q.151. A note
        reload
        click undo.q.1.1
        has q.4.1 Brahman
        click undo.q.1.0
        has q.4.0 Angus
        has q.3.2 7
        has q.151. A note
        see 43 head in 3 rows
        click copy.q.1.1
        focus q.3.3
        has q.4.3 Brahman
        has q.5.3 Cow : F
        see 55 head in 4 rows",
    );
}

#[test]
fn a_restart_of_the_server_is_nothing() {
    let mut screen = Screen::complete("");
    screen.play("see Ready to be submitted.\n type q.4.0 Brahman");
    screen.restart();
    screen.play("leave\n calm\n has q.4.0 Brahman\n ticked f.declaration.accept");
    screen.play(SUBMIT);
    screen.play("see Brahman");
}

#[test]
fn a_post_that_is_held_back_undoes_nothing() {
    let screen = Screen::complete("");
    screen.play(
        "see Ready to be submitted.
        hold request
        tap save
        held 1
        hold
        lose 1
        warns Then press “Save as a draft” again.",
    );
    // The request of an older version arrives after that of a newer one.
    let save = |version: u32, breed: &str| {
        format!(
            "fetch(location.pathname + '?save', {{ method: 'POST', body: new URLSearchParams({{ version: {version}, 'f.forms': 'LPAC1',
            'f.origin.pic': 'QAZZ7777', 'f.destination.pic': 'QDZZ3333', 'f.movementDate': '27/11/2026', 'f.movementTime': '05:15',
            'q.4.0': '{breed}' }}) }}).then((it) => it.ok)"
        )
    };
    for (version, breed) in [(9, "Brahman"), (8, "Angus"), (9, "Angus")] {
        assert_eq!(screen.value(&save(version, breed)), true);
    }
    screen.value("Object.keys(localStorage).forEach((it) => localStorage.removeItem(it))");
    screen.play("reload\n see Saved as a draft\n has q.4.0 Brahman");
}

#[test]
fn replies_that_are_lost_or_come_in_another_order_undo_nothing() {
    let screen = Screen::open(1280, 900);
    screen.play(
        "hold reply
        tap q.17..2
        held 1
        tap q.17.
        held 2
        tap q.56.
        held 3
        hold
        release 3
        show Which restriction?
        release 2
        release 1
        calm
        miss Time the cattle were held
        ticked q.17.
        see Which restriction?
        hold reply
        tap q.17..2
        held 4
        lose 4
        warns No connection. What you entered is kept here and sent when it is back.
        hold
        tap q.58..2
        calm
        see Time the cattle were held
        ticked q.17..2",
    );
}

#[test]
fn a_page_of_somebody_else_is_no_reply_and_long_texts_are_counted() {
    let screen = Screen::open(1280, 900);
    screen.value("net.portal = '<h1>Log in to the free network</h1><form id=login></form>'");
    screen.play("tap q.17..2\n warns No connection.\n ticked q.17..2");
    screen.assert_accessible("without a connection");
    screen.value("net.portal = ''");
    screen.play("click q.56.\n calm\n see Time the cattle were held\n see Which restriction?");
    for field in [
        "f.origin.name",
        "f.destination.name",
        "q.57.",
        "q.151.",
        "f.declaration.fullName",
    ] {
        screen.value(&format!(
            "(() => {{ const field = document.getElementById('{field}'); field.value = '\u{1f404}'.repeat(10000);
            for (const type of ['input', 'change']) field.dispatchEvent(new Event(type, {{ bubbles: true }})); }})()"
        ));
        screen.until(&format!(
            "document.getElementById('note.{field}')?.innerText.includes(' 10000')"
        ));
    }
    screen.play("click save\n focus blockers\n see Not saved: ");
}

#[test]
fn nothing_of_one_document_reaches_another() {
    let mut screen = Screen::complete("");
    screen.draw("ink");
    screen.play("see Ready to be submitted.\n hold request\n tap f.declaration.accept\n tap f.declaration.accept\n held 2");
    screen.restart();
    screen.play("go /new\n until !document.getElementById('f.declaration.accept').checked");
    for field in [
        "f.origin.pic",
        "f.declaration.signature",
        "f.declaration.fullName",
    ] {
        screen.play(&format!(
            "until document.getElementById('{field}').value === ''"
        ));
    }
    screen.play("go /\n see Drafts that only this browser has\n see From QAZZ7777 to QDZZ3333\n see 1 drafts");
}

#[test]
fn a_clerk_finds_each_number_and_types_no_pic_twice() {
    let screen = Screen::complete(
        "row +157.0, q.158.0 Sample Carriers, q.159.0 123ABC, q.162.0 27/11/2026, q.15.0 24",
    );
    screen.play(SUBMIT);
    screen.play(
        "go /\n see 1 sent, 0 waiting, 0 drafts\n see Submitted as C-\n see 27 Nov 2026\n see PDF",
    );
    screen.assert_accessible("the start page");
    screen.value("document.querySelector('a[href^=\"/new?copy=\"]').click()");
    screen.play(
        "has f.origin.pic QAZZ7777
        has f.destination.pic QDZZ3333
        has q.158.0 Sample Carriers
        has q.159.0 123ABC
        has f.declaration.fullName Sam Sample
        has f.movementDate \n has q.162.0 \n gone q.3.0
        until !document.getElementById('f.declaration.accept').checked
        click q.17.
        go /
        see 1 sent, 0 waiting, 1 drafts",
    );
}

#[test]
fn rows_are_a_table_that_fits_its_page() {
    let rows = (1..12)
        .map(|row| format!("row +1.{row}, q.3.{row} 10, q.4.{row} Angus, q.5.{row} Steer : M"));
    let screen = Screen::complete(&rows.collect::<Vec<_>>().join(", "));
    let tops = "new Set(['q.3.0', 'q.4.0', 'q.5.0'].map((id) => Math.round(document.getElementById(id).getBoundingClientRect().top))).size";
    let fits = "[document.documentElement, ...document.querySelectorAll('table')].every((it) => it.scrollWidth <= it.parentElement?.clientWidth + 1 || it.scrollWidth <= innerWidth)";
    screen.play("see 134 head in 12 rows");
    for (width, lines) in [(1280, 1), (768, 1), (360, 3)] {
        screen.resize(width, 900);
        assert_eq!(screen.value(tops), lines, "{width} px");
        assert_eq!(screen.value(fits), true, "{width} px");
    }
    screen.play(SUBMIT);
    screen.play("see 134 head in 12 rows");
    assert_eq!(screen.printed_pages(), 1);
}

#[test]
fn what_people_type_is_read_and_what_is_odd_is_asked() {
    let screen = Screen::complete("q.3.0 24");
    for (field, typed, asked) in [
        ("q.3.0", "1,200 ", ""),
        ("f.destination.pic", "qdzz 3333", ""),
        ("f.movementDate", "21.11.26", ""),
        ("f.movementTime", "2 pm", ""),
        (
            "q.3.0",
            "two dozen",
            "“Number of head” in row 1 “two dozen” looks wrong.",
        ),
        (
            "q.3.0",
            "3.5",
            "is 3.5: animals are counted in whole numbers.",
        ),
        ("q.3.0", "99,999,999", "more than 9999 head in one row"),
        ("q.3.0", "24", ""),
        ("q.15.0", "30", "is 30: more than the 24 head of the row."),
        ("q.15.0", "24", ""),
        ("f.destination.pic", "QAZZ7777", "is also the PIC of origin"),
        ("f.destination.pic", "QDZZ3333", ""),
        ("f.movementDate", "20/11/2019", "Check the year"),
    ] {
        screen.play(&format!("enter {field} {typed}\n calm"));
        match asked {
            "" => screen.play("see Ready to be submitted."),
            asked => screen.play(&format!("see {asked}\n miss Ready to be submitted.")),
        }
    }
    // Advice does not stop it; a day that is none does.
    screen.play(
        "enter f.movementDate 30/2/2026
        see Movement date “30/2/2026” is not a day. Write it like 27/11/2026.
        enter f.movementDate 21/11/2026
        enter q.3.0 3.5
        click review
        see Look at this again
        see 21 Nov 2026
        see 14:00",
    );
}

#[test]
fn a_refusal_links_to_its_field_and_goes_when_that_is_corrected() {
    // The property of another account: the service refuses it.
    let screen = Screen::complete("f.origin.pic QBZZ2222");
    screen.play(
        "click review
        click submit
        see The service refused it
        focus outcome
        see PIC of origin is not the PIC of the selected account.
        enter q.4.0 Brahman
        see PIC of origin is not the PIC of the selected account.",
    );
    screen.assert_accessible("refused");
    screen.value("document.querySelector('#outcome a[href=\"#f.origin.pic\"]').click()");
    screen.play("focus f.origin.pic\n enter f.origin.pic QAZZ7777\n miss is not the PIC of the selected account");
    screen.play(SUBMIT);
}

#[test]
fn what_hinders_a_draft_is_named_alone() {
    let screen = Screen::open(1280, 900);
    screen.play(
        "enter f.origin.pic QAZZ7777
        enter f.destination.pic QDZZ3333
        enter f.movementDate soon
        click save
        focus blockers
        see Not saved: 1 thing in the way
        enter f.movementDate 27/11/2026
        click save
        see Saved as a draft
        focus outcome",
    );
    screen.assert_accessible("saved as a draft");
}

#[test]
fn a_second_click_on_submit_does_nothing() {
    let screen = Screen::complete("");
    screen.play("click review\n see Check your answers\n hold reply\n tap submit\n held 1\n tap submit\n hold\n release 1\n see under the number C-\n go /\n see 1 sent, 0 waiting, 0 drafts");
}

#[test]
fn back_at_the_review_goes_to_the_form() {
    let screen = Screen::complete("");
    screen.play("click review\n see Check your answers\n back\n see Ready to be submitted.\n has q.4.0 Angus");
    screen.play(SUBMIT);
}

#[test]
fn large_text_fits_a_phone_and_without_script_a_post_lands_at_its_field() {
    let screen = Screen::open(360, 740);
    screen.play("click q.17..2\n click review\n focus blockers");
    screen.value("document.documentElement.style.fontSize = '200%'");
    assert_eq!(
        screen.value("document.documentElement.scrollWidth <= innerWidth"),
        true
    );
    assert_eq!(
        screen.value("getComputedStyle(document.querySelector('header')).position"),
        "static"
    );
    let boxes = "[...document.querySelectorAll('[type=checkbox], [type=radio]')].map((it) => it.getBoundingClientRect()).every((it) => Math.abs(it.width - it.height) < 1 && it.width > 16)";
    assert_eq!(screen.value(boxes), true);
    screen.allow_script(false);
    screen.play("go /new");
    let covered = screen.value(
        "(() => { const skip = document.querySelector('.skip'), update = document.querySelector('.update'); skip.focus();
           const [a, b] = [skip, update].map((it) => it.getBoundingClientRect());
           return b.height === 0 || a.bottom > b.top && a.top < b.bottom && a.right > b.left && a.left < b.right; })()",
    );
    assert_eq!(covered, false);
    screen.value("document.getElementById('add.q.1.').click()");
    screen.play("until location.hash === '#row.q.1.0'");
    assert_eq!(
        screen.value(
            "document.getElementById('row.q.1.0').getBoundingClientRect().top < innerHeight"
        ),
        true
    );
}

#[test]
fn it_is_accessible_in_each_state() {
    let screen = Screen::open(1280, 900);
    screen.assert_accessible("the empty form");
    screen.play("click q.17..2\n click add.q.1.\n focus q.3.0\n enter f.origin.pic QAZZ777\n click review\n focus blockers");
    screen.assert_accessible("with findings");
    screen.give("f.forms LPAC1");
    let screen = Screen::complete("q.3.0 two dozen, row +1.1");
    screen.play("click remove.q.1.1\n focus undo.q.1.1\n see looks wrong");
    screen.assert_accessible("with a removed row and advice");
    screen.play("click review\n see Check your answers");
    screen.assert_accessible("all answers");
    screen.play("back\n see Check:\n click line\n see Restore the line\n click review\n see Check your answers\n click submit\n see Waiting to be submitted");
    screen.assert_accessible("waiting");
    screen.play("click line\n see 1 sent\n go /sent/1\n see under the number C-");
    screen.assert_accessible("submitted");
}

#[test]
fn a_picture_of_it_is_small() {
    let screen = Screen::open(1100, 1100);
    screen.play(
        "enter f.destination.pic QDZZ3333
        enter f.origin.name Sample Station
        enter f.destination.name Test Yards
        enter f.movementDate 27/11/2026
        enter f.movementTime 5:15
        click q.17..2
        click why.q.20.
        enter f.origin.pic QAZZ777
        see is not a PIC",
    );
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
