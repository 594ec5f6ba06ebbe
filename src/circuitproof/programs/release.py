"""Reading of programs in the JSON of the paper's release."""

from fractions import Fraction

from circuitproof.errors import InputError
from circuitproof.files.reading import Fields
from circuitproof.programs.atoms import Condition
from circuitproof.programs.features import Comparison, Feature, FeatureValue
from circuitproof.programs.syntax import Otherwise, Program, Rule

_VERSION = 1


def read_release_program(fields: Fields) -> Program:
    """Return one program of a release file.

    The release gives a program a name, which says nothing that the rules do not, and has no word for rows
    without weight: they attend to their own position.
    """
    version = fields.integer("dsl_version")
    if version != _VERSION:
        raise InputError(
            f"{fields.path('dsl_version')} is {version}, want {_VERSION}, the only one that is known"
        )
    fields.text("name")
    default = _weight(fields, "default_weight")
    return Program(default, fields.each("rules", _rule), Otherwise.SELF)


def _rule(fields: Fields) -> Rule:
    return Rule(_weight(fields, "weight"), fields.each("conditions", _condition))


def _weight(fields: Fields, key: str) -> Fraction:
    weight = fields.rational(key)
    if weight < 0:
        raise InputError(f"{fields.path(key)} is {weight}, want at least 0")
    return weight


def _condition(fields: Fields) -> Condition:
    feature = fields.choice("feature", Feature)
    comparison = fields.choice("operator", Comparison)
    return Condition(feature, comparison, _value(fields, feature, comparison))


def _value(fields: Fields, feature: Feature, comparison: Comparison) -> FeatureValue:
    if comparison is Comparison.AMONG:
        return tuple(sorted(fields.integers("value")))
    if feature.words is None:
        return fields.boolean("value")
    return fields.integer("value")
