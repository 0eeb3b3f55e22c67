"""Rulesets and their rulings."""

import dataclasses

import pytest

from engine import GOD_V1, RULESETS, RULINGS, Ruleset, RulesetError, ruleset_with


def test_the_rules_of_record_have_the_values_of_the_rules_page():
    assert dataclasses.asdict(RULESETS["god-v1"]) == {
        "name": "god-v1",
        "movements_per_phase": 5,
        "winner_refills": True,
        "cycles_per_round": 3,
        "max_movements": 400,
        "tie_keeps_power_moves": True,
        "sun_wild_steals": "held",
        "earth_wild_steals": "played",
        "core_loser_to_alpha_gains_wild": True,
        "tribute_returned_on_win": False,
    }
    assert tuple(dataclasses.asdict(GOD_V1)) == ("name", *RULINGS)


def test_overrides_change_only_what_they_name():
    changed = ruleset_with(GOD_V1, {"max_movements": 7, "sun_wild_steals": "played"})
    assert changed == Ruleset("god-v1", max_movements=7, sun_wild_steals="played")
    assert ruleset_with(GOD_V1, {}) == GOD_V1


@pytest.mark.parametrize(
    ("ruling", "value"),
    [
        ("movements_per_phase", 0),
        ("movements_per_phase", True),
        ("movements_per_phase", 5.0),
        ("movements_per_phase", "5"),
        ("cycles_per_round", -1),
        ("cycles_per_round", None),
        ("max_movements", 10**100),
        ("max_movements", float("nan")),
        ("winner_refills", 1),
        ("winner_refills", "true"),
        ("tie_keeps_power_moves", 0),
        ("tie_keeps_power_moves", None),
        ("core_loser_to_alpha_gains_wild", []),
        ("tribute_returned_on_win", {}),
        ("sun_wild_steals", "both"),
        ("sun_wild_steals", True),
        ("earth_wild_steals", None),
        ("earth_wild_steals", ["held"]),
    ],
)
def test_a_value_of_the_wrong_type_or_range_is_refused(ruling, value):
    with pytest.raises(RulesetError, match=ruling):
        ruleset_with(GOD_V1, {ruling: value})
    with pytest.raises(RulesetError, match=ruling):
        Ruleset("mine", **{ruling: value})


@pytest.mark.parametrize("name", ["name", "gravity", ""])
def test_a_name_that_is_no_ruling_is_refused(name):
    with pytest.raises(RulesetError, match="unknown ruling"):
        ruleset_with(GOD_V1, {name: "x"})
