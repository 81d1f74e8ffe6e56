"""The history's schema, step by step. A step that was released is never changed; add a new one.

`PRAGMA user_version` holds the number of steps, so that any tool can tell the version.
"""

from __future__ import annotations

from sqlite_utils import Database, Migrations

APPLICATION_ID = 0x65766C68
"""`evlh` in SQLite's header: this file is a history of evalcli."""

migrations = Migrations("evalcli_history")

_TABLES = """
CREATE TABLE baselines (
    baseline_id     INTEGER PRIMARY KEY AUTOINCREMENT,
    set_identifier  TEXT NOT NULL,
    target          TEXT NOT NULL,
    grader          TEXT NOT NULL,
    grader_kind     TEXT NOT NULL,
    kind            TEXT NOT NULL,
    set_at          TEXT NOT NULL,
    how             TEXT NOT NULL,      -- set, replaced, extended, accepted
    run_id          TEXT NOT NULL,      -- the run that set it; it may be pruned later
    scoring_version INTEGER NOT NULL,
    git_commit      TEXT,
    git_branch      TEXT,
    git_is_dirty    INTEGER,
    evalcli_version TEXT NOT NULL,
    treatment       TEXT NOT NULL       -- JSON
);
CREATE INDEX baselines_by_series ON baselines (set_identifier, target, grader);
CREATE INDEX baselines_by_kind ON baselines (set_identifier, target, grader_kind);

CREATE TABLE baseline_prompts (
    baseline_id        INTEGER NOT NULL REFERENCES baselines ON DELETE CASCADE,
    position           INTEGER NOT NULL,
    prompt_id          TEXT NOT NULL,
    pass_share         REAL NOT NULL,
    pass_share_exact   TEXT NOT NULL,
    score              REAL NOT NULL,
    score_exact        TEXT NOT NULL,
    run_id             TEXT NOT NULL,   -- the run these answers are from
    asked_fingerprint  TEXT,
    graded_fingerprint TEXT,
    PRIMARY KEY (baseline_id, position)
) WITHOUT ROWID;

CREATE TABLE runs (
    run_number                INTEGER PRIMARY KEY,
    run_id                    TEXT NOT NULL UNIQUE,
    kind                      TEXT NOT NULL,      -- prompts, questions
    set_identifier            TEXT NOT NULL,
    set_name                  TEXT NOT NULL,
    target                    TEXT NOT NULL,
    grader                    TEXT NOT NULL,
    grader_kind               TEXT NOT NULL,
    status                    TEXT NOT NULL CHECK (status IN ('running', 'complete', 'incomplete')),
    started_at                TEXT NOT NULL,
    finished_at               TEXT,
    is_draft                  INTEGER NOT NULL,
    is_partial                INTEGER NOT NULL,
    is_interrupted            INTEGER NOT NULL,
    state                     TEXT,               -- of the comparison
    verdict                   TEXT,
    is_gate_failed            INTEGER,
    baseline_move             TEXT,
    prompts                   INTEGER NOT NULL,   -- prompts in the plan
    trials                    INTEGER NOT NULL,   -- answers asked for each prompt
    measured                  INTEGER,
    passed                    INTEGER,
    pass_rate                 REAL,               -- of complete runs only
    pass_rate_exact           TEXT,
    mean_score                REAL,               -- of complete runs only
    mean_score_exact          TEXT,
    measured_pass_rate        REAL,               -- over what was measured
    measured_pass_rate_exact  TEXT,
    measured_mean_score       REAL,
    measured_mean_score_exact TEXT,
    input_tokens              INTEGER,
    output_tokens             INTEGER,
    cost_usd                  TEXT,
    known_cost_usd            TEXT,
    refused                   INTEGER,
    cut_off                   INTEGER,
    unmeasured                INTEGER,
    not_graded                INTEGER,
    has_fallback              INTEGER,
    configuration             TEXT,
    provider                  TEXT,
    model                     TEXT,
    git_commit                TEXT,
    git_branch                TEXT,
    git_is_dirty              INTEGER,
    scoring_version           INTEGER NOT NULL,
    data_class                TEXT NOT NULL,
    evalcli_version           TEXT NOT NULL,
    regraded_from             TEXT REFERENCES runs (run_id) ON DELETE SET NULL,
    baseline_as_of            INTEGER NOT NULL,   -- the newest baseline when the run started
    baseline_id               INTEGER REFERENCES baselines,
    baseline_source           TEXT NOT NULL,
    pass_rate_before          REAL,               -- over the prompts compared, as are the next
    pass_rate_before_exact    TEXT,
    pass_rate_after           REAL,
    pass_rate_after_exact     TEXT,
    mean_score_before         REAL,
    mean_score_before_exact   TEXT,
    mean_score_after          REAL,
    mean_score_after_exact    TEXT,
    max_pass_rate_drop        TEXT NOT NULL,
    max_mean_score_drop       TEXT NOT NULL,
    min_pass_rate             TEXT,
    min_mean_score            TEXT,
    require_baseline          INTEGER NOT NULL,
    fail_on_regression        INTEGER NOT NULL,
    baseline_note             TEXT,
    reported_models           TEXT,               -- JSON, as are the next
    workspace_limits          TEXT NOT NULL,
    options                   TEXT NOT NULL,
    treatment                 TEXT NOT NULL,
    verdict_details           TEXT,
    comparison                TEXT
);
CREATE INDEX runs_by_start ON runs (started_at);
CREATE INDEX runs_by_set ON runs (set_identifier, started_at);
CREATE INDEX runs_by_target ON runs (set_identifier, target, started_at);
CREATE INDEX runs_by_regrading ON runs (regraded_from) WHERE regraded_from IS NOT NULL;
CREATE INDEX runs_by_baseline ON runs (baseline_id) WHERE baseline_id IS NOT NULL;

CREATE TABLE run_prompts (
    run_id             TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
    position           INTEGER NOT NULL,          -- in the set's order
    prompt_id          TEXT NOT NULL,
    asked_fingerprint  TEXT,
    graded_fingerprint TEXT,
    PRIMARY KEY (run_id, position),
    UNIQUE (run_id, prompt_id)
) WITHOUT ROWID;

CREATE TABLE run_omissions (
    run_id    TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
    position  INTEGER NOT NULL,
    prompt_id TEXT NOT NULL,
    why       TEXT NOT NULL,                      -- skipped, ungraded
    reason    TEXT,
    PRIMARY KEY (run_id, position)
) WITHOUT ROWID;

CREATE TABLE trials (
    run_id              TEXT NOT NULL,
    prompt_id           TEXT NOT NULL,
    trial               INTEGER NOT NULL,         -- counts from 0
    state               TEXT NOT NULL,            -- graded, unmeasured, not_graded
    passed              INTEGER,
    score               REAL,
    score_exact         TEXT,
    is_refused          INTEGER NOT NULL,
    is_cut_off          INTEGER NOT NULL,
    cause               TEXT,                     -- why it is not graded
    latency_ms          REAL,
    tries               INTEGER,
    input_tokens        INTEGER,
    output_tokens       INTEGER,
    cached_input_tokens INTEGER,
    cache_write_tokens  INTEGER,
    reasoning_tokens    INTEGER,
    cost_usd            TEXT,
    reported_cost_usd   TEXT,                     -- by the provider itself
    operation           TEXT,
    provider            TEXT,
    requested_model     TEXT,
    reported_model      TEXT,
    request_id          TEXT,
    caller              TEXT,
    caller_operation    TEXT,
    is_cached           INTEGER,
    is_fallback         INTEGER,
    finish              TEXT,
    finish_raw          TEXT,
    has_text            INTEGER,                  -- 1 also where the text is not kept
    has_tool_calls      INTEGER,
    system_fingerprint  TEXT,                     -- the provider's, of its own system
    yardstick           TEXT,
    error_message       TEXT,
    error_provider      TEXT,
    error_status        INTEGER,
    finished_at         TEXT,
    request_sha256      TEXT,
    form                TEXT,                     -- of a question, as are the next
    hard_class          TEXT,
    first_hit           INTEGER,                  -- rank from 1 of the first expected document
    reciprocal_rank     REAL,
    ndcg                REAL,
    reason              TEXT,
    outcomes            TEXT,                     -- JSON, as are the next
    question_score      TEXT,
    ranking             TEXT,
    answer_facts        TEXT,                     -- JSON; where an answer differs from its call
    answer              TEXT,
    reasoning           TEXT,
    refusal             TEXT,
    PRIMARY KEY (run_id, prompt_id, trial),
    FOREIGN KEY (run_id, prompt_id) REFERENCES run_prompts (run_id, prompt_id) ON DELETE CASCADE
);
"""

