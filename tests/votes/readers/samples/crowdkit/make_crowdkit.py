"""Write crowd.csv, a frame as crowd-kit takes and keeps it: task, worker, label (crowd-kit 1.4.2, pandas 3.1.1).

pip install crowd-kit==1.4.2 && python make_crowdkit.py
"""

# mypy: ignore-errors

from pathlib import Path

SAID = {"t1": "yyn", "t2": "nnn", "t3": "yy", "t4": "nyn", "t5": "yyy"}
WORDS = {"y": "yes", "n": "no"}


def main():
    """Write the file."""
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    rows = [(task, f"w{k}", WORDS[vote]) for task, votes in SAID.items() for k, vote in enumerate(votes, 1)]
    frame = pd.DataFrame(rows, columns=["task", "worker", "label"])
    DawidSkene(n_iter=5).fit_predict(frame)  # crowd-kit takes this very frame
    frame.to_csv(Path(__file__).parent / "crowd.csv", index=False)


if __name__ == "__main__":
    main()
