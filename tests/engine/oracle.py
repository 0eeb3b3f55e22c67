"""The rules of rules.md once more, written out if by if on mutable objects.

It shares nothing with the engine, not even the names of the moves, so that a slip in a table or in
an order shows as a difference. It trusts its input: only legal events are given to it.
"""


class OracleApe:
    def __init__(self):
        self.health = 10
        self.alphas = 0
        self.wilds = 0
        self.potions = 0
        self.streak = 0
        self.rounds = 0
        self.misses = 0

    def gain_wild(self):
        self.wilds += 1

    def hurt(self, points):
        before = self.health
        self.health = max(0, self.health - points)
        return before - self.health

    def heal(self, points):
        self.health = min(10, self.health + points)

    def break_wild(self):
        if self.wilds > 0:
            self.wilds -= 1

    def break_alpha(self):
        if self.alphas > 0:
            self.alphas -= 1

    def win_streak(self):
        self.streak += 1
        if self.streak == 3:
            self.potions += 1
            self.streak = 0

    def view(self):
        return {
            "health": self.health,
            "alphas": self.alphas,
            "wilds": self.wilds,
            "potions": self.potions,
            "streak": self.streak,
            "rounds": self.rounds,
            "misses": self.misses,
        }


def is_core(move):
    return move == "rock" or move == "paper" or move == "scissors"


def beats(one, other):
    if one == "rock":
        return other == "scissors" or other == "wild"
    if one == "paper":
        return other == "rock" or other == "wild"
    if one == "scissors":
        return other == "paper" or other == "wild"
    if one == "wild":
        return other == "alpha"
    return is_core(other)


