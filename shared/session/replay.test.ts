import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { findGame } from "../games/registry.ts";
import { GENESIS, type RecordedEvent } from "../lib/hash-chain.ts";
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

/** Plays commands by the rules and keeps what a log would hold. */
function play(gameId: string, options: unknown, commands: readonly Command[]): Played {
  const game = findGame(gameId);
  if (!game) throw new Error(`no game ${gameId}`);
  const participants = Object.fromEntries(game.roles.map((role) => [role, `agent of ${role}`]));
  const { session, entries } = playSession({ id: "s1", game, options, participants, seed: SEED, at: AT }, commands);
  return { session, entries, rows: chain(entries) };
}

const opening = [act("player_1", "rock"), act("player_2", "rock"), act("player_2", "paper")];
const open = play("rps.v1", { best_of: 3 }, opening);
const over = play("rps.v1", { best_of: 3 }, [
  ...opening,
  act("player_1", "rock"),
  act("player_1", "rock"),
  act("player_2", "rock"),
]);

const seqOf = (rows: readonly RecordedEvent[], seed = SEED): number | "sound" => placeIn(replay(rows, seed));
const placeIn = (replayed: ReturnType<typeof replay> | ReturnType<typeof replayTexts>): number | "sound" =>
  replayed.ok ? "sound" : replayed.error.seq;

describe("a sound log gives the session that it came from", () => {
  const fault = { role: "white", code: "G002", cause: "timeout", detail: "late" } as const;
  const played: readonly [string, Played][] = [
    ["just begun", play("rps.v1", {}, [])],
    ["with a choice still sealed", open],
    ["played out", over],
    [
      "forfeited",
      play("chess.v1", {}, [act("white", "e2e4"), { type: "forfeit", faults: [{ ...fault, role: "black" }] }]),
    ],
    ["aborted", play("chess.v1", {}, [act("white", "e2e4"), { type: "abort", reason: "referee_lost" }])],
    ["expired", play("chess.v1", {}, [{ type: "expire" }])],
    ["drawn by the seed", play("even_odd.v1", { variant: "draw" }, [act("ODD", "odd"), act("EVEN", "even")])],
  ];

  test.each(played)("%s", (_, { rows, session }) => {
    expect(replay(rows, SEED)).toEqual({ ok: true, value: session });
  });

  test("the end is the game's own", () => {
    expect(over.session).toMatchObject({ status: "completed", termination: "normal", tick: 6 });
    expect(open.session).toMatchObject({ status: "active", tick: 3, turnTick: 2 });
  });
});

describe("the chain", () => {
  test("links SHA-256 over the previous hash, a newline and the stored text", () => {
    let previous = "0".repeat(64);
    for (const [index, row] of over.rows.entries()) {
      const hash = createHash("sha256").update(`${previous}\n${row.body}`, "utf8").digest("hex");
      expect(row).toMatchObject({ stream: "s1", seq: index, prev_hash: previous, hash });
      expect(JSON.parse(row.body)).toEqual(over.entries[index]);
      previous = hash;
    }
    expect(GENESIS).toBe("0".repeat(64));
  });

  test("the texts of a log give its session and the hash of its last row", () => {
    for (const { rows, session } of [open, over]) {
      const texts = rows.map((row) => row.body);
      expect(rowsOf("s1", texts)).toEqual(rows);
      expect(replayTexts(texts, SEED)).toEqual({ ok: true, value: { session, head: rows.at(-1)?.hash } });
    }
  });

  test("the text counts, not what it means", () => {
    const spaced = over.rows.map((row) => JSON.stringify(JSON.parse(row.body), null, 1));
    const rows = rowsOf("s1", spaced);
    expect(seqOf(rows)).toBe("sound");
    expect(rows.at(-1)?.hash).not.toBe(over.rows.at(-1)?.hash);
  });

  test.each(["", "no JSON", "null", "5", "[]", "{}", '{"type":7}', '{"type":"erased"}'])(
    "a text that is not an entry is found, and its place named: %j",
    (body) => {
      const texts = [(over.rows[0] as RecordedEvent).body, body];
      expect(replayTexts(texts, SEED)).toMatchObject({ ok: false, error: { seq: 1 } });
    },
  );
});

