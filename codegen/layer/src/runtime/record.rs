//! A record of a call: a line of fields that tabs separate, and its text for people.

use std::fmt::Write;

/// A call, or a finding.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    /// The process.
    pub process: i32,
    /// The thread.
    pub thread: i32,
    /// Start in nanoseconds of the monotonic clock.
    pub start: u64,
    /// Duration in nanoseconds; `None` if the call has not returned.
    pub duration: Option<u64>,
    /// Number of recorded calls on this thread in which it is made.
    pub depth: usize,
    /// Name of the function or slot.
    pub name: String,
    /// Type of the op whose kernel runs, or "".
    pub op: String,
    /// Name of the node whose kernel runs, or "".
    pub node: String,
    /// Names and values of the arguments.
    pub arguments: String,
    /// The result and the values that the callee has stored.
    pub result: String,
}

/// Number of fields of a line.
const FIELDS: usize = 10;

/// Appends `text` without characters that end a field, a line, or control a terminal.
pub fn push_escaped(out: &mut String, text: &str) {
    for char in text.chars() {
        match char {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            char if char.is_control() => {
                let _ = write!(out, "{}", char.escape_default());
            }
            char => out.push(char),
        }
    }
}

impl Record {
    /// Appends the record as a line. The texts must have no tabs and line ends.
    pub fn push_line(&self, out: &mut String) {
        let duration = self.duration.map_or(-1, |it| it as i64);
        let _ = writeln!(
            out,
            "{}\t{}\t{}\t{duration}\t{}\t{}\t{}\t{}\t{}\t{}",
            self.process,
            self.thread,
            self.start,
            self.depth,
            self.name,
            self.op,
            self.node,
            self.arguments,
            self.result
        );
    }

    /// Reads a line. A line that the end of the process has cut is `None`.
    pub fn parse(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split('\t').collect();
        if fields.len() != FIELDS {
            return None;
        }
        Some(Self {
            process: fields[0].parse().ok()?,
            thread: fields[1].parse().ok()?,
            start: fields[2].parse().ok()?,
            duration: u64::try_from(fields[3].parse::<i64>().ok()?).ok(),
            depth: fields[4].parse().ok()?,
            name: fields[5].into(),
            op: fields[6].into(),
            node: fields[7].into(),
            arguments: fields[8].into(),
            result: fields[9].into(),
        })
    }

    /// Returns the record as a line for people, without a line end. `origin` is time 0.
    pub fn text(&self, origin: u64) -> String {
        let start = self.start.saturating_sub(origin);
        let mut out = format!("{:>11.6} [{}] ", start as f64 / 1e9, self.thread);
        for _ in 0..self.depth {
            out.push_str("  ");
        }
        let _ = write!(out, "{}({})", self.name, self.arguments);
        if !self.result.is_empty() {
            let _ = write!(out, " -> {}", self.result);
        }
        match self.duration {
            Some(duration) => {
                let _ = write!(out, "  {}", duration_text(duration));
            }
            None => out.push_str("  has not returned"),
        }
        if !self.op.is_empty() {
            let _ = write!(out, "  in {}", self.op);
        }
        if !self.node.is_empty() {
            let _ = write!(out, " \"{}\"", self.node);
        }
        out
    }
}

fn duration_text(nanoseconds: u64) -> String {
    match nanoseconds {
        0..1_000 => format!("{nanoseconds} ns"),
        1_000..1_000_000 => format!("{:.1} us", nanoseconds as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} ms", nanoseconds as f64 / 1e6),
        _ => format!("{:.2} s", nanoseconds as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        Record {
            process: 7,
            thread: 8,
            start: 2_000_001_000,
            duration: Some(3_200),
            depth: 1,
            name: "SP_StreamExecutor.memcpy_htod".into(),
            op: "MatMul".into(),
            node: "dense/MatMul".into(),
            arguments: "size=64".into(),
            result: "status=OK".into(),
        }
    }

    #[test]
    fn a_line_is_read_as_it_was_written() {
        for record in [
            record(),
            Record {
                duration: None,
                ..record()
            },
        ] {
            let mut line = String::new();
            record.push_line(&mut line);
            assert_eq!(Record::parse(line.trim_end_matches('\n')), Some(record));
        }
    }

    #[test]
    fn a_cut_line_is_no_record() {
        assert_eq!(Record::parse("7\t8\t2000"), None);
    }

    #[test]
    fn text_names_time_thread_arguments_and_node() {
        let expected = "   2.000000 [8]   SP_StreamExecutor.memcpy_htod(size=64) -> status=OK  3.2 us  in MatMul \
                        \"dense/MatMul\"";
        assert_eq!(record().text(1_000), expected);
        let unfinished = Record {
            duration: None,
            ..record()
        };
        assert!(unfinished.text(0).contains("has not returned"));
    }

    #[test]
    fn control_characters_are_escaped() {
        let mut out = String::new();
        push_escaped(&mut out, "a\tb\nc\u{1b}[31m");
        assert_eq!(out, "a\\tb\\nc\\u{1b}[31m");
    }
}
