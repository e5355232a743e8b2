"""An evaluation comes in; the partition by true label, and a label for every item with its error, go out."""

from jurors.decide.labels import Labelling, label_rows
from jurors.decide.partition import majority_partition, partition_by_label

__all__ = ["Labelling", "label_rows", "majority_partition", "partition_by_label"]
