//! Steps of a plugin in sp-host, in a separate process: the same as those of `driver.py` in TensorFlow.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sp_host::{Attr, Error, Host, Op, Tensor};
use sp_ir::Api;

const RELEASE: &str = "SP_SHOWN_RELEASE";
const SECONDS: u64 = 6;

/// In a child process, returns the release to emulate.
pub fn release() -> Option<String> {
    std::env::var(RELEASE).ok()
}

/// In a child process, runs the steps until one fails, and prints its line.
pub fn run_steps(apis: &[Api]) -> ! {
    let arguments: Vec<String> = std::env::args().collect();
    let (plugin, steps) = (Path::new(&arguments[1]), arguments[2].as_str());
    if let Err((step, outcome)) = all(apis, plugin, steps) {
        println!("\n@ {step}: {outcome}");
    }
    println!("\n@ end");
    let _ = std::io::stdout().flush();
    // Threads of the plugin may still run: `exit` does not wait for them.
    std::process::exit(0)
}

type Step<'a> = (&'static str, &'a dyn Fn(&Host) -> Result<(), Error>);

fn all(apis: &[Api], plugin: &Path, steps: &str) -> Result<(), (&'static str, String)> {
    let host = Host::open(apis, plugin).map_err(|error| ("load", outcome_of("load", error)))?;
    let life: [Step<'_>; 5] = [
        ("add", &|host| add(host, 3)),
        ("sum", &|host| sum(host, false)),
        ("neg", &negate),
        ("function", &optimize),
        ("profile", &profile),
    ];
    let differ: [Step<'_>; 1] = [("add", &|host| add(host, 4))];
    let keep: [Step<'_>; 1] = [("sum", &|host| sum(host, true))];
    let asked: &[Step<'_>] = match steps {
        "differ" => &differ,
        "keep" => &keep,
        _ => &life,
    };
    for (step, work) in asked {
        work(&host).map_err(|error| (*step, outcome_of(step, error)))?;
    }
    host.close().map_err(|error| ("close", ends(error)))?;
    Ok(())
}

/// Formats an error as the outcome in TensorFlow. An error of an optimizer or a profiler is only logged.
fn outcome_of(step: &str, error: Error) -> String {
    match (step, error) {
        ("function" | "profile", Error::Status { code, message, .. }) => {
            format!("logs {code}: {message}")
        }
        (_, Error::Declined(_)) => "none".into(),
        (_, Error::Load(text)) => format!("raises NOT_FOUND: {text}"),
        (_, error) if error.is_fatal() => ends(error),
        (_, Error::Status { code, message, .. }) => format!("raises {code}: {message}"),
        (_, error) => format!("raises {error}"),
    }
}

fn ends(error: Error) -> String {
    match error {
        Error::Status { code, message, .. } => format!("ends {code}: {message}"),
        error => format!("ends {error}"),
    }
}

fn ones(count: i64) -> Tensor {
    Tensor::from([count], &vec![1f32; count as usize])
}

fn add(host: &Host, count: i64) -> Result<(), Error> {
    let sums = host.run(&Op::new("AddV2"), &[ones(3), ones(count)])?;
    assert_eq!(sums, [Tensor::from([3], &[2f32; 3])]);
    Ok(())
}

fn sum(host: &Host, keep: bool) -> Result<(), Error> {
    let op = Op::new("Sum").attr("keep_dims", Attr::Bool(keep));
    let sums = host.run(&op, &[ones(3), Tensor::from([1], &[0i32])])?;
    assert_eq!(sums, [Tensor::from([], &[3f32])]);
    Ok(())
}

fn negate(host: &Host) -> Result<(), Error> {
    if host.kernels().all(|kernel| kernel.op != "Neg") {
        return Ok(());
    }
    let negated = host.run(&Op::new("Neg"), &[ones(3)])?;
    assert_eq!(negated, [Tensor::from([3], &[-1f32; 3])]);
    Ok(())
}

/// Optimizes a graph of one node, `y = NoOp`.
fn optimize(host: &Host) -> Result<(), Error> {
    let node = b"\x0a\x01y\x12\x04NoOp";
    let graph = [&[0x0a, node.len() as u8][..], node].concat();
    host.optimize(&graph, &["y"]).map(drop)
}

fn profile(host: &Host) -> Result<(), Error> {
    for _ in 0..2 {
        host.profile(|| ())?;
    }
    Ok(())
}

/// Runs `plugin` in a child process and returns the first step that failed, or `works`.
pub fn outcome(plugin: &Path, steps: &str, release: &str) -> String {
    let program = std::env::current_exe().expect("it runs");
    let mut child = Command::new(program)
        .arg(plugin)
        .arg(steps)
        .env(RELEASE, release)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it runs again");
    let end = Instant::now() + Duration::from_secs(SECONDS);
    let status = loop {
        if let Some(status) = child.try_wait().expect("it is ours") {
            break Some(status);
        }
        if Instant::now() > end {
            child.kill().expect("it is ours");
            break None;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let out = child.wait_with_output().expect("it has ended");
    let text =
        String::from_utf8_lossy(&out.stdout).replace(&plugin.display().to_string(), "PLUGIN");
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("@ "));
    let first = lines.next().unwrap_or("");
    match status {
        Some(status) if status.success() && first == "end" => "works".into(),
        Some(status) if status.success() => first.to_owned(),
        Some(status) => ending(status),
        None => "then: hangs".into(),
    }
}

fn ending(status: std::process::ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.signal(), status.code()) {
        (Some(libc::SIGABRT), _) => "then: ends".into(),
        (Some(_), _) => "then: crashes".into(),
        (None, code) => format!("then: exits with {code:?}"),
    }
}
