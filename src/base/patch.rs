//! A change of a file: the bytes that differ, before and after. It can be made, and taken back.

use std::io::{self, Write};

/// A change of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// The length before and after.
    lens: [usize; 2],
    /// What differs, in the order of the file.
    parts: Vec<Part>,
}

/// Bytes that differ. Only the last ones may be more or fewer than before.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    at: usize,
    bytes: [Vec<u8>; 2],
}

impl Patch {
    /// A change of a file of this length: bytes in their places, each with its offset, in the order of the file, and bytes that
    /// are added at the end.
    pub fn new(data: &[u8], changes: impl IntoIterator<Item = (usize, Vec<u8>)>, added: Vec<u8>) -> Self {
        let part = |(at, new): (usize, Vec<u8>)| {
            let old = data.get(at..at + new.len()).unwrap_or_default().to_vec();
            (old.len() == new.len() && old != new).then_some(Part { at, bytes: [old, new] })
        };
        let mut parts: Vec<Part> = changes.into_iter().filter_map(part).collect();
        let lens = [data.len(), data.len() + added.len()];
        if !added.is_empty() {
            parts.push(Part { at: data.len(), bytes: [Vec::new(), added] });
        }
        Self { lens, parts }
    }

    /// The opposite change.
    pub fn reversed(self) -> Self {
        let [old, new] = self.lens;
        let turn = |Part { at, bytes: [old, new] }| Part { at, bytes: [new, old] };
        Self { lens: [new, old], parts: self.parts.into_iter().map(turn).collect() }
    }

    /// The memory that it takes, in bytes.
    pub fn size(&self) -> usize {
        let of = |part: &Part| size_of::<Part>() + part.bytes.iter().map(Vec::len).sum::<usize>();
        self.parts.iter().map(of).sum()
    }

    /// Whether a file is the one before the change, as far as that differs from the one after it.
    pub fn fits(&self, data: &[u8]) -> bool {
        let is_old = |Part { at, bytes: [old, _] }: &Part| {
            data.get(*at..).and_then(|rest| rest.get(..old.len())) == Some(old)
        };
        self.lens.first() == Some(&data.len()) && self.parts.iter().all(is_old)
    }

    /// Writes a file that the change fits as it is after that.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write(&self, data: &[u8], out: &mut impl Write) -> io::Result<()> {
        let mut next = 0;
        for Part { at, bytes: [old, new] } in &self.parts {
            out.write_all(data.get(next..*at).unwrap_or_default())?;
            out.write_all(new)?;
            next = at + old.len();
        }
        out.write_all(data.get(next..).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(patch: &Patch, data: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        patch.write(data, &mut out).unwrap();
        out
    }

    proptest! {
        #[test]
        fn a_patch_leads_there_and_back(
            old in prop::collection::vec(0..3_u8, 0..40),
            set in prop::collection::btree_map(0..40_usize, 0..3_u8, 0..9),
            added in prop::collection::vec(0..3_u8, 0..9),
        ) {
            let patch = Patch::new(&old, set.iter().map(|(at, byte)| (*at, vec![*byte])), added.clone());
            let mut new = old.clone();
            set.iter().for_each(|(at, byte)| new.iter_mut().skip(*at).take(1).for_each(|into| *into = *byte));
            new.extend(added);
            prop_assert!(patch.fits(&old));
            prop_assert_eq!(&written(&patch, &old), &new);
            let back = patch.clone().reversed();
            prop_assert!(back.fits(&new));
            prop_assert_eq!(written(&back, &new), old);
            prop_assert_eq!(back.reversed(), patch);
        }
    }

    #[test]
    fn a_patch_does_not_fit_another_file() {
        let patch = Patch::new(b"abcdef", [(2, b"X".to_vec())], Vec::new());
        assert!(!patch.fits(b"abYdef") && !patch.fits(b"abcdefg") && patch.fits(b"Zbcdef"));
        assert_eq!(written(&patch, b"Zbcdef"), b"ZbXdef");
        assert!(patch.size() < 2 * size_of::<Part>());
    }
}
