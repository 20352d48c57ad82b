import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { type Checked, checkGame, type Failure, type GameReport } from "#shared/games/contract/check-game.ts";
import type { Obligation } from "#shared/games/contract/obligation.ts";
import { format, mustReplay, type Playthrough, recordAtRandom, replay } from "#shared/games/contract/playthroughs.ts";
import { canonicalJson, replaceNonJson, shownValue } from "#shared/games/contract/values.ts";
import type { Game } from "#shared/games/game.ts";
import { findGame } from "#shared/games/registry.ts";
import { faultLine } from "#shared/lib/schema-messages.ts";
import { counted, cutTo, jsonOf, parsedJson } from "#shared/lib/text.ts";
import { whereThrown } from "#shared/runtime/files/thrown-position.ts";
import { loadGame, readGame } from "#shared/runtime/game-files.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { isInstalled, LEAGUE_COMMAND } from "#shared/runtime/program.ts";
import { givenOptions } from "./named-game.ts";
import { writeStarter } from "./starter-folder.ts";

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
const playthroughFileOf = (file: string): string => file.replace(/\.[cm]?[jt]s$/, ".playthrough.json");

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
  const recording = flags.record ? recordGames(game, stored, given) : null;
  // As the file will have them: the check compares them with values that have been stored as JSON.
  const recorded: readonly Playthrough[] = recording ? JSON.parse(format(recording.games)) : stored;
  const variants = distinct([{}, given, ...recorded.map(({ options }) => options)]);
  // After --record, the stored games are those before the change of the rules. They are not checked if the game cannot be played.
  const isComparable = recorded.length > 0 && (!flags.record || recording !== null);
  const report = checkGame(game, variants, isComparable ? [recordedGames(recorded)] : []);
  const { obligations } = report;
  const isKept = obligations.every(({ status }) => status === "kept");
  const changes = isKept ? recording?.changes : undefined;
  if (changes) writeFileSync(recordFile, format(recorded));
  if (flags.json) {
    const played = { games: report.games, actions: report.actions };
    const document = { ok: isKept, game: game.id, file: path, ...played, recorded: recorded.length };
    const shown = obligations.map((checked) => documentOf(checked, path));
    process.stdout.write(
      `${JSON.stringify({ ...document, ...(changes && { record: changes }), obligations: shown }, replaceNonJson, 2)}\n`,
    );
    return isKept ? EXIT.ok : EXIT.failed;
  }
  const head = `${game.id}: ${counted(report.games, "random game", "random games")}, ${counted(report.actions, "action", "actions")}`;
  const lines = obligations.flatMap((checked) => linesOf(checked, path));
  const record = { file: recordFile, games: recorded.length, changes };
  process.stdout.write([head, "", ...lines, "", ...closing(report, record, flags), ""].join("\n"));
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

/** What `--record` does with a recorded game. */
interface RecordChange {
  readonly name: string;
  readonly change: "unchanged" | "other_states" | "other_actions" | "removed" | "added";
}

interface Recording {
  readonly games: readonly Playthrough[];
  readonly changes: readonly RecordChange[];
}

/**
 * Records the recorded games again, and a game with the given options if there is none. Actions that the rules no longer allow, or that no longer end the
 * game, are replaced by those of a random game. Returns null if the game cannot be played. The check then reports the reason.
 */
function recordGames(game: Game, stored: readonly Playthrough[], options: unknown): Recording | null {
  try {
    const again = stored.map((playthrough) => recordAgain(game, playthrough));
    const games = again.flatMap(({ playthrough }) => playthrough ?? []);
    const changes = again.map(({ change }, index) => ({ name: stored[index]?.name ?? "", change }));
    if (games.some((playthrough) => canonicalJson(playthrough.options) === canonicalJson(options))) {
      return { games, changes };
    }
    const added = recordAtRandom(game, options);
    return { games: [...games, added], changes: [...changes, { name: added.name, change: "added" }] };
  } catch {
    return null;
  }
}

function recordAgain(
  game: Game,
  stored: Playthrough,
): { readonly playthrough: Playthrough | null; readonly change: RecordChange["change"] } {
  if (!game.options.safeParse(stored.options).success) return { playthrough: null, change: "removed" };
  const again = replayed(game, stored);
  if (again === null || (again.outcome === null && stored.outcome !== null)) {
    return { playthrough: recordAtRandom(game, stored.options), change: "other_actions" };
  }
  return { playthrough: again, change: format([again]) === format([stored]) ? "unchanged" : "other_states" };
}

