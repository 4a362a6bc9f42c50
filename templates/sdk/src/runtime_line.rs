//! The line of the runtime in the library's section, with the releases that it knows: `sp-gen diff --plugin` judges a
//! plugin with this line by what the runtime does there, and not by what C code would do.

use sp_abi::{NEWEST, PREVIEWS};
use sp_runtime::Release;

/// The functions without which the plugin does not work, and the lines of the SDK's own parts: `part`, the name, and
/// functions without which the rest works. A call of another absent function is an error.
const STATEMENTS: &str = "\
required TF_NewStatus TF_DeleteStatus TF_SetStatus TF_GetCode TF_Message TF_NewKernelBuilder TF_DeleteKernelBuilder \
TF_RegisterKernelBuilder TF_KernelBuilder_TypeConstraint TF_KernelBuilder_HostMemory TF_GetInput TF_AllocateOutput \
TF_SetOutput TF_NumDims TF_Dim TF_TensorData TF_DeleteTensor TF_GetStream TF_OpKernelContext_Failure \
TF_OpKernelConstruction_Failure\n\
part graph-optimizer TF_GetGrapplerItem TF_NewBuffer TF_DeleteBuffer
part shapes-in-graphs TF_NewGraphProperties TF_DeleteGraphProperties TF_InferStatically
part functions-in-graphs TF_NewFunctionLibraryDefinition TF_DeleteFunctionLibraryDefinition TF_LookUpOpDef
part ops TF_NewOpDefinitionBuilder TF_DeleteOpDefinitionBuilder TF_RegisterOpDefinition
";

/// A text that is built at compile time.
struct Text {
    bytes: [u8; 2048],
    len: usize,
}

impl Text {
    const fn with(mut self, part: &str) -> Self {
        let (bytes, mut index) = (part.as_bytes(), 0);
        while index < bytes.len() {
            self.bytes[self.len] = bytes[index];
            (self.len, index) = (self.len + 1, index + 1);
        }
        self
    }

    const fn with_number(self, number: u16) -> Self {
        let text = match number >= 10 {
            true => self.with_number(number / 10),
            false => self,
        };
        let digit = [b'0' + (number % 10) as u8];
        match std::str::from_utf8(&digit) {
            Ok(digit) => text.with(digit),
            Err(_) => text,
        }
    }

    const fn with_release(self, release: Release) -> Self {
        let (major, minor) = release.numbers();
        self.with_number(major).with(".").with_number(minor)
    }
}

const TEXT: Text = {
    let text = Text {
        bytes: [0; 2048],
        len: 0,
    };
    let text = text.with("runtime sp-plugin ");
    let text = text.with(env!("CARGO_PKG_VERSION")).with(" ");
    let mut text = text.with_release(NEWEST);
    let mut index = 0;
    while index < PREVIEWS.len() {
        text = text.with(" ").with(PREVIEWS[index].0);
        index += 1;
    }
    text.with("\n").with(STATEMENTS)
};

/// `runtime sp-plugin VERSION`, the newest final release that the runtime knows, and the previews; then the parts.
pub const RUNTIME_LINE: [u8; TEXT.len] = {
    let (mut line, mut index) = ([0; TEXT.len], 0);
    while index < TEXT.len {
        line[index] = TEXT.bytes[index];
        index += 1;
    }
    line
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_has_the_newest_known_release() {
        let text = std::str::from_utf8(&RUNTIME_LINE).unwrap();
        let first = text.lines().next().unwrap();
        let start = format!("runtime sp-plugin {} {NEWEST}", env!("CARGO_PKG_VERSION"));
        assert!(first.starts_with(&start), "{first}");
        assert!(PREVIEWS.iter().all(|(version, _)| first.contains(version)));
        assert!(text.ends_with('\n') && text.contains("\npart ops "));
    }
}
