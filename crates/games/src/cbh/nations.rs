//! The countries, by ChessBase's own numbers.

/// Their letters from number 1 on, as chess federations and the Olympic committee write them (docs/formats/cbh.md,
/// Names).
#[rustfmt::skip]
pub(crate) const NATIONS: [&str; 253] = [
    "AFG", "ALB", "ALG", "AND", "ANG", "ANT", "ARG", "ARM", "AUS", "AUT", "AZE", "BAH", "BRN",
    "BAN", "BAR", "BLR", "BEL", "BIZ", "BER", "BOL", "BIH", "BOT", "BRA", "IVB", "BRU", "BUL",
    "BUR", "CAN", "CHI", "CHN", "COL", "CRC", "CRO", "CUB", "CYP", "CZE", "DEN", "DJI", "DOM",
    "ECU", "EGY", "ENG", "ESP", "EST", "ETH", "FRO", "FIJ", "FIN", "FRA", "MKD", "GAM", "GEO",
    "GER", "GHA", "GRE", "GUA", "GCI", "GUY", "HAI", "HON", "HKG", "HUN", "ISL", "IND", "INA",
    "IRI", "IRQ", "ISR", "IRL", "ITA", "CIV", "JAM", "JPN", "JCI", "JOR", "KAZ", "KEN", "KOR",
    "KGZ", "KUW", "LAT", "LIB", "LBA", "LIE", "LTU", "LUX", "MAC", "MAD", "MAS", "MLI", "MLT",
    "MTN", "MRI", "MEX", "MDA", "MON", "MGL", "MAR", "MOZ", "MYA", "NAM", "NEP", "NED", "AHO",
    "NZL", "NCA", "NGR", "NOR", "PAK", "PLE", "PAN", "PNG", "PAR", "PER", "PHI", "POL", "POR",
    "PUR", "QAT", "ROU", "RUS", "ESA", "SMR", "SCO", "SEN", "SEY", "SIN", "SVK", "SLO", "RSA",
    "SRI", "SUD", "SUR", "SWE", "SUI", "SYR", "TJK", "TAN", "THA", "TTO", "TUN", "TUR", "TKM",
    "UGA", "UKR", "UAE", "USA", "URU", "URS", "UZB", "VEN", "VIE", "ISV", "WLS", "YEM", "YUG",
    "ZAM", "ZIM", "ZAI", "DDR", "TCH", "CMR", "CHA", "CPV", "KIR", "COM", "CGO", "PRK", "LAO",
    "LES", "MAW", "MDV", "MHL", "OMA", "NRU", "MIC", "NIG", "KSA", "TOG", "TGA", "VAN", "VAT",
    "TUV", "SWZ", "SLE", "LCA", "PAP", "SVI", "SKI", "SAM", "SOL", "GE2", "ZAR", "RWA", "LBR",
    "NET", "TPE", "ASA", "AGG", "ARU", "BEN", "BHU", "BDI", "CAM", "CAY", "CAF", "CHD", "CIA",
    "COA", "COK", "GEQ", "ERI", "FGB", "FRG", "FRP", "GAB", "GGB", "GRN", "GRL", "FGA", "GUM",
    "GUI", "GBS", "IOM", "JMY", "MFR", "MYF", "MSG", "NCF", "NNN", "NNA", "NMI", "OTM", "PLW",
    "PIG", "RUF", "STP", "SOM", "SVN", "HGB", "PGB", "TKI", "TCI", "WFR", "NIR", "ISS", "GBR",
    "SAA", "MNE", "SRB", "CAT", "BAS", "KOS",
];
