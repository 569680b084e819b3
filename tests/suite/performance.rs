//! The figures of the guide and of the README come from one run of `benches/peers`.

const GUIDE: &str = include_str!("../../src/guide/performance.md");
const README: &str = include_str!("../../README.md");

/// The text before the generated block, the block, and the text after it.
fn parts(page: &str) -> [&str; 3] {
    let begin = "<!-- performance: written by benches/peers -->\n";
    let (before, rest) = page.split_once(begin).unwrap();
    let (block, after) = rest.split_once("<!-- /performance -->\n").unwrap();
    [before, block, after]
}

#[test]
fn the_readme_quotes_lines_of_the_guide() {
    let [_, of_guide, _] = parts(GUIDE);
    let of_guide: Vec<&str> = of_guide.lines().collect();
    let [_, of_readme, _] = parts(README);
    for line in of_readme.lines() {
        assert!(of_guide.contains(&line), "not in the guide: {line}");
    }
    assert!(!of_readme.is_empty());
}

/// A number and a unit of the benches.
fn figures(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_figure = |pair: &&[&str]| {
        let number = pair[0].trim_start_matches(['(', '`']);
        let unit = pair[1].trim_end_matches([',', '.', ';', ':', ')']);
        number.starts_with(|first: char| first.is_ascii_digit())
            && ["times", "ns", "µs", "ms", "s", "KB", "MB", "bytes", "%"].contains(&unit)
    };
    let pairs = words.windows(2).filter(is_figure);
    pairs.map(|pair| pair.join(" ")).collect()
}

#[test]
fn the_guide_quotes_no_figure_outside_its_table() {
    assert_eq!(
        figures("takes 1.04 times the time, and 5.5 MB."),
        ["1.04 times", "5.5 MB."]
    );
    let [before, _, after] = parts(GUIDE);
    // The links that programs simulate.
    let before = before.replace("50 ms and 100 Mbit/s", "");
    let before = before.replace("50 and 300 ms", "");
    assert_eq!(figures(&before), [""; 0]);
    assert_eq!(figures(after), [""; 0]);
}
