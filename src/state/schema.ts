// The tables of the state file, and how an older file becomes a newer one: each migration is applied once, in order, and
// `user_version` says how many were.

/** What `application_id` says: "HVNT". Another program's database is not ours to change. */
export const APPLICATION_ID = 0x48564e54;

/** Names from outside are blobs of UTF-8: Deno reads a text only as far as a NUL, which joins the parts of a budget. */
const FIRST = `
  CREATE TABLE daily_use (
    budget BLOB NOT NULL,
    day INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (day, budget)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE agent (
    id BLOB NOT NULL PRIMARY KEY,
    written_ms INTEGER NOT NULL,
    successes INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    losses_by_probes INTEGER NOT NULL,
    losses_by_refusal INTEGER NOT NULL,
    srtt_ms REAL,
    rttvar_ms REAL
  ) STRICT;
  CREATE TABLE document (
    name TEXT NOT NULL PRIMARY KEY,
    version BLOB NOT NULL,
    generation INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE part (
    position INTEGER PRIMARY KEY,
    document TEXT NOT NULL,
    generation INTEGER NOT NULL,
    name BLOB NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (document, generation, name)
  ) STRICT;
`;

/** SQL by the version that it leads to, from 1. A released one is never edited. */
export const MIGRATIONS: readonly string[] = [FIRST];
