#![doc = include_str!("many_hosts.md")]
