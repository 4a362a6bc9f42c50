//! What a profiler has recorded: planes of lines of events, written as an `XSpace`.
//!
//! A plane is a device or a part of one, a line is what does one thing at a time there. Names of
//! events stand once in a plane.

use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::proto::Message;

/// All that was recorded.
///
/// ```
/// # use std::time::{Duration, SystemTime};
/// let mut space = sp_plugin::profiler::Space::default();
/// let mut line = space.device("MYACCEL", 0).line(1, "queue 1");
/// line.event("MatMul", SystemTime::now(), Duration::from_micros(20));
/// ```
#[derive(Debug, Default)]
pub struct Space {
    planes: Vec<Plane>,
}

impl Space {
    /// The plane of a device. Its name has the form that TensorBoard shows devices by which it does
    /// not know.
    pub fn device(&mut self, device_type: &str, ordinal: u32) -> &mut Plane {
        self.plane(&format!("/device:CUSTOM:{device_type}:{ordinal}"))
    }

    /// The plane with this name, made when it is first asked for.
    pub fn plane(&mut self, name: &str) -> &mut Plane {
        let found = self.planes.iter().position(|plane| plane.name == name);
        let at = found.unwrap_or_else(|| {
            self.planes.push(Plane {
                name: name.to_owned(),
                ..Plane::default()
            });
            self.planes.len() - 1
        });
        &mut self.planes[at]
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.planes.is_empty()
    }

    /// A serialized `XSpace`: no bytes where nothing was recorded.
    pub fn to_bytes(&self) -> Vec<u8> {
        let planes = (0..).zip(&self.planes);
        let space = planes.fold(Message::default(), |space, (id, plane)| {
            space.bytes(1, plane.to_bytes(id))
        });
        space.done()
    }
}

/// A device, or a part of one.
#[derive(Debug, Default)]
pub struct Plane {
    name: String,
    lines: Vec<Row>,
    /// Names of events by their numbers, which begin with 1.
    names: Vec<String>,
    numbers: HashMap<String, u64>,
}

/// The events of a line.
#[derive(Debug)]
struct Row {
    id: u64,
    name: String,
    events: Vec<Event>,
}

/// What happened, since 1970 and for how long.
#[derive(Debug)]
struct Event {
    name: u64,
    start: Duration,
    length: Duration,
}

impl Plane {
    /// The line with this number, made and named when it is first asked for.
    pub fn line(&mut self, id: u64, name: &str) -> Line<'_> {
        let found = self.lines.iter().position(|line| line.id == id);
        let at = found.unwrap_or_else(|| {
            self.lines.push(Row {
                id,
                name: name.to_owned(),
                events: Vec::new(),
            });
            self.lines.len() - 1
        });
        Line { plane: self, at }
    }

    /// The number of a name.
    fn number(&mut self, name: &str) -> u64 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        self.names.push(name.to_owned());
        let number = self.names.len() as u64;
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// An `XPlane`.
    fn to_bytes(&self, id: u64) -> Vec<u8> {
        let plane = Message::default().number(1, id).text(2, &self.name);
        let lines = self.lines.iter();
        let plane = lines.fold(plane, |plane, line| plane.bytes(3, line.to_bytes()));
        let names = (1..).zip(&self.names);
        let plane = names.fold(plane, |plane, (number, name)| {
            let metadata = Message::default().number(1, number).text(2, name);
            let entry = Message::default()
                .number(1, number)
                .bytes(2, metadata.done());
            plane.bytes(4, entry.done())
        });
        plane.done()
    }
}

impl Row {
    /// An `XLine`, whose events are told from the earliest on.
    fn to_bytes(&self) -> Vec<u8> {
        let start = self.events.iter().map(|event| event.start).min();
        let start = start.unwrap_or_default();
        let line = Message::default().number(1, self.id).text(2, &self.name);
        let line = line.number(3, u64::try_from(start.as_nanos()).unwrap_or(u64::MAX));
        let events = self.events.iter();
        let line = events.fold(line, |line, event| line.bytes(4, event.to_bytes(start)));
        line.done()
    }
}

impl Event {
    /// An `XEvent`.
    fn to_bytes(&self, start: Duration) -> Vec<u8> {
        let after = self.start.saturating_sub(start);
        let event = Message::default().number(1, self.name);
        let event = event.number(2, picoseconds(after));
        event.number(3, picoseconds(self.length)).done()
    }
}

fn picoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos().saturating_mul(1000)).unwrap_or(u64::MAX)
}

/// A line to put events on.
pub struct Line<'a> {
    plane: &'a mut Plane,
    at: usize,
}

impl Line<'_> {
    /// Something that happened there.
    pub fn event(&mut self, name: &str, start: SystemTime, length: Duration) {
        let name = self.plane.number(name);
        let start = start.duration_since(UNIX_EPOCH).unwrap_or_default();
        let event = Event {
            name,
            start,
            length,
        };
        self.plane.lines[self.at].events.push(event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::{Value, fields};

    /// The values of the fields with this number.
    fn all(message: &[u8], number: u64) -> Vec<Value<'_>> {
        let read = fields(message).map(Result::unwrap);
        read.filter(|it| it.number == number)
            .map(|it| it.value)
            .collect()
    }

    fn inner(message: &[u8], number: u64) -> Vec<&[u8]> {
        all(message, number)
            .into_iter()
            .filter_map(Value::bytes)
            .collect()
    }

    #[test]
    fn nothing_is_no_bytes() {
        assert!(Space::default().is_empty());
        assert_eq!(Space::default().to_bytes(), []);
    }

    #[test]
    fn names_stand_once_and_times_are_told_from_the_earliest() {
        let at = |nanos: u64| UNIX_EPOCH + Duration::from_nanos(1_000_000 + nanos);
        let mut space = Space::default();
        for (line, name, start) in [(7, "MatMul", 50), (7, "Relu", 20), (8, "MatMul", 90)] {
            let plane = space.device("DEMO", 1);
            let mut line = plane.line(line, "queue");
            line.event(name, at(start), Duration::from_nanos(3));
        }
        let bytes = space.to_bytes();
        let planes = inner(&bytes, 1);
        let [plane] = planes[..] else {
            panic!("{planes:?}")
        };
        assert_eq!(inner(plane, 2), [b"/device:CUSTOM:DEMO:1"]);
        let names: Vec<_> = inner(plane, 4)
            .iter()
            .map(|it| inner(inner(it, 2)[0], 2)[0])
            .collect();
        assert_eq!(names, [&b"MatMul"[..], b"Relu"]);
        let lines = inner(plane, 3);
        assert_eq!(all(lines[0], 3), [Value::Number(1_000_020)]);
        let first = inner(lines[0], 4)[0];
        let told = [all(first, 1), all(first, 2), all(first, 3)].concat();
        assert_eq!(told, [1, 30_000, 3_000].map(Value::Number));
        assert_eq!(inner(lines[1], 4).len(), 1);
    }
}
