//! Learning as its users meet it: the real executable, many of them at once, and killed.

mod crowd;
mod sessions;
mod workshop;
mod world;
