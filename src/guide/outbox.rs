#![doc = include_str!("outbox.md")]
