"""A bot that reads and writes lines of JSON. It plays every game, with random legal actions."""

import json
import random
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "turn":
        action = random.Random(message["seed"]).choice(message["legal"])
        print(json.dumps({"action": action}), flush=True)
