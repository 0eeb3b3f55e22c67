"""Steps PettingZoo's rock paper scissors, two steps a movement; prints movements and seconds."""

import json
import random
import sys
import time

from pettingzoo.classic import rps_v2

movements = int(sys.argv[1])
environment = rps_v2.env(max_cycles=movements)
environment.reset(seed=1)
dice = random.Random(1)
actions = [dice.randrange(3) for _ in range(2 * movements)]
started = time.process_time()
for action in actions:
    environment.step(action)
seconds = time.process_time() - started
print(json.dumps({"movements": movements, "seconds": seconds}))
