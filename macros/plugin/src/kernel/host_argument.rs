//! The arguments that a kernel's registration places in host memory. Everything else lies in device
//! memory, which the host must not follow.
//!
//! A registration names arguments, and a call numbers them. From 2.11 on TensorFlow answers for a number;
//! before, the op's definition has the order.

use std::ffi::CStr;
use std::sync::OnceLock;

use sp_abi::kernels::{TF_IsHostMemoryInput, TF_IsHostMemoryOutput}; // since 2.11
use sp_abi::tf_buffer::TF_Buffer;
use sp_runtime::Function;

use super::call::Call;
use super::call::int; // since 2.11
use crate::graph::OwnedBuffer;
use crate::proto::{self, Value};
use crate::{Code, Error, Result};

/// An argument of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    Input(usize),
    Output(usize),
}

/// The host arguments of one registered kernel.
pub struct HostArguments {
    op: &'static CStr,
    names: Vec<&'static CStr>,
    definition: OnceLock<Option<Definition>>,
}

impl HostArguments {
    pub fn new(op: &'static CStr, names: Vec<&'static CStr>) -> Self {
        Self {
            op,
            names,
            definition: OnceLock::new(),
        }
    }

    /// Checks that `argument` of the call lies in host memory.
    ///
    /// # Errors
    /// Returns an error if it lies in device memory, or if that is not known.
    pub fn check(&self, call: &Call, argument: Argument) -> Result<()> {
        match self.has(call, argument)? {
            true => Ok(()),
            false => Err(self.not_registered(argument)),
        }
    }

    /// Returns true if `argument` of the call lies in host memory.
    ///
    /// # Errors
    /// Returns an error if that is not known.
    pub fn has(&self, call: &Call, argument: Argument) -> Result<bool> {
        if self.names.is_empty() {
            return Ok(false);
        }
        // since 2.11
        if let Some(answer) = argument.ask(call) {
            return answer;
        }
        let definition = self.definition.get_or_init(|| Definition::find(self.op));
        let name = match (definition, argument) {
            (None, _) => return Err(self.no_definition()),
            (Some(it), Argument::Input(index)) => it.inputs.name(index, call.inputs()?),
            (Some(it), Argument::Output(index)) => it.outputs.name(index, call.outputs()?),
        };
        Ok(name.is_some_and(|name| self.names.iter().any(|it| it.to_bytes() == name.as_bytes())))
    }

    #[cold]
    fn not_registered(&self, argument: Argument) -> Error {
        let op = self.op.to_string_lossy();
        let message = format!(
            "{argument:?} of {op} is not in host memory: name the argument in `host = [..]` of the kernel"
        );
        Error::new(Code::FAILED_PRECONDITION, message)
    }

    #[cold]
    fn no_definition(&self) -> Error {
        let op = self.op.to_string_lossy();
        Error::internal(format!(
            "the host arguments of {op} are not known: TensorFlow lists no such op"
        ))
    }
}

impl Argument {
    // since 2.11
    /// Asks TensorFlow; `None` if the running release has no function for it.
    fn ask(self, call: &Call) -> Option<Result<bool>> {
        let (function, index) = match self {
            Self::Input(index) => (TF_IsHostMemoryInput.get(), index),
            Self::Output(index) => (TF_IsHostMemoryOutput.get(), index),
        };
        let function = function.ok()?;
        Some(int(index).and_then(|index| {
            // SAFETY: context and status are live, and TensorFlow checks the index.
            let is_on_host = unsafe { function(call.context(), index, call.status().as_ptr()) };
            call.status().check().map(|()| is_on_host)
        }))
    }
}

// SAFETY: the symbol's own signature (tensorflow/c/c_api.h).
static ALL_OPS: Function<unsafe extern "C" fn() -> *mut TF_Buffer> =
    unsafe { Function::new(c"TF_GetAllOpList") };

/// The arguments that an op's definition has, in order.
#[derive(Debug, Default, PartialEq, Eq)]
struct Definition {
    inputs: Arguments,
    outputs: Arguments,
}

