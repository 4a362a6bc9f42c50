//! One side of a diff, indexed by name, with layouts as one target has them. In C a name is an item
//! whatever API has it, so all APIs of the side are one table here.

use std::borrow::Cow;
use std::rc::Rc;

use sp_ir::{Api, Field, Item, Layout, Side, Signature, Struct, TargetDifference, Type, Value};

mod memory;

use super::names::Names;
use super::surface::{Exports, Surface};
use memory::{Held, Memory};

/// Names are followed this far into each other; C's recursion goes through pointers to names.
const DEPTH: u8 = 8;

/// An item and the API that declares it.
#[derive(Debug)]
pub struct Entry<'a> {
    /// The API's name.
    pub api: &'a str,
    /// The item, as the target has it.
    pub item: Cow<'a, Item>,
}

/// One side, indexed.
#[derive(Debug)]
pub struct View<'a> {
    /// Its APIs by name.
    pub apis: Names<&'a str, &'a Api>,
    /// Its items by name.
    pub items: Names<&'a str, Entry<'a>>,
    /// Its items' names, API by API.
    pub order: Vec<&'a str>,
    /// What its libraries export, where that is known.
    pub exports: Option<&'a Exports>,
    /// Whose memory each struct stands in.
    pub memory: Rc<Memory>,
    /// What others hold, pass or count out by value: who grows breaks them.
    pub held: Rc<Names<String, Held>>,
    /// The side that calls each callback, as the tables that hold it say.
    callers: Rc<Names<String, Side>>,
    /// The constants that say a size.
    sizes: Vec<(&'a str, u64)>,
    pointer: u64,
}

impl<'a> View<'a> {
    /// The side with `target`'s layouts.
    pub fn of(surface: &'a Surface, target: &str) -> Self {
        let mut view = Self::laid(surface, target);
        view.callers = Rc::new(memory::callers(&view));
        view.held = Rc::new(memory::held(&view));
        view.memory = Rc::new(Memory::of(&view));
        view
    }

    /// The same side with another target's layouts. Who calls and holds what is as before.
    pub fn elsewhere(&self, surface: &'a Surface, target: &str) -> Self {
        Self {
            memory: Rc::clone(&self.memory),
            held: Rc::clone(&self.held),
            callers: Rc::clone(&self.callers),
            ..Self::laid(surface, target)
        }
    }

    fn laid(surface: &'a Surface, target: &str) -> Self {
        let apis = surface.apis.iter();
        let mut view = Self {
            apis: apis.clone().map(|api| (api.name.as_str(), api)).collect(),
            items: Names::default(),
            order: Vec::new(),
            exports: surface.exports.as_ref(),
            memory: Rc::default(),
            held: Rc::default(),
            callers: Rc::default(),
            sizes: Vec::new(),
            pointer: pointer(target),
        };
        for api in apis {
            let differs = api.targets.get(target);
            for (name, item) in &api.items {
                let differs = differs.and_then(|differs| differs.get(name));
                let item = match differs {
                    Some(differs) => Cow::Owned(relaid(item, differs)),
                    None => Cow::Borrowed(item),
                };
                let api = &api.name;
                if view.items.insert(name, Entry { api, item }).is_none() {
                    view.order.push(name);
                }
            }
        }
        if view.pointer != 8 {
            view.resize();
        }
        view.sizes = view.sizes();
        view
    }

    /// The item called `name`.
    pub fn item(&self, name: &str) -> Option<&Item> {
        self.items.get(name).map(|entry| &*entry.item)
    }

    /// The struct called `name`.
    pub fn structure(&self, name: &str) -> Option<&Struct> {
        match self.item(name) {
            Some(Item::Struct(found)) => Some(found),
            _ => None,
        }
    }

    /// Whether core defines a function that the API called `api` declares.
    pub fn functions(&self, api: &str) -> bool {
        let core = |item: &Item| match item {
            Item::Function(one) => {
                !one.inline && one.exported_by.as_ref().map(|it| it.value) != Some(Side::Plugin)
            }
            _ => false,
        };
        self.apis
            .get(api)
            .is_some_and(|api| api.items.values().any(core))
    }

    /// Which side fills a struct: as is said of it, or of what holds it.
    pub fn filler(&self, name: &str) -> Option<Side> {
        let said = |name: &str| self.structure(name)?.filled_by.as_ref().map(|it| it.value);
        let holders = || {
            self.held
                .get(name)
                .into_iter()
                .flat_map(|held| &held.within)
        };
        said(name).or_else(|| holders().find_map(|holder| said(holder)))
    }

    /// The type behind other names for it.
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

    /// The signature of a pointer to a function, under a name or not.
    pub fn signature<'t>(&'t self, ty: &'t Type) -> Option<&'t Signature> {
        match self.resolve(ty) {
            Type::Function(signature) => Some(signature),
            Type::Named(name) => match self.item(name) {
                Some(Item::Callback(callback)) => Some(&callback.signature),
                _ => None,
            },
            _ => None,
        }
    }

