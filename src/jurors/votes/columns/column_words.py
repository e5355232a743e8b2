"""What people call their columns, beside our own words: hints, which the cells may overrule."""

from __future__ import annotations

from jurors.votes.layout import JUROR_WORDS

MORE_ITEM_WORDS = (
    *("image", "img", "tweet", "doc", "hit", "query", "case", "row", "text", "sentence", "prompt", "url", "imageurl"),
    *("filename", "file", "unit", "pmid", "uuid", "uid", "picture", "photo", "video", "post", "comment", "message"),
    *("passage", "paragraph", "snippet", "review", "title", "key", "path", "index", "problem", "conversation", "hits"),
)
MORE_JUROR_WORDS = ("coder", "evaluator", "reviewer", "assessor", "turker", "participant", "expert", "system")
MORE_LABEL_WORDS = ("sentiment", "winner", "preference", "stance", "tag", "code", "outcome", "result", "emotion")
PERSON_WORDS = (
    *JUROR_WORDS,
    *MORE_JUROR_WORDS,
    "name",
    "respondent",
    "email",
    "emailaddress",
    "student",
    "person",
    "response",
)
KEY_WORDS = (
    *("truth", "gold", "groundtruth", "truelabel", "goldlabel", "gt", "goldstandard", "answerkey", "true", "target"),
    *("ytrue", "correct", "correctanswer", "correctlabel", "expected", "expectedlabel", "expectedanswer", "reference"),
    *("label", "answer", "human", "humanlabel", "final", "finallabel", "actual", "goldanswer", "adjudicated"),
)
MADE_WORDS = ("consensus", "majority", "majorityvote", "mode", "aggregate", "aggregated", "ensemble")
OTHER_WORDS = (  # columns that are about the item or the vote, and no juror
    *("timestamp", "time", "date", "datetime", "createdat", "updatedat", "created", "updated", "duration", "seconds"),
    *("elapsed", "latency", "confidence", "confidencescore", "certainty", "comment", "comments", "notes", "note"),
    *("reason", "rationale", "explanation", "batch", "split", "fold", "lang", "language", "source", "difficulty"),
    *("agreement", "total", "sum", "mean", "average", "avg", "std", "kappa", "votes", "nvotes", "age", "gender"),
    *("dataset", "subset", "domain", "topic", "category", "country", "version", "length", "tokens", "cost"),
)
TOTAL_WORDS = (  # an item that is none: the last line of a sheet
    *("total", "totals", "grand total", "sum", "average", "avg", "mean", "median", "count", "overall", "agreement"),
    *("gesamt", "summe", "mittelwert", "durchschnitt", "somme", "moyenne", "suma", "promedio", "media", "totale"),
)
REMARKS = (  # the last word of a column beside a juror's own: "ann comment"
    *("comment", "comments", "note", "notes", "remark", "remarks", "reason", "reasoning", "rationale", "explanation"),
    *("justification", "feedback", "confidence", "certainty"),
)
CLOCK = frozenset(("time", "timestamp", "date", "secs", "seconds", "minutes", "duration", "ms"))  #: first or last word
SET_WORDS = ("dataset", "subset", "domain", "project", "topic", "benchmark", "corpus", "collection", "task", "subject")
STRONG_LABELS = ("label", "vote", "verdict", "decision", "judgment", "judgement", "annotation")
