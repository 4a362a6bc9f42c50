//! One side of a diff, indexed by name, with the layouts of one target. C has one namespace, so the items of all APIs
//! are in one map.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use sp_ir::{Api, Item, Layout, Side, Signature, Struct, TargetDifference, Type, Value};

mod memory;

use super::name_map::NameMap;
use super::surface::{SideExports, Surface, Visibility};
use memory::{ByValueUses, MemoryOwners};

/// The maximum depth for following names. Recursive types in C go through pointers, whose sizes are known.
const DEPTH: u8 = 8;

/// An item and the API that declares it.
#[derive(Debug)]
pub struct DeclaredItem<'a> {
    /// The API's name.
    pub api: &'a str,
    /// The item, with the target's layout.
    pub item: Cow<'a, Item>,
}

/// One side, indexed by name.
#[derive(Debug)]
pub struct SurfaceView<'a> {
    /// The APIs by name.
    pub apis: NameMap<&'a str, &'a Api>,
    /// The items by name.
    pub items: NameMap<&'a str, DeclaredItem<'a>>,
    /// The names of the items, API by API.
    pub order: Vec<&'a str>,
    /// The exports of the libraries, if known.
    pub exports: Option<&'a SideExports>,
    /// The visibility of the functions, if headers were parsed.
    pub visibility: Option<&'a BTreeMap<String, Visibility>>,
    /// The side that allocates each struct.
    pub memory: Rc<MemoryOwners>,
    /// The by-value uses of structs and unions, which break if the type grows.
    pub by_value_uses: Rc<NameMap<String, ByValueUses>>,
    /// The side that calls each callback, according to the structs that contain it.
    callers: Rc<NameMap<String, Side>>,
    /// The constants whose names end with `_SIZE`.
    size_constants: Vec<(&'a str, u64)>,
    pointer_size: u64,
}

impl<'a> SurfaceView<'a> {
    /// Indexes `surface` with the layouts of `target`.
    pub fn new(surface: &'a Surface, target: &str) -> Self {
        let mut view = Self::index(surface, target);
        view.callers = Rc::new(memory::callers(&view));
        view.by_value_uses = Rc::new(memory::by_value_uses(&view));
        view.memory = Rc::new(MemoryOwners::new(&view));
        view
    }

    /// Returns the same side with the layouts of another target. Callers, uses and owners do not depend on the target.
    pub fn for_target(&self, surface: &'a Surface, target: &str) -> Self {
        Self {
            memory: Rc::clone(&self.memory),
            by_value_uses: Rc::clone(&self.by_value_uses),
            callers: Rc::clone(&self.callers),
            ..Self::index(surface, target)
        }
    }

    fn index(surface: &'a Surface, target: &str) -> Self {
        let apis = surface.apis.iter();
        let mut view = Self {
            apis: apis.clone().map(|api| (api.name.as_str(), api)).collect(),
            items: NameMap::default(),
            order: Vec::new(),
            exports: surface.exports.as_ref(),
            visibility: surface.visibility.as_ref(),
            memory: Rc::default(),
            by_value_uses: Rc::default(),
            callers: Rc::default(),
            size_constants: Vec::new(),
            pointer_size: pointer_size(target),
        };
        for api in apis {
            let differences = api.targets.get(target);
            for (name, item) in &api.items {
                let difference = differences.and_then(|differences| differences.get(name));
                let item = match difference {
                    Some(difference) => Cow::Owned(with_target_layout(item, difference)),
                    None => Cow::Borrowed(item),
                };
                let api = &api.name;
                if view
                    .items
                    .insert(name, DeclaredItem { api, item })
                    .is_none()
                {
                    view.order.push(name);
                }
            }
        }
        if view.pointer_size != 8 {
            view.resize_fields();
        }
        view.size_constants = view.find_size_constants();
        view
    }

    /// Returns the item called `name`.
    pub fn item(&self, name: &str) -> Option<&Item> {
        self.items.get(name).map(|entry| &*entry.item)
    }

    /// Returns the struct called `name`.
    pub fn structure(&self, name: &str) -> Option<&Struct> {
        self.item(name)?.as_struct()
    }

    /// Returns true if `api` declares a function that core defines.
    pub fn has_core_functions(&self, api: &str) -> bool {
        let is_core_function = |item: &Item| match item {
            Item::Function(function) => {
                let exporter = function.exported_by.as_ref().map(|stated| stated.value);
                !function.inline && exporter != Some(Side::Plugin)
            }
            _ => false,
        };
        self.apis
            .get(api)
            .is_some_and(|api| api.items.values().any(is_core_function))
    }

    /// Returns the side that sets a struct's members, as stated for the struct or for a struct that embeds it.
    pub fn filler(&self, name: &str) -> Option<Side> {
        let stated = |name: &str| {
            let filled_by = self.structure(name)?.filled_by.as_ref();
            filled_by.map(|stated| stated.value)
        };
        let enclosing = || {
            let uses = self.by_value_uses.get(name).into_iter();
            uses.flat_map(|uses| &uses.embedded_in)
        };
        stated(name).or_else(|| enclosing().find_map(|name| stated(name)))
    }

    /// Returns the type behind typedefs.
    pub fn resolve<'t>(&'t self, mut ty: &'t Type) -> &'t Type {
        for _ in 0..DEPTH {
            let Type::Named(name) = ty else { break };
            match self.item(name) {
                Some(Item::Alias(alias)) => ty = &alias.ty,
                _ => break,
            }
        }
        ty
    }

