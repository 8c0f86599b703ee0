//! The command line that the crate regorus brings as an example, as `cargo install --example regorus regorus` makes it.
//!
//! Its text is that of the crate which Cargo.lock pins: `tools/rust.py` says where that is. Compiled here, because as an
//! example of the crate it takes the crate's test libraries along, and four times as long.

include!(concat!(env!("CONTRAST_KRM_CRATE"), "/examples/regorus/main.rs"));
