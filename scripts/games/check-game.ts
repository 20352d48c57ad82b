import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { z } from "zod";
import { type Checked, checkGame, type Failure, type GameReport } from "#shared/games/contract/check-game.ts";
import type { Obligation } from "#shared/games/contract/obligation.ts";
import { format, mustReplay, type Playthrough, recordAtRandom, replay } from "#shared/games/contract/playthroughs.ts";
import { canonicalJson, replaceNonJson, shownValue } from "#shared/games/contract/values.ts";
import type { Game } from "#shared/games/game.ts";
import { faultLine } from "#shared/lib/schema-messages.ts";
import { counted, cutTo, jsonOf, parsedJson } from "#shared/lib/text.ts";
import { whereThrown } from "#shared/runtime/files/thrown-position.ts";
import { loadGame } from "#shared/runtime/games/game-files.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { givenOptions } from "./game-options.ts";

interface CheckGameFlags {
  readonly option?: readonly string[];
  readonly record?: boolean;
  readonly json?: boolean;
}

const Playthroughs = z.array(
  z.object({
    name: z.string(),
    options: z.unknown(),
    seed: z.string(),
    start: z.string(),
    steps: z.array(z.tuple([z.string(), z.unknown(), z.string()])),
    views: z.record(z.string(), z.unknown()),
    outcome: z.custom<Playthrough["outcome"]>(() => true),
  }),
);

/** Returns the file of the recorded games of a game, beside its file. */
export const playthroughFileOf = (file: string): string => file.replace(/\.[cm]?[jt]s$/, ".playthrough.json");

/**
 * `league check-game`: checks the obligations of a game of a file on random games, and its recorded games. Resolves with 0, or
 * with 1 if an obligation is violated. Rejects with StartError if the file does not load (3) or the options are wrong (2).
 */
export async function checkGameFile(file: string, flags: CheckGameFlags): Promise<number> {
  const path = resolve(file);
  const loaded = await loadGame(path);
  if (!loaded.ok) throw new StartError(loaded.error, EXIT.config);
  const game = loaded.value;
  const given = givenOptions(game, flags.option ?? []);
  const recordFile = playthroughFileOf(path);
  const stored = readPlaythroughs(recordFile);
  const recorded = flags.record ? recordGames(game, stored, given) : stored;
  const variants = distinct([{}, given, ...recorded.map(({ options }) => options)]);
  const report = checkGame(game, variants, recorded.length > 0 ? [recordedGames(recorded)] : []);
  const { obligations } = report;
  const isKept = obligations.every(({ status }) => status === "kept");
  if (flags.record && isKept) writeFileSync(recordFile, format(recorded));
  if (flags.json) {
    const document = { ok: isKept, game: game.id, file: path, games: report.games, actions: report.actions };
    const shown = obligations.map((checked) => documentOf(checked, path));
    process.stdout.write(
      `${JSON.stringify({ ...document, recorded: recorded.length, obligations: shown }, replaceNonJson, 2)}\n`,
    );
    return isKept ? EXIT.ok : EXIT.failed;
  }
  const head = `${game.id}: ${counted(report.games, "random game", "random games")}, ${counted(report.actions, "action", "actions")}`;
  const lines = obligations.flatMap((checked) => linesOf(checked, path));
  process.stdout.write([head, "", ...lines, "", ...closing(report, recorded, recordFile, flags), ""].join("\n"));
  return isKept ? EXIT.ok : EXIT.failed;
}

const distinct = (values: readonly unknown[]): readonly unknown[] => [
  ...new Map(values.map((value) => [canonicalJson(value), value])).values(),
];

function readPlaythroughs(file: string): readonly Playthrough[] {
  if (!existsSync(file)) return [];
  const parsed = Playthroughs.safeParse(parsedJson(readFileSync(file, "utf8")));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new StartError(`${file}: ${issue ? faultLine(issue) : "not a record of games"}`, EXIT.config);
}

/** Records the recorded games again, and a game with the given options if there is none. */
function recordGames(game: Game, stored: readonly Playthrough[], options: unknown): readonly Playthrough[] {
  try {
    const again = stored.map((playthrough) => replay(game, playthrough));
    const isRecorded = again.some((playthrough) => canonicalJson(playthrough.options) === canonicalJson(options));
    return isRecorded ? again : [...again, recordAtRandom(game, options)];
  } catch {
    return stored; // the check reports why the game cannot be played
  }
}

/** The obligation to play the recorded games as before. */
const recordedGames = (recorded: readonly Playthrough[]): Obligation => ({
  id: "recorded-games",
  title: "replays its recorded games to the same states",
  advice:
    "if the change is intended, give the game a new id when leagues have been played with it, and record the games again with --record",
  check({ game }) {
    for (const playthrough of recorded) mustReplay(game, playthrough);
  },
});

/** Returns the position in the file at which the game threw. */
const positionOf = ({ thrown }: Failure, file: string): string | null =>
  thrown instanceof Error && thrown.stack?.includes(file) ? whereThrown(thrown, file) : null;

function documentOf({ id, title, status, failure }: Checked, file: string): object {
  if (!failure) return { id, title, status };
  const { problem, advice, evidence } = failure;
  return { id, title, status, problem, advice, position: positionOf(failure, file), evidence };
}

const WORDS = { kept: "ok  ", violated: "FAIL", skipped: "skip" } as const;
/** The maximum length of a printed value. The JSON document has whole values. */
const MAX_VALUE = 400;

function linesOf({ title, status, failure }: Checked, file: string): readonly string[] {
  const head = `${WORDS[status]}  ${title}`;
  if (!failure) return [head];
  const { options, seed, step, ...values } = failure.evidence;
  const position = positionOf(failure, file);
  const shown = Object.entries(values).map(([name, value]) => `      ${name}: ${cutTo(MAX_VALUE, shownValue(value))}`);
  const place = [
    ...(step === undefined ? [] : [`after ${counted(step, "action", "actions")}`]),
    ...(options === undefined ? [] : [`options ${jsonOf(options)}`]),
    ...(seed === undefined ? [] : [`seed ${JSON.stringify(seed)}`]),
  ].join(", ");
  return [
    head,
    `      ${failure.problem}`,
    ...(position === null ? [] : [`      ${position}`]),
    ...(place === "" ? [] : [`      ${place}`]),
    ...shown,
    `      What to change: ${failure.advice}`,
  ];
}

function closing(
  { games: played, obligations }: GameReport,
  recorded: readonly Playthrough[],
  file: string,
  { record }: CheckGameFlags,
): readonly string[] {
  const violated = obligations.filter(({ status }) => status === "violated").length;
  const skipped = obligations.filter(({ status }) => status === "skipped").length;
  if (violated > 0) {
    const checks = counted(skipped, "check", "checks");
    const later =
      played > 0
        ? `${checks} could not end because of an error above.`
        : `${checks} need games that are played to the end.`;
    const violations = `${counted(violated, "obligation is", "obligations are")} violated.`;
    return [skipped > 0 ? `${violations} ${later}` : violations];
  }
  const games = counted(recorded.length, "recorded game", "recorded games");
  if (record) return [`All obligations are kept. ${basename(file)} has ${games}.`];
  if (recorded.length > 0) return [`All obligations are kept, also by ${games} of ${basename(file)}.`];
  return [
    "All obligations are kept.",
    `There is no recorded game. --record writes one to ${basename(file)}, so that later changes of the rules are noticed.`,
  ];
}
