//! The records of all processes: as text, or as JSON that Perfetto and Chrome open.

use crate::runtime::record::Record;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

/// Returns the records in the files of `folder`, in the order of their start.
///
/// # Errors
/// Returns an error if a file cannot be read.
pub fn read(folder: &Path) -> io::Result<Vec<Record>> {
    let mut records = Vec::new();
    for entry in fs::read_dir(folder)? {
        let bytes = fs::read(entry?.path())?;
        let text = String::from_utf8_lossy(&bytes);
        records.extend(text.lines().filter_map(Record::parse));
    }
    records.sort_by_key(|record| (record.start, record.depth));
    Ok(records)
}

/// Returns a line for each call. Time 0 is that of the first one.
pub fn text(records: &[Record]) -> String {
    let origin = records.first().map_or(0, |it| it.start);
    let processes: BTreeSet<i32> = records.iter().map(|it| it.process).collect();
    let mut out = String::new();
    for record in records {
        if processes.len() > 1 {
            let _ = write!(out, "{:>7} ", record.process);
        }
        out.push_str(&record.text(origin));
        out.push('\n');
    }
    out
}

/// Returns the trace event format of Chrome, which Perfetto opens too. A call that has not returned lasts to the end.
pub fn perfetto(records: &[Record]) -> String {
    let end = records
        .iter()
        .map(|it| it.start + it.duration.unwrap_or(0))
        .max();
    let origin = records.first().map_or(0, |it| it.start);
    let events: Vec<Value> = records
        .iter()
        .map(|it| event(it, origin, end.unwrap_or(0)))
        .collect();
    let mut out = json!({"displayTimeUnit": "ns", "traceEvents": events}).to_string();
    out.push('\n');
    out
}

fn event(record: &Record, origin: u64, end: u64) -> Value {
    let duration = record.duration.unwrap_or(end.saturating_sub(record.start));
    let microseconds = |nanoseconds: u64| nanoseconds as f64 / 1e3;
    let mut arguments = serde_json::Map::new();
    let fields = [
        ("arguments", &record.arguments),
        ("result", &record.result),
        ("op", &record.op),
        ("node", &record.node),
    ];
    for (name, value) in fields.into_iter().filter(|(_, value)| !value.is_empty()) {
        arguments.insert(name.into(), value.as_str().into());
    }
    if record.duration.is_none() {
        arguments.insert("has_returned".into(), false.into());
    }
    json!({
        "ph": "X",
        "name": name(record),
        "cat": category(&record.name),
        "pid": record.process,
        "tid": record.thread,
        "ts": microseconds(record.start.saturating_sub(origin)),
        "dur": microseconds(duration),
        "args": arguments,
    })
}

/// Returns the name of an event. That of a kernel begins with its op, which is what a reader looks for.
fn name(record: &Record) -> String {
    match record.name.split_once("KernelBuilder.compute") {
        Some(_) if !record.op.is_empty() => format!("{} (compute)", record.op),
        _ => record.name.clone(),
    }
}

fn category(name: &str) -> &'static str {
    match name.split_once('.') {
        Some((owner, _)) if owner.starts_with("TF_New") => "kernel",
        Some(_) => "slot",
        None => "function",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(name: &str, start: u64, duration: Option<u64>) -> Record {
        Record {
            process: 1,
            thread: 2,
            start,
            duration,
            name: name.into(),
            op: "Relu".into(),
            ..Record::default()
        }
    }

    #[test]
    fn events_have_times_in_microseconds() {
        let compute = record("TF_NewKernelBuilder.compute_func", 1_000, Some(5_000));
        let slot = record("SP_StreamExecutor.allocate", 2_000, None);
        let value: Value = serde_json::from_str(&perfetto(&[compute, slot])).unwrap();
        let event = &value["traceEvents"][0];
        assert_eq!(
            (&event["name"], &event["dur"]),
            (&json!("Relu (compute)"), &json!(5.0))
        );
        let event = &value["traceEvents"][1];
        assert_eq!((&event["ts"], &event["dur"]), (&json!(1.0), &json!(4.0)));
        assert_eq!(event["args"]["has_returned"], json!(false));
    }

    #[test]
    fn text_names_the_process_if_there_are_several() {
        let one = record("TF_NewStatus", 0, Some(1));
        let two = Record {
            process: 9,
            ..one.clone()
        };
        assert!(!text(std::slice::from_ref(&one)).starts_with("      1 "));
        assert!(text(&[one, two]).contains("\n      9 "));
    }

    #[test]
    fn reads_the_files_of_all_processes_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for (process, start) in [(1, 20), (2, 10)] {
            let mut line = String::new();
            record("TF_NewStatus", start, Some(1)).push_line(&mut line);
            fs::write(
                folder.path().join(format!("records.{process}")),
                line + "cut\t",
            )
            .unwrap();
        }
        let starts: Vec<u64> = read(folder.path())
            .unwrap()
            .iter()
            .map(|it| it.start)
            .collect();
        assert_eq!(starts, [10, 20]);
    }
}
