//! Looks up properties by PIC (spec 4.2), with a cache.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use super::get_records::GetRecords;
use super::if_modified::{IfModified, if_modified_since};
use super::replies::Subset;
use super::{LookupMany, OPERATION, Register};
use crate::error::{Error, ErrorKind, Result};
use crate::locked::lock;
use crate::model::visible_text::trimmed;
use crate::model::{Pic, Property};
use crate::send::{Call, Exchanged, Settings};
use crate::transport::Clock;
use crate::transport::header::HeaderValue;

/// The result of looking up one PIC.
///
/// ```
/// # use envd_sdk::fake::Fake;
/// use envd_sdk::model::Pic;
/// use envd_sdk::register::{Lookup, Register};
///
/// # test_support::example(async {
/// # let fake = Fake::start().await;
/// # let register = Register::builder(fake.register_url()).build()?;
/// let text = match register.lookup(&Pic::parse("QAZZ7777")?).await? {
///     Lookup::Found(property) if property.is_active() => "active",
///     Lookup::Found(_) => "no longer active",
///     Lookup::Several(_) => "several records: show them",
///     _ => "not in the register",
/// };
/// assert_eq!(text, "active");
/// # Ok(()) });
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Lookup {
    /// The property.
    Found(Box<Property>),
    /// The register has no such property: status 404 with a body in JSON or XML. An empty 404 counts as well if the profile says
    /// so ([`RegisterProfile::empty_not_found`](crate::profile::RegisterProfile::empty_not_found)), or by default once the
    /// register has sent a readable reply.
    NotFound,
    /// A reply without records, whose `Total` (if present) is 0. The register most likely does not have the property, but the
    /// specification does not show it.
    Empty,
    /// More than one record, or a total above one.
    Several(Vec<Property>),
}

impl Lookup {
    /// The property, if there is exactly one.
    pub fn property(&self) -> Option<&Property> {
        match self {
            Self::Found(property) => Some(property),
            _ => None,
        }
    }
}

impl Register {
    /// The property with this PIC; `None` if the register has none.
    ///
    /// # Errors
    ///
    /// [`Protocol`](crate::ErrorKind::Protocol) if the register sends several properties, or one with another PIC; otherwise as for
    /// all calls, see [`Register`].
    ///
    /// ```
    /// # use envd_sdk::fake::Fake;
    /// use envd_sdk::model::Pic;
    /// use envd_sdk::register::Register;
    ///
    /// # test_support::example(async {
    /// # let fake = Fake::start().await;
    /// # let register = Register::builder(fake.register_url()).build()?;
    /// let station = register.property(&Pic::parse("QAZZ7777")?).await?;
    /// assert_eq!(station.and_then(|station| station.register_id), Some(900_001));
    /// assert!(register.property(&Pic::parse("QZZZ9999")?).await?.is_none());
    /// # Ok(())
    /// # });
    /// ```
    pub fn property(&self, pic: &Pic) -> Call<Option<Property>> {
        self.look_up(*pic, Ok(None), |lookup| match lookup.value() {
            Some(Lookup::Found(property)) => Ok(Some(*property)),
            Some(Lookup::Several(_)) => {
                let what = "the register sent several properties for one PIC";
                Err(Error::protocol(what).with_operation(OPERATION))
            }
            _ => Ok(None),
        })
    }

    /// Looks up a PIC, and distinguishes "not found", "empty" and "several".
    ///
    /// # Errors
    ///
    /// [`Protocol`](crate::ErrorKind::Protocol) if the register sends the property of another PIC, or a `Total` that contradicts
    /// the records in the same reply; otherwise as for all calls, see [`Register`].
    pub fn lookup(&self, pic: &Pic) -> Call<Lookup> {
        let or_empty = |lookup: IfModified<Lookup>| Ok(lookup.value().unwrap_or(Lookup::Empty));
        self.look_up(*pic, Ok(None), or_empty)
    }

