"""The formats that are enforced, by examples from the RFCs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.graders.json_formats import FORMATS

GOOD = {
    "date": ["2026-02-28", "2024-02-29"],
    "date-time": [
        "1985-04-12T23:20:50.52Z",
        "1996-12-19t16:39:57-08:00",
        "1990-12-31T23:59:60Z",
        "2026-11-30T00:00:00+00:00",
    ],
    "duration": ["P1Y2M3DT4H5M6S", "P4W", "PT1H", "P1M", "P3D", "PT0S"],
    "email": ["joe.bloggs@example.com", "a+b~c@localhost", "x@[127.0.0.1]", "x@[IPv6:::1]"],
    "hostname": ["example.com", "xn--bcher-kva.example", "a-1.b", "localhost"],
    "ipv4": ["192.0.2.1", "255.255.255.255"],
    "ipv6": ["2001:db8::1", "::ffff:192.0.2.1", "::"],
    "json-pointer": ["", "/a/b~0c~1d/0", "/"],
    "regex": ["", "^a(b|c)$", r"\p{L}"],
    "time": ["08:30:06Z", "08:30:06.283185+01:00"],
    "uri": ["https://acme.example/a?b=c#d", "urn:isbn:0451450523", "mailto:a@b.example"],
    "uri-reference": ["", "/a/b", "#part", "//acme.example/x", "https://acme.example"],
    "uuid": ["2eb8aa08-aa98-11ea-b4aa-73b441d16380", "2EB8AA08-AA98-11EA-B4AA-73B441D16380"],
}

BAD = {
    "date": ["2026-02-30", "2026-2-3", "20260203", "2026-W01-1", "۲۰۲۶-۰۱-۰۱", "2026-01-01\n"],
    "date-time": [
        "2026-01-01",
        "2026-01-01 00:00:00Z",
        "2026-01-01T00:00:00",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:00:61Z",
        "2026-01-01T00:00:00+24:00",
    ],
    "duration": ["P", "PT", "P1YT", "P1Y3D", "1D", "P1H", "PT1D", "P1W2D", "P-1D", "P1.5D"],
    "email": ["a", "a@", "@b", "a b@c", "a@b@c", "a@-b", "a..b@c", "x@[1.2.3]", "a@b c"],
    "hostname": ["", "-a", "a-", "a..b", "a_b", "a" * 64, ".".join(["a"] * 128), "a b"],
    "ipv4": ["192.0.2", "256.1.1.1", "01.1.1.1", "1.1.1.1 "],
    "ipv6": ["12345::", "::1%eth0", "1::2::3", "192.0.2.1"],
    "json-pointer": ["a", "/~2", "/~"],
    "regex": ["(", "[", "a**", "(a{1000}){1000}"],
    "time": ["24:00:00Z", "08:30", "08:30:06", "25:00:00Z", "08:60:00Z"],
    "uri": ["/a", "https://acme example", "https://a.example/ä", "a#b#c", "http://h:x/", "%zz:"],
    "uri-reference": ["a b", "a#b#c", "%zz", "\\\\server"],
    "uuid": ["2eb8aa08aa9811eab4aa73b441d16380", "2eb8aa08-aa98-11ea-b4aa-73b441d1638g", ""],
}


def test_every_format_has_examples() -> None:
    assert set(GOOD) == set(BAD) == set(FORMATS)


@pytest.mark.parametrize(("name", "text"), [(name, each) for name in GOOD for each in GOOD[name]])
def test_accepts(name: str, text: str) -> None:
    assert FORMATS[name](text)


@pytest.mark.parametrize(("name", "text"), [(name, each) for name in BAD for each in BAD[name]])
def test_refuses(name: str, text: str) -> None:
    assert not FORMATS[name](text)


@pytest.mark.parametrize("name", FORMATS)
@given(text=st.text(st.characters(exclude_categories=()), max_size=30))
def test_any_text_has_an_answer(name: str, text: str) -> None:
    assert FORMATS[name](text) in (True, False)
