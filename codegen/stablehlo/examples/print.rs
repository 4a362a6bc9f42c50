//! Prints a program: `cargo run -p sp-stablehlo --example print FILE`.

use std::process::ExitCode;

use sp_stablehlo::Module;

fn print(path: &str) -> Result<String, Box<dyn std::error::Error>> {
    Ok(Module::read(&std::fs::read(path)?)?.to_text()?)
}

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: print FILE");
        return ExitCode::from(2);
    };
    match print(&path) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{path}: {error}");
            ExitCode::from(2)
        }
    }
}
