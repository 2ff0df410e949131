//! How moves are chosen, as arguments: the workshop's form of the adapter's options of the same names.

use clap::ArgAction;
use clap::builder::RangedU64ValueParser;

use crate::choose::{MAX_LOSS_MAX, Policy};

/// Which of a book's moves may be played, and how often.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Which moves may be played, and how often")]
pub(crate) struct PolicyArgs {
    /// 0 = always the best move, 50 = by weight, 100 = every playable move equally often [default: 50]
    #[arg(long, value_name = "0-100", value_parser = up_to(100))]
    variety: Option<u32>,
    /// Last full move that the book answers; 0 = no limit [default: 0]
    #[arg(long, value_name = "MOVE", value_parser = up_to(1000))]
    depth: Option<u32>,
    /// Share of the position's weight that a move needs, in thousandths [default: 5]
    #[arg(long, value_name = "0-1000", value_parser = up_to(1000))]
    threshold: Option<u32>,
    /// Games that a move needs, in formats that count them [default: 0]; without a number, after the books: list the games
    /// that the books refer to
    ///
    /// The list has the players with their Elo, the result, the source and the offset of each game. Without a position it
    /// has all games of the book, with one the game that the book keeps for it and those for the positions after its
    /// moves.
    #[arg(long, value_name = "GAMES", value_parser = games, num_args = 0..=1)]
    games: Option<Option<u32>>,
    /// Leave the book when its line has fewer plies left than this [default: 0]
    #[arg(long, value_name = "PLIES", value_parser = up_to(100))]
    reserve: Option<u32>,
    /// Play no move that loses more than this many centipawns, by the store of evaluations beside the book; 0 = no limit
    /// [default: 0]
    #[arg(long, value_name = "CENTIPAWNS", value_parser = up_to(MAX_LOSS_MAX.into()))]
    max_loss: Option<u32>,
    /// Honour the book's own recommendations: colours, marks and limits [default: true]
    ///
    /// With true, red moves and moves marked ?, ?? or ?! of a CTG book are never played. A move marked as the only move is
    /// played alone. Where there is a green move, only green moves are played, whatever their statistics. The moves that
    /// are left weigh 2 for each win of the side to move and 1 for each draw. With false, colours are ignored, and marks
    /// multiply the weight: ! by 1.23, !! by 1.46, ?, ?? and ?! by 0. The limits of an Arena book apply only with true.
    #[arg(long, value_name = "true|false", action = ArgAction::Set)]
    tournament: Option<bool>,
    /// Allow a book move that brings about a position for the third time
    #[arg(long)]
    repeats: bool,
    /// Let the results that the book has learned affect the weights
    #[arg(long)]
    learn: bool,
}

impl PolicyArgs {
    /// The policy: the arguments, and the default of the adapter's options for each that is not given.
    pub fn policy(&self) -> Policy {
        self.over(&Policy::default())
    }

    /// The policy: the arguments, and `options` for each that is not given.
    pub(crate) fn over(&self, options: &Policy) -> Policy {
        Policy {
            variety: self.variety.unwrap_or(options.variety),
            depth: self.depth.unwrap_or(options.depth),
            threshold: self.threshold.unwrap_or(options.threshold),
            games: self.games.flatten().unwrap_or(options.games),
            reserve: self.reserve.unwrap_or(options.reserve),
            max_loss: self.max_loss.unwrap_or(options.max_loss),
            tournament: self.tournament.unwrap_or(options.tournament),
            repeats: self.repeats || options.repeats,
            learn: self.learn || options.learn,
        }
    }

    /// Whether to list the games that the books refer to.
    pub(crate) fn lists_games(&self) -> bool {
        self.games == Some(None)
    }
}

fn up_to(most: u64) -> RangedU64ValueParser<u32> {
    RangedU64ValueParser::new().range(..=most)
}

fn games(text: &str) -> Result<u32, String> {
    match text.parse::<u64>().map(u32::try_from) {
        Ok(Ok(games)) if games <= 1_000_000 => Ok(games),
        Ok(_) => Err("must be from 0 to 1000000".to_owned()),
        Err(_) => Err("not a number; to list games, write --games after the books".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        policy: PolicyArgs,
    }

    fn policy(line: &str) -> Option<Policy> {
        let words = std::iter::once("x").chain(line.split_whitespace());
        Line::try_parse_from(words).ok().map(|line| line.policy.policy())
    }

    #[test]
    fn without_arguments_the_policy_is_the_adapters_default() {
        assert_eq!(policy(""), Some(Policy::default()));
    }

    #[test]
    fn what_is_not_given_is_as_in_the_options() {
        let options = Policy { variety: 7, depth: 3, repeats: true, tournament: false, ..Policy::default() };
        let over =
            |words: &[&str]| Line::try_parse_from([&["x"], words].concat()).unwrap().policy.over(&options);
        assert_eq!(over(&[]), options);
        assert_eq!(over(&["--depth", "0", "--learn"]), Policy { depth: 0, learn: true, ..options.clone() });
    }

    #[test]
    fn the_help_names_the_defaults() {
        use clap::CommandFactory;
        let command = Line::command();
        let Policy { variety, depth, threshold, games, reserve, max_loss, tournament, .. } =
            Policy::default();
        for (name, default) in [
            ("variety", variety.to_string()),
            ("depth", depth.to_string()),
            ("threshold", threshold.to_string()),
            ("games", games.to_string()),
            ("reserve", reserve.to_string()),
            ("max_loss", max_loss.to_string()),
            ("tournament", tournament.to_string()),
        ] {
            let argument = command.get_arguments().find(|argument| argument.get_id() == name).unwrap();
            let help = argument.get_help().unwrap().to_string();
            assert!(help.contains(&format!("[default: {default}]")), "{name}: {help}");
        }
    }

    #[test]
    fn each_option_is_applied() {
        let line = "--variety 0 --depth 12 --threshold 1000 --games 7 --reserve 4 --max-loss 30 --tournament false --repeats \
                    --learn";
        let expected = Policy {
            variety: 0,
            depth: 12,
            threshold: 1000,
            games: 7,
            reserve: 4,
            max_loss: 30,
            tournament: false,
            repeats: true,
            learn: true,
        };
        assert_eq!(policy(line), Some(expected));
    }

    #[test]
    fn without_a_number_games_are_listed() {
        let lists = |words: &[&str]| {
            let line = Line::try_parse_from([&["x"], words].concat()).unwrap();
            (line.policy.lists_games(), line.policy.policy().games)
        };
        assert_eq!((lists(&[]), lists(&["--games"])), ((false, 0), (true, 0)));
        assert_eq!((lists(&["--games", "5"]), lists(&["--games", "--repeats"])), ((false, 5), (true, 0)));
        let Err(error) = Line::try_parse_from(["x", "--games", "a.kob"]) else { panic!() };
        assert!(error.to_string().contains("write --games after the books"), "{error}");
    }

    #[test]
    fn values_out_of_range_are_refused() {
        for line in [
            "--variety 101",
            "--threshold 1001",
            "--depth -1",
            "--games x",
            "--tournament perhaps",
            "--max-loss 10001",
        ] {
            assert_eq!(policy(line), None, "{line}");
        }
    }
}
