import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { GameId } from "#shared/games/registry.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { rpcToolCall } from "#shared/rpc/testing/json-rpc.ts";
import { exportOf } from "../../archive/export/export-store.ts";
import { leagueLogFile, RUN_FILE, writeExport } from "../../archive/files.ts";
import { verifyExport } from "../../archive/verify/verify.ts";
import { withoutVersion } from "../masks.ts";
import { DIFFERENT_PLANS, plansOf, type RunPlan } from "./plans.ts";
import { type AskManager, playInWorld, warmUp } from "./world.ts";

/** The texts of the files of an export, by file name. */
type Files = ReadonlyMap<string, string>;

/**
 * Plays the leagues of a game with the first seeds. Resolves with lines for each seed: one for each league, with hashes of its parts and the points of its
 * players.
 */
export async function leaguesOf(game: GameId, seeds: number): Promise<string> {
  const lines: string[] = [];
  const plans = plansOf(game);
  for (const { seed, config, players } of plans.slice(DIFFERENT_PLANS - 2, DIFFERENT_PLANS))
    await warmUp({ seed: `${game}/${seed}`, config, players, startWhen: "count" });
  for (const plan of plans.slice(0, seeds)) lines.push(...(await linesOf(game, plan)));
  return `${lines.join("\n")}\n`;
}

async function linesOf(game: GameId, { seed, config, players }: RunPlan): Promise<readonly string[]> {
  const formats = config.leagues.map(({ league_id }) => league_id);
  const shown = new Map<string, string>();
  const db = await playInWorld({
    ...{ seed: `${game}/${seed}`, config, players, startWhen: "count" },
    async onCompleted(askManager) {
      for (const format of formats) shown.set(format, await shownBy(askManager, format));
    },
  });
  const folder = mkdtempSync(join(tmpdir(), "golden-"));
  try {
    const store = join(folder, "league-manager.sqlite");
    db.prepare("VACUUM INTO ?").run(store);
    const { files } = await exportOf(store);
    const name = `seed ${String(seed).padStart(2, "0")}`;
    return [
      ...formats.map((format) =>
        [
          `${name} ${format}: ${matchesOf(files, format)} ${shown.get(format)} ${exportOfLeague(files, format)}`,
          pointsIn(files, format),
        ].join(" | "),
      ),
      `${name} all leagues: ${exportOfRun(files)} ${verifiedIn(join(folder, "export"), files)}`,
    ];
  } finally {
    db.close();
    rmSync(folder, { recursive: true });
  }
}

/** The tools whose results are recorded. They show what the manager shows at the end of a league. */
const TOOLS = { schedule: "get_schedule", standings: "get_standings", ratings: "get_ratings" } as const;

async function shownBy(askManager: AskManager, league_id: string): Promise<string> {
  const parts: string[] = [];
  for (const [part, tool] of Object.entries(TOOLS)) {
    const answer = await askManager(JSON.stringify(rpcToolCall(tool, { league_id })));
    parts.push(hashOf(part, answer ?? ""));
  }
  return parts.join(" ");
}

const hashOf = (part: string, content: unknown): string =>
  `${part} ${sha256Hex(withoutVersion(JSON.stringify(content))).slice(0, 8)}`;

interface ExportedMatch {
  readonly log: readonly string[];
  readonly log_head: string;
}

interface Entry {
  readonly type: string;
  readonly role?: string;
  readonly action?: unknown;
}

const isOfLeague = (format: string, file: string): boolean =>
  file.startsWith(join("matches", format, "/")) || file === leagueLogFile(format);

/** The results of the matches of a league and their actions. */
function matchesOf(files: Files, format: string): string {
  const matches = [...files].filter(([name]) => name.startsWith("matches") && isOfLeague(format, name));
  const contents = matches.map(([, text]) => {
    const { log, log_head: _, ...result } = JSON.parse(text) as ExportedMatch;
    const entries = log.map((entry) => JSON.parse(entry) as Entry);
    return [result, entries.map(({ type, role, action }) => [type, role, action])];
  });
  return hashOf("matches", contents);
}

/** The files of a league in an export, and those of the run. */
const exportOfLeague = (files: Files, format: string): string =>
  hashOf("export", withoutDatesAndTokens([...files].filter(([name]) => isOfLeague(format, name))));
const exportOfRun = (files: Files): string =>
  hashOf("export", withoutDatesAndTokens([...files].filter(([name]) => !/^(matches|leagues)\b/.test(name))));

/**
 * The fields that contain a date, a token or a random id, and the hashes that depend on one. Seeds and their commitments are not among them, because
 * they depend only on the seed of the run. Only the texts of these fields are left out, so a field that is added, renamed or missing changes the record.
 */
const UNSTABLE = new Set(["at", "run_id", "salt", "name_commitment", "session_id", "log_head"]);

function withoutDatesAndTokens(files: readonly (readonly [name: string, text: string])[]): unknown {
  const parsed = (text: string): unknown =>
    JSON.parse(text, (key, value) => (UNSTABLE.has(key) && typeof value === "string" ? "" : value));
  return files.map(([name, text]) => {
    if (name.endsWith(".jsonl")) return [name, text.trimEnd().split("\n").map(parsed)];
    const value = parsed(text) as Partial<ExportedMatch>;
    return [name, { ...value, log: value.log?.map(parsed) }];
  });
}

interface ExportedRun {
  readonly leagues: readonly {
    readonly league_id: string;
    readonly standings: readonly { readonly display_name: string; readonly points: number }[];
  }[];
}

function pointsIn(files: Files, format: string): string {
  const { leagues } = JSON.parse(files.get(RUN_FILE) ?? "") as ExportedRun;
  const { standings } = leagues.find(({ league_id }) => league_id === format) ?? { standings: [] };
  return standings.map((row) => `${row.display_name} ${row.points}`).join(", ");
}

/** Writes an export and verifies it. The digest is left out, because it depends on dates and tokens. */
function verifiedIn(folder: string, files: Files): string {
  writeExport(folder, files);
  const { verdict, digest: _, ...verified } = verifyExport(folder);
  const plain = { ...verified, standings: [...verified.standings], unplayed: [...verified.unplayed] };
  return `${verdict}, ${hashOf("verify", plain)}`;
}
