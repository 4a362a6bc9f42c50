//! Which headers make up the C API of a release: decided by reading them, so that a release that
//! moves its headers costs no line here.
//!
//! A root is a header of TensorFlow, XLA or TSL that calls itself C API: it lies below a folder `c`, or
//! its name says `c_api` or `extension`. It is kept, with every header it includes, if it declares
//! `extern "C"` and nothing it includes needs the C++ standard library, unless `left_out.toml` speaks
//! against it. What is not kept is listed with the reason, so that no header goes by unseen.

use crate::contract::LeftOut;
use crate::include::includes;
use crate::source::{Source, SourceError};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// As many headers as clang lets include each other.
const DEPTH_MOST: usize = 200;

/// Headers by name below the include root.
pub type Headers = BTreeMap<String, Vec<u8>>;

/// The headers of a release that look like C API.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Closure {
    /// Those of the C API, and what they include.
    pub headers: Headers,
    /// The others, with what speaks against each.
    pub left_out: BTreeMap<String, String>,
}

/// Reads the headers of the C API; `step` is told of each that is read.
pub fn of<S: Source + ?Sized>(
    source: &mut S,
    step: &mut dyn FnMut(&str),
) -> Result<Closure, S::Error> {
    let (roots, left_out) = roots(source);
    let expected: Vec<&str> = roots.iter().map(String::as_str).collect();
    source.expect(&expected)?;
    let mut reading = Reading::new(source, step);
    let mut found = Closure {
        left_out,
        ..Closure::default()
    };
    for root in &roots {
        match reading.against(root)? {
            Some(reason) => drop(found.left_out.insert(root.clone(), reason)),
            None => reading.keep(root, &mut found.headers)?,
        }
    }
    // What another header includes is kept whatever it is by itself.
    let headers = &found.headers;
    found.left_out.retain(|name, _| !headers.contains_key(name));
    Ok(found)
}

/// Reads the headers that `is_wanted` names, as far as they are C API, with what they include.
pub fn among<S: Source + ?Sized>(
    source: &mut S,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Result<Headers, S::Error> {
    let is_root = |name: &&String| is_wanted(name) && !is_second_copy(source.names(), name);
    let roots: Vec<String> = source.names().iter().filter(is_root).cloned().collect();
    let mut step = |_: &str| {};
    let mut reading = Reading::new(source, &mut step);
    let mut headers = Headers::new();
    for root in &roots {
        if reading.against(root)?.is_none() {
            reading.keep(root, &mut headers)?;
        }
    }
    Ok(headers)
}

/// Returns true for the second copy of a header: wheels carry those of XLA and TSL also below these
/// folders.
fn is_second_copy(names: &BTreeSet<String>, name: &str) -> bool {
    let mut folders = ["tensorflow/compiler/", "tensorflow/"].iter();
    folders.any(|folder| {
        let first = name.strip_prefix(folder);
        first.is_some_and(|first| names.contains(first))
    })
}

/// The headers that will be looked at first, and those that need not be, with the reasons.
pub fn roots<S: Source + ?Sized>(source: &S) -> (Vec<String>, BTreeMap<String, String>) {
    let names = source.names();
    let second = |name: &str| is_second_copy(names, name);
    // Who makes snapshots tells of a list that cannot be read.
    let list = LeftOut::embedded().unwrap_or_default();
    let (mut roots, mut left_out) = (Vec::new(), BTreeMap::new());
    for name in names.iter().filter(|it| calls_itself_c(it) && !second(it)) {
        match list.reason(name) {
            Some(reason) => drop(left_out.insert(name.clone(), reason.to_owned())),
            None => roots.push(name.clone()),
        }
    }
    (roots, left_out)
}

/// Whether a header's path says that it is C API. Thousands say nothing of the kind; reading them all
/// would cost more than the rest of an import.
fn calls_itself_c(name: &str) -> bool {
    let folders = ["tensorflow/", "xla/", "tsl/"];
    let is_ours = folders.iter().any(|folder| name.starts_with(folder));
    let file = name.rsplit_once('/').map_or(name, |(_, file)| file);
    let says_so = file.contains("c_api") || file.ends_with("_extension.h");
    name.ends_with(".h") && (name.contains("/c/") || (is_ours && says_so))
}

struct Reading<'a, S: ?Sized> {
    source: &'a mut S,
    step: &'a mut dyn FnMut(&str),
    read: BTreeMap<String, Rc<Page>>,
    obstacles: BTreeMap<String, Option<Obstacle>>,
    /// Depth of the include chain that leads to the current header.
    depth: usize,
}