_RUN_OVERVIEW = """
SELECT run_id, started_at, finished_at, set_identifier, target, grader, status, state, verdict,
       CASE is_gate_failed WHEN 1 THEN 'failed' WHEN 0 THEN 'passed' END AS gate,
       pass_rate, mean_score, passed, measured, prompts, trials, unmeasured, refused, cut_off,
       pass_rate_before - pass_rate_after AS pass_rate_drop,
       mean_score_before - mean_score_after AS mean_score_drop,
       input_tokens, output_tokens, cost_usd, provider, model, git_commit, git_branch,
       baseline_id, baseline_move
FROM runs
"""

_PROMPT_RESULTS = """
SELECT p.run_id, p.position, p.prompt_id, count(t.trial) AS trials,
       total(t.state = 'graded') AS measured, sum(t.passed) AS passed,
       avg(t.passed) AS pass_share, avg(t.score) AS score, avg(t.latency_ms) AS latency_ms,
       CASE WHEN count(t.input_tokens) = count(t.trial) THEN sum(t.input_tokens) END
           AS input_tokens,
       CASE WHEN count(t.output_tokens) = count(t.trial) THEN sum(t.output_tokens) END
           AS output_tokens,
       CASE WHEN count(t.cost_usd) = count(t.trial) THEN sum(CAST(t.cost_usd AS REAL)) END
           AS cost_usd,
       max(t.is_refused) AS is_refused, max(t.is_cut_off) AS is_cut_off,
       max(coalesce(t.error_message, t.reason)) AS reason
FROM run_prompts AS p
LEFT JOIN trials AS t ON t.run_id = p.run_id AND t.prompt_id = p.prompt_id
GROUP BY p.run_id, p.position
"""

