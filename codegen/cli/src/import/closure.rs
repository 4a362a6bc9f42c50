//! Which headers make up the C API of a release: decided by reading them, so that a release that
//! moves its headers costs no line here.
//!
//! A root is a header below a folder called `c` that declares `extern "C"`. It is kept, with every
//! header it includes, unless something it includes needs the C++ standard library.

use super::problem::Problem;
use super::source::Source;
use std::collections::BTreeMap;

/// Headers by name below the include root.
pub type Headers = BTreeMap<String, Vec<u8>>;

/// Reads the headers of the C API; `step` is told of each that is read.
pub fn of(source: &mut dyn Source, step: &mut dyn FnMut(&str)) -> Result<Headers, Problem> {
    let roots = roots(source);
    let expected: Vec<&str> = roots.iter().map(String::as_str).collect();
    source.expect(&expected)?;
    let mut reading = Reading {
        source,
        step,
        read: BTreeMap::new(),
        plain: BTreeMap::new(),
    };
    let mut kept = Headers::new();
    for root in &roots {
        if reading.declares_c(root)? && reading.is_plain(root)? {
            reading.keep(root, &mut kept)?;
        }
    }
    Ok(kept)
}

/// How many headers will be looked at first.
pub fn roots(source: &dyn Source) -> Vec<String> {
    let names = source.names();
    // Wheels carry XLA's headers twice; the second time below this folder.
    let second = |name: &str| {
        let first = name.strip_prefix("tensorflow/compiler/");
        first.is_some_and(|first| names.contains(first))
    };
    let is_root = |name: &&String| name.ends_with(".h") && name.contains("/c/") && !second(name);
    names.iter().filter(is_root).cloned().collect()
}

struct Reading<'a> {
    source: &'a mut dyn Source,
    step: &'a mut dyn FnMut(&str),
    read: Headers,
    plain: BTreeMap<String, bool>,
}

impl Reading<'_> {
    /// The text of a header, or nothing where the release does not ship it (a system's header).
    fn text(&mut self, name: &str) -> Result<Option<String>, Problem> {
        if !self.read.contains_key(name) {
            if !self.source.names().contains(name) {
                return Ok(None);
            }
            let bytes = self.source.read(name)?;
            (self.step)(name);
            self.read.insert(name.to_owned(), bytes);
        }
        Ok(self
            .read
            .get(name)
            .map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
    }

    fn declares_c(&mut self, name: &str) -> Result<bool, Problem> {
        let text = self.text(name)?;
        Ok(text.is_some_and(|text| text.contains("extern \"C\"")))
    }

    /// Whether neither it nor what it includes needs the C++ standard library.
    fn is_plain(&mut self, name: &str) -> Result<bool, Problem> {
        if let Some(&known) = self.plain.get(name) {
            return Ok(known);
        }
        let Some(text) = self.text(name)? else {
            return Ok(true);
        };
        // A cycle is as plain as the rest of it.
        self.plain.insert(name.to_owned(), true);
        let mut plain = includes(&text).all(|include| !include.is_cpp());
        for include in includes(&text).filter(|include| include.quoted) {
            plain = plain && self.is_plain(include.name)?;
        }
        self.plain.insert(name.to_owned(), plain);
        Ok(plain)
    }

    fn keep(&mut self, name: &str, kept: &mut Headers) -> Result<(), Problem> {
        let Some(text) = self.text(name)? else {
            return Ok(());
        };
        if kept
            .insert(name.to_owned(), self.read[name].clone())
            .is_none()
        {
            for include in includes(&text).filter(|include| include.quoted) {
                self.keep(include.name, kept)?;
            }
        }
        Ok(())
    }
}

struct Include<'a> {
    name: &'a str,
    quoted: bool,
}

impl Include<'_> {
    /// `<string>`, but not `<string.h>` nor `<cstring>`, which is C's.
    fn is_cpp(&self) -> bool {
        const OF_C: [&str; 12] = [
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
        !self.quoted && !self.name.ends_with(".h") && !OF_C.contains(&self.name)
    }
}

fn includes(text: &str) -> impl Iterator<Item = Include<'_>> {
    text.lines().filter_map(include)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::source::Identity;
    use std::collections::BTreeSet;

    struct Memory {
        names: BTreeSet<String>,
        texts: BTreeMap<String, String>,
    }

    impl Memory {
        fn new(texts: &[(&str, &str)]) -> Self {
            let owned = |&(name, text): &(&str, &str)| (name.to_owned(), text.to_owned());
            let texts: BTreeMap<_, _> = texts.iter().map(owned).collect();
            let names = texts.keys().cloned().collect();
            Self { names, texts }
        }
    }

    impl Source for Memory {
        fn origin(&self) -> String {
            "memory".into()
        }
        fn identity(&mut self) -> Result<Identity, Problem> {
            Ok(Identity::default())
        }
        fn names(&self) -> &BTreeSet<String> {
            &self.names
        }
        fn read(&mut self, name: &str) -> Result<Vec<u8>, Problem> {
            Ok(self.texts[name].clone().into_bytes())
        }
    }

    fn kept(texts: &[(&str, &str)]) -> Vec<String> {
        of(&mut Memory::new(texts), &mut |_| {})
            .unwrap()
            .into_keys()
            .collect()
    }

    #[test]
    fn follows_includes_out_of_the_c_folder() {
        let names = kept(&[
            (
                "t/c/a.h",
                "#include <stdint.h>\n#include \"p/b.h\"\nextern \"C\" {}",
            ),
            ("p/b.h", "# include \"p/d.h\""),
            (
                "p/d.h",
                "#include \"TargetConditionals.h\"\n#include <cstdint>",
            ),
            ("p/other.h", ""),
        ]);
        assert_eq!(names, ["p/b.h", "p/d.h", "t/c/a.h"]);
    }

    #[test]
    fn leaves_out_what_needs_the_cpp_library() {
        let names = kept(&[
            ("t/c/a.h", "extern \"C\" {}\n#include \"p/b.h\""),
            ("p/b.h", "#include <string>"),
            ("t/c/internal.h", "namespace x {}"),
            ("t/c/fine.h", "extern \"C\" {}"),
        ]);
        assert_eq!(names, ["t/c/fine.h"]);
    }

    #[test]
    fn survives_a_cycle_and_an_include_that_leads_out() {
        let names = kept(&[
            (
                "t/c/a.h",
                "extern \"C\" {}\n#include \"t/c/b.h\"\n#include \"../../etc/passwd\"",
            ),
            ("t/c/b.h", "#include \"t/c/a.h\""),
        ]);
        assert_eq!(names, ["t/c/a.h", "t/c/b.h"]);
    }

    #[test]
    fn takes_the_second_copy_of_a_header_only_if_it_is_the_only_one() {
        let text = "extern \"C\" {}";
        let both = [("xla/c/a.h", text), ("tensorflow/compiler/xla/c/a.h", text)];
        assert_eq!(kept(&both), ["xla/c/a.h"]);
        assert_eq!(kept(&both[1..]), ["tensorflow/compiler/xla/c/a.h"]);
    }
}
