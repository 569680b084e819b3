//! Builds the addresses of the register (spec 4.2).

use url::Url;

use super::PropertySearch;
use crate::error::{Error, Result};
use crate::model::Pic;
use crate::transport::parse_endpoint;

/// The path of a search below the base address; a property's address is below that path.
const PATH: [&str; 3] = ["api", "v2", "PICRegister"];

/// The base address from the caller.
#[derive(Clone)]
pub(super) struct Address(pub(super) Url);

impl Address {
    pub(super) fn new(base: &str) -> Result<Self> {
        let url = parse_endpoint("the register's address", base)?;
        if url.query().is_some() || url.fragment().is_some() {
            return Err(Error::config(
                "the register's address must end before the query",
            ));
        }
        let mut segments: Vec<&str> = url.path_segments().into_iter().flatten().collect();
        while segments.last().is_some_and(|last| last.is_empty()) {
            segments.pop();
        }
        // The full address of the search, as in the documentation, is accepted too.
        let is_path = |end: &[&str]| end.iter().zip(PATH).all(|(a, b)| a.eq_ignore_ascii_case(b));
        if let Some((_, end)) = segments.split_last_chunk::<3>()
            && is_path(end)
        {
            segments.truncate(segments.len() - PATH.len());
        }
        let is_wrong = |segment: &&str| segment.is_empty() || segment.eq_ignore_ascii_case(PATH[2]);
        if segments.iter().any(is_wrong) {
            return Err(Error::config(
                "the register's address must end before `api/v2/PICRegister` and have no empty part in its path",
            ));
        }
        let mut base = url.clone();
        base.set_path(&segments.join("/"));
        Ok(Self(base))
    }

    fn below(&self, segments: &[&str]) -> Url {
        let mut url = self.0.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }

    /// An address below the base for a path from the caller.
    pub(super) fn any(&self, path: &str, parameters: &[(&str, &str)]) -> Result<Url> {
        let segments: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        if segments
            .iter()
            .any(|segment| ["", ".", ".."].contains(segment))
        {
            return Err(Error::config(
                "the path below the register's address has an empty segment, `.` or `..`",
            ));
        }
        let mut url = self.below(&segments);
        if !parameters.is_empty() {
            url.query_pairs_mut().extend_pairs(parameters);
        }
        Ok(url)
    }

    pub(super) fn search(&self, search: &PropertySearch, index: Option<u32>) -> Url {
        let mut url = self.below(&PATH);
        let mut pairs = url.query_pairs_mut();
        pairs.extend_pairs(&search.fields);
        if let Some(index) = index {
            pairs.append_pair("pageindex", &index.to_string());
        }
        if let Some(size) = search.page_size {
            pairs.append_pair("pagesize", &size.to_string());
        }
        drop(pairs);
        url
    }

    /// The parentheses and the equals sign stay unescaped.
    pub(super) fn property(&self, pic: Pic) -> Url {
        let mut url = self.below(&PATH);
        if let Ok(mut path) = url.path_segments_mut() {
            path.push(&format!("(PIC={pic})"));
        }
        url
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};
    use test_support::script::rows;
    use test_support::seeded::cases;

    use super::*;
    use crate::error::ErrorKind;
    use crate::error::tests::assert_fails;

    #[test]
    fn a_base_with_a_path_keeps_it() {
        let address = Address::new("https://example.com/nlis/").unwrap();
        let search = address.search(&PropertySearch::new(), Some(0));
        let expected = "https://example.com/nlis/api/v2/PICRegister?pageindex=0";
        assert_eq!(search.as_str(), expected);
    }

    /// Pasted addresses, and the address that a look-up then requests.
    const BASES: &str = "
        https://e.com                              | /api/v2/PICRegister/(PIC=QAZZ7777)
        https://e.com/                             | /api/v2/PICRegister/(PIC=QAZZ7777)
        https://e.com///                           | /api/v2/PICRegister/(PIC=QAZZ7777)
        https://e.com/api/v2/PICRegister           | /api/v2/PICRegister/(PIC=QAZZ7777)
        https://e.com/api/v2/picregister//         | /api/v2/PICRegister/(PIC=QAZZ7777)
        https://e.com/nlis                         | /nlis/api/v2/PICRegister/(PIC=QAZZ7777)
        https://e.com/nl%20is/api/v2/PICRegister/  | /nl%20is/api/v2/PICRegister/(PIC=QAZZ7777)
        https://e.com/api                          | /api/api/v2/PICRegister/(PIC=QAZZ7777)
        https://e.com/PICRegister                  | refused
        https://e.com/api/v2/PICRegister/(PIC=QAZZ7777) | refused
        https://e.com//nlis                        | refused
    ";