describe("tampering is found, and its place named", () => {
  const places = over.rows.map((_, seq) => seq);
  const withRow = (seq: number, row: RecordedEvent): RecordedEvent[] => over.rows.with(seq, row);
  const flipped = (text: string, at: number): string => {
    const bytes = Buffer.from(text);
    bytes[at] = (bytes[at] as number) ^ 1;
    return bytes.toString("utf8");
  };

  const fields = ["stream", "type", "body", "prev_hash", "hash"] as const;
  test.each(fields.flatMap((field) => places.map((seq) => [field, seq] as const)))(
    "any one byte of %s in row %i",
    (field, seq) => {
      const row = over.rows[seq] as RecordedEvent;
      for (let at = 0; at < Buffer.byteLength(row[field]); at++) {
        const tampered = { ...row, [field]: flipped(row[field], at) } as RecordedEvent;
        expect(tampered[field]).not.toBe(row[field]);
        expect(seqOf(withRow(seq, tampered)), `byte ${at}`).toBe(seq);
      }
    },
  );

  test.each(places)("a byte more or less in the text of row %i", (seq) => {
    const row = over.rows[seq] as RecordedEvent;
    for (const body of [`${row.body} `, ` ${row.body}`, row.body.slice(1), row.body.slice(0, -1), ""]) {
      expect(seqOf(withRow(seq, { ...row, body }))).toBe(seq);
    }
  });

  test.each(places)("another sequence number in row %i", (seq) => {
    const row = over.rows[seq] as RecordedEvent;
    for (const other of [seq - 1, seq + 1, seq + 0.5, -seq - 1])
      expect(seqOf(withRow(seq, { ...row, seq: other }))).toBe(seq);
  });

  test.each(places.slice(0, -1))("row %i missing, renumbered or not", (seq) => {
    const rows = over.rows.toSpliced(seq, 1);
    expect(seqOf(rows)).toBe(seq);
    expect(seqOf(rows.map((row, index) => ({ ...row, seq: index })))).toBe(seq);
  });

  test.each(places.slice(0, -1))("row %i and the next exchanged, renumbered or not", (seq) => {
    const rows = over.rows.toSpliced(seq, 2, over.rows[seq + 1] as RecordedEvent, over.rows[seq] as RecordedEvent);
    expect(seqOf(rows)).toBe(seq);
    expect(seqOf(rows.map((row, index) => ({ ...row, seq: index })))).toBe(seq);
  });

  test.each(places)("row %i twice, renumbered or not", (seq) => {
    const rows = over.rows.toSpliced(seq, 0, over.rows[seq] as RecordedEvent);
    expect(seqOf(rows)).toBe(seq + 1);
    expect(seqOf(rows.map((row, index) => ({ ...row, seq: index })))).toBe(seq + 1);
  });

  test("a tail cut off leaves a sound, shorter log: the head tells", () => {
    const cut = over.rows.slice(0, -1);
    expect(seqOf(cut)).toBe("sound");
    expect(cut.at(-1)?.hash).not.toBe(over.rows.at(-1)?.hash);
  });

  test("another seed, or none, and an empty log", () => {
    expect([seqOf(over.rows, "a seed "), seqOf(over.rows, "")]).toEqual([0, 0]);
    expect(replay(over.rows, "another")).toMatchObject({ error: { message: /seed/ } });
    expect(seqOf([])).toBe(0);
  });
});

/** Where a log of these entries stops being sound, which must be the same for its rows and for their texts. */
function placeOf(entries: readonly Entry[]): number | "sound" {
  const rows = chain(entries);
  const texts = rows.map((row) => row.body);
  expect(placeIn(replayTexts(texts, SEED))).toBe(seqOf(rows));
  return seqOf(rows);
}

