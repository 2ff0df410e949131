//! The books of the configuration, as the adapter asks them: which one answers in a position, and under which rule.

use std::io::{self, Write};

use shakmaty::{CastlingMode, Position as _};

use tabiya_adapter::io::book_loader::{BookLoader, of_other_rules};
use tabiya_adapter::settings::effect::idle;
use tabiya_adapter::settings::opponent::{Mismatch, Opponent};
use tabiya_adapter::settings::options::Options;
use tabiya_adapter::settings::rules::{Rule, rule_name};
use tabiya_adapter::settings::{Config, FILE_NAME, Given};
use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_book::BookSet;
use tabiya_book::choose::Policy;
use tabiya_book::traits::Book;
use tabiya_chess::{Game, Variant};
use tabiya_learn as learn;
use tabiya_workshop::view::{AskedBook, View};

use super::Args;
use crate::output::exit::Exit;
use crate::output::{self, Look};

/// The books of the configuration.
struct Configured<'a> {
    set: BookSet,
    rules: &'a [Rule],
    /// The values of the options.
    options: Policy,
    /// The opponent, if one is named.
    opponent: Option<Opponent>,
}

/// Shows the positions in the books of the configuration, or lists games.
///
/// # Errors
/// As [`super::run`].
pub(super) fn run(args: &Args) -> Result<Exit> {
    let config = Config::load(Given::default(), args.config.as_deref())?;
    config.warnings.iter().for_each(|warning| output::warn(warning));
    if config.file.is_none() {
        let what = format!("no book is named, and there is no {FILE_NAME}");
        return Err(Error::new(ErrorKind::Usage, what).advice("name a book, as in `tabiya show book.bin`"));
    }
    let variant = args.variant.named().unwrap_or_else(|| config.variant());
    let files = config.options.books_of(variant);
    let files = files.filter(|files| variant == Variant::Chess || !files.are_unnamed()).ok_or_else(|| {
        let what = format!("no book is named for {variant}");
        let advice = format!("name one in {FILE_NAME} below a line [variant.{variant}]");
        Error::new(ErrorKind::Usage, what).advice(advice)
    })?;
    let found = files.names().filter_map(|name| config.search_paths.find_books(name).ok());
    found.flat_map(|found| found.paths).for_each(|path| learn::settle(&path));
    let options = args.policy.over(&config.options.policy);
    let loader = BookLoader { search_paths: config.search_paths.clone() };
    let (set, problems) = loader.open(files, files.need_evaluations(&options));
    let unopened = problems.iter().any(|problem| problem.unopened);
    problems.iter().for_each(|problem| output::warn(&problem.what));
    let all = Options { policy: options.clone(), ..config.options.clone() };
    idle(&all, files, &set).iter().for_each(|said| output::warn(said));
    if variant == Variant::Chess && !files.are_unnamed() {
        let wrong = set.distinct();
        let wrong = wrong.iter().filter_map(|book| of_other_rules(&**book, variant));
        wrong.for_each(|what| output::warn(&what));
    }
    let opponent = match &args.opponent {
        Some(value) => Opponent::parse(value),
        None => Opponent::among(&config.settings),
    };
    let is_named = args.opponent.is_some() || !opponent.is_unknown();
    let opponent = is_named.then_some(opponent);
    let mut configured = Configured { set, rules: files.both.rules(), options, opponent };
    let exit = if unopened { Exit::File } else { Exit::Done };
    output::print(|out| {
        let books = configured.set.distinct();
        let known = super::each(args, (&books, variant), out, |game, mode, look, out| {
            configured.position(game, mode, look, out)
        })?;
        Ok(if known { exit } else { exit.max(Exit::Findings) })
    })
}

impl Configured<'_> {
    /// Shows a position in the books that are asked for the side to move, as a table or (without a look) as JSON.
    fn position(
        &mut self,
        game: &Game,
        mode: CastlingMode,
        look: Option<Look>,
        out: &mut dyn Write,
    ) -> io::Result<bool> {
        let color = game.position().chess().turn();
        let mut known = false;
        let (mut skipped, mut answer) = (Vec::new(), None);
        for (index, book) in self.set.books(color).to_vec().into_iter().enumerate() {
            let number = self.set.rule(color, index);
            let rule = number.and_then(|number| self.rules.get(number.checked_sub(1)?));
            let policy = rule.map_or_else(|| self.options.clone(), |rule| rule.policy(&self.options));
            let from = if number.is_some() { index } else { 0 };
            let mut view = View::look_up(&*book, (&mut self.set, from), game, mode, &policy);
            let mismatch = rule.zip(self.opponent.as_ref()).and_then(|(rule, other)| rule.mismatch(other));
            let why = mismatch.map(Mismatch::as_str);
            let chosen = answer.is_none() && view.line.is_some() && why.is_none();
            view.asked = Some(AskedBook { rule: number, chosen, skipped: why });
            skipped.extend(why.map(|why| format!("{} is skipped: {why}.", name(&*book, number))));
            known |= !view.moves.is_empty();
            super::print(&view, look, out)?;
            if chosen {
                answer = Some(self.answers(&*book, number, rule));
            }
        }
        if look.is_some() {
            skipped.iter().try_for_each(|line| writeln!(out, "{line}"))?;
            let answer = answer.unwrap_or_else(|| "No book answers here: the engine does.".to_owned());
            writeln!(out, "{answer}\n")?;
        }
        Ok(known)
    }

    /// The sentence that a book answers, with the conditions that do not depend on the position.
    fn answers(&self, book: &dyn Book, number: Option<usize>, rule: Option<&Rule>) -> String {
        let opponents = rule.and_then(Rule::opponents).filter(|_| self.opponent.is_none());
        let conditions: Vec<_> = opponents.into_iter().chain(rule.map(limits).unwrap_or_default()).collect();
        let name = name(book, number);
        if conditions.is_empty() {
            return format!("{name} answers.");
        }
        format!("{name} answers, if {}.", conditions.join(" and "))
    }
}

