//! The executable: everything is in the library.
#![deny(unsafe_code)]

fn main() -> std::process::ExitCode {
    tabiya::cli::main()
}
