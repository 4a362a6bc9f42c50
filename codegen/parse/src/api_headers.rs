//! Selects the headers of a release's C API. They are selected by their contents, so that a release that moves its
//! headers needs no change here.
//!
//! A root is a header of TensorFlow, XLA or TSL whose path marks it as C API: it is below a folder `c`, or its name
//! contains `c_api` or ends with `_extension.h`. A root is selected, with every header it includes, under three
//! conditions: it contains `extern "C"`; neither it nor an included header needs the C++ standard library;
//! `excluded.toml` does not list it. The other roots are returned with the reason, so that no header is ignored silently.

use crate::contract::ExcludedHeaders;
use crate::include::includes;
use crate::source::{Source, SourceError};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Largest depth of includes; clang has the same limit.
const MAX_DEPTH: usize = 200;

/// The bytes of headers, by path below the include root.
pub type Headers = BTreeMap<String, Vec<u8>>;

/// The headers of a release whose paths mark them as C API.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ApiHeaders {
    /// The headers of the C API and those that they include.
    pub headers: Headers,
    /// The other headers, with the reason for each.
    pub excluded: BTreeMap<String, String>,
}

/// Reads the headers of the C API. `step` is called with the name of each header that is read.
///
/// # Errors
/// Returns an error if a header cannot be read, or if the depth of includes exceeds clang's limit.
pub fn find<S: Source + ?Sized>(
    source: &mut S,
    step: &mut dyn FnMut(&str),
) -> Result<ApiHeaders, S::Error> {
    let (roots, excluded) = find_roots(source);
    let names: Vec<&str> = roots.iter().map(String::as_str).collect();
    source.prefetch(&names)?;
    let mut reader = Reader::new(source, step);
    let mut found = ApiHeaders {
        excluded,
        ..ApiHeaders::default()
    };
    for root in &roots {
        match reader.exclusion_reason(root)? {
            Some(reason) => drop(found.excluded.insert(root.clone(), reason)),
            None => reader.collect(root, &mut found.headers)?,
        }
    }
    // A header that an API header includes is part of the API, even if it is excluded as a root.
    let headers = &found.headers;
    found.excluded.retain(|name, _| !headers.contains_key(name));
    Ok(found)
}

/// Reads those headers of the C API that `is_wanted` accepts, and those that they include.
///
/// # Errors
/// Returns an error if a header cannot be read, or if the depth of includes exceeds clang's limit.
pub fn find_matching<S: Source + ?Sized>(
    source: &mut S,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Result<Headers, S::Error> {
    let is_root = |name: &&String| is_wanted(name) && !is_second_copy(source.names(), name);
    let roots: Vec<String> = source.names().iter().filter(is_root).cloned().collect();
    let mut step = |_: &str| {};
    let mut reader = Reader::new(source, &mut step);
    let mut headers = Headers::new();
    for root in &roots {
        if reader.exclusion_reason(root)?.is_none() {
            reader.collect(root, &mut headers)?;
        }
    }
    Ok(headers)
}

/// Returns true for the second copy of a header: wheels contain the headers of XLA and TSL also below these folders.
fn is_second_copy(names: &BTreeSet<String>, name: &str) -> bool {
    let mut folders = ["tensorflow/compiler/", "tensorflow/"].iter();
    folders.any(|folder| {
        let first = name.strip_prefix(folder);
        first.is_some_and(|first| names.contains(first))
    })
}

/// Returns the headers whose paths mark them as C API, and those of them that `excluded.toml` lists, with the reasons.
pub fn find_roots<S: Source + ?Sized>(source: &S) -> (Vec<String>, BTreeMap<String, String>) {
    let names = source.names();
    let is_root = |name: &&String| has_api_path(name) && !is_second_copy(names, name);
    // Extraction reports a list that cannot be parsed.
    let list = ExcludedHeaders::embedded().unwrap_or_default();
    let (mut roots, mut excluded) = (Vec::new(), BTreeMap::new());
    for name in names.iter().filter(is_root) {
        match list.reason(name) {
            Some(reason) => drop(excluded.insert(name.clone(), reason.to_owned())),
            None => roots.push(name.clone()),
        }
    }
    (roots, excluded)
}

/// Returns true if a header's path marks it as C API. Thousands of headers are not marked; reading all of them would
/// take longer than the rest of an import.
fn has_api_path(name: &str) -> bool {
    let folders = ["tensorflow/", "xla/", "tsl/"];
    let is_known_folder = folders.iter().any(|folder| name.starts_with(folder));
    let file = name.rsplit_once('/').map_or(name, |(_, file)| file);
    let has_api_name = file.contains("c_api") || file.ends_with("_extension.h");
    name.ends_with(".h") && (name.contains("/c/") || (is_known_folder && has_api_name))
}

/// Reads headers, each once.
struct Reader<'a, S: ?Sized> {
    source: &'a mut S,
    step: &'a mut dyn FnMut(&str),
    headers: BTreeMap<String, Rc<Header>>,
    cpp_includes: BTreeMap<String, Option<CppInclude>>,
    /// Depth of the include chain that leads to the current header.
    depth: usize,
}