    /// Looks up a PIC, but only if something changed since a date. It bypasses the cache.
    ///
    /// # Errors
    ///
    /// As [`lookup`](Self::lookup), and [`Config`](crate::ErrorKind::Config) for a date before 1970 or after 9999.
    pub fn lookup_since(&self, pic: &Pic, date: SystemTime) -> Call<IfModified<Lookup>> {
        self.look_up(*pic, if_modified_since(date).map(Some), Ok)
    }

    /// Looks up many PICs, a few at a time. Nothing is sent until the first result is requested; see [`LookupMany`].
    #[doc(alias("bulk", "batch", "CSV"))]
    pub fn lookup_many(&self, pics: impl IntoIterator<Item = impl AsRef<str>>) -> LookupMany {
        LookupMany::new(self.clone(), pics)
    }

    fn look_up<T: Send + 'static>(
        &self,
        pic: Pic,
        since: Result<Option<HeaderValue>>,
        result: fn(IfModified<Lookup>) -> Result<T>,
    ) -> Call<T> {
        let register = self.clone();
        let work = since.map(|since| {
            let get = GetRecords::look_up(since, Arc::clone(&self.0.known));
            let request = Box::new(get.request(self.0.address.property(pic)));
            let send = move |request, settings: Arc<Settings>| async move {
                let cache = register.0.cache.as_ref().filter(|_| get.since.is_none());
                if let Some(cached) = cache.and_then(|cache| cache.get(pic)) {
                    return result(IfModified::changed(cached, None)).map(Exchanged::new);
                }
                let exchanged = get.send(&register.0.sender, request, &settings).await;
                let exchanged = match exchanged {
                    Ok(exchanged) => exchanged.try_map(|reply| {
                        let lookup = reply.try_map(|subset| lookup_of(subset, pic));
                        lookup.map_err(|error| error.with_operation(OPERATION))
                    })?,
                    // Of all 404 replies, only those of the register itself have this kind; a web page does not.
                    Err(error) if error.kind() == ErrorKind::NotFound => {
                        Exchanged::new(IfModified::changed(Lookup::NotFound, None))
                    }
                    Err(error) => return Err(error),
                };
                if let Some(cache) = cache
                    && let IfModified::Changed { value, .. } = &exchanged.value
                {
                    cache.store(pic, value);
                }
                exchanged.try_map(result)
            };
            (request, send)
        });
        Call::new(&self.0.sender, Arc::default(), work)
    }
}

fn lookup_of(mut subset: Subset, pic: Pic) -> Result<Lookup> {
    if let Some(record) = subset.unreadable.pop() {
        return Err(record.error);
    }
    let several = subset.total.is_some_and(|total| total > 1);
    let mut records = subset.records;
    let count = records.len() as u64;
    // Total may exceed the records on a page, unless the page is empty.
    if let Some(total) = subset.total
        && (count > total || count == 0 && total > 0)
    {
        return Err(Error::protocol(format!(
            "the register sent {count} properties with a Total of {total}"
        )));
    }
    if several || records.len() > 1 {
        return Ok(Lookup::Several(records));
    }
    let Some(property) = records.pop() else {
        return Ok(Lookup::Empty);
    };
    let sent = property.pic.as_deref();
    if sent.is_some_and(|sent| !trimmed(sent).eq_ignore_ascii_case(pic.as_str())) {
        return Err(Error::protocol(
            "the register sent a property with another PIC",
        ));
    }
    Ok(Lookup::Found(Box::new(property)))
}

/// Cached results, limited in age and number.
pub(super) struct LookupCache {
    max_age: Duration,
    capacity: usize,
    clock: Clock,
    /// Each result with the time when it was stored.
    results: Mutex<Results>,
}

type Results = HashMap<Pic, (Duration, Lookup)>;

impl LookupCache {
    pub(super) fn new(max_age: Duration, capacity: usize, clock: Clock) -> Self {
        Self {
            max_age,
            capacity,
            clock,
            results: Mutex::default(),
        }
    }

    /// An empty cache with the same limits.
    pub(super) fn emptied(&self) -> Self {
        Self::new(self.max_age, self.capacity, self.clock.clone())
    }

