//! Which test holds each guarantee of `guide::sync` and `guide::outbox`, and each point at which a copy or an outbox may fail.

use std::fs;
use std::path::Path;

use super::outbox_guarantees::OUTBOX_TESTS;

/// Guarantees and failure points, each with the names of its tests.
const TESTS: [(&str, &[&str]); 27] = [
    (
        "every state that a list shows is told to every named consumer at least once, in order per record",
        &[
            "copies_and_feeds_are_right_after_random_schedules",
            "each_consumer_is_told_every_state_once_or_more_and_in_order",
        ],
    ),
    (
        "this holds when the program is killed at any moment",
        &[
            "each_consumer_reads_every_change_in_order_over_200_kills",
            "a_copy_in_a_file_and_its_feeds_are_right_after_schedules",
        ],
    ),
    (
        "after a clean walk the copy equals what was listed",
        &[
            "copies_and_feeds_are_right_after_random_schedules",
            "the_copy_and_the_feed_equal_the_service_after_any_schedule",
        ],
    ),
    (
        "gone: after two clean walks in a row and a read that does not find it",
        &[
            "a_record_is_gone_after_two_clean_walks_and_a_read_that_does_not_find_it",
            "a_record_that_a_read_shows_or_that_cannot_be_read_is_not_gone",
        ],
    ),
    (
        "a walk that was interrupted or shifted makes nothing gone",
        &[
            "a_walk_that_shifts_or_stops_makes_nothing_gone",
            "copies_and_feeds_are_right_after_random_schedules",
        ],
    ),
    (
        "a record that is listed again meanwhile stays",
        &["a_record_that_is_listed_again_while_it_is_asked_for_stays"],
    ),
    (
        "a page, its rows, its changes and the watermark are written in one transaction",
        &[
            "no_acknowledged_commit_is_lost_by_a_kill",
            "a_walk_that_stops_continues_at_its_page_in_another_process",
        ],
    ),
    (
        "a walk that stopped continues from its page",
        &["a_walk_that_stops_continues_at_its_page_in_another_process"],
    ),
    (
        "memory does not grow with the records",
        &["the_memory_of_a_sync_does_not_grow_with_the_records"],
    ),
    (
        "a sync with nothing new makes at most two requests and no write",
        &[
            "a_sync_with_nothing_new_is_one_request_and_no_write",
            "it_syncs_after_each_interval_and_writes_nothing_when_nothing_is_new",
        ],
    ),
    (
        "the first walk is full, and one a day; others ask from the watermark minus the overlap",
        &[
            "the_first_sync_copies_everything_and_tells_it_once",
            "a_full_walk_is_due_after_a_day_and_when_the_clock_was_set_back",
            "an_incremental_sync_tells_what_changed_and_asks_from_the_watermark_minus_the_overlap",
        ],
    ),
    (
        "incremental only if `changed since` alone explains the list",
        &[
            "only_a_service_that_compares_the_last_change_makes_an_account_incremental",
            "a_change_during_the_calibration_does_not_break_it",
            "a_record_that_is_gone_tells_no_readings_apart",
        ],
    ),
    (
        "a save of one's own is a witness",
        &["a_save_that_is_not_listed_makes_the_account_full_at_once"],
    ),
    (
        "the watermark is none of a later page",
        &["a_record_edited_behind_a_walk_falls_into_the_next_incremental_one"],
    ),
    (
        "an implausible date is no watermark",
        &["a_record_with_a_date_in_the_future_hides_no_change"],
    ),
    (
        "full depth reads each new or changed record once",
        &["full_depth_reads_each_new_or_changed_record_once"],
    ),
    (
        "changed: its content differs, not its date",
        &[
            "values_are_compared_and_not_texts_or_dates",
            "an_incremental_sync_tells_what_changed_and_asks_from_the_watermark_minus_the_overlap",
        ],
    ),
    (
        "a consumer that is named late is told everything",
        &["a_consumer_that_is_named_late_is_told_all_that_the_copy_holds_and_then_what_changed"],
    ),
    (
        "consumers do not disturb each other, and two processes with one lose nothing",
        &[
            "a_position_moves_forward_only_and_is_one_for_all_processes",
            "consumers_do_not_disturb_each_other",
        ],
    ),
    (
        "one store keeps accounts apart",
        &["one_store_keeps_accounts_apart"],
    ),
    (
        "failure point 21: disk full",
        &["a_full_disk_is_an_error_of_its_own_and_the_batch_is_written_when_there_is_room"],
    ),
    (
        "failure point 21: damaged, read-only or newer",
        &[
            "a_file_that_is_no_database_is_left_as_it_is",
            "a_truncated_file_is_unreadable_and_left_as_it_is",
            "flipped_bytes_are_an_error_or_without_effect_and_never_a_panic",
            "a_file_that_cannot_be_written_is_read",
            "a_newer_file_is_left_as_it_is",
        ],
    ),
    (
        "failure point 22: several processes",
        &[
            "another_process_may_sync_before_any_commit",
            "processes_that_sync_at_the_same_time_tell_everything_once",
            "no_commit_of_several_handles_is_lost",
        ],
    ),
    (
        "failure point 23: insert, delete, edit, refused cursor during a walk",
        &[
            "copies_and_feeds_are_right_after_random_schedules",
            "a_refused_cursor_starts_the_walk_anew",
        ],
    ),
    (
        "failure point 24: clocks a day apart",
        &[
            "copies_and_feeds_are_right_after_random_schedules",
            "a_full_walk_is_due_after_a_day_and_when_the_clock_was_set_back",
        ],
    ),
    (
        "failure point 24: other date compared, listing lag",
        &[
            "copies_and_feeds_are_right_after_random_schedules",
            "a_save_that_is_not_listed_makes_the_account_full_at_once",
        ],
    ),
    (
        "failure point 25: a consumer that is killed before it acknowledges",
        &["a_program_killed_before_it_acknowledges_repeats_that_change_and_nothing_older"],
    ),
];

#[test]
fn each_guarantee_names_a_test_that_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = String::new();
    for folder in ["src/sync", "tests"] {
        read(&root.join(folder), &mut sources);
    }
    for (guarantee, tests) in TESTS.iter().chain(&OUTBOX_TESTS) {
        for test in *tests {
            assert!(
                sources.contains(&format!("fn {test}()")),
                "{guarantee}: there is no test {test}"
            );
        }
    }
}

#[test]
fn each_failure_point_names_a_test() {
    let all = TESTS.iter().chain(&OUTBOX_TESTS);
    let named: Vec<&str> = all.map(|(guarantee, _)| *guarantee).collect();
    for number in 1..=25 {
        let point = format!("failure point {number}:");
        assert!(
            named.iter().any(|guarantee| guarantee.starts_with(&point)),
            "{point} no test is named"
        );
    }
}

fn read(folder: &Path, sources: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(&path, sources);
        } else if path.extension() == Some("rs".as_ref()) {
            *sources += &fs::read_to_string(path).unwrap();
        }
    }
}
