//! What decompressing ahead of the reader may use.

use tabiya_base::resources::Resources;

/// Threads of work from which on some more decompress.
const MANY_THREADS: usize = 4;

/// What may be used to decompress ahead of the reader.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadAhead {
    pub(crate) threads: usize,
    /// Bytes for each thread.
    pub(crate) memory: usize,
}

impl ReadAhead {
    /// Half as many threads as there are for the work, and an eighth of the memory; no threads at all if there are few.
    pub fn of(resources: &Resources) -> Self {
        let threads = if resources.threads < MANY_THREADS { 0 } else { resources.threads / 2 };
        Self { threads, memory: resources.memory / 8 / threads.max(1) }
    }

    /// The memory that is left for the work.
    pub fn left(self, resources: &Resources) -> usize {
        resources.memory - self.threads * self.memory
    }

    /// Whether anything is to be decompressed ahead.
    #[cfg(feature = "archives")]
    pub(crate) fn is_wanted(self) -> bool {
        self.threads > 0
    }
}
