"""How the jurors move together: agreement, what is left over of pairs, one common factor, dependence."""
