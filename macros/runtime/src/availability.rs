//! Which wheels of TensorFlow export a function, as far as they were read: for each package and
//! platform a set of releases, gaps allowed. It explains an error; what counts is what the process has.

use std::fmt;

use crate::host::{Release, Releases};

/// A minor release: `(2, 21)`.
pub type Minor = (u16, u16);

/// The releases from one to another, both included, among those that were read.
pub type Span = (Minor, Minor);

/// The wheels of one package for one platform.
#[derive(Debug, PartialEq, Eq)]
pub struct Wheels {
    /// `tensorflow-cpu`
    pub package: &'static str,
    /// `x86_64-unknown-linux-gnu`
    pub platform: &'static str,
    /// The releases whose wheel was read, in order.
    pub read: &'static [Minor],
}

/// Which of some wheels export a function.
#[derive(Debug, PartialEq, Eq)]
pub struct Exports {
    /// The wheels.
    pub wheels: &'static Wheels,
    /// Those that do, in order.
    pub spans: &'static [Span],
}

/// Where a function is exported.
#[derive(Debug, PartialEq, Eq)]
pub struct Availability(pub &'static [Exports]);

/// The platform of the wheels that this process can have loaded.
const HERE: &str = if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
    "x86_64-unknown-linux-gnu"
} else if cfg!(all(target_os = "linux", target_arch = "aarch64")) {
    "aarch64-unknown-linux-gnu"
} else if cfg!(all(target_os = "macos", target_arch = "aarch64")) {
    "aarch64-apple-darwin"
} else {
    ""
};

impl Availability {
    /// Whether a release of a package for a platform exports it; nothing where that wheel was not
    /// read.
    pub fn is_exported(&self, package: &str, platform: &str, release: Minor) -> Option<bool> {
        let here = |it: &&Exports| (it.wheels.package, it.wheels.platform) == (package, platform);
        let exports = self.0.iter().find(here)?;
        exports.wheels.read.contains(&release).then(|| {
            let within = |(first, last): &Span| (*first..=*last).contains(&release);
            exports.spans.iter().any(within)
        })
    }
}

impl Availability {
    /// Whether any package exports it in this release, on any platform.
    pub const fn has(&self, release: Minor) -> bool {
        let mut found = false;
        let mut each = 0;
        while each < self.0.len() {
            let spans = self.0[each].spans;
            let mut span = 0;
            while span < spans.len() {
                let (first, last) = spans[span];
                found |= !is_before(release, first) && !is_before(last, release);
                span += 1;
            }
            each += 1;
        }
        found
    }

    /// The releases among which every one is that exports it anywhere; none if nothing does.
    pub fn releases(&self) -> Option<Releases> {
        let spans = || {
            self.0
                .iter()
                .flat_map(|it| it.spans.iter().map(move |span| (it, span)))
        };
        let first = spans().map(|(_, (first, _))| *first).min()?;
        let goes_on = spans().any(|(it, (_, last))| it.wheels.read.last() == Some(last));
        let last = spans()
            .map(|(_, (_, last))| *last)
            .max()
            .filter(|_| !goes_on);
        let release = |(major, minor): Minor| Release::new(major.into(), minor.into());
        Some(Releases {
            first: release(first),
            last: last.map(release),
        })
    }
}

const fn is_before(one: Minor, other: Minor) -> bool {
    one.0 < other.0 || (one.0 == other.0 && one.1 < other.1)
}

impl fmt::Display for Availability {
    /// `tensorflow-cpu exports it from 2.6 to 2.18, tensorflow in 2.19`, of this process's platform
    /// where its wheels were read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_known = self.0.iter().any(|it| it.wheels.platform == HERE);
        let exporting = self.0.iter().filter(|it| !it.spans.is_empty());
        let told: Vec<String> = exporting
            .filter(|it| !is_known || it.wheels.platform == HERE)
            .enumerate()
            .map(|(index, exports)| {
                let verb = if index == 0 { " exports it" } else { "" };
                let on = match is_known {
                    true => String::new(),
                    false => format!(" on {}", exports.wheels.platform),
                };
                let (package, when) = (exports.wheels.package, when(exports));
                format!("{package}{on}{verb} {when}")
            })
            .collect();
        match told.is_empty() {
            true => f.write_str("no wheel that was read exports it"),
            false => f.write_str(&told.join(", ")),
        }
    }
}

/// `from 2.6 to 2.18`, `in 2.19`, `from 2.5 on`.
fn when(exports: &Exports) -> String {
    let newest = exports.wheels.read.last();
    let word = |((a, b), last): &Span| match (last.0, last.1) {
        (c, d) if (*a, *b) == (c, d) => format!("in {a}.{b}"),
        _ if Some(last) == newest => format!("from {a}.{b} on"),
        (c, d) => format!("from {a}.{b} to {c}.{d}"),
    };
    let words: Vec<String> = exports.spans.iter().map(word).collect();
    words.join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: &[Minor] = &[(2, 5), (2, 6), (2, 9), (2, 10)];
    static CPU: Wheels = Wheels {
        package: "tensorflow-cpu",
        platform: HERE,
        read: READ,
    };
    static BIG: Wheels = Wheels {
        package: "tensorflow",
        platform: HERE,
        read: &[(2, 10)],
    };
    static MAC: Wheels = Wheels {
        package: "tensorflow",
        platform: "elsewhere",
        read: READ,
    };

    static GAPS: Availability = Availability(&[Exports {
        wheels: &CPU,
        spans: &[((2, 5), (2, 5)), ((2, 9), (2, 10))],
    }]);
    static EVERYWHERE: Availability = Availability(&[
        Exports {
            wheels: &CPU,
            spans: &[((2, 5), (2, 9))],
        },
        Exports {
            wheels: &BIG,
            spans: &[((2, 10), (2, 10))],
        },
        ON_MAC,
    ]);
    static ELSEWHERE: Availability = Availability(&[ON_MAC]);
    static NOWHERE: Availability = Availability(&[Exports {
        wheels: &CPU,
        spans: &[],
    }]);
    const ON_MAC: Exports = Exports {
        wheels: &MAC,
        spans: &[((2, 5), (2, 10))],
    };

    #[test]
    fn it_is_a_set_with_gaps() {
        let on = |release| GAPS.is_exported("tensorflow-cpu", HERE, release);
        assert_eq!(on((2, 5)), Some(true));
        assert_eq!(on((2, 6)), Some(false));
        assert_eq!(on((2, 10)), Some(true));
        assert_eq!(on((2, 11)), None, "not read");
        assert_eq!(GAPS.is_exported("tensorflow", HERE, (2, 5)), None);
        let told = "tensorflow-cpu exports it in 2.5 and from 2.9 on";
        assert_eq!(GAPS.to_string(), told);
    }

    #[test]
    fn only_this_platform_is_told_of_where_it_is_known() {
        let told = "tensorflow-cpu exports it from 2.5 to 2.9, tensorflow in 2.10";
        assert_eq!(EVERYWHERE.to_string(), told);
        let told = "tensorflow on elsewhere exports it from 2.5 on";
        assert_eq!(ELSEWHERE.to_string(), told);
    }

    #[test]
    fn what_nobody_exports_is_told() {
        let told = "no wheel that was read exports it";
        assert_eq!(NOWHERE.to_string(), told);
    }
}
