//! The report for one player: where the repertoire was forgotten, and what it does not cover.

use std::io::{self, Write};

use tabiya_book::Counts;
use tabiya_workshop::report::{Leave, LeaveReason};
use tabiya_workshop::view::san;

use super::ReportTotals;
use super::text::{book_moves, line_to, share};
use crate::output::rows::many;

pub(super) fn report(found: &ReportTotals, name: &str, top: usize, out: &mut dyn Write) -> io::Result<()> {
    let sums = &found.sums;
    let Counts { wins, draws, losses, .. } = sums.all.counts;
    writeln!(out, "{} of {name}: {wins} won, {draws} drawn, {losses} lost", many(found.games, "game"))?;
    writeln!(out, "in the book for {:.1} plies a game", sums.all.mean_plies())?;
    let forgotten =
        sums.most(|leave| leave.by_player == Some(true) && matches!(leave.left, LeaveReason::Side(_)));
    let games: u64 = forgotten.iter().map(|leave| leave.group.counts.games).sum();
    if forgotten.is_empty() {
        writeln!(out, "\nYou never left the book where it had a move.")?;
    } else {
        writeln!(out, "\nYou left the book in {}, most often here:", many(games, "game"))?;
        for leave in forgotten.iter().take(top) {
            let Some(exit) = leave.exit(&found.books) else { continue };
            let book: Vec<_> = exit.book_moves.iter().take(3).map(|known| san(&exit.at, known.mv)).collect();
            let played = exit.played.map(|mv| san(&exit.at, mv)).unwrap_or_default();
            let Counts { wins, draws, losses, .. } = leave.group.counts;
            let (times, line) = (many(leave.group.counts.games, "time"), line_to(leave, &exit));
            writeln!(
                out,
                "  {times}: after {line} you played {played}; the book plays {}  (+{wins} ={draws} -{losses})",
                book.join(" or ")
            )?;
        }
    }
    let places = |leaves: Vec<&Leave>, heading: &str, played: &str, out: &mut dyn Write| -> io::Result<()> {
        let games: u64 = leaves.iter().map(|leave| leave.group.counts.games).sum();
        if games == 0 {
            return Ok(());
        }
        writeln!(out, "\n{heading} in {}, most often:", many(games, "game"))?;
        for leave in leaves.iter().take(top) {
            let Some(exit) = leave.exit(&found.books) else { continue };
            let mv = exit.played.map(|mv| format!(", {played} {}", san(&exit.at, mv))).unwrap_or_default();
            let counts = leave.group.counts;
            let own = if leave.by_player == Some(true) { counts } else { counts.swapped() };
            let (games, line) = (many(leave.group.counts.games, "game"), line_to(leave, &exit));
            writeln!(out, "  {games}: after {line}{mv} (you scored {}){}", share(own), book_moves(&exit))?;
        }
        Ok(())
    };
    let replies = sums.most(|leave| leave.by_player == Some(false) && leave.left != LeaveReason::GameEnded);
    places(replies, "Your opponents played what the book does not cover", "they played", out)?;
    let ends = sums.most(|leave| leave.by_player == Some(true) && leave.left == LeaveReason::BookEnded);
    places(ends, "The book ended where it was your move", "you played", out)
}
