//! Differences of playing strength from the points of games or pairs of games.
//!
//! The model: a side with the expected score s is -400 log10(1/s - 1) Elo stronger (A. Elo, *The Rating of Chessplayers*, with the
//! logistic curve that FIDE and match runners use). Points of pairs are independent where those of their two games are not, so pairs
//! have narrower limits.

/// Standard deviations within which 95 % of a normal distribution lie.
const Z95: f64 = 1.959_963_984_540_054;

/// A difference of playing strength.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elo {
    /// The difference; infinite where all points went to one side.
    pub difference: f64,
    /// Half the width of the interval that has the true difference with 95 %; `None` where there are too few games to tell: all
    /// ended alike, or the interval has no end.
    pub error: Option<f64>,
    /// The likelihood of superiority: that the difference is above 0; `None` where all games ended alike.
    pub los: Option<f64>,
}

/// The difference of strength after `counts` games or pairs, by their points: the first scored nothing, the last all points.
/// `None` without any.
///
/// ```
/// use tabiya::report::elo::elo;
/// // 30 games won, 50 drawn, 20 lost.
/// let elo = elo(&[20, 50, 30]).expect("there are games");
/// assert!((elo.difference - 34.86).abs() < 0.01 && elo.los > Some(0.9));
/// assert_eq!(tabiya::report::elo::elo(&[0, 0, 0]), None);
/// ```
pub fn elo(counts: &[u64]) -> Option<Elo> {
    let (mean, error) = mean(counts)?;
    let width = error.map(|error| difference(mean + Z95 * error) - difference(mean - Z95 * error));
    let los = error.map(|error| normal((mean - 0.5) / error));
    let error = width.filter(|width| width.is_finite()).map(|width| width / 2.0);
    // Adding nothing makes the negative zero of an even score a positive one.
    Some(Elo { difference: difference(mean) + 0.0, error, los })
}

/// The mean share of the points, and its standard error, which is not known where all games ended alike; `None` without any.
pub fn mean(counts: &[u64]) -> Option<(f64, Option<f64>)> {
    let all: u64 = counts.iter().sum();
    if all == 0 || counts.len() < 2 {
        return None;
    }
    let points = |at: usize| at as f64 / (counts.len() - 1) as f64;
    let average = |of: &dyn Fn(f64) -> f64| {
        let sum: f64 = counts.iter().enumerate().map(|(at, count)| *count as f64 * of(points(at))).sum();
        sum / all as f64
    };
    let mean = average(&|points| points);
    let variance = average(&|points| (points - mean).powi(2));
    let is_spread = counts.iter().filter(|count| **count > 0).count() > 1;
    Some((mean, is_spread.then(|| (variance / all as f64).sqrt())))
}

/// The difference of strength at an expected score.
fn difference(score: f64) -> f64 {
    if score <= 0.0 {
        f64::NEG_INFINITY
    } else if score >= 1.0 {
        f64::INFINITY
    } else {
        -400.0 * (1.0 / score - 1.0).log10()
    }
}

/// The share of a normal distribution below a number of standard deviations.
fn normal(x: f64) -> f64 {
    (1.0 + libm::erf(x / std::f64::consts::SQRT_2)) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_are_those_of_match_runners() {
        // What fastchess said of 200 pairs: 25.23 +/- 32.24, LOS 93.87 %.
        let pairs = elo(&[33, 17, 86, 16, 48]).unwrap();
        let close = |found: f64, said: f64| (found - said).abs() < 0.005;
        assert!(
            close(pairs.difference, 25.23)
                && close(pairs.error.unwrap(), 32.24)
                && close(pairs.los.unwrap() * 100.0, 93.87),
            "{pairs:?}"
        );
        // 55 % of the points.
        assert!(close(elo(&[20, 50, 30]).unwrap().difference, 34.86));
    }

    #[test]
    fn one_sided_results_have_no_bounds() {
        assert_eq!(elo(&[0, 0, 5]).unwrap().difference, f64::INFINITY);
        for alike in [&[0, 0, 5][..], &[0, 5, 0], &[1, 0, 0], &[0, 0, 0, 1, 0]] {
            let Elo { error, los, .. } = elo(alike).unwrap();
            assert_eq!((error, los), (None, None), "{alike:?}");
        }
        // Two wins and a draw: the interval goes on to a certain win.
        let open = elo(&[0, 1, 2]).unwrap();
        assert!(open.error.is_none() && open.los > Some(0.9), "{open:?}");
        assert_eq!(elo(&[0, 5, 0]).unwrap().difference, 0.0);
        assert_eq!(elo(&[]), None);
    }
}
