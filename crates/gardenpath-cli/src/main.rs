//! The program `gardenpath`; everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    gardenpath_cli::run(std::env::args_os()).into()
}
