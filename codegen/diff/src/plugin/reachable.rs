//! The types that functions use, directly and indirectly: parameters, fields of structs, and callbacks.

use std::collections::{BTreeMap, BTreeSet};

use sp_ir::{Api, Field, Item, Side, Signature, Type};

/// Entry points that no header declares: the name, the API and the returned type.
const UNDECLARED: [(&str, &str, &str); 1] = [("GetPjrtApi", "pjrt", "PJRT_Api")];

/// The functions of some APIs by symbol.
#[derive(Debug, Default)]
pub struct FunctionIndex {
    functions: BTreeMap<String, FunctionUse>,
}

#[derive(Debug, Default)]
struct FunctionUse {
    is_entry_point: bool,
    apis: BTreeSet<String>,
}

impl FunctionIndex {
    /// Indexes the functions of `apis`.
    pub fn new<'a>(apis: impl Iterator<Item = &'a Api>) -> Self {
        let mut index = Self::default();
        for api in apis {
            for item in api.items.values() {
                if let Item::Function(function) = item {
                    let exporter = function.exported_by.as_ref().map(|stated| stated.value);
                    index.add(&function.symbol, exporter == Some(Side::Plugin), &api.name);
                }
            }
            let undeclared = UNDECLARED.iter();
            for (name, _, _) in undeclared.filter(|(_, owner, _)| *owner == api.name) {
                index.add(name, true, &api.name);
            }
        }
        index
    }

    fn add(&mut self, name: &str, is_entry_point: bool, api: &str) {
        let function = self.functions.entry(name.into()).or_default();
        function.is_entry_point |= is_entry_point;
        function.apis.insert(api.into());
    }

    /// Returns true if plugins export the function, or `None` if no API has it.
    pub fn is_entry_point(&self, name: &str) -> Option<bool> {
        self.functions
            .get(name)
            .map(|function| function.is_entry_point)
    }

    /// Returns the APIs that declare the function.
    pub fn apis(&self, name: &str) -> impl Iterator<Item = &str> {
        let function = self.functions.get(name).into_iter();
        function.flat_map(|function| function.apis.iter().map(String::as_str))
    }

    /// Returns the names of all entry points.
    pub fn entry_points(&self) -> impl Iterator<Item = &str> {
        let functions = self.functions.iter();
        functions
            .filter(|(_, function)| function.is_entry_point)
            .map(|(name, _)| name.as_str())
    }
}

/// Returns `names` and the names of all items that they use, in any of `apis`.
pub fn reachable_names<'a>(
    names: BTreeSet<String>,
    apis: impl Iterator<Item = &'a Api>,
) -> BTreeSet<String> {
    let mut items: BTreeMap<&str, Vec<&Item>> = BTreeMap::new();
    for (name, item) in apis.flat_map(|api| &api.items) {
        items.entry(name).or_default().push(item);
    }
    let undeclared = UNDECLARED
        .iter()
        .filter(|(name, _, _)| names.contains(*name));
    let mut pending: Vec<String> = undeclared.map(|(_, _, ty)| (*ty).into()).collect();
    pending.extend(names);
    let mut reachable = BTreeSet::new();
    while let Some(name) = pending.pop() {
        let found = items.get(name.as_str()).map_or(&[][..], Vec::as_slice);
        if reachable.insert(name) {
            found.iter().for_each(|item| add_item(item, &mut pending));
        }
    }
    reachable
}

/// Adds the names that an item uses.
fn add_item(item: &Item, names: &mut Vec<String>) {
    match item {
        Item::Struct(item) => {
            add_fields(&item.fields, names);
            names.extend(item.struct_size.as_ref().map(|size| size.symbol.clone()));
        }
        Item::Union(item) => add_fields(&item.fields, names),
        Item::Alias(item) => add_type(&item.ty, names),
        Item::Callback(item) => add_signature(&item.signature, names),
        Item::Function(item) => add_signature(&item.signature, names),
        Item::Enum(_) | Item::Handle(_) | Item::Constant(_) => {}
    }
}

fn add_fields(fields: &[Field], names: &mut Vec<String>) {
    fields.iter().for_each(|field| add_type(&field.ty, names));
}

fn add_signature(signature: &Signature, names: &mut Vec<String>) {
    let params = signature.params.iter();
    params.for_each(|param| add_type(&param.ty, names));
    add_type(&signature.ret, names);
}

fn add_type(ty: &Type, names: &mut Vec<String>) {
    match ty {
        Type::Named(name) => names.push(name.clone()),
        Type::Pointer { pointee, .. } => add_type(pointee, names),
        Type::Array { elem, .. } => add_type(elem, names),
        Type::Function(signature) => add_signature(signature, names),
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
        Api::from_json(found.unwrap().1.text()).unwrap()
    }

    #[test]
    fn entry_point_reaches_only_own_types() {
        let apis = [
            api("stream_executor"),
            api("pluggable_profiler"),
            api("pjrt"),
        ];
        let functions = FunctionIndex::new(apis.iter());
        for name in ["SE_InitPlugin", "TF_InitProfiler", "GetPjrtApi"] {
            assert_eq!(functions.is_entry_point(name), Some(true), "{name}");
        }
        let names = BTreeSet::from(["SE_InitPlugin".into()]);
        let reachable = reachable_names(names, apis.iter());
        for name in [
            "SP_StreamExecutor",
            "SP_TimerFns",
            "SE_PLATFORM_FNS_STRUCT_SIZE",
        ] {
            let is_declared = apis[0].items.contains_key(name);
            assert_eq!(reachable.contains(name), is_declared, "{name}");
        }
        assert!(reachable.contains("SP_StreamExecutor"));
        assert!(!reachable.contains("TP_Profiler") && !reachable.contains("PJRT_Api"));
    }
}