_CURRENT_BASELINES = """
SELECT b.baseline_id, b.set_identifier, b.target, b.grader, b.set_at, b.how, b.run_id,
       b.git_commit, b.git_branch, count(p.position) AS prompts,
       avg(p.pass_share) AS pass_rate, avg(p.score) AS mean_score
FROM baselines AS b
LEFT JOIN baseline_prompts AS p ON p.baseline_id = b.baseline_id
WHERE b.baseline_id IN (
    SELECT max(baseline_id) FROM baselines GROUP BY set_identifier, target, grader
)
GROUP BY b.baseline_id
"""


def _perform(db: Database, statements: str) -> None:
    """Perform statements one by one; each ends a line with its semicolon.

    Inside a transaction `Database.executescript` looks at every prefix of a text to find where
    its statements end, which would take longer than the rest of a first run.
    """
    for statement in statements.split(";\n"):
        db.execute(statement)


@migrations()
def m0001_tables(db: Database) -> None:
    """Runs, their plans and trials, and the baselines."""
    _perform(db, _TABLES)
    db.execute("PRAGMA user_version = 1")


@migrations()
def m0002_views(db: Database) -> None:
    """Views with readable names for people who ask in SQL."""
    db.create_view("run_overview", _RUN_OVERVIEW)
    db.create_view("prompt_results", _PROMPT_RESULTS)
    db.create_view("current_baselines", _CURRENT_BASELINES)
    db.execute("PRAGMA user_version = 2")


_PROFILES = """
CREATE TABLE profile_versions (
    identifier    TEXT NOT NULL,
    version       INTEGER NOT NULL,
    fingerprint   TEXT NOT NULL,        -- of its questions, as they were then
    first_use     TEXT NOT NULL,        -- run, batch, calibration
    first_used_at TEXT NOT NULL,
    content       TEXT,                 -- JSON; not kept with content: metadata
    PRIMARY KEY (identifier, version)
) WITHOUT ROWID;
"""


