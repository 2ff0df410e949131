//! Shares of the points, and differences of playing strength, from games or pairs of games, with their limits of 95 %.
//!
//! The model: a side with the expected score s is -400 log10(1/s - 1) Elo stronger (A. Elo, *The Rating of Chessplayers*, with the
//! logistic curve that FIDE and match runners use). Points of pairs are independent where those of their two games are not, so pairs
//! have narrower limits.
//!
//! The limits are those of the normal distribution, as match runners have them. Where all results are alike, or those limits go
//! beyond no or all points, one result is added, spread over all kinds (the prior of Perks), and the limits are those of the normal
//! distribution of the log-odds, which never leave that range.

/// Standard deviations within which 95 % of a normal distribution lie.
const Z95: f64 = 1.959_963_984_540_054;

/// Games or pairs with which limits begin: fewer are too few to tell anything.
pub const MIN: u64 = 5;

/// Limits within which the true value lies with 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WinLimits {
    /// The lower one.
    pub low: f64,
    /// The upper one.
    pub high: f64,
    /// Whether they are those of the normal distribution around the value itself.
    pub is_even: bool,
    /// The likelihood of superiority: that the first side scores more than half of the points.
    pub los: f64,
}

/// A share of the points, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// The mean of the results.
    pub mean: f64,
    /// Its limits; `None` where there are too few results.
    pub limits: Option<WinLimits>,
}

/// A difference of playing strength.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Elo {
    /// The difference; `None` where all points went to one side.
    pub difference: Option<f64>,
    /// Half the width of the limits; `None` where there are too few results, or the limits are not even.
    pub error: Option<f64>,
    /// The lower limit; `None` where there are too few results, or the first side has no points.
    pub low: Option<f64>,
    /// The upper limit; `None` where there are too few results, or the first side has all points.
    pub high: Option<f64>,
    /// The likelihood of superiority: that the difference is above 0; `None` where there are too few results.
    pub los: Option<f64>,
}

/// The difference of strength after `counts` games or pairs, by their points: the first scored nothing, the last all points.
/// `None` without any.
///
/// ```
/// use tabiya_workshop::report::elo::elo;
/// // 30 games won, 50 drawn, 20 lost.
/// let found = elo(&[20, 50, 30]).expect("there are games");
/// assert!((found.difference.unwrap() - 34.86).abs() < 0.01 && found.los > Some(0.9));
/// // All won: there is only a lower limit.
/// let won = elo(&[0, 0, 200]).expect("there are games");
/// assert!(won.difference.is_none() && won.high.is_none() && won.low > Some(600.0));
/// assert_eq!(elo(&[0, 0, 0]), None);
/// ```
pub fn elo(counts: &[u64]) -> Option<Elo> {
    let Share { mean, limits } = share(counts)?;
    let finite = |score| Some(difference(score)).filter(|elo| elo.is_finite());
    let low = limits.and_then(|limits| finite(limits.low));
    let high = limits.and_then(|limits| finite(limits.high));
    let width = low.zip(high).filter(|_| limits.is_some_and(|limits| limits.is_even));
    Some(Elo {
        // Adding nothing makes the negative zero of an even score a positive one.
        difference: finite(mean).map(|elo| elo + 0.0),
        error: width.map(|(low, high)| (high - low) / 2.0),
        low,
        high,
        los: limits.map(|limits| limits.los),
    })
}

/// The share of the points after `counts` games or pairs, by their points as for [`elo`]; `None` without any.
pub fn share(counts: &[u64]) -> Option<Share> {
    let (mean, error) = mean(counts)?;
    let all: u64 = counts.iter().sum();
    if all < MIN {
        return Some(Share { mean, limits: None });
    }
    let (low, high) = (mean - Z95 * error, mean + Z95 * error);
    if error > 0.0 && low > 0.0 && high < 1.0 {
        let los = normal((mean - 0.5) / error);
        return Some(Share { mean, limits: Some(WinLimits { low, high, is_even: true, los }) });
    }
    let prior = 1.0 / counts.len() as f64;
    let (centre, error) = moments(counts.iter().map(|count| *count as f64 + prior))?;
    let (odds, error) = ((centre / (1.0 - centre)).ln(), error / (centre * (1.0 - centre)));
    let score = |odds: f64| 1.0 / (1.0 + (-odds).exp());
    let low = if mean > 0.0 { score(odds - Z95 * error) } else { 0.0 };
    let high = if mean < 1.0 { score(odds + Z95 * error) } else { 1.0 };
    // Of an even score both are equally far from it, which sums of thirds miss by a rounding.
    let is_even = mean == 0.5;
    let los = if is_even { 0.5 } else { normal(odds / error) };
    let limits = WinLimits { low, high, is_even, los };
    Some(Share { mean, limits: Some(limits) })
}

