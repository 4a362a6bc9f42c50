//! From functions to everything that they pass: parameters, their structs' fields, callbacks and
//! theirs.

use std::collections::{BTreeMap, BTreeSet};

use sp_ir::{Api, Field, Item, Side, Signature, Type};

/// Entry points that no header declares: the name, the API, what it returns.
const UNDECLARED: [(&str, &str, &str); 1] = [("GetPjrtApi", "pjrt", "PJRT_Api")];

/// The functions of some APIs by their symbol.
#[derive(Debug, Default)]
pub struct Known {
    /// Whether it is an entry point, and which APIs have it.
    functions: BTreeMap<String, (bool, BTreeSet<String>)>,
}

impl Known {
    /// Those of `apis`.
    pub fn of<'a>(apis: impl Iterator<Item = &'a Api>) -> Self {
        let mut known = Self::default();
        for api in apis {
            for item in api.items.values() {
                if let Item::Function(function) = item {
                    let by = function.exported_by.as_ref().map(|by| by.value);
                    known.add(&function.symbol, by == Some(Side::Plugin), &api.name);
                }
            }
            for (name, _, _) in UNDECLARED.iter().filter(|(_, of, _)| *of == api.name) {
                known.add(name, true, &api.name);
            }
        }
        known
    }

    fn add(&mut self, name: &str, is_entry_point: bool, api: &str) {
        let (known, apis) = self.functions.entry(name.into()).or_default();
        *known |= is_entry_point;
        apis.insert(api.into());
    }

    /// Whether the plugin exports it; nothing where there is no such function.
    pub fn is_entry_point(&self, name: &str) -> Option<bool> {
        self.functions.get(name).map(|(is, _)| *is)
    }

    /// The APIs that declare it.
    pub fn apis(&self, name: &str) -> impl Iterator<Item = &str> {
        let found = self.functions.get(name).into_iter();
        found.flat_map(|(_, apis)| apis.iter().map(String::as_str))
    }

    /// All entry points.
    pub fn entry_points(&self) -> impl Iterator<Item = &str> {
        let functions = self.functions.iter().filter(|(_, (is, _))| *is);
        functions.map(|(name, _)| name.as_str())
    }
}

/// `names`, and the names of all that they lead to in any of `apis`.
pub fn reach<'a>(names: BTreeSet<String>, apis: impl Iterator<Item = &'a Api>) -> BTreeSet<String> {
    let mut items: BTreeMap<&str, Vec<&Item>> = BTreeMap::new();
    for (name, item) in apis.flat_map(|api| &api.items) {
        items.entry(name).or_default().push(item);
    }
    let undeclared = UNDECLARED
        .iter()
        .filter(|(name, _, _)| names.contains(*name));
    let mut next: Vec<String> = undeclared.map(|(_, _, root)| (*root).into()).collect();
    next.extend(names);
    let mut reached = BTreeSet::new();
    while let Some(name) = next.pop() {
        let found = items.get(name.as_str()).map_or(&[][..], Vec::as_slice);
        if reached.insert(name) {
            found.iter().for_each(|item| uses(item, &mut next));
        }
    }
    reached
}

fn uses(item: &Item, names: &mut Vec<String>) {
    let mut fields = |fields: &[Field]| fields.iter().for_each(|one| of_type(&one.ty, names));
    match item {
        Item::Struct(item) => {
            fields(&item.fields);
            names.extend(item.struct_size.as_ref().map(|size| size.symbol.clone()));
        }
        Item::Union(item) => fields(&item.fields),
        Item::Alias(item) => of_type(&item.ty, names),
        Item::Callback(item) => of_signature(&item.signature, names),
        Item::Function(item) => of_signature(&item.signature, names),
        Item::Enum(_) | Item::Handle(_) | Item::Constant(_) => {}
    }
}

fn of_signature(signature: &Signature, names: &mut Vec<String>) {
    signature
        .params
        .iter()
        .for_each(|one| of_type(&one.ty, names));
    of_type(&signature.ret, names);
}

fn of_type(ty: &Type, names: &mut Vec<String>) {
    match ty {
        Type::Named(name) => names.push(name.clone()),
        Type::Pointer { pointee, .. } => of_type(pointee, names),
        Type::Array { elem, .. } => of_type(elem, names),
        Type::Function(signature) => of_signature(signature, names),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sp_data::embedded::SNAPSHOTS;

    fn api(name: &str) -> Api {
        let found = SNAPSHOTS
            .iter()
            .find(|(file, _)| *file == format!("{name}/2.21.json"));
        Api::from_json(found.unwrap().1).unwrap()
    }

    #[test]
    fn an_entry_point_leads_to_its_api() {
        let apis = [
            api("stream_executor"),
            api("pluggable_profiler"),
            api("pjrt"),
        ];
        let known = Known::of(apis.iter());
        for name in ["SE_InitPlugin", "TF_InitProfiler", "GetPjrtApi"] {
            assert_eq!(known.is_entry_point(name), Some(true), "{name}");
        }
        let reached = reach(BTreeSet::from(["SE_InitPlugin".into()]), apis.iter());
        for name in [
            "SP_StreamExecutor",
            "SP_TimerFns",
            "SE_PLATFORM_FNS_STRUCT_SIZE",
        ] {
            let known = apis[0].items.contains_key(name);
            assert_eq!(reached.contains(name), known, "{name}");
        }
        assert!(reached.contains("SP_StreamExecutor"));
        assert!(!reached.contains("TP_Profiler") && !reached.contains("PJRT_Api"));
    }
}
