//! Archives in a program that cannot read them.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use tabiya_base::error::{Error, ErrorKind, Result};

use super::Member;

pub(crate) fn members(path: &Path) -> Result<Vec<Member>> {
    let what = "this is a zip archive, which this program was built without support for";
    Err(Error::new(ErrorKind::Usage, what).at_path(path).advice("unpack it first"))
}

impl Member {
    pub fn open<R: Read>(&self, _: impl FnOnce(io::Take<File>) -> R) -> io::Result<Box<dyn Read + Send>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