/// The mean share of the points, and its standard error; `None` without any.
pub fn mean(counts: &[u64]) -> Option<(f64, f64)> {
    moments(counts.iter().map(|count| *count as f64))
}

/// The mean share of the points, and its standard error; `counts` says how many results gave each number of points.
fn moments(counts: impl ExactSizeIterator<Item = f64> + Clone) -> Option<(f64, f64)> {
    let all: f64 = counts.clone().sum();
    let most = counts.len().checked_sub(1).filter(|most| *most > 0 && all > 0.0)? as f64;
    let mean = counts.clone().enumerate().map(|(at, count)| count * at as f64).sum::<f64>() / most / all;
    let squares = counts.enumerate().map(|(at, count)| count * (at as f64 / most - mean).powi(2));
    Some((mean, (squares.sum::<f64>() / all / all).sqrt()))
}

/// The difference of strength at an expected score; infinite at 0 and 1.
fn difference(score: f64) -> f64 {
    -400.0 * (1.0 / score - 1.0).log10()
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
            close(pairs.difference.unwrap(), 25.23)
                && close(pairs.error.unwrap(), 32.24)
                && close(pairs.los.unwrap() * 100.0, 93.87),
            "{pairs:?}"
        );
        // 55 % of the points.
        assert!(close(elo(&[20, 50, 30]).unwrap().difference.unwrap(), 34.86));
    }

    #[test]
    fn the_number_of_results_says_whether_there_are_limits() {
        for counts in [[0, 0, 1], [0, 1, 0], [2, 0, 0], [0, 2, 0], [1, 0, 1], [0, 1, 3], [1, 2, 1]] {
            let found = elo(&counts).unwrap();
            assert_eq!(
                (found.error, found.low, found.high, found.los),
                (None, None, None, None),
                "{counts:?}"
            );
        }
        assert_eq!((elo(&[]), elo(&[0, 0, 0]), elo(&[3])), (None, None, None));
    }

    #[test]
    fn drawn_matches_have_even_limits_that_shrink() {
        let error = |counts: &[u64]| {
            let found = elo(counts).unwrap();
            assert_eq!((found.difference, found.los), (Some(0.0), Some(0.5)), "{counts:?}");
            assert!((found.low.unwrap() + found.high.unwrap()).abs() < 1e-9, "{counts:?}");
            found.error.unwrap()
        };
        let errors = [5, 10, 200, 20_000].map(|games| error(&[0, games, 0]));
        assert!(
            errors.is_sorted_by(|a, b| a > b) && errors[1] < 70.0 && (1.0..5.0).contains(&errors[2]),
            "{errors:?}"
        );
        // One decided game more or less changes little.
        let almost = elo(&[1, 198, 1]).unwrap().error.unwrap();
        assert!(almost < 2.0 * errors[2] && errors[2] < 2.0 * almost, "{almost} {errors:?}");
        assert!(error(&[0, 0, 100, 0, 0]) < 10.0);
    }

    #[test]
    fn one_sided_matches_have_one_limit() {
        let lows = [5, 10, 200].map(|games| {
            let (won, lost) = (elo(&[0, 0, games]).unwrap(), elo(&[games, 0, 0]).unwrap());
            let Elo { difference, error, low, high, los } = won;
            assert_eq!((difference, error, high), (None, None, None));
            assert!(los.is_some_and(|los| (0.95..=1.0).contains(&los)), "{won:?}");
            assert_eq!((lost.difference, lost.error, lost.low), (None, None, None));
            assert!(
                (lost.high.unwrap() + low.unwrap()).abs() < 1e-6
                    && (lost.los.unwrap() + los.unwrap() - 1.0).abs() < 1e-6
            );
            low.unwrap()
        });
        // The exact limit of ten games won (Clopper and Pearson) is 141 Elo, that of 200 games 692.
        assert!(
            lows.is_sorted() && (50.0..200.0).contains(&lows[1]) && (550.0..700.0).contains(&lows[2]),
            "{lows:?}"
        );
    }

    #[test]
    fn limits_stay_within_no_and_all_points() {
        for counts in [&[0, 1, 9][..], &[9, 1, 0], &[1, 0, 199], &[0, 1, 199], &[0, 0, 0, 1, 4], &[4, 0, 1]] {
            let Elo { difference, error, low, high, los } = elo(counts).unwrap();
            let (low, high, difference) = (low.unwrap(), high.unwrap(), difference.unwrap());
            assert!(low < difference && difference < high && error.is_none() && los.is_some(), "{counts:?}");
            let limits = share(counts).unwrap().limits.unwrap();
            assert!(0.0 < limits.low && limits.high < 1.0, "{limits:?}");
        }
    }
}
