//! Many properties by their PICs.

use std::collections::{HashMap, HashSet};

use tokio::task::{JoinError, JoinSet};

use super::Register;
use crate::error::{Error, Failure, Kind, Result, Unsent};
use crate::model::{Pic, Property};

impl Register {
    /// Looks up many PICs, at most `concurrency` at a time (0 counts as 1), and gives an answer for each in their order.
    ///
    /// A PIC that stands there twice is asked for once. A look-up that fails does not stop the others. Dropping the future
    /// stops all of them.
    ///
    /// ```
    /// # use envd_sdk::fake::Fake;
    /// use envd_sdk::model::Pic;
    /// use envd_sdk::register::Register;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let fake = Fake::start().await;
    /// # let register = Register::builder(fake.register_url()).build()?;
    /// let pics = [Pic::parse("QAZZ7777")?, Pic::parse("QZZZ9999")?];
    /// for (pic, found) in register.lookup_many(pics, 4).await {
    ///     match found? {
    ///         Some(property) => println!("{pic}: {:?}", property.admin_status),
    ///         None => println!("{pic}: not in the register"),
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn lookup_many(
        &self,
        pics: impl IntoIterator<Item = Pic>,
        concurrency: usize,
    ) -> Vec<(Pic, Result<Option<Property>>)> {
        let pics: Vec<Pic> = pics.into_iter().collect();
        let mut seen = HashSet::new();
        let mut waiting = pics.iter().filter(|pic| seen.insert(*pic));
        let mut running = JoinSet::new();
        let mut answers = HashMap::new();
        for pic in waiting.by_ref().take(concurrency.max(1)) {
            self.start(&mut running, pic);
        }
        while let Some(done) = running.join_next().await {
            match done.map_err(JoinError::try_into_panic) {
                Ok((pic, answer)) => drop(answers.insert(pic, answer)),
                // As it would have without a task of its own.
                Err(Ok(panic)) => std::panic::resume_unwind(panic),
                Err(Err(_)) => {}
            }
            if let Some(pic) = waiting.next() {
                self.start(&mut running, pic);
            }
        }
        let answered = pics.into_iter().map(|pic| {
            let answer = answers.get(&pic).cloned();
            (pic, answer.unwrap_or_else(|| Err(stopped())))
        });
        answered.collect()
    }

    fn start(&self, running: &mut JoinSet<(Pic, Result<Option<Property>>)>, pic: &Pic) {
        let (register, pic) = (self.clone(), pic.clone());
        running.spawn(async move {
            let answer = register.property(&pic).await;
            (pic, answer)
        });
    }
}

/// The runtime ended the task.
fn stopped() -> Error {
    Error::new(Kind::Transport(Failure {
        what: "the runtime stopped before the look-up was done",
        timeout: false,
        unsent: Unsent::Perhaps,
        refused_locally: true,
    }))
}
