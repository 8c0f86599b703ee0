//! regorus with the limits that Kata's agent 4.1 sets on the length of a policy.

#[path = "../../regorus/src/lines.rs"]
mod lines;

use std::num::{NonZeroU32, NonZeroUsize};

use regorus::{Engine, PolicyLengthConfig};

const LIMITS: PolicyLengthConfig = PolicyLengthConfig {
    max_col: NonZeroU32::new(64 * 1024).unwrap(),
    max_lines: NonZeroUsize::new(200_000).unwrap(),
    max_file_bytes: NonZeroUsize::new(16 * 1024 * 1024).unwrap(),
};

fn engine() -> Engine {
    let mut made = Engine::new();
    made.set_policy_length_config(LIMITS);
    made
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    lines::serve(engine, include_str!("../Cargo.lock"))
}
