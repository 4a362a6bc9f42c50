//! The fields of records as bytes.

use super::records::{Computed, Content, Created, Registered, Tensor, VariableUse};

/// A payload that is written.
#[derive(Debug, Default)]
pub(super) struct Payload {
    /// The bytes so far.
    pub bytes: Vec<u8>,
}

impl Payload {
    pub fn number(&mut self, value: u64) {
        self.bytes.extend(value.to_le_bytes());
    }

    pub fn small(&mut self, value: u32) {
        self.bytes.extend(value.to_le_bytes());
    }

    pub fn text(&mut self, text: &str) {
        self.small(text.len() as u32);
        self.bytes.extend(text.as_bytes());
    }

    fn blob(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.bytes.extend(bytes);
    }

    fn list<T>(&mut self, items: &[T], write: impl Fn(&mut Self, &T)) {
        self.small(items.len() as u32);
        items.iter().for_each(|item| write(self, item));
    }

    fn option<T>(&mut self, value: Option<&T>, write: impl Fn(&mut Self, &T)) {
        self.bytes.push(u8::from(value.is_some()));
        if let Some(value) = value {
            write(self, value);
        }
    }

    fn tensor(&mut self, tensor: &Tensor) {
        self.small(tensor.dtype);
        self.list(&tensor.dims, |it, dim| it.number(*dim as u64));
        self.bytes.push(u8::from(tensor.is_on_device));
        match &tensor.content {
            Content::Unread => self.bytes.push(0),
            Content::Bytes(bytes) => {
                self.bytes.push(1);
                self.blob(bytes);
            }
            Content::Strings(texts) => {
                self.bytes.push(2);
                self.list(texts, |it, text| it.blob(text));
            }
            Content::Resource(handle) => {
                self.bytes.push(3);
                self.blob(handle);
            }
        }
    }

    fn variable(&mut self, variable: &VariableUse) {
        self.small(variable.input);
        self.option(variable.before.as_ref(), Self::tensor);
        self.option(variable.after.as_ref(), Self::tensor);
    }

    pub fn registered(&mut self, it: &Registered) {
        self.text(&it.op);
        self.text(&it.device);
        self.list(&it.constraints, |it, (name, dtype)| {
            it.text(name);
            it.small(*dtype);
        });
        self.list(&it.host_memory, |it, name| it.text(name));
    }

    pub fn created(&mut self, it: &Created) {
        self.number(it.kernel);
        self.text(&it.op);
        self.text(&it.node);
        self.blob(&it.node_def);
    }

    pub fn computed(&mut self, it: &Computed) {
        self.number(it.number);
        self.number(it.kernel);
        self.small(it.thread);
        self.text(&it.op);
        self.text(&it.node);
        self.number(it.duration);
        self.list(&it.inputs, Self::tensor);
        self.list(&it.output_types, |it, dtype| it.small(*dtype));
        self.list(&it.outputs, |it, output| {
            it.option(output.as_ref(), Self::tensor);
        });
        self.list(&it.variables, Self::variable);
        self.option(it.failure.as_ref(), |it, (code, message)| {
            it.small(*code);
            it.text(message);
        });
        self.text(&it.omitted);
    }
}

/// A payload that is read. Each method returns `None` if the bytes do not have the value.
pub(super) struct Source<'a>(pub &'a [u8]);

impl<'a> Source<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(count)?;
        self.0 = tail;
        Some(head)
    }

    fn byte(&mut self) -> Option<u8> {
        Some(self.take(1)?[0])
    }

    pub fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    pub fn small(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    pub fn text(&mut self) -> Option<String> {
        let length = self.small()? as usize;
        String::from_utf8(self.take(length)?.to_vec()).ok()
    }

    fn blob(&mut self) -> Option<Vec<u8>> {
        let length = usize::try_from(self.number()?).ok()?;
        Some(self.take(length)?.to_vec())
    }

    fn list<T>(&mut self, read: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.small()?;
        (0..count).map(|_| read(self)).collect()
    }

    fn option<T>(&mut self, read: impl Fn(&mut Self) -> Option<T>) -> Option<Option<T>> {
        match self.byte()? {
            0 => Some(None),
            1 => Some(Some(read(self)?)),
            _ => None,
        }
    }

    fn tensor(&mut self) -> Option<Tensor> {
        let dtype = self.small()?;
        let dims = self.list(|it| Some(it.number()? as i64))?;
        let is_on_device = self.byte()? != 0;
        let content = match self.byte()? {
            0 => Content::Unread,
            1 => Content::Bytes(self.blob()?),
            2 => Content::Strings(self.list(Self::blob)?),
            3 => Content::Resource(self.blob()?),
            _ => return None,
        };
        Some(Tensor {
            dtype,
            dims,
            is_on_device,
            content,
        })
    }

    fn variable(&mut self) -> Option<VariableUse> {
        Some(VariableUse {
            input: self.small()?,
            before: self.option(Self::tensor)?,
            after: self.option(Self::tensor)?,
        })
    }

    pub fn registered(&mut self) -> Option<Registered> {
        Some(Registered {
            op: self.text()?,
            device: self.text()?,
            constraints: self.list(|it| Some((it.text()?, it.small()?)))?,
            host_memory: self.list(Self::text)?,
        })
    }

    pub fn created(&mut self) -> Option<Created> {
        Some(Created {
            kernel: self.number()?,
            op: self.text()?,
            node: self.text()?,
            node_def: self.blob()?,
        })
    }

    pub fn computed(&mut self) -> Option<Computed> {
        Some(Computed {
            number: self.number()?,
            kernel: self.number()?,
            thread: self.small()?,
            op: self.text()?,
            node: self.text()?,
            duration: self.number()?,
            inputs: self.list(Self::tensor)?,
            output_types: self.list(Self::small)?,
            outputs: self.list(|it| it.option(Self::tensor))?,
            variables: self.list(Self::variable)?,
            failure: self.option(|it| Some((it.small()?, it.text()?)))?,
            omitted: self.text()?,
        })
    }
}
