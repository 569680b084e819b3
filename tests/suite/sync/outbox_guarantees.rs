//! Which test holds each rule of an outbox, and each point at which it may fail.

/// Rules and failure points, each with the names of its tests.
pub(super) const OUTBOX_TESTS: [(&str, &[&str]); 42] = [
    (
        "rule 1: created only as a draft, submitted only by the id of its record",
        &[
            "a_submit_that_was_lost_is_sent_again_after_two_looks",
            "a_program_that_ends_anywhere_makes_one_record_of_an_entry_and_submits_it_once",
            "each_entry_becomes_one_record_or_says_why_not_after_random_schedules",
        ],
    ),
    (
        "rule 2: what names its record is settled by reading it",
        &[
            "a_submit_whose_reply_is_lost_is_read_by_id_and_not_sent_again_if_it_is_submitted",
            "a_submit_whose_reply_shows_no_submitted_record_is_read",
            "an_update_that_arrives_late_is_found_before_it_is_sent_again",
            "a_delete_whose_reply_is_lost_is_read_by_id",
        ],
    ),
    (
        "rule 2: a comment and a copy are looked for",
        &[
            "a_comment_whose_reply_is_lost_is_there_once",
            "a_comment_that_arrives_late_is_found_before_it_is_sent_again",
            "a_copy_whose_reply_is_lost_is_made_once_and_can_be_edited_and_submitted",
        ],
    ),
    (
        "rule 3: without a clear answer the record is looked for, and sent again after two looks that find nothing",
        &[
            "a_creation_whose_reply_is_lost_is_found_and_not_sent_again",
            "a_creation_that_was_not_carried_out_is_sent_again_once_after_two_looks",
            "a_reply_that_ends_after_any_byte_leaves_one_draft",
            "clocks_a_second_apart_shorten_neither_looks_nor_watches",
        ],
    ),
    (
        "rule 3: what was known before is known from a recent and complete list",
        &[
            "a_creation_relies_on_no_list_that_is_older_than_five_minutes",
            "a_list_that_changes_while_it_is_read_is_read_again_at_once",
        ],
    ),
    (
        "rule 3: several records, or one that agrees in part, need a person",
        &[
            "with_a_twin_from_the_website_a_person_decides_and_nothing_is_submitted_before",
            "with_a_record_that_agrees_in_part_a_person_decides",
            "a_record_that_the_user_writes_about_is_asked_about",
            "a_record_that_shows_an_earlier_text_is_asked_about",
            "a_record_that_can_never_be_read_is_left_to_a_person_and_holds_nothing_up",
        ],
    ),
    (
        "rule 4: creations go one after another, and other lanes go on",
        &[
            "two_identical_loads_are_both_made_whatever_reply_is_lost",
            "other_lanes_go_on_while_a_creation_is_looked_for",
            "what_waits_for_another_creation_wakes_no_loop",
        ],
    ),
    (
        "rule 5: edits that wait become one; what is in flight or signed stays as it is",
        &[
            "edits_that_wait_become_one_entry",
            "an_entry_that_surely_was_not_sent_still_takes_an_edit",
            "an_edit_of_an_entry_in_flight_is_the_next_save_and_goes_before_the_submit",
            "a_signed_entry_is_never_replaced",
            "what_is_sent_is_what_was_written_byte_for_byte",
        ],
    ),
    (
        "rule 6: a save by id is compared before",
        &[
            "a_draft_that_was_edited_on_the_website_is_a_conflict_and_nothing_is_sent",
            "an_update_that_takes_the_place_of_a_save_keeps_its_base",
            "an_edit_behind_a_save_does_not_overwrite_what_the_website_changed_meanwhile",
            "a_copy_that_could_not_be_read_back_is_compared_with_what_was_copied",
            "a_record_that_is_no_draft_any_more_is_no_base",
        ],
    ),
    (
        "rule 7: one sender, and who takes over looks first",
        &[
            "of_two_processes_one_sends_at_a_time_and_each_entry_is_sent_once",
            "who_takes_over_waits_for_the_end_of_the_lease_and_looks_first",
            "a_process_that_is_suspended_anywhere_sends_nothing_that_another_one_has_taken_over",
        ],
    ),
    (
        "rule 8: what cannot be sent any more needs a person, and nothing is sent after its limit",
        &[
            "nothing_is_sent_after_its_limit",
            "a_limit_that_passes_during_the_reads_before_a_save_is_kept",
            "an_edit_with_a_later_limit_is_sent_and_so_is_the_submit_behind_it",
            "an_account_that_is_lost_needs_a_person",
            "what_never_gets_a_clear_answer_is_sent_later_each_time_and_a_send_ends",
        ],
    ),
    (
        "made precise: what is submitted is what the user wrote last",
        &[
            "an_edit_of_an_entry_in_flight_is_the_next_save_and_goes_before_the_submit",
            "a_submit_that_is_sent_again_comes_after_what_was_written_meanwhile",
            "a_submit_that_is_kept_follows_what_was_written_last",
        ],
    ),
    (
        "made precise: a decision holds for what was there when it was made",
        &[
            "a_decision_holds_for_what_was_there_when_it_was_made",
            "what_waits_behind_a_conflict_that_was_given_up_is_a_conflict_as_well",
        ],
    ),
    (
        "made precise: a stray is told",
        &[
            "a_request_that_arrives_after_the_settle_time_leaves_a_stray_that_is_told",
            "what_arrives_after_it_was_given_up_is_told",
            "an_entry_that_was_adopted_is_watched_as_well",
            "a_stray_that_the_user_has_written_about_is_told",
            "a_late_record_that_can_never_be_read_stops_nothing_and_its_watch_ends",
        ],
    ),
    (
        "made precise: records of others never disturb, and a twin is never a reason to send again",
        &[
            "records_of_others_with_other_forms_days_or_places_never_disturb",
            "a_twin_alone_is_adopted_and_nothing_is_sent_again_unasked",
            "with_a_twin_from_the_website_a_person_decides_and_nothing_is_submitted_before",
            "a_record_of_another_entry_is_not_adopted",
        ],
    ),
    (
        "made precise: a dead login stops reads and saves alike",
        &[
            "a_dead_login_stops_reads_and_saves_alike_and_goes_on_after_a_login",
            "an_access_token_that_cannot_be_renewed_needs_a_login",
        ],
    ),
    (
        "made precise: a movement whose day has passed needs attention before anything is sent",
        &["a_movement_whose_day_is_over_needs_a_person_before_anything_is_sent"],
    ),
    (
        "made precise: a reading that fails is no look",
        &[
            "a_look_that_fails_is_no_look",
            "a_read_that_fails_is_no_record_that_is_gone",
            "a_service_that_fails_is_no_consignment_that_is_gone",
        ],
    ),
    (
        "made precise: the file holds no token, and is its owner's alone",
        &[
            "the_file_holds_no_token",
            "all_files_are_created_for_their_owner_only",
        ],
    ),
    (
        "the history stays until it is pruned, and what was pruned stays so",
        &["an_entry_that_was_pruned_meanwhile_stays_pruned"],
    ),
    (
        "failure point 1: kill before `save` returns",
        &[
            "a_program_that_ends_while_it_writes_an_entry_leaves_a_whole_one_or_none",
            "killed_while_it_writes_down_an_entry_is_there_or_not",
        ],
    ),
    (
        "failure point 2: kill after it",
        &["an_entry_of_a_program_that_ended_is_sent_by_the_next_one"],
    ),
    (
        "failure point 3: kill after the mark, before the first byte",
        &[
            "a_program_that_ends_anywhere_makes_one_record_of_an_entry_and_submits_it_once",
            "killed_at_writes_of_its_file_it_makes_each_record_once",
        ],
    ),
    (
        "failure point 4: kill after the bytes",
        &[
            "killed_at_each_request_it_makes_each_record_once",
            "a_program_that_ends_anywhere_makes_one_record_of_an_entry_and_submits_it_once",
        ],
    ),
    (
        "failure point 5: reply lost, applied",
        &["a_creation_whose_reply_is_lost_is_found_and_not_sent_again"],
    ),
    (
        "failure point 6: reply lost, not applied",
        &["a_creation_that_was_not_carried_out_is_sent_again_once_after_two_looks"],
    ),
    (
        "failure point 7: applied after settling",
        &[
            "a_request_that_arrives_after_the_settle_time_leaves_a_stray_that_is_told",
            "a_request_that_arrives_when_it_was_given_up_makes_a_draft_that_is_told",
        ],
    ),
    (
        "failure point 8: every kind of unclear reply",
        &[
            "a_creation_whose_reply_is_lost_is_found_and_not_sent_again",
            "a_creation_that_was_not_carried_out_is_sent_again_once_after_two_looks",
            "a_reply_that_ends_after_any_byte_leaves_one_draft",
        ],
    ),
    (
        "failure point 9: connection refused",
        &["without_reception_an_entry_is_tried_again_and_nothing_is_written_each_time"],
    ),
    ("failure point 10: 429", &["too_many_requests_wait_as_told"]),
    (
        "failure point 11: refused",
        &[
            "a_refused_entry_keeps_the_findings_stops_its_lane_and_goes_on_when_it_is_corrected",
            "a_refused_submit_is_corrected_by_an_edit",
        ],
    ),
    (
        "failure point 12: login dead",
        &["a_dead_login_stops_reads_and_saves_alike_and_goes_on_after_a_login"],
    ),
    (
        "failure point 13: two identical loads",
        &["two_identical_loads_are_both_made_whatever_reply_is_lost"],
    ),
    (
        "failure point 14: twin made on the website meanwhile",
        &["with_a_twin_from_the_website_a_person_decides_and_nothing_is_submitted_before"],
    ),
    (
        "failure point 15: edit during flight",
        &["an_edit_of_an_entry_in_flight_is_the_next_save_and_goes_before_the_submit"],
    ),
    (
        "failure point 16: draft edited on the website",
        &["a_draft_that_was_edited_on_the_website_is_a_conflict_and_nothing_is_sent"],
    ),
    (
        "failure point 17: draft submitted or locked there",
        &["a_draft_that_was_submitted_or_locked_there_is_a_conflict"],
    ),
    (
        "failure point 18: draft deleted there",
        &["a_draft_that_was_deleted_there_is_gone_and_the_user_decides"],
    ),
    (
        "failure point 19: reply to a submit lost",
        &[
            "a_submit_whose_reply_is_lost_is_read_by_id_and_not_sent_again_if_it_is_submitted",
            "a_submit_that_was_lost_is_sent_again_after_two_looks",
        ],
    ),
    (
        "failure point 20: movement time passed, form retired",
        &[
            "a_movement_whose_day_is_over_needs_a_person_before_anything_is_sent",
            "a_form_that_is_retired_needs_a_person_before_anything_is_sent",
        ],
    ),
    (
        "failure point 21: the store of an outbox",
        &[
            "a_store_that_takes_nothing_stops_the_outbox_before_a_request_that_is_not_marked",
            "a_damaged_store_sends_nothing_and_is_not_overwritten",
            "a_later_version_is_named",
        ],
    ),
    (
        "failure point 22: two processes, lease expired, holder frozen",
        &[
            "of_two_processes_one_sends_at_a_time_and_each_entry_is_sent_once",
            "a_process_that_is_suspended_anywhere_sends_nothing_that_another_one_has_taken_over",
            "a_sender_that_was_frozen_at_any_request_sends_nothing_twice",
            "two_runs_at_a_time_send_once",
        ],
    ),
];
