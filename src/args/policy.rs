//! How moves are chosen, as arguments: the workshop's form of the adapter's options of the same names.

use clap::Arg;

use tabiya_adapter::settings::table::{self, SettingRow};
use tabiya_book::choose::Policy;

use super::settings::{Arguments, SettingArgs};

/// What the book's recommendations are.
const TOURNAMENT: &str = "With true, a CTG book never plays red moves or moves marked ?, ?? or ?!. If a move \
                          is marked as the only move, it is always played. If some moves are green, only \
                          those are played, whatever their statistics. The remaining moves weigh 2 for each \
                          win of the side to move and 1 for each draw. With false, colours are ignored, and \
                          marks multiply the weight: ! by 1.23, !! by 1.46, ?, ?? and ?! by 0. The limits of \
                          an Arena book apply only with true.";

/// Which of a book's moves may be played, and how often.
pub(crate) type PolicyArgs = Arguments<Choice>;

/// The settings of a policy.
#[derive(Clone, Debug, Default)]
pub struct Choice;

impl SettingArgs for Choice {
    const HEADING: Option<&'static str> = Some("Which moves may be played, and how often");

    fn rows() -> impl Iterator<Item = &'static SettingRow> {
        table::shown()
    }

    fn shaped(row: &SettingRow, argument: Arg) -> Arg {
        let help = row.help;
        match row.key {
            // `--depth` is how deep an engine searches, and `--games` names files of games.
            "depth" => argument.long("last-move"),
            "games" => argument.long("min-games"),
            "tournament" => argument.long_help(format!("{help} [default: true]\n\n{TOURNAMENT}")),
            _ => argument,
        }
    }
}

impl PolicyArgs {
    /// The policy: the arguments, and the default of the adapter's options for each that is not given.
    pub fn policy(&self) -> Policy {
        self.over(&Policy::default())
    }

    /// The policy: the arguments, and `options` for each that is not given.
    pub(crate) fn over(&self, options: &Policy) -> Policy {
        self.given.over(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct PolicyLine {
        #[command(flatten)]
        policy: PolicyArgs,
    }

    fn policy(line: &str) -> Option<Policy> {
        let words = std::iter::once("x").chain(line.split_whitespace());
        PolicyLine::try_parse_from(words).ok().map(|line| line.policy.policy())
    }

    #[test]
    fn without_arguments_the_policy_is_the_adapters_default() {
        assert_eq!(policy(""), Some(Policy::default()));
    }

    #[test]
    fn what_is_not_given_is_as_in_the_options() {
        let mut options = Policy::default();
        (options.variety, options.depth, options.threefold, options.tournament) = (7, 3, true, false);
        let over = |words: &[&str]| {
            PolicyLine::try_parse_from([&["x"], words].concat()).unwrap().policy.over(&options)
        };
        assert_eq!(over(&[]), options);
        let mut expected = options.clone();
        (expected.depth, expected.learn) = (0, true);
        assert_eq!(over(&["--last-move", "0", "--learn"]), expected);
    }

    #[test]
    fn the_help_names_the_defaults() {
        use clap::CommandFactory;
        let command = PolicyLine::command();
        for row in table::shown().filter(|row| !["threefold", "learn"].contains(&row.key)) {
            let argument = command.get_arguments().find(|argument| argument.get_id() == row.key).unwrap();
            let help = argument.get_help().unwrap().to_string();
            assert!(help.contains(&format!("[default: {}]", row.default())), "{}: {help}", row.key);
        }
    }

    #[test]
    fn each_option_is_applied() {
        let line = "--variety 0 --last-move 12 --threshold 1000 --min-games 7 --reserve 4 --max-loss 30 --tournament false --threefold \
                    --learn";
        let mut expected = Policy::default();
        (expected.variety, expected.depth, expected.threshold, expected.games) = (0, 12, 1000, 7);
        (expected.reserve, expected.max_loss) = (4, 30);
        (expected.tournament, expected.threefold, expected.learn) = (false, true, true);
        assert_eq!(policy(line), Some(expected));
    }

    #[test]
    fn values_out_of_range_are_refused() {
        for line in [
            "--variety 101",
            "--threshold 1001",
            "--last-move -1",
            "--min-games x",
            "--tournament perhaps",
            "--max-loss 10001",
        ] {
            assert_eq!(policy(line), None, "{line}");
        }
    }
}