impl Definition {
    /// Returns the definition of `op` in TensorFlow's registry.
    fn find(op: &CStr) -> Option<Self> {
        // SAFETY: takes no arguments.
        let raw = unsafe { ALL_OPS.get().ok()?() };
        // SAFETY: the caller owns what TF_GetAllOpList returns.
        let list = unsafe { OwnedBuffer::from_raw(raw) }.ok()?;
        let mut ops = messages(list.bytes(), 1).into_iter();
        let found = ops.find(|definition| text(definition, 1) == op.to_bytes());
        found.map(Self::parse)
    }

    /// Parses an `OpDef`.
    fn parse(bytes: &[u8]) -> Self {
        Self {
            inputs: Arguments::parse(&messages(bytes, 2)),
            outputs: Arguments::parse(&messages(bytes, 3)),
        }
    }
}

/// Names of arguments, and whether each is a list of tensors.
#[derive(Debug, Default, PartialEq, Eq)]
struct Arguments(Vec<(String, bool)>);

impl Arguments {
    /// Parses each `ArgDef`: `name = 1`, and for a list `number_attr = 5` or `type_list_attr = 6`.
    fn parse(arguments: &[&[u8]]) -> Self {
        let parse = |argument: &&[u8]| {
            let name = String::from_utf8_lossy(text(argument, 1)).into_owned();
            let is_list = [5, 6].iter().any(|&it| !text(argument, it).is_empty());
            (name, is_list)
        };
        Self(arguments.iter().map(parse).collect())
    }

    /// Returns the argument that tensor `index` of `count` belongs to; `None` if there is none, or if two
    /// lists make the position ambiguous.
    fn name(&self, index: usize, count: usize) -> Option<&str> {
        let lists = self.0.iter().filter(|(_, is_list)| *is_list).count();
        let in_list = (count + lists).checked_sub(self.0.len())?;
        let mut tensors = self.0.iter().flat_map(|(name, is_list)| {
            let len = if *is_list { in_list } else { 1 };
            std::iter::repeat_n(name, len)
        });
        let is_known = index < count && lists <= 1;
        is_known.then(|| tensors.nth(index).map(String::as_str))?
    }
}

/// Returns the messages in field `number`.
fn messages(message: &[u8], number: u64) -> Vec<&[u8]> {
    let fields = proto::fields(message).map_while(Result::ok);
    let fields = fields.filter(|field| field.number == number);
    fields
        .filter_map(|field| Value::bytes(field.value))
        .collect()
}

/// Returns the text in field `number`; empty if it is absent.
fn text(message: &[u8], number: u64) -> &[u8] {
    messages(message, number).pop().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::Message;

    fn argument(name: &str, list: u64) -> Vec<u8> {
        let argument = Message::default().text(1, name);
        match list {
            0 => argument.finish(),
            number => argument.text(number, "N").finish(),
        }
    }

    fn inputs(arguments: &[(&str, u64)]) -> Arguments {
        let definition = arguments
            .iter()
            .fold(Message::default(), |it, (name, list)| {
                it.bytes(2, argument(name, *list))
            });
        Definition::parse(&definition.finish()).inputs
    }

    #[test]
    fn finds_the_argument_of_a_tensor_before_in_and_after_a_list() {
        let plain = inputs(&[("input", 0), ("axes", 0)]);
        assert_eq!(
            [0, 1, 2].map(|it| plain.name(it, 2)),
            [Some("input"), Some("axes"), None]
        );
        let concat = inputs(&[("values", 5), ("axis", 0)]);
        let names = [0, 2, 3, 4].map(|it| concat.name(it, 4));
        assert_eq!(names, [Some("values"), Some("values"), Some("axis"), None]);
    }

    #[test]
    fn finds_no_argument_between_two_lists_or_in_too_few_tensors() {
        let two = inputs(&[("first", 5), ("second", 6), ("axis", 0)]);
        assert_eq!(two.name(0, 5), None);
        assert_eq!(inputs(&[("a", 0), ("b", 0), ("c", 0)]).name(0, 1), None);
    }

    #[test]
    fn survives_a_damaged_definition() {
        assert_eq!(Definition::parse(b"\xff\xff\xff"), Definition::default());
    }
}
