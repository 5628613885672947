"""A program as a player: one JSON request on standard input, one JSON reply on standard output.

In arena.yaml:

    players:
      - {command: [python, command_agent.py], name: Counter}

It answers every question with the number of its words, and votes for the first option it is offered.
"""

import json
import sys

asked = json.load(sys.stdin)
question = asked["messages"][-1]["content"]
if asked["schema"] is None:
    text = f"The question has {len(question.split())} words."
else:
    fields = asked["schema"]["properties"]
    text = json.dumps({name: about.get("enum", ["no reason"])[0] for name, about in fields.items()})

json.dump({"text": text, "cost_usd": 0.0}, sys.stdout)
