"""A bot that reads turns as lines of JSON and answers each with a line. README.md has the commands."""

import fileinput
import json
import random
import sys

GAMES = ["rps.v1"]


def choose(view, legal, role):
    """Returns one of the legal actions. `view` is the part of the game that this role may know."""
    return random.choice(legal)


def play_lines():
    output, sys.stdout = sys.stdout, sys.stderr  # a print() in choose must not write between the answers
    ready = json.dumps({"ready": True, "matches": "many"})  # this process can play the next match
    print(ready, file=output, flush=True)
    for line in fileinput.input():
        message = json.loads(line)
        if message["type"] == "start":
            role = message["role"]
        elif message["type"] == "turn":
            random.seed(message["seed"])  # the same choices in a league with the same seed
            action = choose(message["view"], message["legal"], role)
            print(json.dumps({"action": action}), file=output, flush=True)
        elif message["type"] == "end":
            print(ready, file=output, flush=True)


if __name__ == "__main__":
    play_lines()
