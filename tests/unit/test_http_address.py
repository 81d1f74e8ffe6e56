"""Which addresses are asked, and through which proxy."""

from __future__ import annotations

import pytest

from evalcli.errors import ConfigurationError
from evalcli.http_address import check_base_url, find_proxy, proxy_place, proxy_secrets


@pytest.mark.parametrize(
    "url",
    [
        "https://api.openai.com/v1",
        "http://127.0.0.1:8080/v1",
        "http://127.5.0.1/v1",
        "http://[::1]:8080",
        "http://localhost:11434/v1",
        "HTTP://LOCALHOST/v1",
        "http://llm.localhost/v1",
    ],
)
def test_tls_and_loopback_are_allowed(url: str) -> None:
    assert check_base_url("main", url) == url


def test_final_slash_is_dropped() -> None:
    assert check_base_url("main", "https://host/v1/") == "https://host/v1"


@pytest.mark.parametrize(
    "url",
    [
        "http://api.openai.com/v1",
        "http://10.0.0.1",
        "http://0.0.0.0",
        "http://127.0.0.1.evil.example",
        "http://localhost.evil.example",
        "http://2130706433/",
    ],
)
def test_plain_http_to_elsewhere_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match=r'provider "main": base_url .* is plain HTTP'):
        check_base_url("main", url)


@pytest.mark.parametrize("name", ["llm.internal", "LLM.internal", "llm.internal:8080"])
def test_plain_http_to_a_listed_name_is_allowed(name: str) -> None:
    url = "http://llm.internal:8080/v1"

    assert check_base_url("main", url, [name]) == url


def test_plain_http_to_a_name_below_a_listed_one_is_refused() -> None:
    with pytest.raises(ConfigurationError):
        check_base_url("main", "http://a.llm.internal", ["llm.internal"])


@pytest.mark.parametrize(
    "url", ["ftp://host", "host/v1", "https://", "https://host:99999", "https://[::1", "file:///x"]
)
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match='provider "main": base_url'):
        check_base_url("main", url)


@pytest.mark.parametrize("url", ["https://host/v1?key=abc", "https://host/#a"])
def test_query_and_fragment_are_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="must end before"):
        check_base_url("main", url)


@pytest.mark.parametrize("url", ["https://ho st/", "https://host/\n", "https://ho\u202est/"])
def test_invisible_characters_are_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="space or a control character"):
        check_base_url("main", url)


def test_password_in_the_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(ConfigurationError) as caught:
        check_base_url("main", "https://user:hunter2@host/v1")

    assert "hunter2" not in str(caught.value)
    assert "api_key: env:NAME" in str(caught.value)


@pytest.mark.parametrize(
    ("url", "environ", "expected"),
    [
        ("http://h/", {"HTTP_PROXY": "http://p:1"}, "http://p:1"),
        ("https://h/", {"HTTP_PROXY": "http://p:1"}, None),
        ("https://h/", {"HTTPS_PROXY": "http://p:1"}, "http://p:1"),
        ("https://h/", {"ALL_PROXY": "p:1"}, "http://p:1"),
        ("https://h/", {"https_proxy": "http://low", "HTTPS_PROXY": "http://up"}, "http://low"),
        ("https://h/", {"HTTPS_PROXY": "", "ALL_PROXY": ""}, None),
        ("https://h/", {"HTTPS_PROXY": "https://u:p@p:1"}, "https://u:p@p:1"),
        ("http://127.0.0.1:9/", {"HTTP_PROXY": "http://p:1"}, "http://p:1"),
    ],
)
def test_proxy_by_scheme(url: str, environ: dict[str, str], expected: str | None) -> None:
    assert find_proxy(url, environ) == expected


@pytest.mark.parametrize(
    ("no_proxy", "url", "is_bypassed"),
    [
        ("*", "http://h/", True),
        ("h", "http://h/", True),
        ("example.com", "http://api.example.com/", True),
        (".example.com", "http://api.example.com/", True),
        ("*.example.com", "http://api.example.com/", True),
        ("example.com", "http://badexample.com/", False),
        ("other, h", "http://h/", True),
        ("other h", "http://h/", True),
        ("h:8080", "http://h:8080/", True),
        ("h:8080", "http://h/", False),
        ("h:80", "http://h/", True),
        ("10.0.0.0/8", "http://10.1.2.3/", True),
        ("10.0.0.0/8", "http://11.1.2.3/", False),
        ("127.0.0.1", "http://127.0.0.1:1/", True),
        ("::1", "http://[::1]:1/", True),
        ("[::1]:2", "http://[::1]:1/", False),
        ("H", "http://h/", True),
        ("", "http://h/", False),
    ],
)
def test_no_proxy(no_proxy: str, url: str, is_bypassed: bool) -> None:
    environ = {"ALL_PROXY": "http://p:1", "NO_PROXY": no_proxy}

    assert (find_proxy(url, environ) is None) == is_bypassed


def test_socks_proxy_is_refused_with_advice() -> None:
    with pytest.raises(ConfigurationError, match="ALL_PROXY names a socks5 proxy"):
        find_proxy("https://h/", {"ALL_PROXY": "socks5://u:hunter2@p:1"})


@pytest.mark.parametrize("proxy", ["http://", "http://p:x", "http://[p"])
def test_broken_proxy_is_refused(proxy: str) -> None:
    with pytest.raises(ConfigurationError, match="HTTPS_PROXY is not the address of a proxy"):
        find_proxy("https://h/", {"HTTPS_PROXY": proxy})


def test_password_of_a_proxy_is_a_secret() -> None:
    assert proxy_secrets("http://user:hunter%21@p:3128") == ("hunter%21", "hunter!")
    assert proxy_place("http://user:hunter%21@p:3128") == "proxy p:3128"


def test_proxy_without_password_has_no_secret() -> None:
    assert proxy_secrets("http://p") == ()
    assert proxy_secrets(None) == ()
    assert proxy_place("https://p") == "proxy p:443"
    assert proxy_place(None) is None