    pub(super) fn get(&self, pic: Pic) -> Option<Lookup> {
        let now = self.clock.monotonic();
        let results = lock(&self.results);
        let (at, result) = results.get(&pic)?;
        (now.saturating_sub(*at) < self.max_age).then(|| result.clone())
    }

    pub(super) fn store(&self, pic: Pic, result: &Lookup) {
        if self.capacity == 0 {
            return;
        }
        let now = self.clock.monotonic();
        let mut results = lock(&self.results);
        if results.len() >= self.capacity && !results.contains_key(&pic) {
            // Evict half of the results at once, so that searching for the oldest is rare.
            let mut times: Vec<_> = results.values().map(|(at, _)| *at).collect();
            let middle = (times.len() - 1) / 2;
            let (_, middle, _) = times.select_nth_unstable(middle);
            results.retain(|_, (at, _)| *at > *middle);
        }
        results.insert(pic, (now, result.clone()));
    }

    pub(super) fn clear(&self) {
        *lock(&self.results) = Results::default();
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn pic(text: &str) -> Pic {
        Pic::parse(text).unwrap()
    }

    #[test]
    fn the_result_of_a_look_up_fits_its_total_and_its_pic() {
        let property = |pic: &str| {
            let mut property = Property::default();
            property.pic = Some(pic.to_owned());
            Some(property)
        };
        let found = |total, records: &[Option<Property>]| {
            let nulls = (0..records.len()).filter(|at| records[*at].is_none());
            let subset = Subset {
                total,
                records: records.iter().flatten().cloned().collect(),
                gaps: nulls.collect(),
                ..Subset::default()
            };
            lookup_of(subset, pic("QAZZ7777"))
        };
        let own = || property(" qazz7777");
        for (total, records) in [
            (Some(1), vec![]),
            (Some(3), vec![]),
            (Some(1), vec![None]),
            (Some(0), vec![own()]),
            (Some(1), vec![own(), own()]),
            (Some(1), vec![property("QBZZ2222")]),
        ] {
            let error = found(total, &records).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Protocol, "{total:?} {records:?}");
        }
        assert!(matches!(found(Some(1), &[own()]), Ok(Lookup::Found(_))));
        assert!(matches!(found(Some(2), &[own()]), Ok(Lookup::Several(_))));
        assert_eq!(found(Some(0), &[]).unwrap(), Lookup::Empty);
    }

    #[test]
    fn a_result_is_cached_up_to_its_age_and_the_capacity() {
        let clock = Clock::manual(SystemTime::UNIX_EPOCH);
        let cache = LookupCache::new(Duration::from_secs(60), 2, clock.clone());
        let a = pic("QAZZ7777");
        let b = pic("QBZZ2222");
        let c = pic("QCZZ8888");
        cache.store(a, &Lookup::NotFound);
        clock.advance(Duration::from_secs(59));
        assert_eq!(cache.get(a), Some(Lookup::NotFound));
        clock.advance(Duration::from_secs(1));
        assert_eq!(cache.get(a), None);
        for pic in [a, b, c] {
            cache.store(pic, &Lookup::Empty);
            clock.advance(Duration::from_secs(1));
        }
        let kept = Some(Lookup::Empty);
        assert_eq!(
            [a, b, c].map(|pic| cache.get(pic)),
            [None, kept.clone(), kept]
        );
        cache.store(b, &Lookup::NotFound);
        assert_eq!(cache.get(b), Some(Lookup::NotFound));
        cache.clear();
        assert_eq!(cache.get(b), None);
    }

    #[test]
    fn the_memory_does_not_grow_when_the_same_pic_is_stored_again() {
        let clock = Clock::manual(SystemTime::UNIX_EPOCH);
        let cache = LookupCache::new(Duration::from_secs(60), 2, clock);
        for _ in 0..100 {
            cache.store(pic("QAZZ7777"), &Lookup::Empty);
        }
        assert_eq!(lock(&cache.results).len(), 1);
        assert_eq!(cache.get(pic("QAZZ7777")), Some(Lookup::Empty));
    }
}
