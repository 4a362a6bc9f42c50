//! The `#include` lines of a header.

/// An `#include` line.
pub struct Include<'a> {
    /// The header's name as it is written.
    pub name: &'a str,
    /// True for `"name"`, false for `<name>`.
    pub quoted: bool,
}

impl Include<'_> {
    /// Returns true for a header of the C++ standard library: `<string>`, but not `<string.h>` or `<cstring>`.
    pub fn is_cpp(&self) -> bool {
        const C_HEADERS: [&str; 12] = [
            "cassert",
            "cerrno",
            "cfloat",
            "cinttypes",
            "climits",
            "cstdarg",
            "cstdbool",
            "cstddef",
            "cstdint",
            "cstdio",
            "cstdlib",
            "cstring",
        ];
        !self.quoted && !self.name.ends_with(".h") && !C_HEADERS.contains(&self.name)
    }
}

/// Returns the names of the headers that `text` includes in quotes.
pub fn quoted(text: &str) -> impl Iterator<Item = &str> {
    let quoted = includes(text).filter(|(_, include)| include.quoted);
    quoted.map(|(_, include)| include.name)
}

/// Returns the includes of a header in order, each with its line.
pub fn includes(text: &str) -> impl Iterator<Item = (usize, Include<'_>)> {
    let lines = text.lines().enumerate();
    lines.filter_map(|(index, line)| Some((index + 1, include(line)?)))
}

fn include(line: &str) -> Option<Include<'_>> {
    let rest = line
        .trim_start()
        .strip_prefix('#')?
        .trim_start()
        .strip_prefix("include")?
        .trim_start();
    let quoted = rest.starts_with('"');
    let rest = rest.strip_prefix(['"', '<'])?;
    let (name, _) = rest.split_once(if quoted { '"' } else { '>' })?;
    Some(Include { name, quoted })
}
