//! `web_form` without a browser: pages as a browser without scripts gets them, and what the service has afterwards.

use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::path::Path;

use envd_sdk::fake::Fault;
use processes::{Folder, FormDraft, FormSite, Mode, Program, Running, http, until};
use url::{Url, form_urlencoded};

async fn site() -> FormSite {
    FormSite::start(env!("CARGO_BIN_EXE_web_form").trim_end_matches(EXE_SUFFIX)).await
}

/// Waits until the receipt has the number of the service.
async fn until_submitted(draft: &FormDraft<'_>) {
    let has_number = async || draft.page("").text.contains("Number <strong>C-");
    until("the number of the declaration", has_number).await;
}

#[test]
fn the_default_store_stands_where_other_users_cannot_read_it() {
    let folder = Folder::new();
    let here = folder.path("here");
    let private = folder.path("private");
    fs::create_dir(&here).unwrap();
    fs::create_dir(&private).unwrap();
    let program = Program::new(env!("CARGO_BIN_EXE_web_form").trim_end_matches(EXE_SUFFIX));
    let program = program.within(&here).env("LOCALAPPDATA", &private);
    drop(Running::start(program));
    let has_store = |place: &Path| {
        let files = ["web_form.db", "web_form.db.session"];
        files.map(|file| place.join(file).is_file())
    };
    // Elsewhere modes protect the files.
    assert_eq!(has_store(&private), [cfg!(windows); 2]);
    assert_eq!(has_store(&here), [!cfg!(windows); 2]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_declaration_is_filled_in_page_by_page_checked_and_submitted() {
    let site = site().await;
    let draft = site.begin();
    // Nothing is wrong before a page was sent, and nothing can be submitted.
    let movement = draft.page("movement").lacks("problem");
    movement.has("Day, month and year").has("Such as 05:15");
    draft
        .page("check")
        .has("Still to do")
        .lacks("id=\"submit\"");
    draft.page("").has(">To do<").lacks(">Incomplete<");
    let next = draft.complete().join(" ");
    let pages = "/addresses /q1?#row.q.1.0 /q9001 /q9002 /q146 /q9004 /q157 /declaration /check";
    assert_eq!(next, pages);
    draft
        .page("movement")
        .has("value=\"QAZZ7777\"")
        .has("Sample Station, Sampleton, QLD")
        .has("value=\"15 Jan 2099\"");
    draft.page("q1").has("they go to the NLIS database");
    draft.page("check").has("Angus").has("id=\"submit\"");
    draft.submit();
    let receipt = draft
        .page("")
        .has("Submitted")
        .has("This is what the service has now")
        .has("24 head");
    site.has_one_record("Angus", "24");
    assert!(draft.page("pdf").text.contains("Tj"));

    // By its number, and by a part of it.
    let (_, number) = receipt.text.split_once("Number <strong>").unwrap();
    let number = number.split('<').next().unwrap();
    assert!(number.starts_with("C-"), "{number}");
    site.list(&format!("?number={number}")).has(number);
    site.list("?number=C-0000")
        .lacks(number)
        .has("No declaration has a number");

    // The next load has what a clerk would keep.
    let next = site.begin_like(&draft);
    next.page("movement")
        .has("value=\"QDZZ3333\"")
        .lacks("2099");
    next.page("declaration")
        .has("value=\"Sam Sample\"")
        .lacks("checked");
    next.page("q1").lacks("Angus");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn what_is_wrong_is_said_at_the_top_and_at_the_field_once_the_page_was_sent() {
    let site = site().await;
    let draft = site.begin();
    let fields =
        "f.origin.pic=QAZZ777&f.destination.pic=NE000004&f.movementDate=soon&f.movementTime=5.15";
    let saved = draft.save("movement", fields);
    assert_eq!(saved.to, draft.path("movement?checked=1&new="));
    // The typed text is stored, even if it is wrong.
    draft
        .follow(&saved)
        .has("<title>Error: Where and when")
        .has("<a href=\"#f.origin.pic\">PIC of origin “QAZZ777” is not a PIC.")
        .has("id=\"note.f.origin.pic\"")
        .has("value=\"soon\"")
        .has("The register says that this PIC is Blocked.");
    draft.page("movement").lacks("Error").has("value=\"soon\"");
    let later = draft.save("movement", "f.origin.pic=QAZZ77&later=1");
    assert_eq!(later.to, draft.path(""));

    // Questions that follow from an answer are shown before they are missing.
    let saved = draft.save("q9001", "q.17.=No");
    assert_eq!(saved.to, draft.path("q9001?new=q.20.#field.q.20."));
    draft
        .follow(&saved)
        .has("A question follows")
        .lacks("Error")
        .has("Did the vendor breed all of them?” is answered No");
    let saved = draft.save("q9001", "q.17.=No");
    draft
        .follow(&saved)
        .has("Error: ")
        .has("“Time the cattle were held”");
    // Its answer stays when it does not apply, and is not sent.
    draft.save("q9001", "q.20.=LT2Months");
    draft.save("q9001", "q.17.=Yes");
    draft.page("q9001").lacks("q.20.");
    draft.save("q9001", "q.17.=No");
    draft
        .page("q9001")
        .has("value=\"LT2Months\" id=\"q.20.\" checked");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_stale_page_shows_both_values_and_other_pages_merge() {
    let site = site().await;
    let draft = site.begin_complete();
    let stale = draft.page("q1");
    draft.save("q1", "q.4.0=Brahman");
    draft.save("q9004", "q.151.=A note");
    let asked = draft
        .post_from(&stale, "q1", "q.3.0=24&q.4.0=Hereford")
        .with(409)
        .has("This page was changed elsewhere")
        .has("value=\"Hereford\"")
        .has("Saved elsewhere: Brahman");
    draft.page("q1").has("value=\"Brahman\"");
    // The user has seen both values.
    draft.post_from(&asked, "q1", "q.4.0=Hereford").with(303);
    draft.page("q1").has("value=\"Hereford\"");
    draft.page("q9004").has("value=\"A note\"");

    // No typed text is dropped with a row that is gone.
    draft.save("q1", "add=q.1.");
    let stale = draft.page("q1");
    draft.save("q1", "remove=q.1.1");
    draft
        .post_from(&stale, "q1", "q.4.1=Wagyu")
        .with(409)
        .has("no longer has a field for Wagyu");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_change_removes_the_signature_and_needs_another_check() {
    let site = site().await;
    let draft = site.begin_complete();
    // An empty row is not sent, so the text is the same.
    draft.save("q1", "add=q.1.");
    draft.page("check").lacks("Tick “I declare”");
    draft.save("q1", "q.4.1=Wagyu");
    draft.page("check").has("Tick “I declare”");
    draft.sign();
    draft.save("q1", "remove=q.1.1");
    draft.page("check").has("Tick “I declare”");
    // Also a signature that is only drawn.
    draft.save(
        "declaration",
        "f.declaration.accept=&f.declaration.signature=AAAA",
    );
    draft.save("forms", "f.forms=LPAC1&f.forms=EUC1");
    draft.page("declaration").lacks("AAAA");

    // A check of older answers submits nothing; nor does a signature under them.
    let draft = site.begin_complete();
    let check = draft.page("check");
    draft.save("q1", "q.3.0=42");
    draft
        .post_from(&check, "submit", "")
        .with(409)
        .has("The declaration has changed since you checked it")
        .has("Tick “I declare”");
    assert_eq!(site.records().len(), 0);
    draft.sign();
    draft.submit();
    site.has_one_record("Angus", "42");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_page_that_is_sent_twice_counts_once() {
    let site = site().await;
    let draft = site.begin();
    let list = site.list("");
    let again = format!("token={}&id={}", list.value("token"), draft.id);
    site.post("/new", &again).with(303);
    assert_eq!(site.list("").text.matches("Saved ").count(), 1);
    for (fields, rows) in [("add=q.1.", 1), ("q.4.0=Angus&remove=q.1.0", 0)] {
        let page = draft.page("q1");
        for _ in 0..2 {
            draft.post_from(&page, "q1", fields).with(303);
        }
        let page = draft.page("q1");
        assert_eq!(page.text.matches("class=\"row\"").count(), rows);
    }

    let draft = site.begin_complete();
    let check = draft.page("check");
    // A double click: both are on their way at once, and each leads to the number. Then Back, and once more.
    let click = || {
        draft.post_from(&check, "submit", "").with(303);
        draft.page("").has("Number <strong>C-");
    };
    std::thread::scope(|scope| {
        scope.spawn(click);
        scope.spawn(click);
    });
    click();
    site.has_one_record("Angus", "24");
    // Every other page leads to the receipt.
    for page in ["check", "q1", "movement"] {
        assert_eq!(site.get(&draft.path(page)).with(303).to, draft.path(""));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn drafts_outlive_a_kill() {
    let site = site().await;
    let draft = site.begin_complete();
    let open = draft.page("q1");
    site.restart();
    draft
        .post_from(&open, "q1", "q.3.0=25&q.4.0=Brahman")
        .with(303);
    site.restart();
    draft.page("q1").has("value=\"Brahman\"");
    draft.sign();
    draft.submit();
    site.restart();
    draft.page("").has("Submitted");
    site.has_one_record("Brahman", "25");
}

/// Killed at each request of a submit, after the service has carried it out and before the reply.
#[test]
fn a_kill_between_the_services_yes_and_the_reply_leaves_one_record() {
    let killed = |number| {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).enable_all().build().unwrap();
        runtime.block_on(killed_at(number))
    };
    let held = std::thread::scope(|scope| {
        let cases: Vec<_> = (1..=4)
            .map(|number| scope.spawn(move || killed(number)))
            .collect();
        let held = cases.into_iter().map(|case| case.join().unwrap());
        held.filter(|was_held| *was_held).count()
    });
    // At least a list, a creation and a submit.
    assert!(held >= 3, "{held}");
}

/// Whether there was such a request.
async fn killed_at(number: usize) -> bool {
    let site = site().await;
    let draft = site.begin_complete();
    let check = draft.page("check");
    let before = site.proxy.statements();
    site.hold_reply(number);
    // The page waits for the service as long as its patience lasts.
    draft.post_from(&check, "submit", "").with(303);
    let was_held = site.proxy.statements() == before + number;
    site.kill();
    site.cut_line().await;
    site.proxy.set(Mode::Pass);
    site.start_again(0);
    // The user comes back to the page, and presses the button once more.
    draft.post_from(&check, "submit", "").with(303);
    until_submitted(&draft).await;
    site.has_one_record("Angus", "24");
    was_held
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn what_waits_is_shown_can_be_taken_back_and_goes_when_the_line_is_there() {
    let site = site().await;
    let draft = site.begin_complete();
    let fault = Fault::status(503);
    site.fake.on_path("/v2/graphql").fault(fault).forever();
    draft.submit();
    draft
        .page("")
        .has(">Waiting<")
        .has("This is what is to be sent")
        .has("Angus");
    assert_eq!(site.records().len(), 0);
    draft.decide("change").with(303);
    draft.save("q1", "q.4.0=Brahman");
    draft.sign();
    draft.submit();
    site.fake.clear_scripts();
    draft.decide("try again").with(303);
    until_submitted(&draft).await;
    site.has_one_record("Brahman", "24");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn what_the_service_refuses_is_shown_with_its_words_and_corrected() {
    let site = site().await;
    let draft = site.begin_complete();
    site.fake
        .on_operation("CreateOrSaveConsignment")
        .refuse("003", "the service is being moved");
    draft.submit();
    let refused = draft
        .page("")
        .has(">Refused<")
        .has("The service says:")
        .has("the service is being moved")
        .has("value=\"resend\"");
    assert_eq!(site.records().len(), 0);
    draft.decide("change").with(303);
    draft.page("").has("Your declaration").has(">Refused<");
    draft.sign();
    draft.submit();
    draft.page("").has("Number <strong>C-");
    site.has_one_record("Angus", "24");
    // An answer to a question that is over changes nothing, and an unknown one is refused.
    for (decision, status) in [
        ("resend", 303),
        ("adopt x", 303),
        ("change", 303),
        ("burn it", 400),
    ] {
        let fields = format!("decision={decision}");
        draft.post_from(&refused, "decide", &fields).with(status);
    }
    site.has_one_record("Angus", "24");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_question_of_the_outbox_is_answered_on_its_page() {
    let site = site().await;
    for (decision, state) in [("keep mine", ">Submitted<"), ("discard", ">Discarded<")] {
        let draft = site.begin_complete();
        draft.save("movement", "f.movementDate=1/10/2025");
        draft.sign();
        let check = draft.page("check");
        draft.submit();
        draft
            .page("")
            .has(">Asked<")
            .has("The day of the movement is over")
            .lacks("?.</p>");
        draft.decide(decision).with(303);
        draft.page("").has(state).has("Start another from this one");
        // The declaration is closed: an older page neither changes nor submits it.
        draft.post_from(&check, "submit", "").with(303);
        draft.page("").has(state);
        site.list("").lacks("<h2>Drafts</h2>");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn any_text_that_a_browser_sends_is_kept_or_refused_with_a_sentence() {
    let site = site().await;
    let draft = site.begin_complete();
    let long = "1200 tags ".repeat(121);
    for text in [
        "\u{fffd}",
        "\u{1f404} Ängus",
        "a\u{0}b",
        "<script>\"'&",
        "x\u{202e}x",
        &long,
    ] {
        let encoded: String = form_urlencoded::byte_serialize(text.as_bytes()).collect();
        draft.save("q9004", &format!("q.151.={encoded}"));
        let shown = text
            .trim()
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
            .replace('"', "&quot;")
            .replace('\'', "&#x27;");
        let page = draft
            .page("q9004?checked=1")
            .has(&format!("value=\"{shown}\""))
            .lacks("<script>");
        let refusal = "The text has 1209 characters. Use at most 1000.";
        assert_eq!(page.text.contains(refusal), text.len() > 1_000);
    }
    // Nonsense in known fields is stored, and said.
    for (page, fields) in [
        ("addresses", "f.origin.address.state=XX"),
        ("q9001", "q.17.=Perhaps"),
    ] {
        let saved = draft.save(page, fields);
        draft.follow(&saved).has("Error: ");
    }
    draft.save("forms", "f.forms=LPAC9");
    draft.page("check").has("LPAC9 is not known as a form");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_request_that_no_page_sends_is_refused_with_a_sentence() {
    let site = site().await;
    let draft = site.begin_complete();
    let page = draft.page("q9004");
    let token = format!("token={}", page.value("token"));
    let version = format!("version={}", page.value("version"));
    let max = u64::MAX;
    let large = "x".repeat(1_000_000);
    for (fields, status) in [
        (format!("{token}&{version}&q.151.=%FF"), 400),
        (format!("{token}&version={max}&q.151.=x"), 400),
        (format!("{token}&q.151.=x"), 400),
        (format!("token={max}&{version}&q.151.=x"), 403),
        (format!("{version}&q.151.=x"), 403),
        (format!("{token}&{version}&add=q.{max}.0"), 400),
        (format!("{token}&{version}&remove=q.146.7"), 400),
        (format!("{token}&{version}&q.151.={large}"), 413),
    ] {
        let refused = site.post(&draft.path("q9004"), &fields);
        refused.with(status).has("Nothing was");
    }
    for path in [
        draft.path(&format!("q{max}")),
        format!("/{max}"),
        format!("/{}x/check", draft.id),
        draft.path("%FF"),
    ] {
        site.get(&path).with(400);
    }
    site.get(&format!("/{}", "0".repeat(32))).with(404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn there_are_at_most_200_rows_and_200_drafts() {
    let site = site().await;
    let draft = site.begin();
    for _ in 0..200 {
        draft.save("q146", "add=q.146.");
    }
    let page = draft
        .page("q146")
        .has("There are 200 rows.")
        .lacks("name=\"add\"");
    draft
        .post_from(&page, "q146", "add=q.146.")
        .with(409)
        .has("There are 200 rows already.");
    let rows: Vec<String> = (0..200)
        .map(|row| format!("q.148.{row}=Number {row}"))
        .collect();
    draft.post_from(&page, "q146", &rows.join("&")).with(303);
    draft.page("q146").has("value=\"Number 199\"");

    let token = page.value("token");
    let begin = |number| site.post("/new", &format!("token={token}&id={number:032x}"));
    for number in 1..200 {
        begin(number).with(303);
    }
    begin(200).with(409).has("There are 200 drafts already.");
    draft.post_from(&page, "delete", "").with(303);
    begin(200).with(303);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn other_hosts_sites_and_users_get_nothing() {
    let site = site().await;
    let draft = site.begin();
    let port = site.url().port().unwrap();
    for host in ["attacker.example", &format!("attacker.example:{port}"), ""] {
        let host = format!("host: {host}");
        site.send("GET", "", &[&host], "").with(421).lacks("<form");
    }
    let refused = |headers: &[&str]| {
        let reply = site.send("POST", &draft.path("delete"), headers, "");
        reply.with(403).has("Nothing was changed");
    };
    refused(&[]);
    for origin in [
        "null",
        "http://attacker.example",
        "http://127.0.0.1:1",
        &format!("http://localhost:{port}"),
    ] {
        refused(&[&format!("origin: {origin}")]);
    }
    // Another user of the machine does not know the address.
    for path in ["", "new", &draft.id, "0123456789abcdef0123456789abcdef"] {
        let url = Url::parse(&format!("http://127.0.0.1:{port}/{path}")).unwrap();
        let reply = http::get(&url);
        assert!(reply.starts_with("HTTP/1.1 404"), "{reply}");
    }
    let page = draft.page("");
    let policy = http::header(&page.text, "content-security-policy").unwrap();
    assert!(
        policy.starts_with("default-src 'none'; script-src 'self';") && !policy.contains("unsafe"),
        "{policy}"
    );
    assert_eq!(http::header(&page.text, "cache-control"), Some("no-store"));
    #[cfg(unix)]
    for file in ["form.db", "form.db.session"] {
        let data = fs::metadata(site.folder.path(file)).unwrap();
        let mode = std::os::unix::fs::MetadataExt::mode(&data);
        assert_eq!(mode & 0o077, 0, "{file}");
    }
}
