#![doc = include_str!("offline.md")]
