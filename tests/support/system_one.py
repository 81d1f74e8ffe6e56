"""A System One server on loopback that checks what it is asked and answers all of it.

Its answers are made of the texts alone, so that equal questions get equal answers; what they say
means nothing. The official SDK and our adapter are both run against it, so that each side of the
wire format is judged by somebody else's code.

Source: reference "Wire formats", 12.2 to 12.8.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.serving import ThreadedServer

MODEL = "jev-1.14.0"
ALIASES = ("jev-latest", "jev-preview")


class SystemOneServer(ThreadedServer):
    """A context manager; `base_url` ends in `/v1`. With a `key`, others are refused."""

    def __init__(self, *, key: str | None = None) -> None:
        self.key = key
        self.bodies: list[Any] = []
        super().__init__(_Http(self))
        self.url = f"http://127.0.0.1:{self.port}"
        self.base_url = f"{self.url}/v1"


class _RefusedError(Exception):
    def __init__(self, status: int, detail: object) -> None:
        super().__init__(status)
        self.status = status
        self.detail = detail


class _Http(ThreadingHTTPServer):
    def __init__(self, script: SystemOneServer) -> None:
        self.script = script
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http

    def do_GET(self) -> None:
        self._answer(self._models)

    def do_POST(self) -> None:
        self._answer(self._decide)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
        pass

    def _answer(self, make: Any) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            self._check_key()
            status, document = 200, make(raw)
        except _RefusedError as exc:
            status, document = exc.status, {"detail": exc.detail}
        content = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.send_header("x-typesafe-request-id", f"req-{len(self.server.script.bodies)}")
        self.end_headers()
        self.wfile.write(content)

    def _check_key(self) -> None:
        given = self.headers.get("authorization")
        key = self.server.script.key
        if key is not None and given != f"Bearer {key}":
            detail = {"error_type": "authentication_error", "message": "The key is unknown."}
            raise _RefusedError(401, detail)

    def _models(self, _raw: bytes) -> object:
        if self.path != "/v1/models":
            raise _RefusedError(404, "Not Found")
        return {
            "models": [
                {"name": MODEL, "description": "Test", "release_date": "2026-10-14"},
            ]
        }

    def _decide(self, raw: bytes) -> object:
        if self.path != "/v1/systemone":
            raise _RefusedError(404, "Not Found")
        try:
            body = json.loads(raw)
        except ValueError:
            raise _RefusedError(422, [_fault(["body"], "Invalid JSON")]) from None
        self.server.script.bodies.append(body)
        faults = list(_request_faults(body))
        if faults:
            raise _RefusedError(422, faults)
        if body["model"] not in (MODEL, *ALIASES):
            message = f"Unknown model {body['model']}"
            raise _RefusedError(400, {"error_type": "bad_request", "message": message})
        state = json.dumps(body["state"], sort_keys=True)
        return {
            "model": MODEL,
            "answers": {
                key: _answer_to(question, state) for key, question in body["questions"].items()
            },
            "usage": {"input_tokens": len(raw) // 4, "output_tokens": 0},
        }


def _fault(loc: list[str], msg: str) -> dict[str, object]:
    return {"loc": loc, "msg": msg, "type": "value_error", "input": None}


def _request_faults(body: Any) -> Any:
    if not isinstance(body, dict):
        yield _fault(["body"], "Input should be an object")
        return
    if not isinstance(body.get("model"), str):
        yield _fault(["body", "model"], "Input should be a string")
    if not isinstance(body.get("state"), str | dict | list):
        yield _fault(["body", "state"], "Field required")
    questions = body.get("questions")
    if not isinstance(questions, dict) or not questions:
        yield _fault(["body", "questions"], "At least one question is required")
        return
    for key, question in questions.items():
        message = _question_fault(question)
        if message:
            yield _fault(["body", "questions", key], message)


def _question_fault(question: Any) -> str:
    if not isinstance(question, dict):
        return "Input should be an object"
    kind, criteria = question.get("type"), question.get("criteria")
    if kind == "noul":
        is_map = isinstance(criteria, dict) and set(criteria) <= {"true", "false"}
        return "" if criteria is None or is_map else "criteria may have true and false only"
    if kind == "choice":
        fits = isinstance(criteria, dict) and 2 <= len(criteria) <= 255
        return "" if fits else "criteria must be a map of 2 to 255 options"
    if kind == "score":
        fits = isinstance(criteria, list) and 2 <= len(criteria) <= 10
        return "" if fits else "criteria must be a list of 2 to 10 levels"
    return "Unknown question type"


def _answer_to(question: Mapping[str, Any], state: str) -> dict[str, object]:
    if question["type"] == "noul":
        return {"type": "noul", "noul": _weights(question, state, ["yes", "no"])["yes"]}
    criteria = question["criteria"]
    if question["type"] == "choice":
        probabilities = _weights(question, state, list(criteria))
        top = max(probabilities.values())
        spread = (top - 1 / len(criteria)) / (1 - 1 / len(criteria))
        return {
            "type": "choice",
            "choice": max(probabilities, key=lambda option: probabilities[option]),
            "confidence": min(1.0, max(0.0, round(spread, 2))),
            "probabilities": probabilities,
        }
    levels = [str(index) for index in range(len(criteria))]
    probabilities = _weights(question, state, levels)
    score = sum(int(level) * probability for level, probability in probabilities.items())
    return {
        "type": "score",
        "score": min(float(len(levels) - 1), round(score, 2)),
        "confidence": 0.5,
        "legend": dict(zip(levels, criteria, strict=True)),
        "probabilities": probabilities,
    }


def _weights(question: Mapping[str, Any], state: str, labels: list[str]) -> dict[str, float]:
    """Spread 1 over the labels, by their texts, rounded to two decimals as the real one does."""
    text = json.dumps([state, question.get("instructions")], sort_keys=True)
    raw = [
        1 + int.from_bytes(hashlib.sha256(f"{text}{label}".encode()).digest()[:2])
        for label in labels
    ]
    return {label: round(weight / sum(raw), 2) for label, weight in zip(labels, raw, strict=True)}