/// What counts of a header.
struct Page {
    bytes: Vec<u8>,
    is_c: bool,
    /// What it includes of its own kind.
    quoted: Vec<String>,
    /// The first header of the C++ library that it needs.
    cpp: Option<String>,
}

impl Page {
    fn new(bytes: Vec<u8>) -> Self {
        let text = String::from_utf8_lossy(&bytes);
        let (quoted, system): (Vec<_>, Vec<_>) = includes(&text).partition(|one| one.quoted);
        let cpp = system.iter().find(|one| one.is_cpp());
        Self {
            is_c: text.contains("extern \"C\""),
            quoted: quoted.iter().map(|one| one.name.to_owned()).collect(),
            cpp: cpp.map(|one| one.name.to_owned()),
            bytes,
        }
    }
}

/// `#include <include>` in the header `place`.
#[derive(Clone)]
struct Obstacle {
    include: String,
    place: String,
}

impl<'a, S: Source + ?Sized> Reading<'a, S> {
    fn new(source: &'a mut S, step: &'a mut dyn FnMut(&str)) -> Self {
        Self {
            source,
            step,
            read: BTreeMap::new(),
            obstacles: BTreeMap::new(),
            depth: 0,
        }
    }

    /// A header, or nothing where the release does not ship it (a system's header).
    fn page(&mut self, name: &str) -> Result<Option<Rc<Page>>, S::Error> {
        if let Some(page) = self.read.get(name) {
            return Ok(Some(page.clone()));
        }
        if !self.source.names().contains(name) {
            return Ok(None);
        }
        let page = Rc::new(Page::new(self.source.read(name)?));
        (self.step)(name);
        self.read.insert(name.to_owned(), page.clone());
        Ok(Some(page))
    }

    /// Why a root is not part of the C API.
    fn against(&mut self, root: &str) -> Result<Option<String>, S::Error> {
        if !self.page(root)?.is_some_and(|page| page.is_c) {
            return Ok(Some("declares nothing extern \"C\"".to_owned()));
        }
        let obstacle = self.obstacle(root)?;
        Ok(
            obstacle.map(|Obstacle { include, place }| match place == root {
                true => format!("needs <{include}>"),
                false => format!("needs <{include}> through {place}"),
            }),
        )
    }

    /// What it or its includes need of the C++ standard library.
    fn obstacle(&mut self, name: &str) -> Result<Option<Obstacle>, S::Error> {
        if let Some(known) = self.obstacles.get(name) {
            return Ok(known.clone());
        }
        let Some(page) = self.page(name)? else {
            return Ok(None);
        };
        if self.depth == DEPTH_MOST {
            return Err(SourceError::Unreadable {
                origin: self.source.origin(),
                detail: format!("{name} is included through more than {DEPTH_MOST} headers"),
            }
            .into());
        }
        // A cycle is as plain as the rest of it.
        self.obstacles.insert(name.to_owned(), None);
        self.depth += 1;
        let mut obstacle = page.cpp.clone().map(|include| Obstacle {
            include,
            place: name.to_owned(),
        });
        for include in &page.quoted {
            if obstacle.is_some() {
                break;
            }
            obstacle = self.obstacle(include)?;
        }
        self.depth -= 1;
        self.obstacles.insert(name.to_owned(), obstacle.clone());
        Ok(obstacle)
    }

