//! The wheels of TensorFlow that export a function: for each package and platform a set of releases,
//! which may have gaps. The data only explains errors: a call depends on what the process exports.

use std::fmt;

use crate::release::{Release, Releases};

/// A minor release: `(2, 21)`.
pub type Minor = (u16, u16);

/// A run of releases among those of a [`WheelSet`]: the first and the last, both included.
pub type Span = (Minor, Minor);

/// The wheels of one package for one platform.
#[derive(Debug, PartialEq, Eq)]
pub struct WheelSet {
    /// Name of the package, such as `tensorflow-cpu`.
    pub package: &'static str,
    /// Target triple, such as `x86_64-unknown-linux-gnu`.
    pub platform: &'static str,
    /// The releases whose wheel was examined, in order.
    pub releases: &'static [Minor],
}

/// The wheels of one set that export a function.
#[derive(Debug, PartialEq, Eq)]
pub struct Exports {
    /// The wheels.
    pub wheels: &'static WheelSet,
    /// The releases whose wheel exports the function, in order.
    pub spans: &'static [Span],
}

/// The wheels that export a function, one entry for each package and platform.
#[derive(Debug, PartialEq, Eq)]
pub struct Availability(pub &'static [Exports]);

/// Target triple of this process.
const THIS_PLATFORM: &str = if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
    "x86_64-unknown-linux-gnu"
} else if cfg!(all(target_os = "linux", target_arch = "aarch64")) {
    "aarch64-unknown-linux-gnu"
} else if cfg!(all(target_os = "macos", target_arch = "aarch64")) {
    "aarch64-apple-darwin"
} else {
    ""
};

impl Availability {
    /// Returns true if the wheel of `package` for `platform` exports the function in `release`, or `None`
    /// if that wheel was not examined.
    pub fn is_exported_by(&self, package: &str, platform: &str, release: Minor) -> Option<bool> {
        let is_wanted =
            |it: &&Exports| (it.wheels.package, it.wheels.platform) == (package, platform);
        let exports = self.0.iter().find(is_wanted)?;
        exports.wheels.releases.contains(&release).then(|| {
            let within = |(first, last): &Span| (*first..=*last).contains(&release);
            exports.spans.iter().any(within)
        })
    }
}

impl Availability {
    /// Returns true if any package exports the function in `release`, on any platform.
    pub const fn is_exported_in(&self, release: Minor) -> bool {
        let mut found = false;
        let mut index = 0;
        while index < self.0.len() {
            let spans = self.0[index].spans;
            let mut span = 0;
            while span < spans.len() {
                let (first, last) = spans[span];
                found |= !is_before(release, first) && !is_before(last, release);
                span += 1;
            }
            index += 1;
        }
        found
    }

    /// Returns the smallest run of releases that contains every exporting release, or `None` if no wheel
    /// exports the function.
    pub fn releases(&self) -> Option<Releases> {
        let spans = || {
            self.0
                .iter()
                .flat_map(|it| it.spans.iter().map(move |span| (it, span)))
        };
        let first = spans().map(|(_, (first, _))| *first).min()?;
        let is_open_ended = spans().any(|(it, (_, last))| it.wheels.releases.last() == Some(last));
        let last = spans()
            .map(|(_, (_, last))| *last)
            .max()
            .filter(|_| !is_open_ended);
        let release = |(major, minor): Minor| Release::new(major.into(), minor.into());
        Some(Releases {
            first: release(first),
            last: last.map(release),
        })
    }
}

const fn is_before(earlier: Minor, later: Minor) -> bool {
    earlier.0 < later.0 || (earlier.0 == later.0 && earlier.1 < later.1)
}

impl fmt::Display for Availability {
    /// Formats as `tensorflow-cpu exports it from 2.6 to 2.18, tensorflow in 2.19`. Lists only the wheels
    /// for this process's platform if any of those were examined.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_known = self.0.iter().any(|it| it.wheels.platform == THIS_PLATFORM);
        let exporting = self.0.iter().filter(|it| !it.spans.is_empty());
        let clauses: Vec<String> = exporting
            .filter(|it| !is_known || it.wheels.platform == THIS_PLATFORM)
            .enumerate()
            .map(|(index, exports)| {
                let verb = if index == 0 { " exports it" } else { "" };
                let on = match is_known {
                    true => String::new(),
                    false => format!(" on {}", exports.wheels.platform),
                };
                let (package, spans_text) = (exports.wheels.package, format_spans(exports));
                format!("{package}{on}{verb} {spans_text}")
            })
            .collect();
        match clauses.is_empty() {
            true => f.write_str("no known wheel exports it"),
            false => f.write_str(&clauses.join(", ")),
        }
    }
}

/// Formats the exporting releases: `from 2.6 to 2.18`, `in 2.19` or `from 2.5 on`.
fn format_spans(exports: &Exports) -> String {
    let newest = exports.wheels.releases.last();
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
    static CPU: WheelSet = WheelSet {
        package: "tensorflow-cpu",
        platform: THIS_PLATFORM,
        releases: READ,
    };
    static BIG: WheelSet = WheelSet {
        package: "tensorflow",
        platform: THIS_PLATFORM,
        releases: &[(2, 10)],
    };
    static MAC: WheelSet = WheelSet {
        package: "tensorflow",
        platform: "elsewhere",
        releases: READ,
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
    fn exporting_releases_may_have_gaps() {
        let on = |release| GAPS.is_exported_by("tensorflow-cpu", THIS_PLATFORM, release);
        assert_eq!(on((2, 5)), Some(true));
        assert_eq!(on((2, 6)), Some(false));
        assert_eq!(on((2, 10)), Some(true));
        assert_eq!(on((2, 11)), None, "not examined");
        assert_eq!(
            GAPS.is_exported_by("tensorflow", THIS_PLATFORM, (2, 5)),
            None
        );
        let expected = "tensorflow-cpu exports it in 2.5 and from 2.9 on";
        assert_eq!(GAPS.to_string(), expected);
    }

    #[test]
    fn text_lists_only_wheels_of_this_platform_if_known() {
        let expected = "tensorflow-cpu exports it from 2.5 to 2.9, tensorflow in 2.10";
        assert_eq!(EVERYWHERE.to_string(), expected);
        let expected = "tensorflow on elsewhere exports it from 2.5 on";
        assert_eq!(ELSEWHERE.to_string(), expected);
    }

    #[test]
    fn text_states_that_no_wheel_exports_function() {
        let expected = "no known wheel exports it";
        assert_eq!(NOWHERE.to_string(), expected);
    }
}
