//! `learn show --against`: what a book has learned, beside what files of the games say.

use std::collections::BTreeMap;
use std::io::Write;

use serde_json::json;

use tabiya_base::error::{Error, ErrorKind};
use tabiya_base::interrupt;
use tabiya_learn::{Compared, IdentifiedGame, Learner, Source};
use tabiya_workshop::source::open_games;

use super::ShowArgs;
use super::collect::GameCollector;
use super::recent::{cause, result_of};
use crate::args::player::PlayerArg;
use crate::output::exit::Exit;
use crate::output::interrupts;
use crate::output::rows::{self, many};
use crate::output::{self, Printed};

/// The most games with another result that are listed.
const MAX_LISTED: usize = 10;

/// What the comparison found.
#[derive(Default)]
struct Totals {
    games: u64,
    right: u64,
    /// Those of them whose result is a guess.
    guesses: u64,
    wrong: u64,
    /// The wrong ones, by how the result was found.
    wrong_by: BTreeMap<String, u64>,
    missing: u64,
    /// The first of the wrong ones: the game, what was learned, and what the file says.
    listed: Vec<[String; 3]>,
}

impl Totals {
    fn add(&mut self, IdentifiedGame { game, source, .. }: &IdentifiedGame, compared: Compared) {
        match compared {
            // What has no result has nothing to learn.
            Compared::Missing if *source == Source::Unfinished => return,
            Compared::Missing => self.missing += 1,
            Compared::Right { guess } => {
                self.right += 1;
                self.guesses += u64::from(guess);
            }
            Compared::Wrong { learned, title } => {
                self.wrong += 1;
                *self.wrong_by.entry(cause(&title).to_owned()).or_default() += 1;
                if self.listed.len() < MAX_LISTED {
                    self.listed.push([game.note.clone(), result_of(learned).to_owned(), title]);
                }
            }
        }
        self.games += 1;
    }
}

/// Compares the games of the files with what the journal of the book knows.
pub fn show(args: &ShowArgs, learner: &mut Learner, out: &mut dyn Write) -> Printed<Exit> {
    let player = args.player.as_ref().map(PlayerArg::names).transpose()?;
    let mut source = open_games(&args.against)?.of_variant(args.variant.variant())?;
    let passed_over = output::sources_passed_over(&source);
    interrupts::watch();
    let mut collector = GameCollector::new(player, false);
    let mut comparison = learner.comparison()?;
    let mut totals = Totals::default();
    while let Some(batch) = source.next_batch()? {
        batch.play(&mut collector);
        for game in collector.take() {
            let compared = comparison.compare(&game);
            totals.add(&game, compared);
        }
        if interrupt::asked() {
            return Err(Error::new(ErrorKind::Interrupted, "interrupted").into());
        }
    }
    let (dropped, others) = (learner.dropped(&comparison)?, comparison.left() as u64);
    totals.missing = totals.missing.saturating_sub(dropped);
    let name = args.of.book.display().to_string();
    match args.json {
        true => json(&name, &totals, dropped, others, out)?,
        false => text(&name, &totals, dropped, others, out)?,
    }
    for error in &collector.errors {
        output::warn(&error.to_string());
    }
    let found = totals.wrong > 0 || !collector.errors.is_empty();
    Ok(if found { Exit::Findings } else { passed_over })
}

fn text(name: &str, totals: &Totals, dropped: u64, others: u64, out: &mut dyn Write) -> std::io::Result<()> {
    let Totals { games, right, guesses, wrong, wrong_by, missing, listed } = totals;
    writeln!(out, "{name}: {} compared", many(*games, "game"))?;
    writeln!(out, "  right: {right}, {guesses} of them by a guess")?;
    writeln!(out, "  wrong: {wrong}")?;
    wrong_by.iter().try_for_each(|(cause, count)| writeln!(out, "    {count} {cause}"))?;
    for [game, learned, title] in listed {
        writeln!(out, "    {game}: learned as {learned} ({title})")?;
    }
    writeln!(out, "  not learned: {missing}")?;
    for (count, what) in
        [(dropped, "learned too long ago to be compared"), (others, "learned, but not in these files")]
    {
        if count > 0 {
            writeln!(out, "  {what}: {count}")?;
        }
    }
    if *wrong > 0 {
        writeln!(out, "`tabiya learn games` with these files corrects them")?;
    }
    Ok(())
}

fn json(name: &str, totals: &Totals, dropped: u64, others: u64, out: &mut dyn Write) -> std::io::Result<()> {
    let Totals { games, right, guesses, wrong, wrong_by, missing, .. } = totals;
    let line = json!({
        "book": name, "games": games, "right": right, "guesses": guesses, "wrong": wrong, "wrong_by": wrong_by,
        "missing": missing, "dropped": dropped, "others": others,
    });
    rows::json(&line, out)
}