/// What a book of the configuration is called.
fn name(book: &dyn Book, number: Option<usize>) -> String {
    match number {
        Some(number) => rule_name(number, book.path()),
        None => book.path().display().to_string(),
    }
}

/// The conditions of a rule that depend on the clock and on the game so far.
fn limits(rule: &Rule) -> Vec<String> {
    let clock = rule.min_clock().filter(|seconds| *seconds > 0);
    let clock = clock.map(|seconds| format!("at least {seconds} s are left on the clock"));
    let uses = rule.max_uses().map(|most| format!("it has answered fewer than {most} moves of the game"));
    clock.into_iter().chain(uses).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use tabiya_adapter::settings::rules::Rule;
    use tabiya_book as book;

    use super::*;

    /// What is shown of a position in the starter book under these rules, as a table and as JSON.
    fn shown(rules: &[Rule], moves: &str) -> (String, String) {
        shown_against(None, rules, moves)
    }

    fn shown_against(opponent: Option<&str>, rules: &[Rule], moves: &str) -> (String, String) {
        let opponent = opponent.map(Opponent::parse);
        let mut game = Game::start();
        moves.split_whitespace().for_each(|mv| assert!(game.push_uci(mv.as_bytes())));
        let book = book::open_book("crates/book/books/starter.bin").unwrap();
        let numbered = (1..).zip(rules).map(|(number, rule)| (number, rule.color(), Arc::clone(&book)));
        let set = BookSet::default().with_rules(numbered);
        let mut configured = Configured { set, rules, options: Policy::default(), opponent };
        let (mut text, mut json) = (Vec::new(), Vec::new());
        let mode = CastlingMode::Standard;
        configured.position(&game, mode, Some(Look::default()), &mut text).unwrap();
        configured.position(&game, mode, None, &mut json).unwrap();
        (String::from_utf8(text).unwrap(), String::from_utf8(json).unwrap())
    }

    fn answer(rules: &[Rule], moves: &str) -> String {
        shown(rules, moves).0.trim_end().lines().next_back().unwrap_or_default().to_owned()
    }

    #[test]
    fn the_first_rule_that_holds_answers() {
        let early = Rule::default().with("depth", "1").with("color", "white");
        let best = Rule::default().with("variety", "0").with("min-clock", "30").with("max-uses", "2");
        let rules = [early, best];
        assert_eq!(answer(&rules, ""), "rule 1 (starter.bin) answers.");
        let conditions =
            "if at least 30 s are left on the clock and it has answered fewer than 2 moves of the game.";
        for moves in ["e2e4", "e2e4 e7e5"] {
            assert_eq!(answer(&rules, moves), format!("rule 2 (starter.bin) answers, {conditions}"));
        }
        assert_eq!(answer(&rules, "a2a3 a7a6 h2h3"), "No book answers here: the engine does.");
        let (text, json) = shown(&rules, "");
        assert!(text.contains("rule 1: crates/book/books/starter.bin (polyglot): "), "{text}");
        assert!(text.contains("rule 2: crates/book/books/starter.bin (polyglot): 1 of "), "{text}");
        let lines: Vec<&str> = json.lines().collect();
        assert!(
            lines[0].ends_with(r#"],"rule":1,"chosen":true,"opening":null}"#)
                && lines[1].ends_with(r#","rule":2,"chosen":false,"opening":null}"#)
        );
        assert_eq!(shown(&rules, "e2e4").1.lines().count(), 1);
    }

    #[test]
    fn a_rule_for_other_opponents_is_skipped() {
        let bots = Rule::default().with("opponent", "computer").with("opponent-rating", "2000..");
        let rules = [bots, Rule::default().with("opponent-name", "*, magnus")];
        assert_eq!(
            answer(&rules, ""),
            "rule 1 (starter.bin) answers, if the opponent is a computer and is rated 2000 or more."
        );
        for (opponent, says) in [
            (
                "none 2000 computer X",
                "is skipped: the opponent has another name than its opponent-name.\nrule 1 (starter.bin) answers.",
            ),
            ("GM 2850 human Gary Kasparov", "has another name than its opponent-name.\nNo book"),
            (
                "none none human Carlsen, Magnus",
                "rule 1 (starter.bin) is skipped: the opponent is a human.\nrule 2 (starter.bin) answers.",
            ),
            (
                "none none computer X",
                "rule 1 (starter.bin) is skipped: the opponent's rating is not known.\nrule 2",
            ),
        ] {
            let (text, json) = shown_against(Some(opponent), &rules, "");
            assert!(text.contains(says), "{opponent}: {text}");
            let skipped = json.matches(r#""chosen":false,"skipped":"the opponent"#).count();
            assert_eq!(skipped, text.matches("is skipped").count(), "{json}");
        }
    }
}
