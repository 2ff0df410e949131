//! Examples for the end of each command's long help.

/// For each command that takes files, lines that do what people use it for most.
const EXAMPLES: [(&str, &[&str]); 18] = [
    ("show", &["tabiya show book.bin", "tabiya show book.bin other.ctg --moves \"1. e4 c5 2. Nf3\""]),
    ("explore", &["tabiya explore book.bin", "tabiya explore book.bin --edit --games games.pgn"]),
    ("info", &["tabiya info book.ctg games.cbh"]),
    ("check", &["tabiya check books/*.bin"]),
    (
        "build",
        &[
            "tabiya build games.pgn -o book.bin",
            "tabiya build masters.cbh more/ -o book.ctg --min-elo 2400 --max-ply 40",
            "tabiya build my-repertoire.pgn -o white.bin --repertoire white",
        ],
    ),
    (
        "convert",
        &[
            "tabiya convert book.ctg -o book.bin",
            "tabiya merge a.bin b.abk -o both.bin",
            "tabiya trim book.bin -o short.bin --max-ply 16 --min-share 10",
        ],
    ),
    (
        "edit",
        &[
            "tabiya edit book.bin --set e4=60 --delete f4",
            "tabiya edit book.bin --moves \"1. e4 c5\" --add Nc3=20",
            "tabiya edit book.bin --undo",
        ],
    ),
    ("diff", &["tabiya diff old.bin new.bin"]),
    ("tree", &["tabiya tree book.bin --moves \"1. d4 Nf6\" --plies 8"]),
    ("export", &["tabiya export book.ctg -o book.pgn --lines", "tabiya export games.cbh -o games.pgn"]),
    ("vet", &["tabiya vet book.bin -o vetted.bin --engine stockfish --max-loss 60"]),
    ("grow", &["tabiya grow -o black.bin --against opponent.bin --side black --engine stockfish"]),
    (
        "suite",
        &[
            "tabiya suite book.bin -o openings.epd --ply 16 --count 500",
            "tabiya suite games.pgn -o openings.pgn --eval 0..50 --engine stockfish",
        ],
    ),
    ("report", &["tabiya report match.pgn --book A=a.bin --book B=b.bin"]),
    ("import", &["tabiya import book.bin.evals lichess_db_eval.jsonl.zst --for book.bin"]),
    ("games", &["tabiya learn games book.bin match.pgn --player Stockfish"]),
    ("doctor", &["tabiya doctor", "tabiya --engine stockfish --book book.bin doctor"]),
    ("init", &["tabiya init", "tabiya init --yes"]),
];

/// The command with its examples before the end of its long help.
pub(crate) fn added(command: clap::Command) -> clap::Command {
    let Some((_, lines)) = EXAMPLES.iter().find(|(name, _)| *name == command.get_name()) else {
        return command;
    };
    let examples: String = lines.iter().map(|line| format!("\n  {line}")).collect();
    let end = command.get_after_long_help().or_else(|| command.get_after_help());
    let end = end.map_or_else(String::new, |end| format!("\n\n{end}"));
    command.after_long_help(format!("Examples:{examples}{end}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;

    /// The words of a line as a shell reads them.
    fn words(line: &str) -> Vec<String> {
        let parts = line.split('"').enumerate();
        parts
            .flat_map(|(at, part)| match at % 2 {
                0 => part.split_whitespace().map(str::to_owned).collect(),
                _ => vec![part.to_owned()],
            })
            .collect()
    }

    #[test]
    fn each_example_is_a_command_line_that_its_command_takes_and_shows() {
        for (name, lines) in EXAMPLES {
            for line in lines {
                let found = cli::command().try_get_matches_from(words(line));
                let found = found.unwrap_or_else(|error| panic!("{line}: {error}"));
                let (command, inner) = found.subcommand().unwrap();
                assert!(command == name || inner.subcommand_name() == Some(name), "{line}");
                let commands = cli::command();
                let outer = commands.find_subcommand(command).unwrap();
                let shown =
                    inner.subcommand_name().map_or(outer, |inner| outer.find_subcommand(inner).unwrap());
                assert!(shown.clone().render_long_help().to_string().contains(line), "{line}");
            }
        }
    }
}
