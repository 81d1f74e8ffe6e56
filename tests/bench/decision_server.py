"""A System One server that answers every request after a fixed delay, in a process of its own.

    python tests/bench/decision_server.py [--delay-ms 20]

Prints its port as the first line of stdout and serves until it is killed.
"""

from __future__ import annotations

import argparse
import asyncio

from tests.bench.server import serve_document

ANSWER: dict[str, object] = {
    "model": "jev-1.14.0",
    "answers": {
        "verdict": {
            "type": "choice",
            "choice": "revise",
            "confidence": 0.43,
            "probabilities": {"publish": 0.31, "revise": 0.62, "discard": 0.07},
        },
        "supported": {"type": "noul", "noul": 0.86},
    },
    "usage": {"input_tokens": 318, "output_tokens": 0},
}


def main() -> None:
    """Read the options and serve."""
    parser = argparse.ArgumentParser(description="A decision server with a fixed delay.")
    parser.add_argument("--delay-ms", type=float, default=20.0)
    asyncio.run(serve_document(ANSWER, parser.parse_args().delay_ms / 1000))


if __name__ == "__main__":
    main()
