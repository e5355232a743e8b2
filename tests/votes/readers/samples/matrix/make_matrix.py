"""Write the samples beside this script with snorkel and cleanlab themselves (snorkel 0.10.0, cleanlab 2.9.0).

pip install snorkel==0.10.0 cleanlab==2.9.0 && python make_matrix.py
"""

# mypy: ignore-errors

from pathlib import Path

HERE = Path(__file__).parent
ABSTAIN, HAM, SPAM = -1, 0, 1
TEXTS = [
    "see http://a.example",
    "thanks!",
    "BUY NOW",
    "A LONG AND LOUD MESSAGE http://b.example",
    "lunch at noon, then a walk",
]
RULES = {
    "has_link": lambda x: SPAM if "http" in x.text else ABSTAIN,
    "is_short": lambda x: HAM if len(x.text) < 20 else ABSTAIN,
    "shouts": lambda x: SPAM if x.text.isupper() else HAM,
}


def main():
    """Write the files."""
    import numpy as np
    import pandas as pd
    from cleanlab.multiannotator import get_majority_vote_label
    from snorkel.labeling import LabelingFunction, PandasLFApplier

    functions = [LabelingFunction(name, rule) for name, rule in RULES.items()]
    votes = PandasLFApplier(functions).apply(pd.DataFrame({"text": TEXTS}), progress_bar=False)
    np.save(HERE / "snorkel.npy", votes)
    np.savez(HERE / "snorkel_named.npz", L=votes, jurors=[f.name for f in functions], classes=["ham", "spam"])

    labels = np.array([[0, 0, np.nan], [1, np.nan, 2], [2, 2, 2], [np.nan, 1, 1]])  # NaN is no vote
    get_majority_vote_label(labels, verbose=False)  # cleanlab takes this very array
    np.save(HERE / "cleanlab.npy", labels)


if __name__ == "__main__":
    main()
