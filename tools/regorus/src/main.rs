//! regorus as it is published: lines of 1024 columns, 20 000 lines, 1 MiB, and no way to change that.

mod lines;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    lines::serve(regorus::Engine::new, include_str!("../Cargo.lock"))
}