/** Replays a recorded game; null if the rules no longer allow one of its actions. */
function replayed(game: Game, stored: Playthrough): Playthrough | null {
  try {
    return replay(game, stored);
  } catch {
    return null;
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

/** The recorded games of a file, as the closing lines name them. */
interface RecordedGames {
  readonly file: string;
  readonly games: number;
  /** What was done with each game; undefined if nothing was recorded. */
  readonly changes: readonly RecordChange[] | undefined;
}

/** The texts of what `--record` has done with a game. */
const CHANGES = {
  unchanged: "unchanged",
  other_states: "recorded again with the same actions",
  other_actions: "replaced by another random game, because its actions are no longer a complete game",
  removed: "removed, because its options are no longer accepted",
  added: "added",
} as const satisfies Record<RecordChange["change"], string>;

function closing(
  { games: played, obligations }: GameReport,
  { file, games: count, changes }: RecordedGames,
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
    const unrecorded = record ? ["--record has recorded nothing. It records when all obligations are kept."] : [];
    return [skipped > 0 ? `${violations} ${later}` : violations, ...unrecorded];
  }
  const games = counted(count, "recorded game", "recorded games");
  if (changes) {
    const lines = changes.map(({ name, change }) => `  ${name}: ${CHANGES[change]}`);
    return [`All obligations are kept. ${basename(file)} has ${games}.`, ...lines];
  }
  if (count > 0) return [`All obligations are kept, also by ${games} of ${basename(file)}.`];
  return [
    "All obligations are kept.",
    `There is no recorded game. --record writes one to ${basename(file)}, so that later changes of the rules are noticed.`,
  ];
}

const STARTER = fileURLToPath(new URL("../starters/game/", import.meta.url));
/** The settings with which `npx tsc -p FOLDER` checks the types, in a clone and in another project. */
const TSCONFIG = fileURLToPath(new URL("../starters/ts/tsconfig.json", import.meta.url));
const FILE = "game.ts";
const BOT_FILE = "bot.ts";

/** `league new-game NAME`: writes a folder with a game, a bot, a recorded game and a README. Resolves with the exit code. */
export async function newGame(path: string): Promise<number> {
  const { id, title } = namesOf(basename(resolve(path)));
  if (findGame(id)) throw new StartError(`${id} is a built-in game; choose another name`, EXIT.usage);
  const [file = "", bot = ""] = [FILE, BOT_FILE].map((name) =>
    isAbsolute(path) ? join(path, name) : `./${join(path, name)}`,
  );
  const folder = isAbsolute(path) ? path : `./${join(path)}`;
  const texts: Readonly<Record<string, string>> = { title, id, file, bot, folder, league: LEAGUE_COMMAND };
  writeStarter(path, [
    [FILE, starterCode(FILE, { id, title })],
    [BOT_FILE, starterCode(BOT_FILE, { id, title })],
    ["tsconfig.json", readFileSync(TSCONFIG, "utf8")],
    ["README.md", readStarter("readme.md").replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => texts[name] ?? "")],
    // The nearest package.json decides whether Node reads a file as an ES module.
    ...(isInstalled ? [["package.json", '{ "type": "module" }\n'] as const] : []),
  ]);
  const game = await readGame(resolve(path, FILE));
  if (!game.ok) throw new Error(game.error);
  const recordFile = playthroughFileOf(resolve(path, FILE));
  writeFileSync(recordFile, format([recordAtRandom(game.value, {})]), { flag: "wx" });
  process.stdout.write(
    [
      `${path} has ${FILE}, ${BOT_FILE}, ${basename(recordFile)}, tsconfig.json and README.md. The rules are those of Nim. Next:`,
      `  ${LEAGUE_COMMAND} check-game ${file}    # check the obligations of a game`,
      `  ${LEAGUE_COMMAND} play ${bot} random --game ${file}    # one match between two bots`,
      `${join(path, "README.md")} has all commands.\n`,
    ].join("\n"),
  );
  return EXIT.ok;
}

interface GameNames {
  readonly id: string;
  readonly title: string;
}

const readStarter = (name: string): string => readFileSync(join(STARTER, name), "utf8");

/** Returns the code of a file of the starter with the id and the title of a game. */
export const starterCode = (name: "game.ts" | "bot.ts", { id, title }: GameNames): string =>
  readStarter(name)
    .replace('"nim.v1"', () => JSON.stringify(id))
    .replace('name: "Nim"', () => `name: ${JSON.stringify(title)}`);

/** Returns the id and the title of a game from the name of its folder. Throws StartError if the name has no letters. */
export function namesOf(folder: string): GameNames {
  const words = folder.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const name = words.join("_").slice(0, 50);
  if (!/^[a-z]/.test(name))
    throw new StartError(`${folder}: the name of a game begins with a letter from a to z`, EXIT.usage);
  const text = words.join(" ");
  return { id: `${name}.v1`, title: text.charAt(0).toUpperCase() + text.slice(1) };
}