@migrations()
def m0003_profile_versions(db: Database) -> None:
    """What each version of a profile was at its first stored use."""
    _perform(db, _PROFILES)
    db.execute("PRAGMA user_version = 3")


_RETRIEVAL_RATES = """
WITH scores AS (
    SELECT r.run_id, t.form, t.hard_class, t.passed, t.score, t.reciprocal_rank, t.ndcg
    FROM runs AS r JOIN trials AS t ON t.run_id = r.run_id
    WHERE r.kind = 'questions' AND t.state = 'graded'
), rows AS (
    SELECT *, 'all' AS row_group, 'all' AS name FROM scores
    UNION ALL SELECT *, 'form', form FROM scores
    UNION ALL SELECT *, 'hard_class', hard_class FROM scores WHERE hard_class IS NOT NULL
)
SELECT run_id, row_group, name, count(*) AS questions, count(ndcg) AS answerable,
       avg(passed) AS top1_rate, avg(score) AS top3_rate,
       avg(reciprocal_rank) AS mean_reciprocal_rank, avg(ndcg) AS mean_ndcg
FROM rows GROUP BY run_id, row_group, name
"""


@migrations()
def m0004_retrieval(db: Database) -> None:
    """What runs of questions have beyond those of prompts, and what a person should know of one."""
    db.execute("ALTER TABLE runs ADD COLUMN max_class_drop TEXT")
    db.execute("ALTER TABLE runs ADD COLUMN notes TEXT")
    db.create_view("retrieval_rates", _RETRIEVAL_RATES)
    db.execute("PRAGMA user_version = 4")


@migrations()
def m0005_grading_call(db: Database) -> None:
    """The judge's call, where a decision graded an answer."""
    db.execute("ALTER TABLE trials ADD COLUMN grading_call TEXT")
    db.execute("PRAGMA user_version = 5")


_DECISIONS = """
CREATE TABLE decisions (
    decision_id      INTEGER PRIMARY KEY,
    made_at          TEXT NOT NULL,
    batch            TEXT,                 -- what the decisions of one batch share
    line             INTEGER,              -- of the batch's file, from 1
    profile          TEXT NOT NULL,
    version          INTEGER NOT NULL,
    configuration    TEXT NOT NULL,
    data_class       TEXT NOT NULL,
    operation        TEXT NOT NULL,        -- decision, or chat where hard labels were asked for
    provider         TEXT NOT NULL,
    requested_model  TEXT NOT NULL,
    reported_model   TEXT,
    probability_kind TEXT,
    error_code       TEXT,                 -- where there is no answer, as is the next
    error_message    TEXT,
    tries            INTEGER,
    latency_ms       REAL,
    input_tokens     INTEGER,
    output_tokens    INTEGER,
    cost_usd         TEXT,
    request_id       TEXT,
    caller           TEXT,
    caller_operation TEXT,
    is_fallback      INTEGER NOT NULL,
    answers          TEXT,                 -- JSON, as is the next
    subject          TEXT                  -- not kept with content: metadata
);
CREATE INDEX decisions_by_time ON decisions (made_at);
CREATE INDEX decisions_by_profile ON decisions (profile, version, made_at);
"""


@migrations()
def m0006_decisions(db: Database) -> None:
    """Decisions that were made outside of runs."""
    _perform(db, _DECISIONS)
    db.execute("PRAGMA user_version = 6")


STEPS = (
    m0001_tables.__name__,
    m0002_views.__name__,
    m0003_profile_versions.__name__,
    m0004_retrieval.__name__,
    m0005_grading_call.__name__,
    m0006_decisions.__name__,
)
SCHEMA_VERSION = len(STEPS)


def unknown_steps(db: Database) -> tuple[str, ...]:
    """Name steps that were applied to this database and are not known here: it is newer."""
    return tuple(step.name for step in migrations.applied(db) if step.name not in STEPS)