/// The contents of a header, as far as the selection depends on them.
struct Header {
    bytes: Vec<u8>,
    has_extern_c: bool,
    /// The headers that it includes in quotes.
    quoted: Vec<String>,
    /// The first header of the C++ standard library that it includes.
    cpp: Option<String>,
}

impl Header {
    fn new(bytes: Vec<u8>) -> Self {
        let text = String::from_utf8_lossy(&bytes);
        let (quoted, system): (Vec<_>, Vec<_>) = includes(&text)
            .map(|(_, include)| include)
            .partition(|include| include.quoted);
        let cpp = system.iter().find(|include| include.is_cpp());
        Self {
            has_extern_c: text.contains("extern \"C\""),
            quoted: quoted
                .iter()
                .map(|include| include.name.to_owned())
                .collect(),
            cpp: cpp.map(|include| include.name.to_owned()),
            bytes,
        }
    }
}

/// `#include <name>` of a C++ standard header, in the header `included_by`.
#[derive(Clone)]
struct CppInclude {
    name: String,
    included_by: String,
}

impl<'a, S: Source + ?Sized> Reader<'a, S> {
    fn new(source: &'a mut S, step: &'a mut dyn FnMut(&str)) -> Self {
        Self {
            source,
            step,
            headers: BTreeMap::new(),
            cpp_includes: BTreeMap::new(),
            depth: 0,
        }
    }

    /// Returns a header, or `None` if the release does not contain it: it is a system header.
    fn header(&mut self, name: &str) -> Result<Option<Rc<Header>>, S::Error> {
        if let Some(header) = self.headers.get(name) {
            return Ok(Some(header.clone()));
        }
        if !self.source.names().contains(name) {
            return Ok(None);
        }
        let header = Rc::new(Header::new(self.source.read(name)?));
        (self.step)(name);
        self.headers.insert(name.to_owned(), header.clone());
        Ok(Some(header))
    }

    /// Returns the reason why a root is not part of the C API, or `None` if it is.
    fn exclusion_reason(&mut self, root: &str) -> Result<Option<String>, S::Error> {
        if !self.header(root)?.is_some_and(|header| header.has_extern_c) {
            return Ok(Some("declares nothing extern \"C\"".to_owned()));
        }
        let include = self.cpp_include(root)?;
        Ok(include.map(
            |CppInclude { name, included_by }| match included_by == root {
                true => format!("needs <{name}>"),
                false => format!("needs <{name}> through {included_by}"),
            },
        ))
    }

    /// Returns the first C++ standard header that `name` or a header it includes needs.
    fn cpp_include(&mut self, name: &str) -> Result<Option<CppInclude>, S::Error> {
        if let Some(known) = self.cpp_includes.get(name) {
            return Ok(known.clone());
        }
        let Some(header) = self.header(name)? else {
            return Ok(None);
        };
        if self.depth == MAX_DEPTH {
            return Err(SourceError::Unreadable {
                origin: self.source.origin(),
                detail: format!("{name} is included through more than {MAX_DEPTH} headers"),
            }
            .into());
        }
        // Ends the recursion for headers that include each other.
        self.cpp_includes.insert(name.to_owned(), None);
        self.depth += 1;
        let mut found = header.cpp.clone().map(|cpp| CppInclude {
            name: cpp,
            included_by: name.to_owned(),
        });
        for include in &header.quoted {
            if found.is_some() {
                break;
            }
            found = self.cpp_include(include)?;
        }
        self.depth -= 1;
        self.cpp_includes.insert(name.to_owned(), found.clone());
        Ok(found)
    }

