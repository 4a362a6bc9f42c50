//! Splits a set of headers into two parts, to be parsed on two threads.
//!
//! The largest header is in one part only, with the headers that include it. A header that both parts include is
//! parsed twice, with the same declarations.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::input::ParseInput;
use super::limits::read_header;
use crate::include;

/// Returns the headers that include the largest one, and the others; `None` if there are no others.
pub fn split(input: &ParseInput) -> Option<[ParseInput; 2]> {
    let mut graph = IncludeGraph {
        root: &input.include_root,
        headers: BTreeMap::new(),
    };
    let headers = &input.headers;
    let largest = headers
        .iter()
        .max_by_key(|header| graph.header(header).length)?;
    let includes_it = |header: &&String| graph.reaches(header, largest, &mut BTreeSet::new());
    let (with, without): (Vec<_>, Vec<_>) = headers.iter().partition(includes_it);
    let part = |headers: Vec<&String>| ParseInput {
        headers: headers.into_iter().cloned().collect(),
        ..input.clone()
    };
    (!without.is_empty()).then(|| [part(with), part(without)])
}

/// The headers below an include root, read when they are first needed.
struct IncludeGraph<'a> {
    root: &'a Path,
    headers: BTreeMap<String, Header>,
}

struct Header {
    length: usize,
    includes: Vec<String>,
}

impl IncludeGraph<'_> {
    /// Returns a header, which is empty if it cannot be read: the parse reports that.
    fn header(&mut self, name: &str) -> &Header {
        self.headers.entry(name.into()).or_insert_with(|| {
            let text = read_header(&self.root.join(name)).unwrap_or_default();
            Header {
                length: text.len(),
                includes: include::quoted(&text).map(String::from).collect(),
            }
        })
    }

    /// Returns true if `header` is `target` or includes it. Headers in `visited` are not searched again.
    fn reaches(&mut self, header: &str, target: &str, visited: &mut BTreeSet<String>) -> bool {
        if header == target {
            return true;
        }
        let includes = match visited.insert(header.into()) {
            true => self.header(header).includes.clone(),
            false => Vec::new(),
        };
        includes
            .iter()
            .any(|include| self.reaches(include, target, visited))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Dialect;
    use super::*;

    fn split_texts(headers: &[(&str, &str)]) -> Option<[Vec<String>; 2]> {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in headers {
            std::fs::write(root.path().join(name), text).unwrap();
        }
        let input = ParseInput {
            include_root: root.path().into(),
            headers: headers.iter().map(|(name, _)| (*name).into()).collect(),
            target: super::super::DEFAULT_TARGET.into(),
            dialect: Dialect::TensorFlow,
        };
        Some(split(&input)?.map(|part| part.headers))
    }

    #[test]
    fn separates_headers_that_include_the_largest_header() {
        let large = format!("#include \"d.h\"\n{}", "int x;\n".repeat(20));
        let found = split_texts(&[
            ("a.h", "#include \"b.h\"\n#include <c.h>"),
            ("b.h", "#include \"large.h\"\n#include \"a.h\""),
            ("c.h", "#include \"d.h\""),
            ("d.h", "#include \"nowhere.h\""),
            ("large.h", &large),
        ]);
        let [with, without] = found.unwrap();
        assert_eq!(with, ["a.h", "b.h", "large.h"]);
        assert_eq!(without, ["c.h", "d.h"]);
    }

    #[test]
    fn does_not_split_connected_headers() {
        assert_eq!(
            split_texts(&[("a.h", "int a; int b; int c;"), ("b.h", "#include \"a.h\"")]),
            None
        );
        assert_eq!(split_texts(&[]), None);
    }
}
