//! Bounds-checked reading: the one place that slices by numbers that come from a file.
//!
//! Offsets and lengths are `u64`, as files have them; what is outside the data is `None`.

use std::slice::SliceIndex;

/// The `len` bytes from `at` on.
pub fn slice(data: &[u8], at: u64, len: u64) -> Option<&[u8]> {
    let start = usize::try_from(at).ok()?;
    let end = start.checked_add(usize::try_from(len).ok()?)?;
    data.get(start..end)
}

/// The `N` bytes from `at` on, as an array.
pub fn array<const N: usize>(data: &[u8], at: u64) -> Option<[u8; N]> {
    data.get(usize::try_from(at).ok()?..)?.first_chunk().copied()
}

/// Bytes as lower-case hexadecimal digits.
pub fn hex<'a>(bytes: impl IntoIterator<Item = &'a u8>) -> String {
    bytes.into_iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A big-endian 16-bit number.
pub fn u16_be(data: &[u8], at: u64) -> Option<u16> {
    array(data, at).map(u16::from_be_bytes)
}

/// A big-endian 32-bit number.
pub fn u32_be(data: &[u8], at: u64) -> Option<u32> {
    array(data, at).map(u32::from_be_bytes)
}

/// A big-endian 64-bit number.
pub fn u64_be(data: &[u8], at: u64) -> Option<u64> {
    array(data, at).map(u64::from_be_bytes)
}

/// A little-endian 16-bit number.
pub fn u16_le(data: &[u8], at: u64) -> Option<u16> {
    array(data, at).map(u16::from_le_bytes)
}

/// A little-endian 32-bit number.
pub fn u32_le(data: &[u8], at: u64) -> Option<u32> {
    array(data, at).map(u32::from_le_bytes)
}

/// Parts of a slice or a text whose ends are the program's own numbers, not those of a file.
///
/// A number outside is a mistake of the program: tests and fuzzing stop there. A release goes on with an empty part, because an
/// adapter must not end in a game.
pub trait Parts {
    /// The part within `range`.
    fn part<R: SliceIndex<Self, Output = Self>>(&self, range: R) -> &Self;

    /// The part within `range`, to be changed.
    fn part_mut<R: SliceIndex<Self, Output = Self>>(&mut self, range: R) -> &mut Self;
}

/// Both are the same words for slices and texts.
macro_rules! parts {
    ($($generic:ident)?, $kind:ty) => {
        impl$(<$generic>)? Parts for $kind {
            #[inline]
            #[track_caller]
            fn part<R: SliceIndex<Self, Output = Self>>(&self, range: R) -> &Self {
                let part = self.get(range);
                debug_assert!(part.is_some(), "a part that is not within {}", self.len());
                part.unwrap_or_default()
            }

            #[inline]
            #[track_caller]
            fn part_mut<R: SliceIndex<Self, Output = Self>>(&mut self, range: R) -> &mut Self {
                let part = self.get_mut(range);
                debug_assert!(part.is_some(), "a part that is not within its slice");
                part.unwrap_or_default()
            }
        }
    };
}

parts!(T, [T]);
parts!(, str);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_read_in_either_order() {
        let data = [0xff, 1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(u16_be(&data, 1), Some(0x0102));
        assert_eq!(u16_le(&data, 1), Some(0x0201));
        assert_eq!(u32_be(&data, 1), Some(0x0102_0304));
        assert_eq!(u32_le(&data, 1), Some(0x0403_0201));
        assert_eq!(u64_be(&data, 1), Some(0x0102_0304_0506_0708));
    }

    #[test]
    fn digits_are_two_for_each_byte() {
        assert_eq!((hex(&[0, 0x0f, 0xa0]), hex(&[])), ("000fa0".to_owned(), String::new()));
    }

    #[test]
    fn the_last_number_is_read_and_the_one_after_it_is_not() {
        let data = [0; 16];
        assert_eq!(u64_be(&data, 8), Some(0));
        assert_eq!(u64_be(&data, 9), None);
        assert_eq!(slice(&data, 16, 0), Some(&[][..]));
        assert_eq!(slice(&data, 17, 0), None);
    }

    proptest! {
        #[test]
        fn whatever_is_outside_is_none(
            data in prop::collection::vec(any::<u8>(), 0..40),
            at in prop_oneof![0..50_u64, any::<u64>()],
            len in prop_oneof![0..50_u64, any::<u64>()],
        ) {
            let inside = at.checked_add(len).is_some_and(|end| end <= data.len() as u64);
            let read = slice(&data, at, len);
            prop_assert_eq!(read.is_some(), inside);
            if let Some(read) = read {
                prop_assert_eq!(read, &data[at as usize..(at + len) as usize]);
            }
            let inside = at.checked_add(4).is_some_and(|end| end <= data.len() as u64);
            prop_assert_eq!(u32_be(&data, at).is_some(), inside);
            prop_assert_eq!(u32_be(&data, at).map(u32::swap_bytes), u32_le(&data, at));
        }
    }
}
