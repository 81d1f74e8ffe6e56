-- A history as schema version 1 left it, written with sqlite3's iterdump. Never edit the tables.
PRAGMA application_id = 1702259816;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
INSERT INTO "_sqlite_migrations" VALUES(1,'evalcli_history','m0001_tables','2026-11-30 11:31:28.971829+00:00');
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
INSERT INTO "baseline_prompts" VALUES(1,0,'opening-hours',1.0,'1/1',1.0,'1/1','5be0a1b2','asked opening-hours','graded opening-hours');
INSERT INTO "baseline_prompts" VALUES(1,1,'refund-window',0.0,'0/1',0.5,'1/2','5be0a1b2','asked refund-window','graded refund-window');
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
INSERT INTO "baselines" VALUES(1,'acme.faq','support-bot','deterministic','deterministic','prompts','2026-11-18T14:02:30.000Z','set','5be0a1b2',1,'a41f3c2d5e6f','main',0,'0.1.0','{"provider":"openai","model":"gpt-6-luna","reported_models":["gpt-6-luna"],"system":null,"system_fingerprint":null,"settings":{},"trials":1}');
CREATE TABLE run_omissions (
    run_id    TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
    position  INTEGER NOT NULL,
    prompt_id TEXT NOT NULL,
    why       TEXT NOT NULL,                      -- skipped, ungraded
    reason    TEXT,
    PRIMARY KEY (run_id, position)
) WITHOUT ROWID;
CREATE TABLE run_prompts (
    run_id             TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
    position           INTEGER NOT NULL,          -- in the set's order
    prompt_id          TEXT NOT NULL,
    asked_fingerprint  TEXT,
    graded_fingerprint TEXT,
    PRIMARY KEY (run_id, position),
    UNIQUE (run_id, prompt_id)
) WITHOUT ROWID;
INSERT INTO "run_prompts" VALUES('5be0a1b2',0,'opening-hours','asked opening-hours','graded opening-hours');
INSERT INTO "run_prompts" VALUES('5be0a1b2',1,'refund-window','asked refund-window','graded refund-window');
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
INSERT INTO "runs" VALUES(1,'5be0a1b2','prompts','acme.faq','FAQ answers','support-bot','deterministic','deterministic','complete','2026-11-18T14:02:00.000Z','2026-11-18T14:02:30.000Z',0,0,0,'baseline','no_baseline',0,'set',2,1,2,1,0.5,'1/2',0.75,'3/4',0.5,'1/2',0.75,'3/4',300,60,'0.0002','0.0002',0,0,0,0,0,'support-bot','openai','gpt-6-luna','a41f3c2d5e6f','main',0,1,'editor_content','0.1.0',NULL,0,NULL,'current',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'0.1','0.1',NULL,NULL,0,0,'It is now the baseline.','["gpt-6-luna"]','{"max_pass_rate_drop":"1/10","max_mean_score_drop":"1/10","min_pass_rate":null,"min_mean_score":null,"require_baseline":false,"fail_on_regression":false}','{}','{"provider":"openai","model":"gpt-6-luna","reported_models":["gpt-6-luna"],"system":null,"system_fingerprint":null,"settings":{},"trials":1}','{"word":"no_baseline","findings":[]}','{"state":"baseline","reason":"acme.faq has no baseline on support-bot (deterministic) yet","common":[],"added":[],"changed":[],"removed":[],"newly_failing":[],"newly_passing":[],"pass_rate_before":null,"pass_rate_after":null,"mean_score_before":null,"mean_score_after":null,"treatment_changes":[],"is_grading_only":false,"baseline_target":null,"baseline_grader":null,"other_targets":[],"has_baseline":false}');
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
INSERT INTO "trials" VALUES('5be0a1b2','opening-hours',0,'graded',1,1.0,'1/1',0,0,NULL,900.0,1,150,30,NULL,NULL,NULL,'0.0001',NULL,'chat','openai','gpt-6-luna','gpt-6-luna',NULL,NULL,NULL,0,0,'stop',NULL,1,0,NULL,'deterministic',NULL,NULL,NULL,'2026-11-18T14:02:05.000Z',NULL,NULL,NULL,NULL,NULL,NULL,'',NULL,NULL,NULL,NULL,'Monday to Friday.',NULL,NULL);
INSERT INTO "trials" VALUES('5be0a1b2','refund-window',0,'graded',0,0.5,'1/2',0,0,NULL,900.0,1,150,30,NULL,NULL,NULL,'0.0001',NULL,'chat','openai','gpt-6-luna','gpt-6-luna',NULL,NULL,NULL,0,0,'stop',NULL,1,0,NULL,'deterministic',NULL,NULL,NULL,'2026-11-18T14:02:05.000Z',NULL,NULL,NULL,NULL,NULL,NULL,'contains "30 days": not found',NULL,NULL,NULL,NULL,X'41207765656B2E00EDA080',NULL,NULL);
CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name");
CREATE INDEX baselines_by_series ON baselines (set_identifier, target, grader);
CREATE INDEX baselines_by_kind ON baselines (set_identifier, target, grader_kind);
CREATE INDEX runs_by_start ON runs (started_at);
CREATE INDEX runs_by_set ON runs (set_identifier, started_at);
CREATE INDEX runs_by_target ON runs (set_identifier, target, started_at);
CREATE INDEX runs_by_regrading ON runs (regraded_from) WHERE regraded_from IS NOT NULL;
CREATE INDEX runs_by_baseline ON runs (baseline_id) WHERE baseline_id IS NOT NULL;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('baselines',1);
COMMIT;
