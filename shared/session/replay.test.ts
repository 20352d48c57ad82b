import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { GENESIS, type RecordedEvent } from "#shared/lib/hash.ts";
import { findGame } from "../games/registry.ts";
import { type Entry, eventOf } from "./entry.ts";
import { replay, replayTexts } from "./replay.ts";
import type { Command, Session } from "./session.ts";
import { act, playSession } from "./testing/play.ts";
import { chainOf, rowsOf } from "./testing/rows.ts";

const AT = "2025-01-01T00:00:00.000Z";
const SEED = "a seed";

interface Played {
  readonly session: Session;
  readonly entries: readonly Entry[];
  readonly rows: readonly RecordedEvent[];
}

const chain = (entries: readonly Entry[]): RecordedEvent[] => chainOf("s1", entries.map(eventOf));

/** Plays commands and returns the session with its log. */
function play(gameId: string, options: unknown, commands: readonly Command[]): Played {
  const game = findGame(gameId);
  if (!game) throw new Error(`no game ${gameId}`);
  const participants = Object.fromEntries(game.roles.map((role) => [role, `agent of ${role}`]));
  const { session, entries } = playSession({ id: "s1", game, options, participants, seed: SEED, at: AT }, commands);
  return { session, entries, rows: chain(entries) };
}

const opening = [act("player_1", "rock"), act("player_2", "rock"), act("player_2", "paper")];
const active = play("rps.v1", { best_of: 3 }, opening);
const completed = play("rps.v1", { best_of: 3 }, [
  ...opening,
  act("player_1", "rock"),
  act("player_1", "rock"),
  act("player_2", "rock"),
]);

const faultInRows = (rows: readonly RecordedEvent[], seed = SEED): number | "valid" => seqOfFault(replay(rows, seed));
const seqOfFault = (replayed: ReturnType<typeof replay> | ReturnType<typeof replayTexts>): number | "valid" =>
  replayed.ok ? "valid" : replayed.error.seq;

describe("replay of a valid log", () => {
  const fault = { role: "white", code: "G002", cause: "timeout", detail: "late" } as const;
  const played: readonly [string, Played][] = [
    ["without an action", play("rps.v1", {}, [])],
    ["with a choice that is still secret", active],
    ["completed", completed],
    [
      "forfeited",
      play("chess.v1", {}, [act("white", "e2e4"), { type: "forfeit", faults: [{ ...fault, role: "black" }] }]),
    ],
    ["aborted", play("chess.v1", {}, [act("white", "e2e4"), { type: "abort", reason: "referee_lost" }])],
    ["expired", play("chess.v1", {}, [{ type: "expire" }])],
    [
      "with a draw that the seed decides",
      play("even_odd.v1", { variant: "draw" }, [act("ODD", "odd"), act("EVEN", "even")]),
    ],
  ];

  test.each(played)("returns the session: %s", (_, { rows, session }) => {
    expect(replay(rows, SEED)).toEqual({ ok: true, value: session });
  });

  test("restores the status and the ticks of the session", () => {
    expect(completed.session).toMatchObject({ status: "completed", termination: "normal", tick: 6 });
    expect(active.session).toMatchObject({ status: "active", tick: 3, turnTick: 2 });
  });
});

describe("the hash chain", () => {
  test("covers the previous hash, a newline and the stored text with SHA-256", () => {
    let previous = "0".repeat(64);
    for (const [index, row] of completed.rows.entries()) {
      const hash = createHash("sha256").update(`${previous}\n${row.body}`, "utf8").digest("hex");
      expect(row).toMatchObject({ stream: "s1", seq: index, prev_hash: previous, hash });
      expect(JSON.parse(row.body)).toEqual(completed.entries[index]);
      previous = hash;
    }
    expect(GENESIS).toBe("0".repeat(64));
  });

  test("replayTexts returns the session and the hash of the last entry", () => {
    for (const { rows, session } of [active, completed]) {
      const texts = rows.map((row) => row.body);
      expect(rowsOf("s1", texts)).toEqual(rows);
      expect(replayTexts(texts, SEED)).toEqual({ ok: true, value: { session, head: rows.at(-1)?.hash } });
    }
  });

  test("covers the stored text, not the value that it encodes", () => {
    const spaced = completed.rows.map((row) => JSON.stringify(JSON.parse(row.body), null, 1));
    const rows = rowsOf("s1", spaced);
    expect(faultInRows(rows)).toBe("valid");
    expect(rows.at(-1)?.hash).not.toBe(completed.rows.at(-1)?.hash);
  });

  test.each(["", "no JSON", "null", "5", "[]", "{}", '{"type":7}', '{"type":"erased"}'])(
    "a text that is not an entry is reported with its sequence number: %j",
    (body) => {
      const texts = [(completed.rows[0] as RecordedEvent).body, body];
      expect(replayTexts(texts, SEED)).toMatchObject({ ok: false, error: { seq: 1 } });
    },
  );
});

