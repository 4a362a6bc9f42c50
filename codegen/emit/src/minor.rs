//! Minor releases as pairs of numbers, as `#[abi(..)]` attributes have them.

use sp_ir::Release;

/// Major and minor number.
pub type Minor = (u32, u32);

/// The first release that loads plugins.
pub const FIRST_LOADER: Minor = (
    Release::FIRST_SUPPORTED.major,
    Release::FIRST_SUPPORTED.minor,
);

/// The release as numbers; what is no release counts as before all.
pub fn minor(release: &str) -> Minor {
    let release = release.parse::<Release>();
    release.map_or_else(|_| Minor::default(), |it| (it.major, it.minor))
}

/// `2.21`.
pub fn dotted((major, minor): Minor) -> String {
    format!("{major}.{minor}")
}

/// A run of releases: `2.5`, `2.6 to 2.9`.
pub fn run((first, last): (Minor, Minor)) -> String {
    match first == last {
        true => dotted(first),
        false => format!("{} to {}", dotted(first), dotted(last)),
    }
}
