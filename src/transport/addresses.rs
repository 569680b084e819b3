//! Addresses that are this machine, and addresses that are not reachable from everywhere.

use std::net::{Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// Whether the address is this machine: by number (RFC 4291 section 2.5.5.2 maps IPv4 addresses to IPv6) or by the name
/// `localhost`.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.to_canonical().is_loopback(),
        // With or without the trailing dot of a fully qualified name.
        Some(Host::Domain(name)) => matches!(name, "localhost" | "localhost."),
        None => false,
    }
}

/// Whether the address is on a private network, where clouds keep their metadata and companies their consoles: a number that is
/// not globally reachable, or a name below `localhost` (RFC 6761 section 6.3).
pub(crate) fn is_private(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(ip)) => !ip.is_loopback() && is_special_v4(ip),
        Some(Host::Ipv6(ip)) => match ip.to_ipv4_mapped() {
            Some(ip) => !ip.is_loopback() && is_special_v4(ip),
            None => !ip.is_loopback() && is_special_v6(ip),
        },
        // Any number of trailing dots: some resolvers treat them as one. The names of this machine itself are left to
        // `is_loopback`.
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            !is_loopback(url) && (name == "localhost" || name.ends_with(".localhost"))
        }
        None => false,
    }
}

/// Blocks as address and length: those of the IANA IPv4 Special-Purpose Address Registry (of 2024-10) that are not, or no longer,
/// globally reachable (the relays of 6to4, RFC 7526), and multicast (RFC 5771).
const SPECIAL_V4: [([u8; 4], u32); 15] = [
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    ([224, 0, 0, 0], 4),
    ([240, 0, 0, 0], 4),
];

/// Blocks of the IANA IPv6 Special-Purpose Address Registry (of 2024-10) within global unicast, `2000::/3`: protocol assignments
/// with Teredo, documentation, 6to4. Outside that range, only this machine, private networks and translations of IPv4 have
/// addresses.
const SPECIAL_V6: [([u16; 2], u32); 4] = [
    ([0x2001, 0], 23),
    ([0x2001, 0xdb8], 32),
    ([0x2002, 0], 16),
    ([0x3fff, 0], 20),
];

fn is_special_v4(ip: Ipv4Addr) -> bool {
    SPECIAL_V4.iter().any(|(block, length)| {
        (ip.to_bits() ^ Ipv4Addr::from(*block).to_bits()) >> (32 - length) == 0
    })
}

fn is_special_v6(ip: Ipv6Addr) -> bool {
    let [first, second, ..] = ip.segments();
    let bits = |[first, second]: [u16; 2]| (u32::from(first) << 16) | u32::from(second);
    let start = bits([first, second]);
    let is_special =
        |(block, length): &([u16; 2], u32)| (start ^ bits(*block)) >> (32 - length) == 0;
    first >> 13 != 1 || SPECIAL_V6.iter().any(is_special)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_are_not_reachable_from_everywhere_are_private() {
        for private in "10.0.0.1 100.64.0.1 100.127.255.255 169.254.169.254 172.31.0.1 192.0.0.8 192.168.1.1 198.19.0.1 \
            0.1.2.3 224.0.0.1 255.255.255.255 [::] [::127.0.0.1] [::ffff:10.0.0.1] [64:ff9b::a00:1] \
            [64:ff9b:1::1] [100::1] [2001::1] [2001:db8::1] [2002:a00:1::] [3fff::1] [fd00::1] [fe80::1] \
            [fec0::1] [ff02::1] [5f00::1] a.localhost A.LocalHost. localhost.. x.localhost.. LOCALHOST... 192.88.99.1 192.88.99.255 \
            [::ffff:192.88.99.1] 2852039166"
            .split(' ')
        {
            let url = Url::parse(&format!("https://{private}/x")).unwrap();
            assert!(is_private(&url) && !is_loopback(&url), "{private}");
        }
        for public in "9.255.255.255 192.88.98.255 192.88.100.0 100.63.255.255 100.128.0.1 172.32.0.1 198.20.0.1 223.255.255.255 1.1.1.1 [2001:200::1] \
            [2606:4700::1] [2003::1] [::ffff:1.1.1.1] localhost.example alocalhost example.com"
            .split(' ')
        {
            let url = Url::parse(&format!("https://{public}/x")).unwrap();
            assert!(!is_private(&url) && !is_loopback(&url), "{public}");
        }
        for own in ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "localhost"] {
            let url = Url::parse(&format!("https://{own}/x")).unwrap();
            assert!(is_loopback(&url) && !is_private(&url), "{own}");
        }
    }
}
