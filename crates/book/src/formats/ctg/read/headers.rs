//! Checks whether three files are one book: their headers, and a page.

use std::path::{Path, PathBuf};

use tabiya_base::bytes;
use tabiya_base::error::{Error, Result};
use tabiya_base::map::Map;

use super::super::layout::{
    CTB_HEADER, CTB_START, CTG_PAGES, CTG_START, CTO_COUNT, CTO_HEADER, CTO_LOW, CTO_START, PAGE_HEADER,
    PAGE_LEN,
};
use super::super::signature::hash;
use super::index::{self, CtgIndex};
use super::page::{Page, pages_in};

/// Page numbers at the end of the index that are searched for pages.
const LOOKED_AT: u64 = 64;

/// Pages that are compared with the index; one that agrees is enough.
const ASKED: usize = 4;

/// Bytes at the start of the page file that are compared: the lengths of its header and of a page.
const CTG_MARK: usize = 4;

/// What to do with files of different books.
const TOGETHER: &str = "put the .ctg, .cto and .ctb of the same book together again, from a complete copy";

/// Refuses a file that is not the given part of a CTG book: 0 the pages, 1 the index, 2 the bitmap.
///
/// # Errors
/// When it is too short for its header, or does not begin as such a file does.
pub(crate) fn check_one(part: usize, path: &Path, map: &Map) -> Result<()> {
    let (header, start, kind) = match part {
        0 => (PAGE_LEN, CTG_START.get(..CTG_MARK).unwrap_or_default(), "the page file"),
        1 => (CTO_HEADER, &CTO_START[..], "the index"),
        _ => (CTB_HEADER, &CTB_START[..], "the bitmap"),
    };
    let len = map.len() as u64;
    if map.len() >= start.len() && !map.starts_with(start) {
        let what = format!("this is not {kind} of a CTG book");
        return Err(Error::format(path, what).at_offset(0).advice(TOGETHER));
    }
    if len < header {
        let what = format!(
            "{kind} of the CTG book is cut off: it has {len} bytes, and its header alone has {header}"
        );
        return Err(Error::format(path, what).at_offset(len).advice("copy the book again"));
    }
    Ok(())
}

/// Refuses three files that are not one CTG book.
///
/// # Errors
/// As [`check_one`] for each, and when they belong to different books.
pub fn check(files: &[PathBuf; 3], maps: &[Map; 3]) -> Result<()> {
    for (part, (path, map)) in files.iter().zip(maps).enumerate() {
        check_one(part, path, map)?;
    }
    let [ctg, cto, ctb] = maps;
    let Some(index) = CtgIndex::new(cto, ctb) else { return Ok(()) };
    let [ctg_path, cto_path, ctb_path] = files;
    // A file that is cut off does not show where it belongs: the rest of it is played.
    let cut = index.held() < index.count || index.bits() < index.high;
    let low = index.low_copy().unwrap_or_default();
    let other = |(what, offset): (String, u64), path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let what = format!("{what}: it does not belong to {name}");
        Err(Error::format(cto_path, what).at_offset(offset).advice(TOGETHER))
    };
    if cut && low != index.low {
        let what = format!("the index has the lower bound {low}, but its bitmap {}", index.low);
        return other((what, CTO_LOW), ctb_path);
    }
    if cut {
        return Ok(());
    }
    let needed = index.last_leaf() + 1;
    // There may be more numbers than leaves, if they name nothing.
    let end = needed.max(index.held().saturating_sub(LOOKED_AT));
    let surplus = || (end..index.held()).any(|node| index.page(node).is_some());
    if needed > index.count || needed < index.count && (low != index.low || surplus()) {
        let what =
            format!("the index claims to hold {} page numbers, but its bitmap needs {needed}", index.count);
        return other((what, CTO_COUNT), ctb_path);
    }
    pages(index, ctg).or_else(|finding| other(finding, ctg_path))
}

/// Compares pages that the end of the index names with the index; fails if none agrees and some do not.
fn pages(index: CtgIndex<'_>, ctg: &[u8]) -> std::result::Result<(), (String, u64)> {
    let said: u64 = bytes::u32_be(ctg, CTG_PAGES).unwrap_or_default().into();
    let pages = said.max(pages_in(ctg.len() as u64));
    let end = index.held().min(index.last_leaf() + 1);
    let named = (end.saturating_sub(LOOKED_AT)..end).rev().filter_map(|leaf| Some((leaf, index.page(leaf)?)));
    let mut disagrees = None;
    for (leaf, number) in named.take(ASKED) {
        if u64::from(number) >= pages {
            let what = format!("the index names page {number}, but the file has only {pages}");
            disagrees.get_or_insert((what, index::offset(leaf)));
            continue;
        }
        let entry = Page::get(ctg, number).and_then(|page| page.entry(PAGE_HEADER).ok());
        let Some(entry) = entry else { continue };
        if index.leaf(hash(entry.signature)) == leaf {
            return Ok(());
        }
        let what = format!("the index names page {number} for positions that are not on it");
        disagrees.get_or_insert((what, index::offset(leaf)));
    }
    disagrees.map_or(Ok(()), Err)
}
