"""evalcli.yaml: every name is declared, every limit fits, no secret stands there."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.declarations.workspace import ModelChoice, WorkspaceFile
from evalcli.errors import DeclarationError
from evalcli.loading.reader import read_workspace_file


def read(text: str) -> WorkspaceFile:
    return read_workspace_file(dedent(text).encode(), "evalcli.yaml", read_text=str)


def faults(text: str) -> list[str]:
    with pytest.raises(DeclarationError) as caught:
        read(text)
    return [str(fault).removeprefix("evalcli.yaml:") for fault in caught.value.faults]


EXAMPLE = Path(__file__).parents[2] / "data/workspace.yaml"


def test_the_example_of_the_manual() -> None:
    file = read(EXAMPLE.read_text(encoding="utf-8"))

    assert file.providers["openai"].requests_per_minute == 500
    assert str(file.models["gpt-6-luna"].prices.input) == "0.10"  # type: ignore[union-attr]
    assert file.models["gpt-6-luna"].prices.as_of == "2026-10-14"  # type: ignore[union-attr]
    assert file.configurations["support-bot"].fallback == ()
    assert file.eval.configuration == "support-bot"


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "providers: {p: {type: opnai}}\n",
            '1:23: providers.p.type: unknown type of provider "opnai"; write "openai"; known: ',
            id="type-of-provider",
        ),
        pytest.param(
            "providers: {main: {type: openai}}\nmodels: {m: {provider: mian}}\n",
            '2:24: models.m.provider: unknown provider "mian"; write "main"; known: main',
            id="provider-of-model",
        ),
        pytest.param(
            "models: {m: {provider: openai}}\n",
            '1:24: models.m.provider: unknown provider "openai"; known: local',
            id="provider-of-model-among-defaults",
        ),
        pytest.param(
            "providers: {a: {type: openai}, b: {type: openai}}\n"
            "models: {gpt: {provider: a}}\nconfigurations: {c: {model: gtp}}\n",
            '3:29: configurations.c.model: unknown model "gtp"; write "gpt"; known: gpt; or',
            id="model-of-configuration",
        ),
        pytest.param(
            "providers: {a: {type: openai}}\n"
            "models: {gpt: {provider: a}}\nconfigurations: {c: {model: gtp}}\n",
            '3:29: configurations.c.model: unknown model "gtp"; write "gpt"; known: gpt; or',
            id="model-of-configuration-beside-declared-ones",
        ),
        pytest.param(
            "providers: {a: {type: openai}, b: {type: openai}}\nconfigurations: {c: {model: m}}\n",
            '2:29: configurations.c.model: unknown model "m", and nothing says which provider',
            id="model-of-configuration-of-two-providers",
        ),
        pytest.param(
            "configurations: {c: {model: m}}\n",
            '1:29: configurations.c.model: unknown model "m", and nothing says which provider has '
            "it; declare it under models; none is declared",
            id="no-provider-at-all",
        ),
        pytest.param(
            "providers: {p: {type: openai}}\nconfigurations: {bot: {model: m}}\n"
            "decision: {configuration: bott}\n",
            '3:27: decision.configuration: unknown configuration "bott"; write "bot"; known: bot',
            id="configuration-of-decisions",
        ),
        pytest.param(
            "providers: {p: {type: openai}}\n"
            "configurations: {a: {model: m, fallback: [b, a]}, b: {model: m, fallback: [a, c]}}\n",
            "2:46: configurations.a.fallback[1]: is the configuration itself; name another one",
            id="fallback",
        ),
        pytest.param(
            "providers: {'': {type: openai}}\n",
            '1:17: providers[""]: has an empty name; name it',
            id="empty-name",
        ),
    ],
)
def test_names_must_be_declared(text: str, expected: str) -> None:
    assert faults(text)[0].startswith(expected)


def test_all_faults_of_fallbacks() -> None:
    lines = faults(
        "providers: {p: {type: openai}}\n"
        "configurations: {a: {model: m, fallback: [b, zz, b]}, b: {model: m}}\n"
    )

    assert lines == [
        '2:46: configurations.a.fallback[1]: unknown configuration "zz"; known: a, b',
        '2:50: configurations.a.fallback[2]: "b" is named twice; keep one of them',
    ]


def test_model_that_is_not_declared_is_the_only_providers() -> None:
    file = read("providers: {p: {type: openai}}\nconfigurations: {c: {model: any-model}}\n")

    assert file.configurations["c"].model == "any-model"


def test_a_model_by_criteria() -> None:
    file = read(
        "providers: {p: {type: openai}}\n"
        "configurations: {c: {model: {criteria: {capabilities: [chat], max_input_price: 1}}}}\n"
    )

    assert isinstance(file.configurations["c"].model, ModelChoice)
    assert file.configurations["c"].model.criteria.max_input_price == 1


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        pytest.param(
            "{criteria: {capabilites: [chat]}}",
            '2:41: configurations.c.model.criteria: unknown key "capabilites"; '
            'write "capabilities"',
            id="misspelt-criterion",
        ),
        pytest.param(
            "{criteria: {min_context: 0}}",
            "2:54: configurations.c.model.criteria.min_context: must be at least 1; write a number "
            "in that range",
            id="context-of-nothing",
        ),
        pytest.param(
            "{name: m}",
            '2:30: configurations.c.model: unknown key "name"; known keys: criteria',
            id="no-criteria",
        ),
    ],
)
def test_faults_of_criteria(model: str, expected: str) -> None:
    lines = faults(
        f"providers: {{p: {{type: openai}}}}\nconfigurations: {{c: {{model: {model}}}}}\n"
    )

    assert expected in lines


def test_probabilities_are_said_of_decision_servers_only() -> None:
    assert faults("providers: {p: {type: openai, probabilities: calibrated}}\n") == [
        '1:46: providers.p.probabilities: says nothing of "openai", whose models give no '
        "probabilities; leave it out"
    ]
    file = read("providers: {p: {type: typesafe, probabilities: calibrated}}\n")
    assert file.providers["p"].probabilities == "calibrated"


# --- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("max_pass_rate_drop: 1.1", "must be at most 1"),
        ("max_pass_rate_drop: -0.1", "must be at least 0"),
        ("max_mean_score_drop: .nan", "must be a finite number; write a number such as 0.1"),
        ("min_pass_rate: .inf", "must be a finite number"),
        ("min_pass_rate: 1e999999", "must be a finite number"),
        ("min_mean_score: '0.5'", "must be a number, and is text; write it as 12 or 0.5, without"),
        ("min_mean_score: 1_0", "must be a number, and is text"),
        ("min_mean_score: ", "must be a number, and is empty"),
        ("min_mean_score: true", "must be a number, and is true"),
        ("min_mean_score: 0,5", "must be a number, and is text"),
        (
            "require_baseline: yes",
            "must be true or false, and is text; write true or false, without",
        ),
        ("require_baseline: 1", "must be true or false, and is another number"),
        ("require_baseline: 'true'", "must be true or false, and is text"),
        ("baseline_branch: ''", "is empty"),
    ],
)
def test_settings_of_eval(setting: str, words: str) -> None:
    [line] = faults(f"eval:\n  {setting}\n")

    assert line.startswith("2:")
    assert words in line


@pytest.mark.parametrize("value", ["0", "1", "0.1", "1.0", ".5", "5e-1", "0x1"])
def test_limits_that_fit(value: str) -> None:
    assert 0 <= read(f"eval: {{max_pass_rate_drop: {value}}}\n").eval.max_pass_rate_drop <= 1


def test_limits_are_exact() -> None:
    assert str(read("eval: {min_pass_rate: 0.30}\n").eval.min_pass_rate) == "0.30"


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("concurrency: 0", "must be at least 1"),
        ("concurrency: 1.5", "must be a whole number, and is another number"),
        ("timeout_s: 0", "must be more than 0"),
        ("timeout_s: 3601", "must be at most 3600"),
        ("retry: {tries: 0}", "must be at least 1"),
        ("retry: [3]", "must be a mapping, and is a list"),
        ("trust_zone: eu", "write one of local, private_hosted, external_eu, external_global"),
        ("trust_zone: externl_eu", 'write "external_eu"; known: local'),
        ("headers: [x]", "must be a mapping"),
        ("headers: {'x y': z}", "is no name of an HTTP header"),
        ('headers: {x-a: "b\\nc"}', "holds a character that a header cannot carry"),
        ("headers: {x-a: ''}", "is empty"),
        ("allow_plain_http: a.example", "must be a list, and is text"),
        ("base_url: llm.example/v1", "is no address of a server"),
        ("base_url: ftp://llm.example", "is no address of a server"),
        ("base_url: 'https://'", "is no address of a server"),
        ("base_url: 'https://[::1'", "is no address of a server"),
        ("base_url: 'https://x:99999/v1'", "is no address of a server"),
        ("base_url: 'https://x/v1?key=sk-4711'", 'cannot hold a space, "?" or "#"'),
        ("base_url: 'https://x/v1#a'", 'cannot hold a space, "?" or "#"'),
        ("api-key: env:X", 'unknown key "api-key"; write "api_key"'),
    ],
)
def test_entries_of_providers(entry: str, words: str) -> None:
    [line] = faults(f"providers:\n  p:\n    type: openai\n    {entry}\n")

    assert line.startswith("4:")
    assert words in line
    assert "4711" not in line


@pytest.mark.parametrize("url", ["https://x/v1", "http://127.0.0.1:8080", "https://[::1]:8/v1/"])
def test_addresses_that_fit(url: str) -> None:
    assert (
        read(f"providers: {{p: {{type: openai, base_url: '{url}'}}}}").providers["p"].base_url
        == url
    )


@pytest.mark.parametrize(
    ("prices", "words"),
    [("{input: -1}", "must be at least 0"), ("{input: free}", "must be a number, and is text")],
)
def test_prices(prices: str, words: str) -> None:
    [line] = faults(
        f"providers: {{p: {{type: openai}}}}\nmodels: {{m: {{provider: p, prices: {prices}}}}}"
    )

    assert words in line


def test_capabilities_are_known_words() -> None:
    [line] = faults(
        "providers: {p: {type: openai}}\nmodels: {m: {provider: p, capabilities: [chatt, chat]}}\n"
    )

    assert line == (
        '2:42: models.m.capabilities[0]: "chatt" is not known here; write "chat"; '
        "known: chat, decision, embedding, structured_output"
    )


def test_history_content_is_a_known_word() -> None:
    [line] = faults("history: {content: metdata}\n")

    assert line == (
        '1:20: history.content: "metdata" is not known here; write "metadata"; '
        "known: full, metadata"
    )


# --- secrets --------------------------------------------------------------------------------------

SECRET = "sk-proj-4711-abcdef"


@pytest.mark.parametrize(
    "entry",
    [
        f"api_key: {SECRET}",
        f"api_key: '{SECRET}'",
        f"api_key: [{SECRET}]",
        f"api_key: {{value: {SECRET}}}",
        f"api_key: env:{SECRET}",
        f"api_key: 'Bearer {SECRET}'",
        f"api_key: {{env: {SECRET}}}",
        f"headers: {{Authorization: Bearer {SECRET}}}",
        f"headers: {{x-api-key: {SECRET}}}",
        f"headers: {{X-Goog-Api-Key: {SECRET}}}",
        f"headers: {{Cookie: 'session={SECRET}'}}",
        f"headers: {{x-auth: {SECRET}, x-secret: {SECRET}, my-token: {SECRET}}}",
        f"headers: {{ok: fine, Proxy-Authorization: {SECRET}}}",
        f"base_url: 'https://user:{SECRET}@llm.example/v1'",
        f"base_url: 'https://{SECRET}@llm.example/v1'",
        f"base_url: 'user:{SECRET}@llm.example'",
        f"base_url: 'https://llm.example/v1?key={SECRET}'",
        f"base_url: 'https://llm.example/{SECRET} x'",
        f"timeout_s: {SECRET}",
        f"concurrency: {SECRET}",
        f"active: {SECRET}",
        f"retry: {SECRET}",
        f"allow_plain_http: {SECRET}",
        f"api_key: *{SECRET}",
        f"api_key: !{SECRET}",
        f'api_key: "\\q{SECRET}"',
        f"api_key: '{SECRET}",
        f"api_key: @{SECRET}",
        f"api_key: {SECRET}: x",
    ],
)
def test_secrets_are_refused_and_never_repeated(entry: str) -> None:
    with pytest.raises(DeclarationError) as caught:
        read(f"providers:\n  p:\n    type: openai\n    {entry}\n")

    told = str(caught.value) + repr(caught.value.faults)
    assert "4711" not in told
    assert caught.value.faults[0].line in (4, 5)


@pytest.mark.parametrize(
    ("option", "place"),
    [
        (f"api_key: {SECRET}", "4:14"),
        (f"headers: {{Authorization: {SECRET}}}", "4:30"),
        (f"headers: {{ok: fine, x-token: 'Bearer {SECRET}'}}", "4:34"),
    ],
)
def test_secrets_of_retrievers_are_refused(option: str, place: str) -> None:
    lines = faults(f"retrievers:\n  r:\n    type: http\n    {option}\n")
    about = [line for line in lines if "must be a reference" in line]

    assert about[0].startswith(f"{place}: retrievers.r.")
    assert "4711" not in "".join(lines)


def test_all_secret_headers_are_named() -> None:
    lines = faults("providers: {p: {type: openai, headers: {x-auth: a, b: c, my-token: d}}}\n")

    assert lines == [
        "1:49: providers.p.headers.x-auth: must be a reference: a secret never stands in a file; "
        "write env:NAME_OF_A_VARIABLE or file:/path/of/the/secret",
        "1:68: providers.p.headers.my-token: must be a reference: a secret never stands in a file; "
        "write env:NAME_OF_A_VARIABLE or file:/path/of/the/secret",
    ]


@pytest.mark.parametrize(
    "reference", ["env:OPENAI_API_KEY", "env:_x1", "file:/run/secrets/key", "file:key.txt"]
)
def test_references_are_kept(reference: str) -> None:
    file = read(
        f"providers: {{p: {{type: openai, api_key: '{reference}', "
        f"headers: {{x-token: '{reference}'}}}}}}"
    )

    assert file.providers["p"].api_key == reference
    assert file.providers["p"].headers == {"x-token": reference}


@pytest.mark.parametrize("reference", ["env:", "env:A-B", "env:1X", "file:", "ENV:X", " env:X"])
def test_references_that_name_nothing(reference: str) -> None:
    [line] = faults(f"providers: {{p: {{type: openai, api_key: '{reference}'}}}}")

    assert "must be a reference" in line


def test_headers_without_secrets_may_stand_there() -> None:
    file = read(
        "providers: {p: {type: openai, headers: {X-Team: evals, OpenAI-Organization: org}}}"
    )

    assert file.providers["p"].headers == {"X-Team": "evals", "OpenAI-Organization": "org"}


# --- any bytes ------------------------------------------------------------------------------------

words = st.sampled_from(
    [*"abp:-[]{},&*!'\" \n", "providers", "models", "configurations", "eval", "type", ": ", "\n  "]
)


@given(st.binary(max_size=200) | st.lists(words, max_size=20).map("".join).map(str.encode))
def test_any_bytes_are_a_workspace_or_faults(data: bytes) -> None:
    try:
        read_workspace_file(data, "x", read_text=str)
    except DeclarationError as error:
        assert error.faults


def test_where_no_model_is_declared_any_is_of_the_only_provider() -> None:
    file = read("providers: {a: {type: openai}}\nconfigurations: {c: {model: m}}\n")
    assert file.configurations["c"].model == "m"
