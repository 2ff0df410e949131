//! A change of a file: the bytes that differ, before and after. It can be made, and taken back.

use std::io::{self, Write};
use std::ops::Range;

/// A change of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// The length before and after.
    lens: [usize; 2],
    /// What differs, in the order of the file.
    parts: Vec<PatchPart>,
}

/// Bytes that differ, and where they are before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PatchPart {
    at: [usize; 2],
    bytes: [Vec<u8>; 2],
}

impl Patch {
    /// A change of a file of these bytes: each range, in the order of the file, gets other bytes in its place. `None` if a range
    /// is not inside the file, or begins before the end of the one before it.
    pub fn new(data: &[u8], changes: impl IntoIterator<Item = (Range<usize>, Vec<u8>)>) -> Option<Self> {
        let mut patch = Self { lens: [data.len(); 2], parts: Vec::new() };
        let mut end = 0;
        for (range, mut new) in changes {
            let mut old = data.get(range.clone()).filter(|_| range.start >= end)?;
            end = range.end;
            let [before, after] = patch.lens;
            let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
            let at = range.start + same;
            (_, old) = old.split_at(same);
            new.drain(..same);
            let same = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
            (old, _) = old.split_at(old.len() - same);
            new.truncate(new.len() - same);
            if !(old.is_empty() && new.is_empty()) {
                patch.lens = [before, after + new.len() - old.len()];
                patch.parts.push(PatchPart { at: [at, at + after - before], bytes: [old.to_vec(), new] });
            }
        }
        Some(patch)
    }

    pub fn reversed(mut self) -> Self {
        self.lens.reverse();
        for PatchPart { at, bytes } in &mut self.parts {
            at.reverse();
            bytes.reverse();
        }
        self
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The memory that it takes, in bytes.
    pub fn size(&self) -> usize {
        let of = |part: &PatchPart| size_of::<PatchPart>() + part.bytes.iter().map(Vec::len).sum::<usize>();
        self.parts.iter().map(of).sum()
    }

    /// Whether a file is the one before the change, as far as that differs from the one after it.
    pub fn fits(&self, data: &[u8]) -> bool {
        let is_old = |PatchPart { at: [at, _], bytes: [old, _] }: &PatchPart| {
            data.get(*at..).and_then(|rest| rest.get(..old.len())) == Some(old)
        };
        self.lens.first() == Some(&data.len()) && self.parts.iter().all(is_old)
    }

    /// Writes a file that the change fits as it is after that.
    ///
    /// # Errors
    /// When the change does not fit, and nothing is written, or `out` cannot be written.
    #[expect(clippy::expect_used, reason = "bytes of the file would be left out instead")]
    pub fn write(&self, data: &[u8], out: &mut impl Write) -> io::Result<()> {
        if !self.fits(data) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the file is not the one to be changed"));
        }
        let mut next = 0;
        for PatchPart { at: [at, _], bytes: [old, new] } in &self.parts {
            out.write_all(
                data.get(next..*at).expect("a change that fits is inside, and after the one before"),
            )?;
            out.write_all(new)?;
            next = at + old.len();
        }
        out.write_all(data.get(next..).expect("a change that fits is inside"))
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
            cuts in prop::collection::btree_map(0..40_usize, (0..4_usize, prop::collection::vec(0..3_u8, 0..5)), 0..9),
        ) {
            let (mut changes, mut new, mut next) = (Vec::new(), Vec::new(), 0);
            for (at, (len, bytes)) in cuts {
                let end = (at + len).min(old.len());
                if at < next || at > old.len() {
                    continue;
                }
                new.extend(&old[next..at]);
                new.extend(&bytes);
                changes.push((at..end, bytes));
                next = end;
            }
            new.extend(&old[next..]);
            let patch = Patch::new(&old, changes).unwrap();
            prop_assert!(patch.fits(&old));
            prop_assert_eq!(&written(&patch, &old), &new);
            prop_assert!(old != new || patch.is_empty() || patch.fits(&new));
            let back = patch.clone().reversed();
            prop_assert!(back.fits(&new));
            prop_assert_eq!(written(&back, &new), old);
            prop_assert_eq!(back.reversed(), patch);
        }
    }

    #[test]
    fn a_patch_does_not_fit_another_file() {
        let patch = Patch::new(b"abcdef", [(1..4, b"bXd".to_vec())]).unwrap();
        assert!(!patch.fits(b"abYdef") && !patch.fits(b"abcdefg") && patch.fits(b"Zbcdef"));
        // A file that it does not fit is not written in part.
        let mut out = Vec::new();
        for other in [&b"a"[..], b"abYdef", b"abcdefg"] {
            assert!(patch.write(other, &mut out).is_err() && out.is_empty());
        }
        // Only what differs counts.
        assert!(patch.fits(b"aZcdef"));
        assert_eq!(written(&patch, b"Zbcdef"), b"ZbXdef");
        assert!(Patch::new(b"abc", [(0..3, b"abc".to_vec())]).unwrap().is_empty());
        assert!(patch.size() < 2 * size_of::<PatchPart>());
    }

    #[test]
    fn no_change_is_left_out() {
        let new = |ranges: &[(usize, usize)]| {
            Patch::new(b"abc", ranges.iter().map(|&(start, end)| (start..end, vec![0])))
        };
        assert!(new(&[(0, 1), (1, 1), (2, 3), (3, 3)]).is_some());
        // Beyond the end, before the end of the one before, or backwards.
        for wrong in [&[(0, 1), (3, 4)][..], &[(4, 4)], &[(0, 2), (1, 3)], &[(2, 3), (0, 1)], &[(2, 1)]] {
            assert!(new(wrong).is_none(), "{wrong:?}");
        }
    }
}
