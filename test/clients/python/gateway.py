"""The gateway that the scripts beside this file call, and how they tell what came back."""

import json
import os

URL = os.environ["TOLLGATE_URL"]
KEY = os.environ["TOLLGATE_API_KEY"]
MODEL = "acme-chat"
PROMPT = "Add 2 and 3."
ADD = {
    "name": "add",
    "description": "Adds two numbers.",
    "parameters": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
    },
}


def add(a: int, b: int) -> int:
    """Adds two numbers.

    Args:
        a: The first.
        b: The second.
    """
    return a + b


def say(**answers: object) -> None:
    """Prints what calls brought, by their names, on a line of its own."""
    print("\nsaid " + json.dumps(answers), flush=True)
