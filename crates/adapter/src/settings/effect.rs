//! Settings that have no effect: what each needs besides itself is in its row of the table.

use shakmaty::Color;

use tabiya_book::{BookSet, CountsGames};

use super::books::BookFiles;
use super::options::{Options, UsedPolicy};
use super::rules::{Rule, rule_name};
use super::table::{self, OWN_BOOK, SettingRow};

/// The rule that a policy belongs to, with its number; `None` for the policy of the options.
type Owner<'a> = Option<(usize, &'a Rule)>;

/// What is said of each setting that has no effect beside the others: for the log, for doctor and for `show`.
pub fn idle(options: &Options, files: &BookFiles, set: &BookSet) -> Vec<String> {
    if !options.own_book {
        return vec![format!("{OWN_BOOK} is false: the engine plays every move")];
    }
    let used = used(options, files, set);
    table::options().flat_map(|row| said(row, options, &used)).collect()
}

/// The policies by which the books of a set answer.
fn used<'a>(options: &Options, files: &'a BookFiles, set: &BookSet) -> Vec<(Owner<'a>, UsedPolicy)> {
    let mut used: Vec<(Owner<'a>, UsedPolicy)> = Vec::new();
    for color in Color::ALL {
        for (index, book) in set.books(color).iter().enumerate() {
            let number = set.rule(color, index);
            let rule =
                number.and_then(|number| Some((number, files.both.rules().get(number.checked_sub(1)?)?)));
            let has_evaluations = set.evaluations(&**book).is_some();
            let counts_games = book.format().games() != CountsGames::No;
            let same = |(owner, _): &&mut (Owner<'_>, _)| owner.map(|(number, _)| number) == number;
            match used.iter_mut().find(same) {
                Some((_, known)) => {
                    known.has_evaluations |= has_evaluations;
                    known.counts_games |= counts_games;
                }
                None => {
                    let policy =
                        rule.map_or_else(|| options.policy.clone(), |(_, rule)| rule.policy(&options.policy));
                    used.push((rule, UsedPolicy { policy, has_evaluations, counts_games }));
                }
            }
        }
    }
    used
}

/// What is said of a setting: once if the options set it in vain, else for each rule that does.
fn said(row: &SettingRow, options: &Options, used: &[(Owner<'_>, UsedPolicy)]) -> Vec<String> {
    let of_options = row.is_changed(options.clone());
    let all = |why: &str| vec![format!("{} has no effect: {why}", row.name)];
    if !row.is_of_policy() {
        let policies: Vec<_> = used.iter().map(|(_, used)| used).collect();
        let lack = if of_options && !used.is_empty() { row.lack(options, &policies) } else { None };
        return lack.map(all).unwrap_or_default();
    }
    let is_set = |(_, used): &&(Owner<'_>, UsedPolicy)| {
        row.is_changed(Options { policy: used.policy.clone(), ..options.clone() })
    };
    let set: Vec<_> = used.iter().filter(is_set).collect();
    let idle: Vec<_> =
        set.iter().filter_map(|(owner, used)| Some((*owner, row.lack(options, &[used])?))).collect();
    let own = |owner: Owner<'_>| owner.is_some_and(|(_, rule)| rule.given.text(row.key).is_some());
    let is_replaced = of_options && !used.is_empty() && used.iter().all(|(owner, _)| own(*owner));
    if let Some((_, why)) = idle.first()
        && of_options
        && !is_replaced
        && idle.len() == set.len()
    {
        return all(why);
    }
    let replaced = if is_replaced { all("each [[book]] table has its own") } else { Vec::new() };
    let of_rules = idle.iter().filter(|(owner, _)| own(*owner)).filter_map(|(owner, why)| {
        let (number, rule) = (*owner)?;
        Some(format!("{}: {} has no effect: {why}", rule_name(number, rule.file.as_ref()), row.key))
    });
    replaced.into_iter().chain(of_rules).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tabiya_book::Evaluations;
    use tabiya_book::traits::Book;
    use tabiya_chess::{Position, Value};
    use tabiya_uci::SetOption;

    use super::*;
    use crate::settings::books::BookList;

    struct Nothing;

    impl Evaluations for Nothing {
        fn value(&self, _: &Position) -> Option<Value> {
            None
        }
    }

    /// What is said of these options and rules; `evaluated`: whether a store is beside the book.
    fn idle_of(set: &[(&str, &str)], rules: &[&[(&'static str, &str)]], evaluated: bool) -> Vec<String> {
        let mut options = Options::default();
        for (name, value) in set {
            options.set(&SetOption { name: name.as_bytes(), value: value.as_bytes() }).unwrap().unwrap();
        }
        let rule = |values: &&[(&'static str, &str)]| {
            let start = Rule { file: "a.bin".to_owned(), ..Rule::default() };
            values.iter().fold(start, |rule, (key, value)| rule.with(key, value))
        };
        let rules: Vec<Rule> = rules.iter().map(rule).collect();
        let book: Arc<dyn Book> = tabiya_book::starter_book().unwrap();
        let plain = if rules.is_empty() { vec![Arc::clone(&book)] } else { Vec::new() };
        let numbered = (1..).zip(&rules).map(|(number, rule)| (number, rule.color(), Arc::clone(&book)));
        let mut books = BookSet::new(&[], &[], &plain).with_rules(numbered.collect::<Vec<_>>());
        if evaluated {
            books = books.with_evaluations([(book, Arc::new(Nothing) as Arc<dyn Evaluations>)]);
        }
        let both = if rules.is_empty() { BookList::Unnamed } else { BookList::Rules(rules) };
        idle(&options, &BookFiles { both, ..BookFiles::default() }, &books)
    }

    #[test]
    fn each_setting_needs_what_its_row_says() {
        let none = "there are no evaluations beside the book (BOOK.evals), and Book Guard is 0";
        let loss = format!("Book Max Loss has no effect: {none}");
        let of_rule = format!("rule 2 (a.bin): max-loss has no effect: {none}");
        let guard = "Book Guard has no effect: Book Max Loss is 0, which allows every loss";
        let fresh = "Book Fresh has no effect: Book Variety is 0: the best move is always played";
        type Case<'a> = (&'a [(&'a str, &'a str)], &'a [&'a [(&'static str, &'a str)]], bool, &'a [&'a str]);
        let cases: &[Case<'_>] = &[
            (&[][..], &[][..], false, &[][..]),
            (
                &[("OwnBook", "false"), ("Book Guard", "50")],
                &[],
                false,
                &["OwnBook is false: the engine plays every move"],
            ),
            (&[("Book Max Loss", "50")], &[], false, &[&*loss]),
            (&[("Book Max Loss", "50")], &[], true, &[]),
            (&[("Book Max Loss", "50"), ("Book Guard", "100")], &[], false, &[]),
            (&[("Book Guard", "100")], &[], true, &[guard]),
            (&[("Book Fresh", "true"), ("Book Variety", "0")], &[], false, &[fresh]),
            (&[("Book Fresh", "true"), ("Book Variety", "0")], &[&[("variety", "9")], &[]], false, &[]),
            (&[("Book Fresh", "true")], &[&[("variety", "0")]], false, &[fresh]),
            (
                &[("Book Fresh File", "x")],
                &[],
                false,
                &["Book Fresh File has no effect: Book Fresh is false"],
            ),
            (&[("Book Factor", "false")], &[], false, &[]),
            (
                &[("Book Factor", "false"), ("Book Tournament", "false")],
                &[],
                false,
                &["Book Factor has no effect: Book Tournament is false"],
            ),
            (
                &[("Book Learn Margin", "9")],
                &[],
                false,
                &["Book Learn Margin has no effect: Book Learn is false"],
            ),
            (&[], &[&[], &[("max-loss", "9")]], false, &[&*of_rule]),
            (
                &[],
                &[&[("guard", "9")], &[("guard", "9"), ("max-loss", "9")]],
                false,
                &["rule 1 (a.bin): guard has no effect: Book Max Loss is 0, which allows every loss"],
            ),
            (
                &[("Book Depth", "9")],
                &[&[("depth", "3")]],
                false,
                &["Book Depth has no effect: each [[book]] table has its own"],
            ),
        ];
        for (set, rules, evaluated, says) in cases {
            assert_eq!(idle_of(set, rules, *evaluated), *says, "{set:?} {rules:?}");
        }
    }
}
