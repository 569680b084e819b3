//! How the cost of the SDK scales: constant per item.

use std::time::Duration;

use crate::measure::{Goal, Run, Threads, count, row};
use crate::save::by_sdk::With;
use crate::{list, register, save};

/// A single save is too short to measure.
const SAVES: usize = 160;

pub fn show(rounds: usize) {
    let server = save::server();
    let run = Run::new(&server, Threads::One);
    let work = "answers of a save, validated";
    grow(work, rounds, [10, 100, 1_000], |answers| {
        let inputs = save::lanes(SAVES, answers);
        let with = With {
            manager: true,
            validation: true,
        };
        let (time, saved) = save::by_sdk::save(&run, answers, inputs, with);
        assert_eq!(saved, SAVES);
        time / u32::try_from(SAVES).unwrap()
    });
    let server = register::look_up_server();
    let run = Run::new(&server, Threads::One);
    let work = "PICs of a bulk look-up";
    grow(work, rounds, [100, 1_000, 10_000], |count| {
        let pics: Vec<String> = (0..count).map(register::pic).collect();
        let (time, found) = register::by_sdk::look_up(&run, pics);
        assert_eq!(found, count);
        time
    });
    let server = list::serve();
    let run = Run::new(&server, Threads::One);
    let work = "records of a walk";
    grow(work, rounds, [1_000, 20_000, 200_000], |count| {
        list::walk(&run, 1, 1, count)
    });
}

/// Each further item of the longest costs no more than an item of the one before.
fn grow(work: &str, rounds: usize, counts: [usize; 3], time: impl Fn(usize) -> Duration) {
    let mut least = [Duration::MAX; 3];
    for _ in 0..rounds {
        for (least, count) in least.iter_mut().zip(counts) {
            *least = time(count).min(*least);
        }
    }
    let each = |at: usize| least[at].as_secs_f64() * 1e6 / counts[at] as f64;
    let [_, many, most] = counts.map(count);
    let case = format!("one of {many}, CPU time");
    row(work, &case, each(1), "µs", Goal::None);
    let case = format!("one of {most} beside one of {many}");
    row(work, &case, each(2) / each(1), "times", Goal::AtMost(1.15));
}
