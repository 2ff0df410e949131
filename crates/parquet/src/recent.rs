//! What was read last of a file, as the indexes of its pages, up to a number of bytes.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes that indexes of pages may take together: those of a file of a hundred million rows, as we write it, take half of it.
const MAX: usize = 1 << 25;

/// What was read last, by what it belongs to. The oldest goes first.
#[derive(Debug)]
pub struct Recent<K, V>(Mutex<RecentPages<K, V>>);

#[derive(Debug)]
struct RecentPages<K, V> {
    known: HashMap<K, (Arc<V>, usize)>,
    order: VecDeque<K>,
    bytes: usize,
    /// Bytes that all entries may take together.
    most: usize,
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Self::up_to(MAX)
    }
}

impl<K, V> Recent<K, V> {
    /// Nothing yet, and room for entries of `most` bytes in all.
    pub fn up_to(most: usize) -> Self {
        Self(Mutex::new(RecentPages { known: HashMap::new(), order: VecDeque::new(), bytes: 0, most }))
    }
}

impl<K: Copy + Eq + Hash, V> Recent<K, V> {
    /// What belongs to `key`; `read` reads it if it is not here, and returns it with the bytes that it takes.
    pub fn get(&self, key: K, read: impl FnOnce() -> (V, usize)) -> Arc<V> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((value, _)) = lock().known.get(&key) {
            return value.clone();
        }
        let (value, bytes) = read();
        let value = Arc::new(value);
        let mut entries = lock();
        // One that is larger than all others together would only displace them.
        if bytes <= entries.most / 2 && entries.known.insert(key, (value.clone(), bytes)).is_none() {
            entries.order.push_back(key);
            entries.bytes += bytes;
            entries.shrink();
        }
        value
    }
}

impl<K: Eq + Hash, V> RecentPages<K, V> {
    fn shrink(&mut self) {
        while self.bytes > self.most
            && let Some(oldest) = self.order.pop_front()
        {
            self.bytes -= self.known.remove(&oldest).map_or(0, |(_, bytes)| bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_is_kept_up_to_a_number_of_bytes() {
        let recent = Recent::default();
        let read = |key: usize, bytes| {
            let mut was_read = false;
            let value = recent.get(key, || {
                was_read = true;
                (key * 10, bytes)
            });
            assert_eq!(*value, key * 10);
            was_read
        };
        assert!(read(1, MAX / 2) && read(2, MAX / 2));
        assert!(!read(1, 0) && !read(2, 0));
        assert!(read(3, 1), "a third one fits only without the oldest");
        assert!(!read(2, 0) && !read(3, 0) && read(1, MAX));
        assert!(read(1, 1), "one that is too large is not kept");
        assert!(!read(1, 1) && !read(2, 0));
        assert!(recent.0.lock().unwrap().bytes <= MAX);
    }
}
