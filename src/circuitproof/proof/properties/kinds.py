"""The names of the properties."""

from enum import StrEnum


class Kind(StrEnum):
    """The names of the properties, in the order in which they are answered."""

    EQUIVALENCE = "equivalence"
    INVARIANCE = "invariance"
    NECESSITY = "necessity"
    ROBUSTNESS = "robustness"
    FAITHFULNESS = "faithfulness"
    AGREEMENT = "agreement"
    SUBSET_MINIMALITY = "subset minimality"
    MINIMUM = "minimum"
    ACCURACY = "accuracy"
    LOSS = "loss"
    LOGIT_DIFFERENCE = "logit difference"
    RECOVERED_DIFFERENCE = "recovered difference"
    LESION_IDENTITY = "lesion identity"