    /// `sizeof`; nothing for what has none.
    pub fn size(&self, ty: &Type) -> Option<u64> {
        self.size_within(ty, DEPTH)
    }

    fn size_within(&self, ty: &Type, depth: u8) -> Option<u64> {
        let depth = depth.checked_sub(1)?;
        Some(match self.resolve(ty) {
            Type::Void => return None,
            Type::Int { bits, .. } | Type::Float { bits } => u64::from(*bits) / 8,
            Type::Bool | Type::Char => 1,
            Type::Size | Type::Address { .. } => self.pointer,
            Type::Pointer { .. } | Type::Function(_) => self.pointer,
            Type::Array { elem, len } => self.size_within(elem, depth)? * len,
            Type::Named(name) => match self.item(name)? {
                Item::Struct(item) => item.layout.size,
                Item::Union(item) => item.layout.size,
                Item::Enum(item) => self.size_within(&item.repr, depth)?,
                Item::Handle(item) if !item.pointer => return None,
                Item::Handle(_) | Item::Callback(_) => self.pointer,
                Item::Alias(_) | Item::Function(_) | Item::Constant(_) => return None,
            },
        })
    }

    /// Fields are as long as the target has them; a snapshot says where they start only.
    fn resize(&mut self) {
        let sizes: Vec<(&'a str, Vec<u64>)> = self
            .items
            .iter()
            .filter_map(|(name, entry)| {
                let fields = fields(&entry.item)?.iter();
                let sizes = fields.map(|one| self.size(&one.ty).unwrap_or(one.size));
                Some((*name, sizes.collect()))
            })
            .collect();
        for (name, sizes) in sizes {
            let Some(entry) = self.items.get_mut(name) else {
                continue;
            };
            let same = fields(&entry.item)
                .is_some_and(|all| all.iter().map(|one| one.size).eq(sizes.iter().copied()));
            if same {
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

    /// The size under which the `struct_size` protocol, or a constant named after the struct, knows
    /// it.
    pub fn announced(&self, name: &str, item: &Struct) -> Option<u64> {
        let said = item.struct_size.as_ref().map(|size| size.value);
        said.or_else(|| {
            self.size_constant(name, item.layout)
                .map(|_| item.layout.size)
        })
    }

    /// The constant that says a struct's size without naming it: `TF_FILESYSTEM_OPS_SIZE` for
    /// `TF_FilesystemOps`.
    pub fn size_constant(&self, name: &str, layout: Layout) -> Option<&'a str> {
        let plain = |text: &str| text.replace('_', "").to_ascii_uppercase();
        if self.sizes.is_empty() {
            return None;
        }
        let wanted = plain(name) + "SIZE";
        let mut sizes = self.sizes.iter();
        sizes
            .find(|(name, value)| *value == layout.size && plain(name) == wanted)
            .map(|(name, _)| *name)
    }

    fn sizes(&self) -> Vec<(&'a str, u64)> {
        let constants = self.items.iter();
        let sizes = constants.filter_map(|(name, entry)| match &*entry.item {
            Item::Constant(one) if name.ends_with("_SIZE") => match one.value {
                Value::Int(value) => Some((*name, u64::try_from(value).ok()?)),
                _ => None,
            },
            _ => None,
        });
        sizes.collect()
    }

    /// The side that calls a callback; core where no table holds it.
    pub fn caller(&self, name: &str) -> Side {
        self.callers.get(name).copied().unwrap_or(Side::Core)
    }
}

/// The fields of a struct or union.
pub fn fields(item: &Item) -> Option<&[Field]> {
    match item {
        Item::Struct(item) => Some(&item.fields),
        Item::Union(item) => Some(&item.fields),
        _ => None,
    }
}

/// Bytes of a pointer, as the target's name tells.
fn pointer(target: &str) -> u64 {
    const NARROW: [&str; 6] = ["i386", "i586", "i686", "arm-", "armv7", "wasm32"];
    match NARROW.iter().any(|one| target.starts_with(one)) {
        true => 4,
        false => 8,
    }
}

/// The item as another target has it.
fn relaid(item: &Item, differs: &TargetDifference) -> Item {
    let mut item = item.clone();
    match &mut item {
        Item::Struct(item) => {
            item.layout = differs.layout.unwrap_or(item.layout);
            for (field, offset) in item.fields.iter_mut().zip(&differs.offsets) {
                field.offset = *offset;
            }
            if let (Some(size), Some(value)) = (&mut item.struct_size, differs.struct_size) {
                size.value = value;
            }
        }
        Item::Union(item) => item.layout = differs.layout.unwrap_or(item.layout),
        Item::Constant(item) => {
            if let Some(value) = differs.value {
                item.value = Value::Int(value);
            }
        }
        _ => {}
    }
    item
}
