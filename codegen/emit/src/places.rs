//! Where each layout of a struct has its fields, by the `struct_size` that tells the layout. Two
//! layouts of one size are one to a plugin: it may touch what both have in the same place.

use std::collections::{BTreeMap, BTreeSet};

use sp_expand::layout::{Epoch, Epochs, FieldOffsets, ReleaseSpan};
use sp_expand::structure::Layouts;
use sp_ir::{Field, History, Record};

use crate::minor::minor;

/// The structs whose layouts differ over the releases.
pub fn layouts(history: &History) -> BTreeMap<String, Layouts> {
    let all = history.structs.keys().filter_map(|name| {
        let layouts = Sizes::of(history, name)?.layouts();
        Some((name.clone(), layouts?))
    });
    all.collect()
}

/// A layout of a struct: what lies where in structs of one size.
pub struct Form<'a> {
    /// The size and the releases that have it.
    pub epoch: Epoch,
    /// As the last of them declares it.
    pub record: &'a Record,
    /// For each field of the newest layout, the one of this that lies in its stead.
    pub fields: BTreeMap<&'a str, &'a Field>,
}

/// A struct's layouts, oldest first, if it takes part in the `struct_size` protocol.
pub fn forms<'a>(history: &'a History, name: &str) -> Option<Vec<Form<'a>>> {
    let sizes = Sizes::of(history, name)?;
    let form = |(size, records, epoch): &(u64, Vec<&'a Record>, Epoch)| {
        let record = *records.last()?;
        let at = |offset| record.fields.iter().find(|it| it.offset == offset);
        let fields = sizes.newest.fields.iter().filter_map(|field| {
            let (_, place) = sizes.places(field).find(|(other, _)| other == size)?;
            Some((field.name.as_str(), at(place?)?))
        });
        Some(Form {
            epoch: *epoch,
            record,
            fields: fields.collect(),
        })
    };
    sizes.by_size.iter().map(form).collect()
}

/// What generated code cannot do right: two layouts that nothing tells apart, of which the notes do not
/// say what does; and fields that lie in two places in structs of one size.
pub fn ambiguous(history: &History) -> Vec<String> {
    let names = history.structs.keys();
    let found = names.flat_map(|name| {
        let moved = Sizes::of(history, name).map_or_else(Vec::new, |sizes| sizes.ambiguous());
        let moved = moved.into_iter().map(move |(field, size)| {
            format!("{name}.{field} lies in two places in structs of {size} bytes")
        });
        undiscriminated(history, name).into_iter().chain(moved)
    });
    found.collect()
}

fn undiscriminated(history: &History, name: &str) -> Option<String> {
    let pairs = history.indistinguishable(name);
    let (old, new) = pairs.last()?;
    let said = history.structs[name].last()?.shape.discriminator;
    said.is_none().then(|| {
        format!(
            "`{name}` was another struct until {} than it is from {} on, and neither struct_size nor a \
             version tells them apart: item.{name}.discriminator must say what does",
            old.last(),
            new.first()
        )
    })
}

/// A struct's forms by their `struct_size`, in the order of the releases.
struct Sizes<'a> {
    newest: &'a Record,
    by_size: Vec<(u64, Vec<&'a Record>, Epoch)>,
}

impl<'a> Sizes<'a> {
    /// Of a struct that takes part in the `struct_size` protocol.
    fn of(history: &'a History, name: &str) -> Option<Self> {
        let epochs = history.structs.get(name)?;
        let newest = &epochs.last()?.shape;
        newest.struct_size.as_ref()?;
        let mut by_size: Vec<(u64, Vec<&Record>, Epoch)> = Vec::new();
        for epoch in epochs {
            let Some(size) = epoch.shape.struct_size.as_ref().map(|it| it.value) else {
                continue;
            };
            let until = minor(epoch.last());
            let last =
                (history.releases.last().map(|it| minor(it)) != Some(until)).then_some(until);
            let before = by_size.iter().position(|it| it.0 == size);
            let (mut records, first) = match before.map(|place| by_size.remove(place)) {
                Some((_, records, epoch)) => (records, epoch.releases.first),
                None => (Vec::new(), minor(epoch.first())),
            };
            records.push(&epoch.shape);
            let releases = ReleaseSpan { first, last };
            by_size.push((size, records, Epoch { releases, size }));
        }
        Some(Self { newest, by_size })
    }

    /// What to print, where there is more than one size.
    fn layouts(&self) -> Option<Layouts> {
        if self.by_size.len() < 2 {
            return None;
        }
        let fields = self.newest.fields.iter().filter_map(|field| {
            let places: Vec<_> = self.places(field).collect();
            let fixed = places.iter().all(|(_, place)| *place == Some(field.offset));
            let known = places
                .into_iter()
                .filter_map(|(size, place)| Some((size, place?)));
            (!fixed).then(|| (field.name.clone(), FieldOffsets(known.collect())))
        });
        Some(Layouts {
            epochs: Epochs(self.by_size.iter().map(|it| it.2).collect()),
            field_offsets: fields.collect(),
        })
    }

    /// Where structs of each size have the field: all of them, and within that size.
    fn places(&self, field: &Field) -> impl Iterator<Item = (u64, Option<u64>)> {
        self.by_size.iter().map(|(size, records, _)| {
            let offsets: BTreeSet<_> = records.iter().map(|it| self.offset(it, field)).collect();
            let place = offsets.first().copied().flatten();
            let sure = offsets.len() == 1 && place.is_some_and(|it| it + field.size <= *size);
            (*size, place.filter(|_| sure))
        })
    }

    /// Where an older form has a field of the newest, under whatever name.
    fn offset(&self, older: &Record, field: &Field) -> Option<u64> {
        let same = |it: &&Field| {
            let renamed = || older.renamed_field(it, self.newest).map(|it| &it.name);
            it.name == field.name || renamed() == Some(&field.name)
        };
        let found = older.fields.iter().find(same)?;
        (found.size == field.size).then_some(found.offset)
    }

    fn ambiguous(&self) -> Vec<(&'a str, u64)> {
        let mut found = Vec::new();
        for field in &self.newest.fields {
            for (size, records, _) in &self.by_size {
                let offsets = records.iter().filter_map(|it| self.offset(it, field));
                if offsets.collect::<BTreeSet<_>>().len() > 1 {
                    found.push((field.name.as_str(), *size));
                }
            }
        }
        found
    }
}
