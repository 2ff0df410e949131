//! What a program is built for, by the first bytes of its file.

use std::env::consts::{ARCH, OS};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// Bytes at the start of a file that are looked at.
const LOOKED_AT: u64 = 4096;

/// The systems whose programs are ELF files and are not told apart by them.
const OF_ELF: [&str; 7] = ["linux", "android", "freebsd", "netbsd", "openbsd", "dragonfly", "illumos"];

/// What a program is built for; `None` where it is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// The system in the words of [`OS`].
    system: &'static str,
    /// The processor in the words of [`ARCH`].
    processor: Option<&'static str>,
}

impl Target {
    /// What the program of this path is built for; `None` for scripts, other files, and what cannot be read.
    pub(super) fn of_file(path: &Path) -> Option<Self> {
        let mut start = Vec::new();
        File::open(path).ok()?.take(LOOKED_AT).read_to_end(&mut start).ok()?;
        Self::of(&start)
    }

    /// What a program is built for whose file starts with these bytes.
    fn of(start: &[u8]) -> Option<Self> {
        let u32_at = |at: usize| Some(u32::from_le_bytes(*start.get(at..)?.first_chunk()?));
        let u16_at = |at: usize| Some(u16::from_le_bytes(*start.get(at..)?.first_chunk()?));
        match start {
            [0x7f, b'E', b'L', b'F', class, order, ..] => {
                let machine = u16_at(18).map(|code| if *order == 2 { code.swap_bytes() } else { code });
                Some(Self { system: "linux", processor: machine.and_then(|code| of_elf(code, *class)) })
            }
            [b'M', b'Z', ..] => {
                let header = u32_at(0x3c).and_then(|at| usize::try_from(at).ok());
                let header = header.filter(|at| start.get(*at..).is_some_and(|at| at.starts_with(b"PE\0\0")));
                let machine = header.and_then(|at| u16_at(at.checked_add(4)?));
                Some(Self { system: "windows", processor: machine.and_then(of_pe) })
            }
            [0xce | 0xcf, 0xfa, 0xed, 0xfe, ..] => {
                Some(Self { system: "macos", processor: u32_at(4).and_then(of_mach) })
            }
            // For several processors; Java's classes begin alike, with a version in place of a small number.
            [0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 1..=20, ..] => Some(Self { system: "macos", processor: None }),
            _ => None,
        }
    }

    /// Why this machine cannot start the program, as a clause; `None` where that does not show.
    pub(super) fn obstacle(self) -> Option<String> {
        let is_ours = self.system == OS || self.system == "linux" && OF_ELF.contains(&OS);
        match self.processor {
            _ if !is_ours => Some(format!("it is built for {}, this is {}", system(self.system), system(OS))),
            Some(processor) if processor != ARCH => {
                Some(format!("it is built for {processor}, this is {ARCH}"))
            }
            _ => None,
        }
    }
}

/// A system as people write it.
fn system(name: &'static str) -> &'static str {
    match name {
        "linux" => "Linux",
        "windows" => "Windows",
        "macos" => "macOS",
        other => other,
    }
}

/// The processor of an ELF file's `e_machine`, for files of 32 (class 1) or 64 bits (class 2).
fn of_elf(machine: u16, class: u8) -> Option<&'static str> {
    Some(match (machine, class) {
        (3, _) => "x86",
        (62, _) => "x86_64",
        (40, _) => "arm",
        (183, _) => "aarch64",
        (8, _) => "mips",
        (20, _) => "powerpc",
        (21, _) => "powerpc64",
        (22, _) => "s390x",
        (243, 1) => "riscv32",
        (243, _) => "riscv64",
        (258, _) => "loongarch64",
        _ => return None,
    })
}

/// The processor of a PE file's `Machine`.
fn of_pe(machine: u16) -> Option<&'static str> {
    Some(match machine {
        0x014c => "x86",
        0x8664 => "x86_64",
        0x01c0 | 0x01c4 => "arm",
        0xaa64 => "aarch64",
        _ => return None,
    })
}

/// The processor of a Mach-O file's `cputype`.
fn of_mach(code: u32) -> Option<&'static str> {
    Some(match code {
        7 => "x86",
        0x0100_0007 => "x86_64",
        12 => "arm",
        0x0100_000c => "aarch64",
        _ => return None,
    })
}

/// Why a program was not started, as a clause; the system's own words where no more is known.
pub(super) fn why_not(program: &Path, error: &io::Error) -> String {
    // The system says that about what the file names.
    let lacks = || error.kind() == io::ErrorKind::NotFound && program.is_file();
    let missing = || {
        let what = if Target::of_file(program).is_some() { "the loader" } else { "the interpreter" };
        format!("{what} that it names is missing on this machine")
    };
    let obstacle = Target::of_file(program).and_then(Target::obstacle);
    obstacle.or_else(|| lacks().then(missing)).unwrap_or_else(|| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elf(class: u8, order: u8, machine: [u8; 2]) -> Vec<u8> {
        let mut bytes = vec![0x7f, b'E', b'L', b'F', class, order, 1];
        bytes.resize(18, 0);
        bytes.extend(machine);
        bytes
    }

    #[test]
    fn a_program_is_known_by_its_first_bytes() {
        let mut pe = b"MZ".to_vec();
        pe.resize(0x3c, 0);
        pe.extend(0x80_u32.to_le_bytes());
        pe.resize(0x80, 0);
        pe.extend(b"PE\0\0\x64\xaa");
        for (bytes, system, processor) in [
            (elf(2, 1, [183, 0]), "linux", Some("aarch64")),
            (elf(2, 2, [0, 22]), "linux", Some("s390x")),
            (elf(1, 1, [243, 0]), "linux", Some("riscv32")),
            (b"\x7fELF but not really\n".to_vec(), "linux", None),
            (pe, "windows", Some("aarch64")),
            (b"MZ".to_vec(), "windows", None),
            ([b"MZ".to_vec(), vec![0xff; 100]].concat(), "windows", None),
            (b"\xcf\xfa\xed\xfe\x0c\0\0\x01".to_vec(), "macos", Some("aarch64")),
            (b"\xca\xfe\xba\xbe\0\0\0\x02".to_vec(), "macos", None),
        ] {
            assert_eq!(Target::of(&bytes), Some(Target { system, processor }), "{bytes:?}");
        }
        // A script, a class of Java, nothing.
        for bytes in [&b"#!/bin/sh\n"[..], b"\xca\xfe\xba\xbe\0\0\0\x34", b""] {
            assert_eq!(Target::of(bytes), None);
        }
    }

    #[test]
    fn what_is_built_for_this_machine_has_no_obstacle() {
        let own = Target::of_file(&std::env::current_exe().unwrap()).unwrap();
        assert_eq!((own.processor, own.obstacle()), (Some(ARCH), None));
        let other = Target { processor: Some("vax"), ..own };
        assert_eq!(other.obstacle().unwrap(), format!("it is built for vax, this is {ARCH}"));
        let other = Target { system: if OS == "windows" { "macos" } else { "windows" }, ..own };
        assert!(other.obstacle().unwrap().starts_with("it is built for "));
    }
}