describe("a forged log whose chain is sound is found by the rules, and its place named", () => {
  const created = open.entries[0] as Extract<Entry, { type: "created" }>;
  const last = open.entries.at(-1) as Extract<Entry, { type: "acted" }>;
  const next: Entry = { ...last, tick: 3, role: "player_1", agent: "agent of player_1", action: "rock" };
  const fault = { role: "player_1", code: "G002", cause: "timeout", detail: "late" } as const;
  const ends: Readonly<Record<string, Entry>> = {
    forfeited: { type: "forfeited", tick: 3, faults: [fault], at: AT },
    aborted: { type: "aborted", tick: 3, reason: "referee_lost", at: AT },
    expired: { type: "expired", tick: 3, at: AT },
  };

  test("what is changed below is sound before the change", () => {
    expect(placeOf([...open.entries, next])).toBe("sound");
    for (const end of Object.values(ends)) expect(placeOf([...open.entries, end])).toBe("sound");
  });

  const unknown = { type: "erased", tick: 3, at: AT } as unknown as Entry;
  test.each<[string, Entry]>([
    ["a second beginning", created],
    ["an action that is none of the game's", { ...next, action: "dynamite" } as Entry],
    [
      "a second action of the same role in one turn",
      { ...next, role: "player_2", agent: "agent of player_2" } as Entry,
    ],
    ["an action of a role that is not in the game", { ...next, role: "player_3" } as Entry],
    ["an action by another role's agent", { ...next, agent: "agent of player_2" } as Entry],
    ["an action at a tick that has passed", { ...next, tick: 2 } as Entry],
    ["an action at a tick to come", { ...next, tick: 4 } as Entry],
    ["a forfeit at another tick", { ...ends.forfeited, tick: 2 } as Entry],
    ["a forfeit of nobody", { ...ends.forfeited, faults: [] } as unknown as Entry],
    [
      "a forfeit of a role that is not in the game",
      { ...ends.forfeited, faults: [{ ...fault, role: "x" }] } as unknown as Entry,
    ],
    [
      "a forfeit of a role of the game and of one that is not in it",
      { ...ends.forfeited, faults: [fault, { ...fault, role: "x" }] } as unknown as Entry,
    ],
    ["an abort at another tick", { ...ends.aborted, tick: 4 } as Entry],
    ["an expiry at another tick", { ...ends.expired, tick: 0 } as Entry],
    ["an entry of unknown type", unknown],
  ])("%s", (_, entry) => {
    expect(placeOf([...open.entries, entry])).toBe(4);
  });

  test.each(Object.keys(ends))("anything after the session was %s", (end) => {
    const ended = [...open.entries, ends[end] as Entry];
    for (const entry of [next, ...Object.values(ends)]) expect(placeOf([...ended, entry]), entry.type).toBe(5);
  });

  test("anything after the game's own end", () => {
    for (const entry of [next, ...Object.values(ends)]) {
      expect(placeOf([...over.entries, { ...entry, tick: 6 } as Entry]), entry.type).toBe(7);
    }
  });

  test.each<[string, readonly Entry[]]>([
    ["a log that does not begin with created", open.entries.slice(1)],
    ["an unknown game", [{ ...created, game: "go.v1" }]],
    ["a game named like an object's own property", [{ ...created, game: "__proto__" }]],
    ["options that the game does not take", [{ ...created, options: { best_of: 0 } }]],
    [
      "an agent in a role that is not in the game",
      [{ ...created, participants: { ...created.participants, player_3: "agent of player_3" } }],
    ],
    ["a role without an agent", [{ ...created, participants: { player_1: "agent of player_1" } }]],
    [
      "another seed's commitment",
      [{ ...created, seed_commitment: createHash("sha256").update("other").digest("hex") }],
    ],
  ])("%s", (_, entries) => expect(placeOf(entries)).toBe(0));

  test.each(["null", "5", "no JSON", "{}"])("the text %j for an entry", (body) => {
    const rows = chain(open.entries);
    const hash = createHash("sha256").update(`${rows[2]?.hash}\n${body}`).digest("hex");
    expect(seqOf(rows.with(3, { ...(rows[3] as RecordedEvent), body, hash }))).toBe(3);
  });
});