    #[test]
    fn an_address_that_already_has_the_path_is_accepted_and_other_paths_are_refused() {
        for row in rows(BASES) {
            let pic = Pic::parse("qazz7777").unwrap();
            let found = match Address::new(row[0]) {
                Ok(address) => {
                    let sent = address.property(pic);
                    assert!(sent.as_str().starts_with("https://e.com/"), "{sent}");
                    sent.path().to_owned()
                }
                Err(error) if error.kind() == ErrorKind::Config => "refused".to_owned(),
                Err(error) => error.to_string(),
            };
            assert_eq!(found, row[1], "{row:?}");
        }
    }

    #[test]
    fn a_path_of_the_caller_stays_below_the_base() {
        let address = Address::new("https://example.com/nlis/").unwrap();
        let any = |path: &str, parameters: &[(&str, &str)]| {
            let url = address.any(path, parameters);
            url.map(|url| url[url::Position::BeforePath..].to_owned())
        };
        for (path, sent) in [
            ("api/(PIC=QAZZ7777)", "/nlis/api/(PIC=QAZZ7777)"),
            ("/api/v3", "/nlis/api/v3"),
            ("//example.org/x", "/nlis/example.org/x"),
            ("https:x", "/nlis/https:x"),
            ("a b?c#d%2e", "/nlis/a%20b%3Fc%23d%252e"),
        ] {
            assert_eq!(any(path, &[]).unwrap(), sent);
        }
        let parameters = [("Town", "A & B"), ("Town", "")];
        assert_eq!(any("x", &parameters).unwrap(), "/nlis/x?Town=A+%26+B&Town=");
        for bad in ["", "/", "a/../b", "..", "a//b", "a/", "./a"] {
            assert_fails(any(bad, &[]), "Config");
        }
    }

    #[test]
    fn an_address_that_cannot_be_a_base_is_refused() {
        for bad in
            "|http://register.example.com|https://example.com/?key=1|https://e.com/#a".split('|')
        {
            assert_fails(Address::new(bad), "Config");
        }
    }

    fn search(fields: Vec<(&'static str, String)>) -> Url {
        let mut search = PropertySearch::new().page_size(10);
        search.fields = fields;
        let address = Address::new("https://e.com").unwrap();
        address.search(&search, Some(2))
    }

    #[test]
    fn values_are_escaped() {
        let url = search(vec![("Town", "O'Brien & Sons=50%".to_owned())]);
        let query = "Town=O%27Brien+%26+Sons%3D50%25&pageindex=2&pagesize=10";
        assert_eq!(url.query(), Some(query));
    }

    /// Decodes forms (URL standard section 5.1), independently of the encoder so that they cannot share a bug.
    fn decode(text: &str) -> String {
        let mut bytes = text.bytes();
        let mut plain = Vec::new();
        while let Some(byte) = bytes.next() {
            plain.push(match byte {
                b'+' => b' ',
                b'%' => {
                    let digits = [bytes.next().unwrap(), bytes.next().unwrap()];
                    u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap()
                }
                other => other,
            });
        }
        String::from_utf8(plain).unwrap()
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn decoding_the_query_returns_the_original_values(town in any::<String>(), brand in "[ %+/&=#?;'\\\\é水-]{0,20}") {
            let given = vec![("Town", town), ("Brand", brand)];
            let url = search(given.clone());
            prop_assert!(url.query().unwrap().is_ascii() && url.fragment().is_none());
            prop_assert_eq!(url.path(), "/api/v2/PICRegister");
            let pairs = url.query().unwrap().split('&').map(|pair| pair.split_once('=').unwrap());
            let sent: Vec<_> = pairs.map(|(name, value)| (decode(name), decode(value))).collect();
            let given = given.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
            let paging = [("pageindex", "2"), ("pagesize", "10")].map(|(name, value)| (name.to_owned(), value.to_owned()));
            prop_assert_eq!(sent, given.chain(paging).collect::<Vec<_>>());
        }
    }
}
