//! The functions, slots and structs of the plugin APIs of one release, as the layer needs them.

use sp_ir::{Api, Enum, Function, Item, Side, Signature, Struct, Type};
use std::collections::BTreeMap;

/// The APIs whose calls the layer shows: those that TensorFlow and a plugin of devices, kernels, graphs or profilers share.
pub const APIS: [&str; 12] = [
    "c_api",
    "env",
    "grappler",
    "kernels",
    "kernels_experimental",
    "ops",
    "pluggable_profiler",
    "stream_executor",
    "tf_buffer",
    "tf_datatype",
    "tf_status",
    "tf_tensor",
];

/// Parameters of functions that a stub can stand for: one register is for the stub's number.
pub const MAX_CALLBACK_PARAMETERS: usize = 5;

/// The items of all APIs by name.
#[derive(Debug)]
pub struct Model<'a> {
    items: BTreeMap<&'a str, &'a Item>,
}

/// A callback that a function or slot takes.
#[derive(Debug)]
pub struct TakenCallback<'a> {
    /// Position of the parameter.
    pub index: usize,
    /// The name: `TF_NewKernelBuilder.create_func`.
    pub name: String,
    /// Its signature.
    pub signature: &'a Signature,
}

impl<'a> Model<'a> {
    /// Returns the items of those of `apis` that are in [`APIS`].
    pub fn new(apis: &'a [Api]) -> Self {
        let apis = apis.iter().filter(|it| APIS.contains(&it.name.as_str()));
        let items = apis.flat_map(|api| &api.items);
        Self {
            items: items.map(|(name, item)| (name.as_str(), item)).collect(),
        }
    }

    /// Returns the item `name`, behind any aliases.
    pub fn item(&self, name: &str) -> Option<&'a Item> {
        let item = *self.items.get(name)?;
        match item {
            Item::Alias(alias) => match &alias.ty {
                Type::Named(name) => self.item(name),
                _ => Some(item),
            },
            _ => Some(item),
        }
    }

    /// Returns `ty` behind any aliases.
    pub fn resolve<'t>(&self, ty: &'t Type) -> &'t Type
    where
        'a: 't,
    {
        let Type::Named(name) = ty else { return ty };
        match self.items.get(name.as_str()) {
            Some(Item::Alias(alias)) => self.resolve(&alias.ty),
            _ => ty,
        }
    }

    /// Returns the functions that core exports, or those that plugins export, by symbol.
    pub fn functions(&self, side: Side) -> BTreeMap<&'a str, &'a Function> {
        let functions = self.items.values().filter_map(|it| it.as_function());
        let is_exported = |it: &&Function| {
            let by_core = it.is_exported_by_core();
            !it.inline && by_core == (side == Side::Core)
        };
        let callable = functions
            .filter(is_exported)
            .filter(|it| self.is_callable(&it.signature));
        callable.map(|it| (it.symbol.as_str(), it)).collect()
    }

    /// Returns the enumerations by name.
    pub fn enums(&self) -> impl Iterator<Item = (&'a str, &'a Enum)> {
        let enums = self.items.iter();
        enums.filter_map(|(name, item)| Some((*name, item.as_enum()?)))
    }

    /// Returns the structs by name.
    pub fn structs(&self) -> impl Iterator<Item = (&'a str, &'a Struct)> {
        let structs = self.items.iter();
        structs.filter_map(|(name, item)| Some((*name, item.as_struct()?)))
    }

    /// Returns the signature of a type that is a pointer to a function.
    pub fn function_type(&self, ty: &'a Type) -> Option<&'a Signature> {
        match ty {
            Type::Function(signature) => Some(signature),
            Type::Named(name) => Some(&self.item(name)?.as_callback()?.signature),
            _ => None,
        }
    }

    /// Returns the callbacks that `signature` takes and that a stub can stand for.
    pub fn callbacks(&self, owner: &str, signature: &'a Signature) -> Vec<TakenCallback<'a>> {
        let parameters = signature.params.iter().enumerate();
        let taken = parameters.filter_map(|(index, parameter)| {
            let signature = self.function_type(&parameter.ty)?;
            let fits = signature.params.len() <= MAX_CALLBACK_PARAMETERS;
            let is_simple = fits && self.is_callable(signature) && self.uses_registers(signature);
            is_simple.then(|| TakenCallback {
                index,
                name: format!(
                    "{owner}.{}",
                    self.parameter_name(signature_name(parameter), index)
                ),
                signature,
            })
        });
        taken.collect()
    }

    fn parameter_name(&self, name: &str, index: usize) -> String {
        match name {
            "" => format!("callback{index}"),
            name => name.to_owned(),
        }
    }

    /// Returns true if all parameters and the result are passed in registers for integers.
    fn uses_registers(&self, signature: &Signature) -> bool {
        let mut types = signature.params.iter().map(|it| &it.ty);
        let is_integer =
            |ty: &Type| !matches!(ty, Type::Float { .. }) && self.by_value(ty).is_none();
        types.all(is_integer) && self.by_value(&signature.ret).is_none()
    }

    /// Returns true if a thunk in Rust can have the signature.
    pub fn is_callable(&self, signature: &Signature) -> bool {
        let types = signature
            .params
            .iter()
            .map(|it| &it.ty)
            .chain([&signature.ret]);
        let has_layout = |ty: &Type| {
            self.by_value(ty)
                .is_none_or(|size| size % 8 == 0 && size > 0)
        };
        signature.convention.is_none() && types.into_iter().all(has_layout)
    }

    /// Returns the size of a struct or union that is passed by value, or `None` for another type.
    pub fn by_value(&self, ty: &Type) -> Option<u64> {
        match ty {
            Type::Named(name) => Some(self.item(name)?.layout()?.size),
            _ => None,
        }
    }
}

fn signature_name(parameter: &sp_ir::Param) -> &str {
    &parameter.name
}

/// Returns the name of a parameter; one without a name is named after its type.
pub fn parameter_name(parameter: &sp_ir::Param, index: usize) -> String {
    if !parameter.name.is_empty() {
        return parameter.name.clone();
    }
    match (parameter.ty.named(), &parameter.ty) {
        (Some(name), _) => snake_case(name.split_once('_').map_or(name, |(_, rest)| rest)),
        (None, Type::Pointer { .. }) => "object".into(),
        (None, _) => format!("argument{index}"),
    }
}

fn snake_case(name: &str) -> String {
    let mut out = String::new();
    let mut was_lower = false;
    for char in name.chars() {
        if char.is_uppercase() && was_lower {
            out.push('_');
        }
        was_lower = char.is_lowercase();
        out.extend(char.to_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_a_parameter_without_a_name_after_its_type() {
        let named = |name: &str| Type::pointer(Type::Named(name.into()), true);
        let parameter = |ty| sp_ir::Param::new("", ty);
        let context = parameter(named("TF_OpKernelContext"));
        assert_eq!(parameter_name(&context, 0), "op_kernel_context");
        let object = parameter(Type::pointer(Type::Void, true));
        assert_eq!(parameter_name(&object, 0), "object");
        assert_eq!(
            parameter_name(&parameter(Type::int(32, true)), 2),
            "argument2"
        );
    }
}
