//! Memory, threads and the folder for temporary files, as arguments.

use std::path::PathBuf;

use parse_size::Config;

use tabiya_base::error::Result;
use tabiya_workshop::bookmaker::Resources;

/// The least memory that a command can work with, in bytes.
const MIN: u64 = 16 << 20;

/// The resources of the machine that a command may use.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Memory and threads")]
pub(crate) struct ResourcesArgs {
    /// Memory to use, such as 64M or 2G; the rest goes to temporary files [default: a quarter of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: Option<usize>,
    /// Threads to use [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// The folder for temporary files [default: the system's]
    #[arg(long, value_name = "DIR")]
    temp: Option<PathBuf>,
}

impl ResourcesArgs {
    /// The resources that the arguments name, and defaults for the rest.
    ///
    /// # Errors
    /// When there is no folder for temporary files.
    pub fn resolve(&self) -> Result<Resources> {
        Resources::new(self.threads.map(usize::from), self.memory, self.temp.as_deref())
    }
}

/// A number of bytes; `K`, `M` and `G` are powers of 1024.
fn size(text: &str) -> std::result::Result<usize, String> {
    let size = Config::new().with_binary().parse_size(text).map_err(|error| error.to_string())?;
    if size < MIN {
        let meant = if text.bytes().all(|byte| byte.is_ascii_digit()) {
            ": write its unit too, such as 512M"
        } else {
            ""
        };
        return Err(format!("must be at least {}M{meant}", MIN >> 20));
    }
    usize::try_from(size).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, bytes) in [("64M", 64 << 20), ("64MiB", 64 << 20), ("2g", 2 << 30), ("33554432", 32 << 20)]
        {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "M", "1K", "-1", "nothing"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
