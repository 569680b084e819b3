//! Breadth-first search over all possible steps, so the first path that breaks an invariant is a shortest path.

use std::collections::{BTreeMap, HashSet};
use std::sync::Mutex;

use super::invariants::{Broken, Invariant};
use super::steps::{Actors, Run, Step};
use super::world::World;

/// The number of plain passes after which every declaration must be settled.
const PASSES: u32 = 12;

/// The steps to a first state, and the actors from there.
pub(super) struct Scope {
    pub(super) name: &'static str,
    pub(super) first: Vec<Step>,
    pub(super) actors: Actors,
    pub(super) depth: usize,
}

/// The result of a search.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) states: usize,
    /// The shortest path to each broken invariant, and how it breaks the invariant.
    pub(super) broken: BTreeMap<Invariant, (Vec<Step>, Broken)>,
    pub(super) levels: Vec<usize>,
}

/// The state before a state, and the number of the step between them.
#[derive(Clone, Copy)]
struct Parent {
    state: u32,
    step: u16,
}

struct Node {
    number: u32,
    world: World,
}

/// The result of a step: a new state, or broken invariants. Results are in the order of the steps, for any number of threads.
struct Next {
    parent: Parent,
    key: u64,
    world: World,
    broken: Vec<Broken>,
}

/// `is_enough`: whether to stop after the first level that breaks an invariant.
pub(super) fn explore(
    scope: &Scope,
    planted: &'static str,
    threads: usize,
    is_enough: bool,
) -> Found {
    let first = World::after_all(planted, &scope.first);
    let mut found = Found::default();
    let mut known = HashSet::from([first.key()]);
    let fine = Mutex::new(HashSet::new());
    let mut parents: Vec<Option<Parent>> = vec![None];
    let mut level = vec![Node {
        number: 0,
        world: first,
    }];
    for _ in 0..scope.depth {
        let size = level.len().div_ceil(threads * 4).max(1);
        let chunks: Vec<&[Node]> = level.chunks(size).collect();
        let results: Vec<Mutex<Vec<Next>>> = chunks.iter().map(|_| Mutex::default()).collect();
        let next = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|threads_of_level| {
            for _ in 0..threads {
                threads_of_level.spawn(|| {
                    loop {
                        let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        let Some(chunk) = chunks.get(at) else {
                            return;
                        };
                        let expanded = expand(chunk, &scope.actors, &known, &fine);
                        *results[at].lock().unwrap() = expanded;
                    }
                });
            }
        });
        let mut new = Vec::new();
        for next in results
            .into_iter()
            .flat_map(|result| result.into_inner().unwrap())
        {
            if !next.broken.is_empty() {
                for broken in next.broken {
                    let is_new = !found.broken.contains_key(&broken.0);
                    if is_new {
                        let path = path_to(next.parent, &parents, scope, planted);
                        found.broken.insert(broken.0, (path, broken));
                    }
                }
                continue;
            }
            if !known.insert(next.key) {
                continue;
            }
            // OK because 2^32 states would not fit into memory.
            let number = u32::try_from(parents.len()).unwrap();
            parents.push(Some(next.parent));
            new.push(Node {
                number,
                world: next.world,
            });
        }
        found.levels.push(new.len());
        level = new;
        if is_enough && !found.broken.is_empty() {
            break;
        }
    }
    found.states = known.len();
    found
}

fn expand(
    chunk: &[Node],
    actors: &Actors,
    known: &HashSet<u64>,
    fine: &Mutex<HashSet<u64>>,
) -> Vec<Next> {
    let mut all = Vec::new();
    let mut own = HashSet::new();
    for node in chunk {
        for (at, step) in node.world.steps(actors).iter().enumerate() {
            let Some(mut world) = node.world.after(step) else {
                continue;
            };
            let key = world.key();
            let mut broken = std::mem::take(&mut world.invariants.broken);
            if broken.is_empty() && (known.contains(&key) || !own.insert(key)) {
                continue;
            }
            if broken.is_empty() {
                broken = broken_after_plain_passes(&world, fine);
            }
            all.push(Next {
                parent: Parent {
                    state: node.number,
                    step: u16::try_from(at).unwrap(),
                },
                key,
                world,
                broken,
            });
        }
    }
    all
}

/// The invariants that are broken if the service answers every request from now on.
pub(super) fn broken_after_plain_passes(world: &World, fine: &Mutex<HashSet<u64>>) -> Vec<Broken> {
    let mut world = world.clone();
    if world.held.is_some() {
        world.kill(super::steps::Fate::NeverArrives);
    }
    let mut keys = Vec::new();
    for pass in 0..=PASSES {
        let key = world.key();
        if fine.lock().unwrap().contains(&key) {
            break;
        }
        let is_over = world.is_settled() && (!world.is_watching() || pass > 1);
        if is_over || pass == PASSES {
            for id in world.rows.keys().copied().collect::<Vec<_>>() {
                let screen = world.screen(id);
                world.invariants.ends(id, &screen);
            }
            let unreported = world.unreported();
            world.invariants.check_unreported(&unreported);
            if !world.invariants.broken.is_empty() {
                return world.invariants.broken;
            }
            break;
        }
        keys.push(key);
        // The outbox searches for late duplicates once an hour.
        world.now += 60 * 60;
        world.run(Run::PLAIN);
        if !world.invariants.broken.is_empty() {
            // The search also reaches this violation by single steps, and reports it there.
            return Vec::new();
        }
    }
    fine.lock().unwrap().extend(keys);
    Vec::new()
}

/// The steps to a state.
fn path_to(
    last: Parent,
    parents: &[Option<Parent>],
    scope: &Scope,
    planted: &'static str,
) -> Vec<Step> {
    let mut numbers = vec![last.step];
    let mut at = last.state;
    while let Some(parent) = parents[at as usize] {
        numbers.push(parent.step);
        at = parent.state;
    }
    let mut world = World::after_all(planted, &scope.first);
    let mut path = scope.first.clone();
    for number in numbers.into_iter().rev() {
        let step = world.steps(&scope.actors).remove(usize::from(number));
        if let Some(after) = world.after(&step) {
            world = after;
        }
        path.push(step);
    }
    path
}
