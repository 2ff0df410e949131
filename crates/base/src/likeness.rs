//! Names that come near one that is not known, and how that is said.

use strsim::jaro_winkler;

/// The most names that a message has.
const MAX_NAMED: usize = 3;

/// The most pairs of names that are compared for it: who has a list of thousands has not misspelt all of them.
const MAX_PAIRS: usize = 1 << 18;

/// How alike names are that may be mixed up, from 0 to 1: "Karlsen" and "Carlsen, Magnus" are.
const ALIKE: f64 = 0.85;

/// Those of the names that come near one of `wanted`, at most three, the nearest first.
pub fn nearest<'a>(wanted: &[&str], names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let names: Vec<&str> = names.into_iter().collect();
    let most = MAX_PAIRS / names.len().max(1);
    let wanted: Vec<_> = wanted.iter().take(most).map(|name| words(name)).collect();
    let alike = names.into_iter().map(|known| (likeness(&wanted, known), known));
    first(alike.filter(|(alike, _)| *alike >= ALIKE))
}

/// The first three names by their numbers, the greatest first, then in order.
pub fn first<'a>(named: impl IntoIterator<Item = (f64, &'a str)>) -> Vec<&'a str> {
    let mut named: Vec<_> = named.into_iter().collect();
    named.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    named.into_iter().take(MAX_NAMED).map(|(_, name)| name).collect()
}

/// `names that come near are "A" and "B"`; empty for none.
pub fn in_words(near: &[&str]) -> String {
    match near.len() {
        0 => String::new(),
        1 => format!("a name that comes near is {}", listed(near)),
        _ => format!("names that come near are {}", listed(near)),
    }
}

/// `"A", "B" and "C"`; empty for none.
pub fn listed(names: &[&str]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("{name:?}")).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
        None => String::new(),
    }
}

/// How alike a name is to the most similar of these, from 0 to 1, whatever the order of its words.
fn likeness(all: &[Vec<String>], name: &str) -> f64 {
    let name = words(name);
    let of = |known: &Vec<String>| {
        let best = |word: &String| name.iter().map(|other| jaro_winkler(word, other)).fold(0.0, f64::max);
        known.iter().map(best).sum::<f64>() / known.len().max(1) as f64
    };
    all.iter().map(of).fold(0.0, f64::max)
}

/// The words of a name in lower case.
fn words(name: &str) -> Vec<String> {
    let words = name.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}
