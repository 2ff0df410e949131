//! What the sources cite of docs/formats exists.

use std::path::PathBuf;

use super::{fs, root};

fn headings(page: &str) -> Option<Vec<String>> {
    let text = fs::read_to_string(root().join("docs/formats").join(page)).ok()?;
    let mut inside = false;
    let mut headings = vec![];
    for line in text.lines() {
        inside ^= line.starts_with("```");
        let heading = line.trim_start_matches('#');
        headings.extend((!inside && heading.len() < line.len()).then(|| heading.trim().to_owned()));
    }
    Some(headings)
}

/// The citations in a source text that lead nowhere: `docs/formats/ctg.md`, or with a section after a comma.
fn wrong(text: &str) -> Vec<String> {
    // A citation may be broken over two lines of a comment.
    let mut joined = String::new();
    for line in text.lines() {
        match line.trim_start().strip_prefix("//") {
            Some(comment) => joined += &format!(" {}", comment.trim_start_matches(['/', '!']).trim()),
            None => joined += &format!("\n{line}"),
        }
    }
    let mut wrong = vec![];
    for (at, _) in joined.match_indices("docs/formats/") {
        let cited = &joined[at + "docs/formats/".len()..];
        let length = cited.find(".md").map_or(0, |end| end + 3);
        let (page, rest) = cited.split_at(length);
        let Some(headings) = headings(page) else {
            wrong.push(page.to_owned());
            continue;
        };
        let section = rest.strip_prefix(", ").filter(|section| section.starts_with(char::is_uppercase));
        let is_it = |heading: &String| {
            let rest = section.and_then(|section| section.strip_prefix(heading.as_str()));
            rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        };
        if section.is_some() && !headings.iter().any(is_it) {
            wrong.push(format!("{page}{}", rest.lines().next().unwrap_or_default()));
        }
    }
    wrong
}

#[test]
fn what_the_sources_cite_exists() {
    let mut folders = vec![root().join("src"), root().join("crates")];
    let mut cited = 0;
    while let Some(folder) = folders.pop() {
        let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        for path in paths.collect::<Vec<PathBuf>>() {
            // The citations here are wrong on purpose.
            if path.ends_with("citations.rs") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                cited += text.matches("docs/formats/").count();
                assert_eq!(wrong(&text), [""; 0], "{}", path.display());
            }
        }
    }
    assert!(cited > 20, "{cited}");
}

#[test]
fn a_wrong_citation_is_found() {
    assert_eq!(wrong("/// See docs/formats/none.md."), ["none.md"]);
    assert_eq!(wrong("/// A thing (docs/formats/ctg.md, No such section).").len(), 1);
    for sound in [
        "/// A thing (docs/formats/ctg.md, Move table).",
        "//! described in `docs/formats/ctg.md`, which is long.",
        "/// A thing (docs/formats/ctg.md,\n    /// Move table).",
        "/// Described in docs/formats/ctg.md. Another sentence.",
    ] {
        assert_eq!(wrong(sound), [""; 0], "{sound}");
    }
}

#[test]
fn every_page_is_in_the_table_of_the_first() {
    let table = fs::read_to_string(root().join("docs/formats/README.md")).unwrap();
    let link = |line: &str| Some(line.strip_prefix("| [")?.split_once("](")?.1.split(')').next()?.to_owned());
    let mut listed: Vec<_> = table.lines().filter_map(link).collect();
    let pages = fs::read_dir(root().join("docs/formats")).unwrap();
    let mut pages: Vec<_> = pages.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    pages.retain(|name| name.ends_with(".md") && name != "README.md");
    pages.sort();
    listed.sort();
    assert_eq!(listed, pages);
}