    fn keep(&mut self, name: &str, kept: &mut Headers) -> Result<(), S::Error> {
        let mut open = vec![name.to_owned()];
        while let Some(name) = open.pop() {
            let Some(page) = self.page(&name)? else {
                continue;
            };
            if kept.insert(name, page.bytes.clone()).is_none() {
                open.extend(page.quoted.iter().cloned());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Identity;
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
        type Error = SourceError;

        fn origin(&self) -> String {
            "memory".into()
        }
        fn identity(&mut self) -> Result<Identity, SourceError> {
            Ok(Identity::default())
        }
        fn names(&self) -> &BTreeSet<String> {
            &self.names
        }
        fn read(&mut self, name: &str) -> Result<Vec<u8>, SourceError> {
            Ok(self.texts[name].clone().into_bytes())
        }
    }

    fn kept(texts: &[(&str, &str)]) -> Vec<String> {
        of(&mut Memory::new(texts), &mut |_| {})
            .unwrap()
            .headers
            .into_keys()
            .collect()
    }

    #[test]
    fn rejects_headers_that_include_each_other_without_end() {
        let name = |index: usize| format!("t/c/{index:06}.h");
        let text = |index: usize| format!("#include \"{}\"\nextern \"C\" {{}}", name(index + 1));
        let texts: Vec<_> = (0..100_000)
            .map(|index| (name(index), text(index)))
            .collect();
        let texts: Vec<_> = texts
            .iter()
            .map(|(name, text)| (&**name, &**text))
            .collect();
        let error = of(&mut Memory::new(&texts), &mut |_| {})
            .unwrap_err()
            .to_string();
        assert!(error.contains("more than 200 headers"), "{error}");
    }

    #[test]
    fn what_is_left_out_is_listed_with_the_reason() {
        let texts = [
            ("t/c/a.h", "#include \"p/b.h\"\nextern \"C\" {}"),
            ("t/c/b.h", "#include <map>\nextern \"C\" {}"),
            ("p/b.h", "#include <string>"),
            ("t/c/internal.h", "namespace x {}"),
            ("t/c/plain.h", "#include \"t/c/macros.h\"\nextern \"C\" {}"),
            ("t/c/macros.h", "#define X"),
        ];
        let left_out = of(&mut Memory::new(&texts), &mut |_| {}).unwrap().left_out;
        let expected = [
            ("t/c/a.h", "needs <string> through p/b.h"),
            ("t/c/b.h", "needs <map>"),
            ("t/c/internal.h", "declares nothing extern \"C\""),
        ];
        let owned = expected.map(|(name, why)| (name.to_owned(), why.to_owned()));
        assert_eq!(left_out, BTreeMap::from(owned));
    }

    #[test]
    fn a_header_that_calls_itself_c_api_is_one_wherever_it_lies() {
        let text = "extern \"C\" {}";
        let texts = [
            ("xla/pjrt/extensions/x/x_extension.h", text),
            ("xla/some/plugin/new_c_api.h", text),
            ("xla/some/plugin/other.h", text),
            ("external/numpy/__ufunc_api.h", text),
            ("tensorflow/core/tpu/tpu_ops_c_api.h", text),
        ];
        let found = of(&mut Memory::new(&texts), &mut |_| {}).unwrap();
        let names: Vec<&String> = found.headers.keys().collect();
        assert_eq!(
            names,
            [
                "xla/pjrt/extensions/x/x_extension.h",
                "xla/some/plugin/new_c_api.h"
            ]
        );
        let reason = &found.left_out["tensorflow/core/tpu/tpu_ops_c_api.h"];
        assert!(reason.contains("TPU"), "{reason}");
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
        let moved = [("tsl/c/a.h", text), ("tensorflow/tsl/c/a.h", text)];
        assert_eq!(kept(&moved), ["tsl/c/a.h"]);
        assert_eq!(kept(&both[1..]), ["tensorflow/compiler/xla/c/a.h"]);
    }
}
