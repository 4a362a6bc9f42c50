//! Ranges of releases, as data and in docs.

use sp_ir::Release;

/// First and last release of a range.
pub type Span = (Release, Release);

/// Parses the minor release of a snapshot. A text that is not a release sorts before all releases.
pub fn parse_minor(release: &str) -> Release {
    let release = release.parse::<Release>();
    release.map_or(Release::from_minor(0, 0), Release::minor)
}

/// Formats a range: `2.5`, `2.6 to 2.9`.
pub fn format_span((first, last): Span) -> String {
    match first == last {
        true => first.to_string(),
        false => format!("{first} to {last}"),
    }
}
