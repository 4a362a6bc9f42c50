//! Headers in two halves, for two threads to parse.
//!
//! The largest header is in one half only, with all that include it. What both halves include is
//! parsed in both, and gives the same declarations.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::unit::Source;
use crate::include;

/// The headers that include the largest one, and the others; nothing where those are none.
pub fn of(source: &Source) -> Option<[Source; 2]> {
    let mut texts = Texts {
        root: &source.include_root,
        read: BTreeMap::new(),
    };
    let headers = &source.headers;
    let largest = headers
        .iter()
        .max_by_key(|header| texts.of(header).length)?;
    let includes_it = |header: &&String| texts.reaches(header, largest, &mut BTreeSet::new());
    let (with, without): (Vec<_>, Vec<_>) = headers.iter().partition(includes_it);
    let half = |headers: Vec<&String>| Source {
        headers: headers.into_iter().cloned().collect(),
        ..source.clone()
    };
    (!without.is_empty()).then(|| [half(with), half(without)])
}

struct Texts<'a> {
    root: &'a Path,
    read: BTreeMap<String, Text>,
}

#[derive(Clone)]
struct Text {
    length: usize,
    includes: Vec<String>,
}

impl Texts<'_> {
    /// What cannot be read is empty: the parse will tell of it.
    fn of(&mut self, header: &str) -> &Text {
        self.read.entry(header.into()).or_insert_with(|| {
            let bytes = std::fs::read(self.root.join(header)).unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes);
            Text {
                length: text.len(),
                includes: include::quoted(&text).map(String::from).collect(),
            }
        })
    }

    /// Whether `header` is `other` or includes it, by way of those not yet `seen`.
    fn reaches(&mut self, header: &str, other: &str, seen: &mut BTreeSet<String>) -> bool {
        if header == other {
            return true;
        }
        let is_new = seen.insert(header.into());
        let includes = if is_new {
            self.of(header).includes.clone()
        } else {
            Vec::new()
        };
        includes.iter().any(|one| self.reaches(one, other, seen))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn halves(headers: &[(&str, &str)]) -> Option<[Vec<String>; 2]> {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in headers {
            std::fs::write(root.path().join(name), text).unwrap();
        }
        let source = Source {
            include_root: root.path().into(),
            headers: headers.iter().map(|(name, _)| (*name).into()).collect(),
            target: super::super::DEFAULT_TARGET.into(),
        };
        Some(of(&source)?.map(|half| half.headers))
    }

    #[test]
    fn what_includes_the_largest_goes_with_it() {
        let large = format!("#include \"d.h\"\n{}", "int x;\n".repeat(20));
        let found = halves(&[
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
    fn what_hangs_together_stays_together() {
        assert_eq!(
            halves(&[("a.h", "int a; int b; int c;"), ("b.h", "#include \"a.h\"")]),
            None
        );
        assert_eq!(halves(&[]), None);
    }
}
