//! The machine code of trampolines and stubs. A trampoline changes no argument register; a stub passes
//! `(index, status or null)` and drops the other arguments.

/// A supported architecture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Machine {
    X86_64,
    Aarch64,
}

impl Machine {
    /// Returns the architecture of this process, if it is supported.
    pub fn native() -> Option<Self> {
        match std::env::consts::ARCH {
            "x86_64" => Some(Self::X86_64),
            "aarch64" => Some(Self::Aarch64),
            _ => None,
        }
    }

    /// Returns `e_machine`.
    pub fn number(self) -> u16 {
        match self {
            Self::X86_64 => 62,
            Self::Aarch64 => 183,
        }
    }

    /// Returns the largest page size of a kernel on this architecture.
    pub fn page(self) -> usize {
        match self {
            Self::X86_64 => 0x1000,
            Self::Aarch64 => 0x1_0000,
        }
    }

    /// Returns the number of integer argument registers.
    pub fn argument_registers(self) -> u8 {
        match self {
            Self::X86_64 => 6,
            Self::Aarch64 => 8,
        }
    }

    pub fn jump_len(self) -> usize {
        16
    }

    pub fn stub_len(self) -> usize {
        32
    }

    /// Returns a jump to the address that is stored at `slot`.
    pub fn jump(self, at: usize, slot: usize) -> Vec<u8> {
        match self {
            Self::X86_64 => {
                let relative = (slot as i64 - (at as i64 + 6)) as i32;
                [&[0xff, 0x25][..], &relative.to_le_bytes()].concat()
            }
            Self::Aarch64 => words(&aarch64_jump(at, slot)),
        }
    }

    /// Returns code that sets the two arguments and jumps through `slot`.
    pub fn stub(self, at: usize, slot: usize, index: u32, status: Option<u8>) -> Vec<u8> {
        let mut code = match self {
            Self::X86_64 => x86_64_arguments(index, status),
            Self::Aarch64 => words(&aarch64_arguments(index, status)),
        };
        code.extend(self.jump(at + code.len(), slot));
        code
    }
}

/// `mov <register>, %rsi` or `xor %esi, %esi`, then `mov $index, %edi`.
fn x86_64_arguments(index: u32, status: Option<u8>) -> Vec<u8> {
    let mut code: Vec<u8> = match status {
        Some(0) => vec![0x48, 0x89, 0xfe],
        Some(1) => vec![],
        Some(2) => vec![0x48, 0x89, 0xd6],
        Some(3) => vec![0x48, 0x89, 0xce],
        Some(4) => vec![0x4c, 0x89, 0xc6],
        Some(5) => vec![0x4c, 0x89, 0xce],
        _ => vec![0x31, 0xf6],
    };
    code.push(0xbf);
    code.extend(index.to_le_bytes());
    code
}

/// `mov x1, <register>` (the zero register where there is no status), then `movz w0, #index`.
fn aarch64_arguments(index: u32, status: Option<u8>) -> [u32; 2] {
    let register = u32::from(status.unwrap_or(31));
    [
        0xaa00_03e1 | register << 16,
        0x5280_0000 | (index & 0xffff) << 5,
    ]
}

/// `adrp x16, slot; ldr x16, [x16, #low]; br x16`.
fn aarch64_jump(at: usize, slot: usize) -> [u32; 3] {
    let pages = ((slot >> 12) as i64 - (at >> 12) as i64) as u32;
    let address = 0x9000_0010 | (pages & 3) << 29 | (pages >> 2 & 0x7_ffff) << 5;
    let load = 0xf940_0210 | ((slot as u32 & 0xfff) / 8) << 10;
    [address, load, 0xd61f_0200]
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x86_64_jump_is_relative_to_its_end() {
        let code = Machine::X86_64.jump(0x1000, 0x3000);
        assert_eq!(code, [0xff, 0x25, 0xfa, 0x1f, 0, 0]);
    }

    #[test]
    fn aarch64_jump_names_page_and_offset() {
        // By hand from the architecture's tables: adrp x16, +3 pages; ldr x16, [x16, #0x18]; br x16.
        let expected = [0xf000_0010, 0xf940_0e10, 0xd61f_0200];
        assert_eq!(aarch64_jump(0x1_0004, 0x1_3018), expected);
    }

    #[test]
    fn stubs_fit_their_length() {
        for machine in [Machine::X86_64, Machine::Aarch64] {
            for status in [None, Some(0), Some(1), Some(4), Some(5)] {
                let code = machine.stub(0x1000, 0x2_0000, 300, status);
                assert!(code.len() <= machine.stub_len());
            }
            assert!(machine.jump(0, 0x2_0000).len() <= machine.jump_len());
        }
    }
}