    /// Returns the type of a parameter as C adjusts it: an array, also behind a typedef, is a pointer to its first element.
    pub fn adjusted<'t>(&self, ty: &'t Type) -> Cow<'t, Type> {
        match self.resolve(ty) {
            Type::Array { elem, .. } => Cow::Owned(Type::Pointer {
                pointee: elem.clone(),
                mutable: true,
            }),
            _ => Cow::Borrowed(ty),
        }
    }

    /// Returns the signature of a function pointer type or of a callback's name.
    pub fn signature<'t>(&'t self, ty: &'t Type) -> Option<&'t Signature> {
        match self.resolve(ty) {
            Type::Function(signature) => Some(signature),
            Type::Named(name) => Some(&self.item(name)?.as_callback()?.signature),
            _ => None,
        }
    }

    /// Returns `sizeof` of a type, or `None` for incomplete types.
    pub fn size(&self, ty: &Type) -> Option<u64> {
        self.size_within(ty, DEPTH)
    }

    fn size_within(&self, ty: &Type, depth: u8) -> Option<u64> {
        let depth = depth.checked_sub(1)?;
        Some(match self.resolve(ty) {
            Type::Void => return None,
            Type::Int { bits, .. } | Type::Float { bits } => u64::from(*bits) / 8,
            Type::Bool | Type::Char => 1,
            Type::Size | Type::Address { .. } => self.pointer_size,
            Type::Pointer { .. } | Type::Function(_) => self.pointer_size,
            Type::Array { elem, len } => self.size_within(elem, depth)? * len,
            Type::Named(name) => match self.item(name)? {
                Item::Struct(item) => item.layout.size,
                Item::Union(item) => item.layout.size,
                Item::Enum(item) => self.size_within(&item.repr, depth)?,
                Item::Handle(item) if !item.pointer => return None,
                Item::Handle(_) | Item::Callback(_) => self.pointer_size,
                Item::Alias(_) | Item::Function(_) | Item::Constant(_) => return None,
            },
        })
    }

    /// Computes the sizes of fields for the target, because a snapshot has only their offsets.
    fn resize_fields(&mut self) {
        let sizes: Vec<(&'a str, Vec<u64>)> = self
            .items
            .iter()
            .filter_map(|(name, entry)| {
                let fields = entry.item.fields()?.iter();
                let sizes = fields.map(|field| self.size(&field.ty).unwrap_or(field.size));
                Some((*name, sizes.collect()))
            })
            .collect();
        for (name, sizes) in sizes {
            let Some(entry) = self.items.get_mut(name) else {
                continue;
            };
            let is_same = entry.item.fields().is_some_and(|fields| {
                let old_sizes = fields.iter().map(|field| field.size);
                old_sizes.eq(sizes.iter().copied())
            });
            if is_same {
                continue;
            }
            let fields = match entry.item.to_mut() {
                Item::Struct(item) => &mut item.fields,
                Item::Union(item) => &mut item.fields,
                _ => continue,
            };
            for (field, size) in fields.iter_mut().zip(sizes) {
                field.size = size;
            }
        }
    }

    /// Returns the size in the size macro, or `sizeof` if a constant named after the struct has that value.
    pub fn written_size(&self, name: &str, item: &Struct) -> Option<u64> {
        let stated = item.struct_size.as_ref().map(|size| size.value);
        stated.or_else(|| {
            self.size_constant(name, item.layout)
                .map(|_| item.layout.size)
        })
    }

    /// Returns the constant with the struct's name and size: `TF_FILESYSTEM_OPS_SIZE` for `TF_FilesystemOps`.
    pub fn size_constant(&self, name: &str, layout: Layout) -> Option<&'a str> {
        let normalize = |text: &str| text.replace('_', "").to_ascii_uppercase();
        if self.size_constants.is_empty() {
            return None;
        }
        let expected = normalize(name) + "SIZE";
        let mut constants = self.size_constants.iter();
        constants
            .find(|(name, value)| *value == layout.size && normalize(name) == expected)
            .map(|(name, _)| *name)
    }

    fn find_size_constants(&self) -> Vec<(&'a str, u64)> {
        let constants = self.items.iter();
        let sizes = constants.filter_map(|(name, entry)| match &*entry.item {
            Item::Constant(constant) if name.ends_with("_SIZE") => match constant.value {
                Value::Int(value) => Some((*name, u64::try_from(value).ok()?)),
                _ => None,
            },
            _ => None,
        });
        sizes.collect()
    }

    /// Returns the side that calls a callback; core if no struct contains it.
    pub fn caller(&self, name: &str) -> Side {
        self.callers.get(name).copied().unwrap_or(Side::Core)
    }
}

/// Returns the size of a pointer in bytes, which the target's name determines.
fn pointer_size(target: &str) -> u64 {
    const PREFIXES_32_BIT: [&str; 6] = ["i386", "i586", "i686", "arm-", "armv7", "wasm32"];
    match PREFIXES_32_BIT
        .iter()
        .any(|prefix| target.starts_with(prefix))
    {
        true => 4,
        false => 8,
    }
}

/// Returns the item with the layout of another target.
fn with_target_layout(item: &Item, difference: &TargetDifference) -> Item {
    let mut item = item.clone();
    match &mut item {
        Item::Struct(item) => {
            item.layout = difference.layout.unwrap_or(item.layout);
            for (field, offset) in item.fields.iter_mut().zip(&difference.offsets) {
                field.offset = *offset;
            }
            if let (Some(size), Some(value)) = (&mut item.struct_size, difference.struct_size) {
                size.value = value;
            }
        }
        Item::Union(item) => item.layout = difference.layout.unwrap_or(item.layout),
        Item::Constant(item) => {
            if let Some(value) = difference.value {
                item.value = Value::Int(value);
            }
        }
        _ => {}
    }
    item
}
