//! Which options of an engine change what its scores mean. They come from the settings of play, but a store of evaluations has
//! them under the engine's name for ever.

/// What an option does to scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// None, apart from how fast they come.
    None,
    /// They are those of another engine: the option is part of its name.
    Another,
    /// They are not the engine's opinion of the position: the option is not set.
    Spoilt,
}

/// Options that weaken play, choose among moves, favour a side or play from a book, without blanks and in lower case.
const SPOILING: [&str; 34] = [
    "analysemode",
    "analysiscontempt",
    "bestbookmove",
    "blundererror",
    "blunderpercent",
    "bookdepth",
    "bookfile",
    "contempt",
    "contemptfactor",
    "contemptmaxvalue",
    "contemptmode",
    "drawscore",
    "dynamiccontempt",
    "elo",
    "handicap",
    "limitstrength",
    "multipv",
    "nodestime",
    "ownbook",
    "playingstrength",
    "random",
    "randommover",
    "skill",
    "skilllevel",
    "skilllevelmaximumerror",
    "skilllevelprobability",
    "strength",
    "temperature",
    "ucianalysemode",
    "ucicontempt",
    "ucielo",
    "ucilimitstrength",
    "usebook",
    "useownbook",
];

/// Options that change no score: memory, threads, clocks, logs, and what only a GUI shows.
const HARMLESS: [&str; 21] = [
    "backend",
    "clearhash",
    "hash",
    "hashfile",
    "largepages",
    "minibatchsize",
    "minimumthinkingtime",
    "moveoverhead",
    "ponder",
    "slowmover",
    "threads",
    "ucichess960",
    "uciengineabout",
    "uciopponent",
    "ucisetpositionvalue",
    "ucishowcurrline",
    "ucishowrefutations",
    "ucishowwdl",
    "ucivariant",
    "useponder",
    "verbosemovestats",
];

/// How the names of other harmless options begin.
const HARMLESS_STARTS: [&str; 8] = ["cpu", "debug", "gaviota", "gpu", "log", "nalimov", "numa", "syzygy"];

/// What the option of this name does; one that is not known may do anything.
fn effect(name: &str) -> Effect {
    let plain: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect();
    let plain = plain.as_str();
    if SPOILING.contains(&plain) {
        Effect::Spoilt
    } else if HARMLESS.contains(&plain) || HARMLESS_STARTS.iter().any(|start| plain.starts_with(start)) {
        Effect::None
    } else {
        Effect::Another
    }
}

/// Whether positions must be searched without the option of this name.
pub fn spoils_scores(name: &str) -> bool {
    effect(name) == Effect::Spoilt
}

/// The name of an engine with the options that make it another one: `Stockfish 15.1 (Use NNUE=false)`.
pub(crate) fn named(engine: &str, options: &[(String, String)]) -> String {
    let mut others: Vec<String> = options
        .iter()
        .filter(|(name, _)| effect(name) == Effect::Another)
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    others.sort();
    others.dedup();
    if others.is_empty() { engine.to_owned() } else { format!("{engine} ({})", others.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_play_do_not_spoil_scores() {
        for name in [
            "MultiPV",
            "multipv",
            "Skill Level",
            "UCI_LimitStrength",
            "UCI_Elo",
            "Contempt",
            "nodestime",
            "OwnBook",
        ] {
            assert_eq!(effect(name), Effect::Spoilt, "{name}");
        }
        for name in
            ["Hash", "Threads", "SyzygyPath", "Slow Mover", "UCI_ShowWDL", "UCI_Chess960", "Debug Log File"]
        {
            assert_eq!(effect(name), Effect::None, "{name}");
        }
        let options = [("Use NNUE", "false"), ("Hash", "64"), ("EvalFile", "x.nnue"), ("MultiPV", "3")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(named("Stockfish", &options), "Stockfish (EvalFile=x.nnue, Use NNUE=false)");
        assert_eq!(named("Stockfish", &options[1..2]), "Stockfish");
    }
}
