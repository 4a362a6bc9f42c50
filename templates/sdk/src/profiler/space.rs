//! The data of a profiler: planes with lines of events, encoded as an `XSpace`.
//!
//! A plane is a device or a part of one. A line is a sequence of events there, such as those of a thread or
//! queue. A plane stores each event name once.

use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sp_graph::proto::Message;

/// The recorded data of a session.
///
/// ```
/// # use std::time::{Duration, SystemTime};
/// let mut space = sp_plugin::profiler::Space::default();
/// let mut line = space.device("MYACCEL", 0).line(1, "queue 1");
/// line.add_event("MatMul", SystemTime::now(), Duration::from_micros(20));
/// ```
#[derive(Debug, Default)]
pub struct Space {
    planes: Vec<Plane>,
}

impl Space {
    /// Returns the plane of a device, created on first use. Its name has the form that TensorBoard's trace viewer accepts
    /// for devices of types that it does not know. Its other tools read [`DevicePlane::Gpu`](super::DevicePlane::Gpu) only.
    pub fn device(&mut self, device_type: &str, ordinal: u32) -> &mut Plane {
        self.plane(&format!("/device:CUSTOM:{device_type}:{ordinal}"))
    }

    /// Returns the plane with this name, created on first use.
    pub fn plane(&mut self, name: &str) -> &mut Plane {
        let found = self.planes.iter().position(|plane| plane.name == name);
        let index = found.unwrap_or_else(|| {
            self.planes.push(Plane {
                name: name.to_owned(),
                ..Plane::default()
            });
            self.planes.len() - 1
        });
        &mut self.planes[index]
    }

    /// Returns true if there are no planes.
    pub fn is_empty(&self) -> bool {
        self.planes.is_empty()
    }

    /// Encodes the data as an `XSpace`. Returns no bytes if there are no planes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let planes = (0..).zip(&self.planes);
        let space = planes.fold(Message::default(), |space, (id, plane)| {
            space.bytes(1, plane.to_bytes(id))
        });
        space.finish()
    }
}

/// A device, or a part of one.
#[derive(Debug, Default)]
pub struct Plane {
    name: String,
    lines: Vec<LineData>,
    /// The names of events.
    names: Names,
    /// The names of statistics, and the texts that are their values.
    stat_names: Names,
    /// Encoded statistics of the plane.
    stats: Vec<Vec<u8>>,
}

/// Texts by id; ids start with 1.
#[derive(Debug, Default)]
struct Names {
    texts: Vec<String>,
    ids: HashMap<String, u64>,
}

impl Names {
    /// Returns the id of a text.
    fn id(&mut self, text: &str) -> u64 {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        self.texts.push(text.to_owned());
        let id = self.texts.len() as u64;
        self.ids.insert(text.to_owned(), id);
        id
    }

    /// Appends the map from ids to texts.
    fn append_to(&self, message: Message, field: u64) -> Message {
        (1..).zip(&self.texts).fold(message, |message, (id, text)| {
            let metadata = Message::default().number(1, id).text(2, text);
            let entry = Message::default().number(1, id).bytes(2, metadata.finish());
            message.bytes(field, entry.finish())
        })
    }
}

/// The value of a statistic of a plane or an event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stat<'a> {
    /// A number.
    Number(u64),
    /// A number that may be negative.
    Signed(i64),
    /// A real number.
    Real(f64),
    /// A text, which the plane stores once.
    Interned(&'a str),
}

/// The events of a line.
#[derive(Debug)]
struct LineData {
    id: u64,
    name: String,
    events: Vec<Event>,
}

/// An event: the id of its name, its start since 1970, its duration, and encoded statistics.
#[derive(Debug)]
struct Event {
    name_id: u64,
    start: Duration,
    duration: Duration,
    stats: Box<[u8]>,
}

impl Plane {
    /// Returns the line with this id, created with this name on first use.
    pub fn line(&mut self, id: u64, name: &str) -> Line<'_> {
        let found = self.lines.iter().position(|line| line.id == id);
        let index = found.unwrap_or_else(|| {
            self.lines.push(LineData {
                id,
                name: name.to_owned(),
                events: Vec::new(),
            });
            self.lines.len() - 1
        });
        Line { plane: self, index }
    }

    /// Adds a statistic of the plane.
    pub fn add_stat(&mut self, name: &str, value: Stat<'_>) {
        let stat = self.encode_stat(name, value);
        self.stats.push(stat);
    }

    /// Encodes an `XStat`.
    fn encode_stat(&mut self, name: &str, value: Stat<'_>) -> Vec<u8> {
        let stat = Message::default().number(1, self.stat_names.id(name));
        let stat = match value {
            Stat::Number(value) => stat.choice(3, value),
            Stat::Signed(value) => stat.choice(4, value.cast_unsigned()),
            Stat::Real(value) => stat.double(2, value),
            Stat::Interned(text) => stat.choice(7, self.stat_names.id(text)),
        };
        stat.finish()
    }

    /// Encodes an `XPlane`.
    fn to_bytes(&self, id: u64) -> Vec<u8> {
        let plane = Message::default().number(1, id).text(2, &self.name);
        let lines = self.lines.iter();
        let plane = lines.fold(plane, |plane, line| plane.bytes(3, line.to_bytes()));
        let plane = self.names.append_to(plane, 4);
        let plane = self.stat_names.append_to(plane, 5);
        let stats = self.stats.iter();
        stats.fold(plane, |plane, it| plane.bytes(6, it)).finish()
    }
}

