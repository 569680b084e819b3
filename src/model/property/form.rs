//! How fields stand on the wire, for records that keep what they do not know.

use std::marker::PhantomData;

use serde::de::{DeserializeOwned, DeserializeSeed};
use serde::{Deserializer, Serialize, Serializer};

use crate::model::lenient;

/// How a field of type `T` is read and written.
pub(super) trait Form<T> {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error>;
    fn write<S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error>;
}

/// In serde's own way.
pub(super) struct Plain;

impl<T: Serialize + DeserializeOwned> Form<T> for Plain {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        T::deserialize(deserializer)
    }

    fn write<S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        value.serialize(serializer)
    }
}

/// A whole number, also where it is written `1.0`.
pub(super) struct Int;

impl Form<Option<i64>> for Int {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
        lenient::int(deserializer)
    }

    fn write<S: Serializer>(value: &Option<i64>, serializer: S) -> Result<S::Ok, S::Error> {
        value.serialize(serializer)
    }
}

/// Reads the value of a field in its form.
pub(super) struct Read<F, T>(PhantomData<(F, T)>);

impl<F, T> Read<F, T> {
    pub(super) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<'de, T, F: Form<T>> DeserializeSeed<'de> for Read<F, T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        F::read(deserializer)
    }
}

/// Writes the value of a field in its form.
pub(super) struct Write<'a, F, T>(&'a T, PhantomData<F>);

impl<'a, F, T> Write<'a, F, T> {
    pub(super) fn new(value: &'a T) -> Self {
        Self(value, PhantomData)
    }
}

impl<T, F: Form<T>> Serialize for Write<'_, F, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        F::write(self.0, serializer)
    }
}