describe("a tampered log", () => {
  const seqs = completed.rows.map((_, seq) => seq);
  const withRow = (seq: number, row: RecordedEvent): RecordedEvent[] => completed.rows.with(seq, row);
  const flipped = (text: string, at: number): string => {
    const bytes = Buffer.from(text);
    bytes[at] = (bytes[at] as number) ^ 1;
    return bytes.toString("utf8");
  };

  const fields = ["stream", "type", "body", "prev_hash", "hash"] as const;
  test.each(fields.flatMap((field) => seqs.map((seq) => [field, seq] as const)))(
    "is rejected if any byte of %s in row %i is changed",
    (field, seq) => {
      const row = completed.rows[seq] as RecordedEvent;
      for (let at = 0; at < Buffer.byteLength(row[field]); at++) {
        const tampered = { ...row, [field]: flipped(row[field], at) } as RecordedEvent;
        expect(tampered[field]).not.toBe(row[field]);
        expect(faultInRows(withRow(seq, tampered)), `byte ${at}`).toBe(seq);
      }
    },
  );

  test.each(seqs)("is rejected if a byte is added to or removed from the text of row %i", (seq) => {
    const row = completed.rows[seq] as RecordedEvent;
    for (const body of [`${row.body} `, ` ${row.body}`, row.body.slice(1), row.body.slice(0, -1), ""]) {
      expect(faultInRows(withRow(seq, { ...row, body }))).toBe(seq);
    }
  });

  test.each(seqs)("is rejected if row %i has another sequence number", (seq) => {
    const row = completed.rows[seq] as RecordedEvent;
    for (const other of [seq - 1, seq + 1, seq + 0.5, -seq - 1])
      expect(faultInRows(withRow(seq, { ...row, seq: other }))).toBe(seq);
  });

  test.each(seqs.slice(0, -1))("is rejected if row %i is missing, whether the rows are renumbered or not", (seq) => {
    const rows = completed.rows.toSpliced(seq, 1);
    expect(faultInRows(rows)).toBe(seq);
    expect(faultInRows(rows.map((row, index) => ({ ...row, seq: index })))).toBe(seq);
  });

  test.each(seqs.slice(0, -1))(
    "is rejected if row %i and the next row are exchanged, whether the rows are renumbered or not",
    (seq) => {
      const rows = completed.rows.toSpliced(
        seq,
        2,
        completed.rows[seq + 1] as RecordedEvent,
        completed.rows[seq] as RecordedEvent,
      );
      expect(faultInRows(rows)).toBe(seq);
      expect(faultInRows(rows.map((row, index) => ({ ...row, seq: index })))).toBe(seq);
    },
  );

  test.each(seqs)("is rejected if row %i occurs twice, whether the rows are renumbered or not", (seq) => {
    const rows = completed.rows.toSpliced(seq, 0, completed.rows[seq] as RecordedEvent);
    expect(faultInRows(rows)).toBe(seq + 1);
    expect(faultInRows(rows.map((row, index) => ({ ...row, seq: index })))).toBe(seq + 1);
  });

  test("is a valid shorter log with another head if its tail is cut off", () => {
    const cut = completed.rows.slice(0, -1);
    expect(faultInRows(cut)).toBe("valid");
    expect(cut.at(-1)?.hash).not.toBe(completed.rows.at(-1)?.hash);
  });

  test("is rejected if the seed is wrong or missing, or if the log is empty", () => {
    expect([faultInRows(completed.rows, "a seed "), faultInRows(completed.rows, "")]).toEqual([0, 0]);
    expect(replay(completed.rows, "another")).toMatchObject({ error: { message: /seed/ } });
    const empty = { ok: false, error: { seq: 0, message: "the log is empty" } };
    expect([replay([], SEED), replayTexts([], SEED)]).toEqual([empty, empty]);
  });
});

/**
 * Returns the sequence number of the first fault in a log of these entries, which must be the same for its rows and for
 * its texts.
 */
function faultInEntries(entries: readonly Entry[]): number | "valid" {
  const rows = chain(entries);
  const texts = rows.map((row) => row.body);
  expect(seqOfFault(replayTexts(texts, SEED))).toBe(faultInRows(rows));
  return faultInRows(rows);
}