class Oracle:
    """One match. `rulings` is a dict of every named ruling; `draw` picks the next influence."""

    def __init__(self, rulings, draw):
        self.rulings = rulings
        self.draw = draw
        self.status = "running"
        self.winner = None
        self.round = 0
        self.phase = "opening"
        self.movement = 1
        self.in_phase = 1
        self.cycle = 0
        self.sudden_death = False
        self.left = []
        self.outcome = None
        self.apes = {"a": OracleApe(), "b": OracleApe()}

    def line(self, n):
        return {
            "n": n,
            "status": self.status,
            "winner": self.winner,
            "round": self.round,
            "phase": self.phase,
            "movement": self.movement,
            "in_phase": self.in_phase,
            "cycle": self.cycle,
            "sudden_death": self.sudden_death,
            "a": self.apes["a"].view(),
            "b": self.apes["b"].view(),
            "outcome": self.outcome,
        }

    def apply(self, event):
        """Apply an event in the form of the replay format."""
        if event["type"] == "movement":
            self.move(event["a"], event["b"])
        elif event["type"] == "potion":
            ape = self.apes[event["ape"]]
            ape.potions -= 1
            ape.heal(2)
            self.outcome = None
        else:
            self.status = "won"
            self.winner = "b" if event["ape"] == "a" else "a"
            self.outcome = None

    def move(self, a, b):
        if a is None and b is None:
            self.void()
        elif a is None:
            self.forfeit("b", "a")
        elif b is None:
            self.forfeit("a", "b")
        else:
            self.played(a, b)
        self.after_movement()

    def void(self):
        self.outcome = "tie"
        for ape in self.apes.values():
            ape.misses += 1
            ape.streak = 0

    def forfeit(self, present, absent):
        self.outcome = present
        winner, loser = self.apes[present], self.apes[absent]
        winner.misses = 0
        loser.misses += 1
        if self.phase == "opening":
            winner.alphas += 1
        else:
            self.core_wins(winner, loser)
        winner.win_streak()
        loser.streak = 0

    def played(self, a, b):
        move_a, move_b = a["move"], b["move"]
        tribute_a, tribute_b = a.get("tribute"), b.get("tribute")
        ape_a, ape_b = self.apes["a"], self.apes["b"]
        for ape, move, tribute in ((ape_a, move_a, tribute_a), (ape_b, move_b, tribute_b)):
            ape.misses = 0
            if tribute == "wilds":
                ape.wilds -= 2
            elif tribute == "alphas":
                ape.alphas -= 3
            if move == "wild":
                ape.wilds -= 1
            elif move == "alpha":
                ape.alphas -= 1
        if beats(move_a, move_b):
            self.outcome = "a"
            self.won(ape_a, move_a, tribute_a, ape_b, move_b)
        elif beats(move_b, move_a):
            self.outcome = "b"
            self.won(ape_b, move_b, tribute_b, ape_a, move_a)
        else:
            self.outcome = "tie"
            for ape, move in ((ape_a, move_a), (ape_b, move_b)):
                ape.streak = 0
                if self.rulings["tie_keeps_power_moves"]:
                    if move == "wild":
                        ape.wilds += 1
                    elif move == "alpha":
                        ape.alphas += 1

    def won(self, winner, move, tribute, loser, losing_move):
        if self.phase == "opening":
            winner.alphas += 1
            loser.gain_wild()
        elif is_core(move):
            self.core_wins(winner, loser)
            if is_core(losing_move):
                loser.gain_wild()
        elif move == "alpha":
            self.alpha_wins(winner, loser)
            if self.rulings["core_loser_to_alpha_gains_wild"]:
                loser.gain_wild()
        else:
            self.wild_wins(winner, loser)
        winner.win_streak()
        loser.streak = 0
        if tribute is not None:
            winner.potions += 1
            if self.rulings["tribute_returned_on_win"]:
                if tribute == "wilds":
                    winner.wilds += 2
                else:
                    winner.alphas += 3

    def steal_alpha(self, winner, loser):
        if loser.alphas > 0:
            loser.alphas -= 1
            winner.alphas += 1

    def core_wins(self, winner, loser):
        if self.phase == "sun":
            loser.hurt(2)
            self.steal_alpha(winner, loser)
        elif self.phase == "water":
            loser.hurt(3)
            winner.heal(1)
        elif self.phase == "moon":
            loser.hurt(2)
            winner.alphas += 1
        elif self.phase == "earth":
            loser.hurt(2)
            loser.break_alpha()
            loser.break_wild()

    def alpha_wins(self, winner, loser):
        if self.phase == "sun":
            loser.hurt(3)
        elif self.phase == "water":
            winner.heal(3)
        elif self.phase == "moon":
            loser.hurt(3)
            winner.alphas += 1  # kept
            loser.break_wild()
        elif self.phase == "earth":
            loser.hurt(3)
            loser.break_wild()

    def wild_wins(self, winner, loser):
        if self.phase == "sun":
            winner.wilds += 1  # kept
            if self.rulings["sun_wild_steals"] == "held":
                self.steal_alpha(winner, loser)
            else:
                winner.alphas += 1
        elif self.phase == "water":
            winner.heal(loser.hurt(3))
        elif self.phase == "moon":
            loser.hurt(3)
            winner.wilds += 1  # kept
        elif self.phase == "earth":
            if self.rulings["earth_wild_steals"] == "played":
                winner.alphas += 1
            else:
                self.steal_alpha(winner, loser)
            winner.potions += 1

    def after_movement(self):
        if self.absent_too_long():
            return
        if self.phase == "opening":
            influence_over = self.in_phase == 3
        else:
            influence_over = self.in_phase == self.rulings["movements_per_phase"]
        cycle_over = influence_over and self.phase != "opening" and len(self.left) == 0
        round_winner = self.round_winner(cycle_over)

        if round_winner == "a" or round_winner == "b":
            self.apes[round_winner].rounds += 1
            if self.apes[round_winner].rounds == 3:
                self.status, self.winner = "won", round_winner
                return
        if self.movement == self.rulings["max_movements"]:
            self.status = "draw"
            return

        self.movement += 1
        if round_winner == "a" or round_winner == "b":
            for seat, ape in self.apes.items():
                if seat != round_winner or self.rulings["winner_refills"]:
                    ape.health = 10
            self.new_round()
            return
        if round_winner == "sudden death":
            self.sudden_death = True
        if self.phase == "opening" and influence_over:
            self.new_round()
        elif influence_over:
            self.new_influence()
        else:
            self.in_phase += 1

    def absent_too_long(self):
        a, b = self.apes["a"], self.apes["b"]
        if a.misses == 3 and b.misses == 3:
            self.status = "abandoned"
        elif a.misses == 3:
            self.status, self.winner = "won", "b"
        elif b.misses == 3:
            self.status, self.winner = "won", "a"
        else:
            return False
        return True

    def round_winner(self, cycle_over):
        a, b = self.apes["a"], self.apes["b"]
        if a.health == 0:
            return "b"
        if b.health == 0:
            return "a"
        if self.sudden_death:
            return None if self.outcome == "tie" else self.outcome
        if cycle_over and self.cycle == self.rulings["cycles_per_round"]:
            if a.health > b.health:
                return "a"
            if b.health > a.health:
                return "b"
            return "sudden death"
        return None

    def new_round(self):
        self.round += 1
        self.cycle = 0
        self.sudden_death = False
        self.left = []
        self.new_influence()

    def new_influence(self):
        if not self.left:
            self.left = ["sun", "water", "moon", "earth"]
            self.cycle += 1
        self.phase = self.draw(tuple(self.left))
        self.left.remove(self.phase)
        self.in_phase = 1
