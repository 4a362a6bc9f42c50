//! The scanner of a host's headers, compared with the IR that clang gives for the same headers. The items
//! are all structs, enumerations, typedefs and functions of the registration APIs, in every release.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use sp_ir::{Api, Item, Struct};
use sp_runtime::c_header::Header;
use sp_runtime::installation::IncludeRoot;

const APIS: [&str; 5] = [
    "stream_executor",
    "grappler",
    "pluggable_profiler",
    "kernels",
    "kernels_experimental",
];

/// The longest accepted scan, many times the measured one: on a machine with other work one took 330 ms without optimization.
const MAX_SCAN_TIME: Duration =
    Duration::from_millis(if cfg!(debug_assertions) { 2000 } else { 50 });

/// Returns the include roots of the store by release: `2.21` for the folder `2.21.0`.
fn include_roots() -> Vec<(String, PathBuf)> {
    let store = sp_tests::root().join("headers/store");
    let folders = fs::read_dir(store).into_iter().flatten().flatten();
    let roots = folders.filter_map(|folder| {
        let name = folder.file_name().into_string().ok()?;
        let minor: Vec<_> = name.split('.').take(2).collect();
        Some((minor.join("."), folder.path().join("include")))
    });
    roots.collect()
}

fn check_struct(header: &Header<'_>, name: &str, expected: &Struct) {
    let members = header
        .members(name)
        .unwrap_or_else(|error| panic!("{name}: {error:?}"));
    let layout = header.layout(&members).unwrap();
    let size = expected.struct_size.as_ref().map(|stated| stated.value);
    assert_eq!(Some(layout.size as u64), size, "{name}");
    assert_eq!(members.len(), expected.fields.len(), "{name}");
    for (member, field) in members.iter().zip(&expected.fields) {
        assert_eq!(member.name, field.name, "{name}");
        assert_eq!(
            member.ty.to_string(),
            field.ty.canonical(),
            "{name}.{}",
            field.name
        );
        assert_eq!(layout.offsets[&field.name] as u64, field.offset, "{name}");
    }
}

/// Checks every item that `api` declares; returns the number of items.
fn check_items(header: &Header<'_>, api: &Api) -> usize {
    let mut checked = 0;
    for (name, item) in &api.items {
        match item {
            Item::Struct(item) if item.struct_size.is_some() => check_struct(header, name, item),
            Item::Enum(item) => {
                let found = header.enumerators(name).unwrap();
                let expected = item.variants.iter();
                let expected = expected.map(|variant| (variant.name.clone(), variant.value));
                assert!(found.into_iter().eq(expected), "{name}");
            }
            Item::Callback(item) => {
                let found = header.typedef(name).unwrap();
                assert_eq!(found.to_string(), item.signature.canonical(), "{name}");
            }
            Item::Function(item) if !item.inline => {
                let found = header
                    .function(name)
                    .unwrap_or_else(|error| panic!("{name}: {error:?}"));
                assert_eq!(found.to_string(), item.signature.canonical(), "{name}");
            }
            _ => continue,
        }
        checked += 1;
    }
    checked
}

#[test]
fn scanner_agrees_with_clang_on_every_release() {
    let roots = include_roots();
    if roots.is_empty() {
        println!("skipped: headers/store is empty; run `sp-gen import tensorflow all`");
        return;
    }
    let mut checked = 0;
    for (release, root) in roots {
        let apis = sp_tests::snapshots(&release);
        for api in apis.iter().filter(|api| APIS.contains(&api.name.as_str())) {
            let headers: BTreeSet<_> = api.items.values().map(|item| &*item.loc().file).collect();
            let root = IncludeRoot::new(&root).unwrap();
            let start = Instant::now();
            let texts = headers
                .into_iter()
                .flat_map(|file| root.read(file).unwrap());
            let texts: BTreeMap<_, _> = texts.collect();
            let header = Header::scan(texts.values().map(String::as_str)).unwrap();
            let count = check_items(&header, api);
            assert!(
                count > 0 && start.elapsed() < MAX_SCAN_TIME,
                "{:?}",
                start.elapsed()
            );
            println!(
                "{release} {}: {count} items in {:?}",
                api.name,
                start.elapsed()
            );
            checked += count;
        }
    }
    assert!(checked > 1000, "{checked}");
}

/// A pseudorandom generator with a fixed seed, so that a failure can be reproduced.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

/// Characters with a meaning in C's syntax.
const PUNCTUATION: &[u8] = b"{}()[]*;,#\"'/\\=% \n";

/// Removes, repeats or replaces a few bytes of `text`.
fn mutate(text: &str, random: &mut Random) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=random.below(4) {
        let (from, to) = (random.below(bytes.len()), random.below(bytes.len()));
        let len = random.below(60).min(bytes.len() - from.max(to));
        let part = bytes[from..from + len].to_vec();
        match random.below(3) {
            0 => drop(bytes.drain(to..to + len)),
            1 => drop(bytes.splice(to..to, part)),
            _ => bytes[to] = PUNCTUATION[random.below(PUNCTUATION.len())],
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The fuzz target `header` extends this.
#[test]
fn scans_or_rejects_mutated_headers_without_panic() {
    let api = sp_tests::snapshots("2.21");
    let api = api.iter().find(|api| api.name == "stream_executor");
    let api = api.unwrap();
    let Some((_, root)) = include_roots()
        .into_iter()
        .find(|(release, _)| release == "2.21")
    else {
        println!("skipped: headers/store is empty; run `sp-gen import tensorflow all`");
        return;
    };
    let path = &*api.items["SP_StreamExecutor"].loc().file;
    let text = fs::read_to_string(root.join(path)).unwrap();
    let (mut random, mut read) = (Random(0x5eed), 0);
    for _ in 0..2000 {
        let mutated = mutate(&text, &mut random);
        let Ok(header) = Header::scan([mutated.as_str()]) else {
            continue;
        };
        for name in api.items.keys() {
            let _typedef = header.typedef(name);
            let _enumerators = header.enumerators(name);
            let layout = header
                .members(name)
                .and_then(|members| header.layout(&members));
            if let Ok(layout) = layout {
                assert!(layout.offsets.values().all(|offset| *offset < layout.size));
                read += 1;
            }
        }
    }
    assert!(read > 1000, "{read}");
}