    /// Adds a header, and those that it includes, to `headers`.
    fn collect(&mut self, name: &str, headers: &mut Headers) -> Result<(), S::Error> {
        let mut pending = vec![name.to_owned()];
        while let Some(name) = pending.pop() {
            let Some(header) = self.header(&name)? else {
                continue;
            };
            if headers.insert(name, header.bytes.clone()).is_none() {
                pending.extend(header.quoted.iter().cloned());
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

    struct MemorySource {
        names: BTreeSet<String>,
        texts: BTreeMap<String, String>,
    }

    impl MemorySource {
        fn new(texts: &[(&str, &str)]) -> Self {
            let owned = |&(name, text): &(&str, &str)| (name.to_owned(), text.to_owned());
            let texts: BTreeMap<_, _> = texts.iter().map(owned).collect();
            let names = texts.keys().cloned().collect();
            Self { names, texts }
        }
    }

    impl Source for MemorySource {
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

    fn selected(texts: &[(&str, &str)]) -> Vec<String> {
        find(&mut MemorySource::new(texts), &mut |_| {})
            .unwrap()
            .headers
            .into_keys()
            .collect()
    }

    #[test]
    fn rejects_include_chain_deeper_than_limit() {
        let name = |index: usize| format!("t/c/{index:06}.h");
        let text = |index: usize| format!("#include \"{}\"\nextern \"C\" {{}}", name(index + 1));
        let texts: Vec<_> = (0..100_000)
            .map(|index| (name(index), text(index)))
            .collect();
        let texts = texts.iter().map(|(name, text)| (&**name, &**text));
        let texts: Vec<_> = texts.collect();
        let error = find(&mut MemorySource::new(&texts), &mut |_| {})
            .unwrap_err()
            .to_string();
        assert!(error.contains("more than 200 headers"), "{error}");
    }

    #[test]
    fn lists_excluded_headers_with_reason() {
        let texts = [
            ("t/c/a.h", "#include \"p/b.h\"\nextern \"C\" {}"),
            ("t/c/b.h", "#include <map>\nextern \"C\" {}"),
            ("p/b.h", "#include <string>"),
            ("t/c/internal.h", "namespace x {}"),
            ("t/c/plain.h", "#include \"t/c/macros.h\"\nextern \"C\" {}"),
            ("t/c/macros.h", "#define X"),
        ];
        let excluded = find(&mut MemorySource::new(&texts), &mut |_| {})
            .unwrap()
            .excluded;
        let expected = [
            ("t/c/a.h", "needs <string> through p/b.h"),
            ("t/c/b.h", "needs <map>"),
            ("t/c/internal.h", "declares nothing extern \"C\""),
        ];
        let owned = expected.map(|(name, reason)| (name.to_owned(), reason.to_owned()));
        assert_eq!(excluded, BTreeMap::from(owned));
    }

    #[test]
    fn selects_api_headers_by_name_in_any_folder() {
        let text = "extern \"C\" {}";
        let texts = [
            ("xla/pjrt/extensions/x/x_extension.h", text),
            ("xla/some/plugin/new_c_api.h", text),
            ("xla/some/plugin/other.h", text),
            ("external/numpy/__ufunc_api.h", text),
            ("tensorflow/core/tpu/tpu_ops_c_api.h", text),
        ];
        let found = find(&mut MemorySource::new(&texts), &mut |_| {}).unwrap();
        let names: Vec<&String> = found.headers.keys().collect();
        assert_eq!(
            names,
            [
                "xla/pjrt/extensions/x/x_extension.h",
                "xla/some/plugin/new_c_api.h"
            ]
        );
        let reason = &found.excluded["tensorflow/core/tpu/tpu_ops_c_api.h"];
        assert!(reason.contains("TPU"), "{reason}");
    }

    #[test]
    fn follows_includes_outside_of_the_c_folder() {
        let names = selected(&[
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
    fn excludes_headers_that_need_the_cpp_library() {
        let names = selected(&[
            ("t/c/a.h", "extern \"C\" {}\n#include \"p/b.h\""),
            ("p/b.h", "#include <string>"),
            ("t/c/internal.h", "namespace x {}"),
            ("t/c/fine.h", "extern \"C\" {}"),
        ]);
        assert_eq!(names, ["t/c/fine.h"]);
    }

    #[test]
    fn accepts_include_cycle_ignores_outside_include() {
        let names = selected(&[
            (
                "t/c/a.h",
                "extern \"C\" {}\n#include \"t/c/b.h\"\n#include \"../../etc/passwd\"",
            ),
            ("t/c/b.h", "#include \"t/c/a.h\""),
        ]);
        assert_eq!(names, ["t/c/a.h", "t/c/b.h"]);
    }

    #[test]
    fn selects_second_copy_only_without_first() {
        let text = "extern \"C\" {}";
        let both = [("xla/c/a.h", text), ("tensorflow/compiler/xla/c/a.h", text)];
        assert_eq!(selected(&both), ["xla/c/a.h"]);
        let moved = [("tsl/c/a.h", text), ("tensorflow/tsl/c/a.h", text)];
        assert_eq!(selected(&moved), ["tsl/c/a.h"]);
        assert_eq!(selected(&both[1..]), ["tensorflow/compiler/xla/c/a.h"]);
    }
}
