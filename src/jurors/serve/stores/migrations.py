"""The tables, as steps that are each taken once: a store of an older version is brought up to date when it is opened.

A step is never changed once it has been released; what comes later is a step of its own. `{serial}`, `{blob}` and
`{clustered}` are spelled by each database.

* projects   a project, its settings, and how often it was folded (`version`)
* inbox      batches of votes that are acknowledged and not yet folded, as JSON columns
* jurors, labels   the code of each name within its project; codes are never given twice
* items      what each item's decision tuple is counted as now: `counted` holds one byte per juror (0: no vote)
* panes      how many items of a stretch of the stream have each decision tuple
* spans      the first and last time of a pane, and the version of the project that changed it last
* closed     fingerprints of items that are past their time: votes on them are late, and counted nowhere
* api_keys   what is kept of a key: its hash, never the key
* gold       what a person said of an item
* drift      what watches a project's stream: its state and alarms
"""

from __future__ import annotations

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE projects (
            id {serial}, name TEXT NOT NULL UNIQUE, settings TEXT NOT NULL, created DOUBLE PRECISION NOT NULL,
            version BIGINT NOT NULL DEFAULT 0, updated DOUBLE PRECISION, items BIGINT NOT NULL DEFAULT 0,
            votes BIGINT NOT NULL DEFAULT 0, numbered BIGINT NOT NULL DEFAULT 0, late BIGINT NOT NULL DEFAULT 0,
            closed BIGINT NOT NULL DEFAULT 0)""",
        """CREATE TABLE inbox (
            seq {serial}, project BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
            arrived DOUBLE PRECISION NOT NULL, votes BIGINT NOT NULL, batch TEXT NOT NULL)""",
        "CREATE INDEX inbox_by_project ON inbox (project, seq)",
        """CREATE TABLE jurors (
            project BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE, code BIGINT NOT NULL,
            name TEXT NOT NULL, PRIMARY KEY (project, code), UNIQUE (project, name))""",
        """CREATE TABLE labels (
            project BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE, code BIGINT NOT NULL,
            name TEXT NOT NULL, PRIMARY KEY (project, code), UNIQUE (project, name))""",
        """CREATE TABLE items (
            project BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE, number BIGINT NOT NULL,
            item TEXT NOT NULL, pane BIGINT NOT NULL, counted {blob} NOT NULL, times TEXT,
            first_time DOUBLE PRECISION, updated DOUBLE PRECISION NOT NULL,
            PRIMARY KEY (project, number), UNIQUE (project, item)) {clustered}""",
        """CREATE TABLE panes (
            project BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE, pane BIGINT NOT NULL,
            counted {blob} NOT NULL, times BIGINT NOT NULL, PRIMARY KEY (project, pane, counted)) {clustered}""",
        """CREATE TABLE spans (
            project BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE, pane BIGINT NOT NULL,
            first_time DOUBLE PRECISION NOT NULL, last_time DOUBLE PRECISION NOT NULL, version BIGINT NOT NULL,
            PRIMARY KEY (project, pane)) {clustered}""",
        """CREATE TABLE closed (
            project BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE, mark BIGINT NOT NULL,
            PRIMARY KEY (project, mark)) {clustered}""",
    ),
    (
        """CREATE TABLE api_keys (
            id TEXT PRIMARY KEY, hash TEXT NOT NULL, scope TEXT NOT NULL, project TEXT, note TEXT NOT NULL,
            created DOUBLE PRECISION NOT NULL, revoked DOUBLE PRECISION)""",
        """CREATE TABLE gold (
            project BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE, item TEXT NOT NULL,
            label TEXT NOT NULL, given DOUBLE PRECISION NOT NULL, PRIMARY KEY (project, item)) {clustered}""",
    ),
    (
        """CREATE TABLE drift (
            project BIGINT PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE, version BIGINT NOT NULL,
            active BIGINT NOT NULL, alarms TEXT NOT NULL, state TEXT NOT NULL)""",
    ),
)
