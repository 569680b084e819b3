#![doc = include_str!("fleet.md")]
