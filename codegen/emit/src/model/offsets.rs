//! Offsets of the fields in each layout of a struct. Layouts are identified by their `struct_size`: a plugin
//! cannot distinguish two layouts of one size, and may access only fields with one offset in both.

use std::collections::{BTreeMap, BTreeSet};

use sp_expand::layout::{Epoch, Epochs, FieldOffsets, ReleaseSpan};
use sp_ir::{Field, History, Record, Release};

use super::item_releases::Layouts;
use super::releases::parse_minor;

/// Returns the structs whose layouts differ between releases.
pub fn differing_layouts(history: &History) -> BTreeMap<String, Layouts> {
    let layouts = history.structs.keys().filter_map(|name| {
        let layouts = LayoutsBySize::find(history, name)?.to_layouts();
        Some((name.clone(), layouts?))
    });
    layouts.collect()
}

/// The layout of a struct of one size.
pub struct SizedLayout<'a> {
    /// The first release that has it.
    pub first: Release,
    /// The last release that has it; `None` if the newest release does.
    pub last: Option<Release>,
    /// The declaration in the last of these releases.
    pub record: &'a Record,
    /// For each field of the newest layout, the field of this layout that corresponds to it.
    pub fields: BTreeMap<&'a str, &'a Field>,
}

/// Returns a struct's layouts, oldest first, or `None` if it has no `struct_size`.
pub fn sized_layouts<'a>(history: &'a History, name: &str) -> Option<Vec<SizedLayout<'a>>> {
    let layouts = LayoutsBySize::find(history, name)?;
    let sized_layout = |layout: &SizeGroup<'a>| {
        let record = *layout.records.last()?;
        let field_at = |offset| record.fields.iter().find(|it| it.offset == offset);
        let fields = layouts.newest.fields.iter().filter_map(|field| {
            let mut offsets = layouts.offsets(field);
            let (_, offset) = offsets.find(|(size, _)| *size == layout.size)?;
            Some((field.name.as_str(), field_at(offset?)?))
        });
        Some(SizedLayout {
            first: layout.first,
            last: layout.last,
            record,
            fields: fields.collect(),
        })
    };
    layouts.by_size.iter().map(sized_layout).collect()
}

/// Returns a message for each struct that generated code cannot access correctly: layouts that nothing
/// distinguishes, and fields with two offsets in structs of one size.
pub fn ambiguities(history: &History) -> Vec<String> {
    let names = history.structs.keys();
    let messages = names.flat_map(|name| {
        let fields = LayoutsBySize::find(history, name)
            .map_or_else(Vec::new, |layouts| layouts.ambiguous_fields());
        let fields = fields.into_iter().map(move |(field, size)| {
            format!("{name}.{field}: has two offsets in structs of {size} bytes")
        });
        missing_discriminator(history, name)
            .into_iter()
            .chain(fields)
    });
    messages.collect()
}

fn missing_discriminator(history: &History, name: &str) -> Option<String> {
    let pairs = history.indistinguishable(name);
    let (old, new) = pairs.last()?;
    let stated = history.structs[name].last()?.shape.discriminator;
    stated.is_none().then(|| {
        format!(
            "{name}: its layouts up to {} and from {} on have the same struct_size and version; state in \
             item.{name}.discriminator what distinguishes them",
            old.last(),
            new.first()
        )
    })
}

/// The layouts of a struct by their `struct_size`, in the order of the releases.
struct LayoutsBySize<'a> {
    newest: &'a Record,
    by_size: Vec<SizeGroup<'a>>,
}

/// The declarations of a struct that have the same size.
struct SizeGroup<'a> {
    size: u64,
    records: Vec<&'a Record>,
    first: Release,
    last: Option<Release>,
}

impl SizeGroup<'_> {
    fn epoch(&self) -> Epoch {
        let pair = |release: Release| (release.major, release.minor);
        let releases = ReleaseSpan {
            first: pair(self.first),
            last: self.last.map(pair),
        };
        Epoch {
            releases,
            size: self.size,
        }
    }
}

impl<'a> LayoutsBySize<'a> {
    /// Returns the layouts of a struct, or `None` if it has no `struct_size`.
    fn find(history: &'a History, name: &str) -> Option<Self> {
        let epochs = history.structs.get(name)?;
        let newest = &epochs.last()?.shape;
        newest.struct_size.as_ref()?;
        let newest_release = history.releases.last().map(|it| parse_minor(it));
        let mut by_size: Vec<SizeGroup<'_>> = Vec::new();
        for epoch in epochs {
            let Some(size) = epoch.shape.struct_size.as_ref().map(|it| it.value) else {
                continue;
            };
            let last = parse_minor(epoch.last());
            let earlier = by_size.iter().position(|it| it.size == size);
            let earlier = earlier.map(|index| by_size.remove(index));
            let (mut records, first) = match earlier {
                Some(layout) => (layout.records, layout.first),
                None => (Vec::new(), parse_minor(epoch.first())),
            };
            records.push(&epoch.shape);
            by_size.push(SizeGroup {
                size,
                records,
                first,
                last: (newest_release != Some(last)).then_some(last),
            });
        }
        Some(Self { newest, by_size })
    }

    /// Returns the facts to print, or `None` if there is only one size.
    fn to_layouts(&self) -> Option<Layouts> {
        if self.by_size.len() < 2 {
            return None;
        }
        let fields = self.newest.fields.iter().filter_map(|field| {
            let offsets: Vec<_> = self.offsets(field).collect();
            let is_fixed = offsets
                .iter()
                .all(|(_, offset)| *offset == Some(field.offset));
            let known = offsets
                .into_iter()
                .filter_map(|(size, offset)| Some((size, offset?)));
            (!is_fixed).then(|| (field.name.clone(), FieldOffsets(known.collect())))
        });
        Some(Layouts {
            epochs: Epochs(self.by_size.iter().map(SizeGroup::epoch).collect()),
            field_offsets: fields.collect(),
        })
    }

    /// Returns the offset of the field in structs of each size; `None` if it is ambiguous or past the end.
    fn offsets(&self, field: &Field) -> impl Iterator<Item = (u64, Option<u64>)> {
        self.by_size.iter().map(|layout| {
            let records = layout.records.iter();
            let offsets: BTreeSet<_> = records.map(|it| self.offset_in(it, field)).collect();
            let offset = offsets.first().copied().flatten();
            let is_valid = offsets.len() == 1
                && offset.is_some_and(|offset| offset + field.size <= layout.size);
            (layout.size, offset.filter(|_| is_valid))
        })
    }

    /// Returns the offset of a field of the newest layout in an older one, where it may have another name.
    fn offset_in(&self, older: &Record, field: &Field) -> Option<u64> {
        let is_same = |it: &&Field| {
            let renamed = || older.renamed_field(it, self.newest).map(|it| &it.name);
            it.name == field.name || renamed() == Some(&field.name)
        };
        let found = older.fields.iter().find(is_same)?;
        (found.size == field.size).then_some(found.offset)
    }

    /// Returns the fields with several offsets in structs of one size, with that size.
    fn ambiguous_fields(&self) -> Vec<(&'a str, u64)> {
        let mut found = Vec::new();
        for field in &self.newest.fields {
            for layout in &self.by_size {
                let records = layout.records.iter();
                let offsets = records.filter_map(|it| self.offset_in(it, field));
                if offsets.collect::<BTreeSet<_>>().len() > 1 {
                    found.push((field.name.as_str(), layout.size));
                }
            }
        }
        found
    }
}
