#![doc = include_str!("sync.md")]