impl LineData {
    /// Encodes an `XLine`; the times of its events are relative to the earliest.
    fn to_bytes(&self) -> Vec<u8> {
        let start = self.events.iter().map(|event| event.start).min();
        let start = start.unwrap_or_default();
        let line = Message::default().number(1, self.id).text(2, &self.name);
        let line = line.number(3, u64::try_from(start.as_nanos()).unwrap_or(u64::MAX));
        let events = self.events.iter();
        let line = events.fold(line, |line, event| line.bytes(4, event.to_bytes(start)));
        line.finish()
    }
}

impl Event {
    /// Encodes an `XEvent`, relative to the start of its line.
    fn to_bytes(&self, line_start: Duration) -> Vec<u8> {
        let offset = self.start.saturating_sub(line_start);
        let event = Message::default().number(1, self.name_id);
        let event = event.number(2, picoseconds(offset));
        let event = event.number(3, picoseconds(self.duration));
        event.encoded(&self.stats).finish()
    }
}

fn picoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos().saturating_mul(1000)).unwrap_or(u64::MAX)
}

/// A line of a plane, to add events.
pub struct Line<'a> {
    plane: &'a mut Plane,
    index: usize,
}

impl Line<'_> {
    /// Adds an event.
    pub fn add_event(&mut self, name: &str, start: SystemTime, duration: Duration) {
        self.add_event_with(name, start, duration, &[]);
    }

    /// Adds an event with statistics: names and values.
    pub fn add_event_with(
        &mut self,
        name: &str,
        start: SystemTime,
        duration: Duration,
        stats: &[(&str, Stat<'_>)],
    ) {
        let encode = |message: Message, (name, value): &(&str, Stat<'_>)| {
            message.bytes(4, self.plane.encode_stat(name, *value))
        };
        let stats = stats.iter().fold(Message::default(), encode).finish();
        let name_id = self.plane.names.id(name);
        let start = start.duration_since(UNIX_EPOCH).unwrap_or_default();
        let event = Event {
            name_id,
            start,
            duration,
            stats: stats.into_boxed_slice(),
        };
        self.plane.lines[self.index].events.push(event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sp_graph::proto::{Value, fields};

    /// Returns the values of the fields with this number.
    fn values(message: &[u8], number: u64) -> Vec<Value<'_>> {
        let read = fields(message).map(Result::unwrap);
        read.filter(|it| it.number == number)
            .map(|it| it.value)
            .collect()
    }

    fn messages(message: &[u8], number: u64) -> Vec<&[u8]> {
        values(message, number)
            .into_iter()
            .filter_map(Value::bytes)
            .collect()
    }

    #[test]
    fn empty_space_has_no_bytes() {
        assert!(Space::default().is_empty());
        assert_eq!(Space::default().to_bytes(), []);
    }

    #[test]
    fn stores_names_once_and_times_relative_to_earliest_event() {
        let time = |nanos: u64| UNIX_EPOCH + Duration::from_nanos(1_000_000 + nanos);
        let mut space = Space::default();
        for (line, name, start) in [(7, "MatMul", 50), (7, "Relu", 20), (8, "MatMul", 90)] {
            let plane = space.device("DEMO", 1);
            let mut line = plane.line(line, "queue");
            line.add_event(name, time(start), Duration::from_nanos(3));
        }
        let bytes = space.to_bytes();
        let planes = messages(&bytes, 1);
        let [plane] = planes[..] else {
            panic!("{planes:?}")
        };
        assert_eq!(messages(plane, 2), [b"/device:CUSTOM:DEMO:1"]);
        let names: Vec<_> = messages(plane, 4)
            .iter()
            .map(|it| messages(messages(it, 2)[0], 2)[0])
            .collect();
        assert_eq!(names, [&b"MatMul"[..], b"Relu"]);
        let lines = messages(plane, 3);
        assert_eq!(values(lines[0], 3), [Value::Number(1_000_020)]);
        let first = messages(lines[0], 4)[0];
        let fields = [values(first, 1), values(first, 2), values(first, 3)].concat();
        assert_eq!(fields, [1, 30_000, 3_000].map(Value::Number));
        assert_eq!(messages(lines[1], 4).len(), 1);
    }
}