describe("a forged log with a valid hash chain", () => {
  const created = active.entries[0] as Extract<Entry, { type: "created" }>;
  const last = active.entries.at(-1) as Extract<Entry, { type: "acted" }>;
  const next: Entry = { ...last, tick: 3, role: "player_1", agent: "agent of player_1", action: "rock" };
  const fault = { role: "player_1", code: "G002", cause: "timeout", detail: "late" } as const;
  const ends: Readonly<Record<string, Entry>> = {
    forfeited: { type: "forfeited", tick: 3, faults: [fault], at: AT },
    aborted: { type: "aborted", tick: 3, reason: "referee_lost", at: AT },
    expired: { type: "expired", tick: 3, at: AT },
    "forfeited by both roles": {
      type: "forfeited",
      tick: 3,
      faults: [fault, { ...fault, role: "player_2" }],
      at: AT,
    },
  };

  test("is accepted if its entries follow the rules", () => {
    expect(faultInEntries([...active.entries, next])).toBe("valid");
    for (const end of Object.values(ends)) expect(faultInEntries([...active.entries, end])).toBe("valid");
  });

  const unknown = { type: "erased", tick: 3, at: AT } as unknown as Entry;
  test.each<[string, Entry]>([
    ["a second `created` entry", created],
    ["an action that the game does not have", { ...next, action: "dynamite" } as Entry],
    [
      "a second action of the same role in one turn",
      { ...next, role: "player_2", agent: "agent of player_2" } as Entry,
    ],
    ["an action of a role that is not in the game", { ...next, role: "player_3" } as Entry],
    ["an action by another role's agent", { ...next, agent: "agent of player_2" } as Entry],
    ["an action at a past tick", { ...next, tick: 2 } as Entry],
    ["an action at a future tick", { ...next, tick: 4 } as Entry],
    ["a forfeit at another tick", { ...ends.forfeited, tick: 2 } as Entry],
    ["a forfeit without faults", { ...ends.forfeited, faults: [] } as unknown as Entry],
    [
      "a forfeit of a role that is not in the game",
      { ...ends.forfeited, faults: [{ ...fault, role: "x" }] } as unknown as Entry,
    ],
    [
      "a forfeit of a role of the game and of another role",
      { ...ends.forfeited, faults: [fault, { ...fault, role: "x" }] } as unknown as Entry,
    ],
    ["an abort at another tick", { ...ends.aborted, tick: 4 } as Entry],
    ["an expiry at another tick", { ...ends.expired, tick: 0 } as Entry],
    ["an entry of unknown type", unknown],
  ])("is rejected with %s", (_, entry) => {
    expect(faultInEntries([...active.entries, entry])).toBe(4);
  });

  test.each(Object.keys(ends))("is rejected with an entry after the session was %s", (end) => {
    const ended = [...active.entries, ends[end] as Entry];
    for (const entry of [next, ...Object.values(ends)]) expect(faultInEntries([...ended, entry]), entry.type).toBe(5);
  });

  test("is rejected with an entry after the end of the game", () => {
    for (const entry of [next, ...Object.values(ends)]) {
      expect(faultInEntries([...completed.entries, { ...entry, tick: 6 } as Entry]), entry.type).toBe(7);
    }
  });

  test.each<[string, readonly Entry[]]>([
    ["no `created` entry at its beginning", active.entries.slice(1)],
    ["an unknown game", [{ ...created, game: "go.v1" }]],
    ["a game named like a property of Object.prototype", [{ ...created, game: "__proto__" }]],
    ["options that the game rejects", [{ ...created, options: { best_of: 0 } }]],
    [
      "an agent in a role that is not in the game",
      [{ ...created, participants: { ...created.participants, player_3: "agent of player_3" } }],
    ],
    ["a role without an agent", [{ ...created, participants: { player_1: "agent of player_1" } }]],
    [
      "the commitment of another seed",
      [{ ...created, seed_commitment: createHash("sha256").update("other").digest("hex") }],
    ],
  ])("is rejected at its first entry with %s", (_, entries) => expect(faultInEntries(entries)).toBe(0));

  test.each<[string, readonly Entry[]]>([
    ["the first entry is acted, not created", active.entries.slice(1)],
    ["unknown game go.v1", [{ ...created, game: "go.v1" }]],
    ["a session has one created entry", [created, created]],
  ])("is rejected with the message: %s", (message, entries) => {
    expect(replay(chain(entries), SEED)).toMatchObject({ ok: false, error: { message } });
  });

  test.each(["null", "5", "no JSON", "{}"])("is rejected with the text %j as an entry", (body) => {
    const rows = chain(active.entries);
    const hash = createHash("sha256").update(`${rows[2]?.hash}\n${body}`).digest("hex");
    expect(faultInRows(rows.with(3, { ...(rows[3] as RecordedEvent), body, hash }))).toBe(3);
  });
});
