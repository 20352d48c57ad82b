import { readdirSync, readFileSync } from "node:fs";
import { basename, isAbsolute, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type Game, withoutVersion } from "#shared/games/game.ts";
import type { GameId } from "#shared/games/registry.ts";
import { DisplayName } from "#shared/protocol/message-fields.ts";
import { loadConfig } from "#shared/runtime/config/config-file.ts";
import { DEFAULT_CONFIG } from "#shared/runtime/defaults.ts";
import { isGameFile } from "#shared/runtime/game-files.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { isInstalled, LEAGUE_COMMAND } from "#shared/runtime/program.ts";
import { gameDocs } from "./game-docs.ts";
import { namedGame, optionsOfCommand } from "./named-game.ts";
import { inShell } from "./shell-word.ts";
import { writeStarter } from "./starter-folder.ts";

interface NewBotFlags {
  readonly game: string;
  readonly lang: Language;
}

/** The languages, each a folder of `scripts/starters` with the files of a bot. */
const LANGUAGES = {
  ts: { title: "TypeScript", file: "bot.ts" },
  js: { title: "JavaScript", file: "bot.js" },
  py: { title: "Python", file: "bot.py" },
  go: { title: "Go", file: "bot.go" },
} as const;
type Language = keyof typeof LANGUAGES;

const STARTERS = fileURLToPath(new URL("../starters/", import.meta.url));
/** The game of the files in `scripts/starters`. */
const STARTER_GAME: GameId = "rps.v1";

/** `league new-bot NAME --game G --lang L`: writes a folder with a bot and a README. Resolves with the exit code. */
export async function newBot(path: string, { game: gameName, lang }: NewBotFlags): Promise<number> {
  const game = await namedGame(gameName);
  if (game.roles.length !== 2) {
    throw new StartError(`${game.info.name} has ${game.roles.length} roles; new-bot supports games of two`, EXIT.usage);
  }
  const folder = resolve(path);
  const gameFile = isGameFile(gameName) ? gameName : null;
  const texts = {
    ...textsOf(game, gameFile, lang, path),
    ...comparisonTexts(game),
    ...(await leagueToTry(game, gameFile)),
  };
  const type = gameFile === null ? JSON.stringify(game.id) : typeOf(gameFile, folder);
  const files = [...filesOf(game, type, lang, texts)];
  writeStarter(path, files);
  const { bot } = texts;
  process.stdout.write(
    [
      `${path} has ${files.map(([name]) => name).join(", ")}. Next:`,
      `  ${texts.league} play ${bot} random --game ${texts.short}    # one match against a built-in bot`,
      `  ${texts.league} dev ${bot} random --game ${texts.short}     # plays it again each time you save the bot`,
      `  ${texts.league} join ${bot} --name ${texts.player}${texts.leagueOption}    # joins a league on this machine`,
      `${join(path, "README.md")} has all commands.\n`,
    ].join("\n"),
  );
  return EXIT.ok;
}

/** The built-in games in which every bot scores about 50% against the built-in bot `random`. */
const FAIR_AGAINST_RANDOM: readonly string[] = ["rps.v1", "even_odd.v1"] satisfies readonly GameId[];

/** Returns the texts about the first comparison, which a better bot can win. */
function comparisonTexts(game: Game) {
  if (!FAIR_AGAINST_RANDOM.includes(game.id)) {
    const compare = "Until you change the bot, it plays as `random` does, and the result is about 50%.";
    return { opponent: "random", compare };
  }
  const example =
    game.id === STARTER_GAME
      ? " `docs/bots.md` of agent-league has one, which repeats the last choice of its opponent."
      : "";
  return {
    opponent: "cycle",
    compare: `A bot that chooses at random, as this one does until you change it, scores about 50% against every bot of this game. A bot that expects the choices of \`cycle\`, which takes the legal actions in turn, is better than \`cycle\`.${example}`,
  };
}

type Texts = ReturnType<typeof textsOf> & ReturnType<typeof comparisonTexts> & Awaited<ReturnType<typeof leagueToTry>>;

/** Returns the values of the placeholders in the README. */
const textsOf = (game: Game, gameFile: string | null, lang: Language, path: string) => ({
  name: basename(resolve(path)),
  player: playerName(basename(resolve(path))),
  title: game.info.name,
  game: game.id,
  short: gameFile === null ? withoutVersion(game.id) : inShell(gameFile),
  language: LANGUAGES[lang].title,
  file: LANGUAGES[lang].file,
  bot: inShell(fromHere(join(path, LANGUAGES[lang].file))),
  folder: inShell(fromHere(path)),
  league: LEAGUE_COMMAND,
  place: isInstalled ? "in the folder in which you entered `new-bot`" : "in the folder of agent-league",
  leagueOption: exportsGames(lang) ? "" : " --league ID",
  typescript: isInstalled ? "Install TypeScript once with `npm install --save-dev typescript`. Then check" : "Check",
  leagues: exportsGames(lang)
    ? "Without `--league`, the player enters every open league of the games in the export `games` of the bot."
    : "Without `--league`, the player enters every open league, also those of other games, for which this bot is not written.",
  rounds: Object.entries(optionsOfCommand(game, []))
    .map(
      ([name, value]) =>
        ` \`play\`, \`dev\` and \`match\` set \`${name}=${value}\`, unless \`--option ${name}=N\` says otherwise.`,
    )
    .join(""),
  docs: gameDocs(game),
});

/** Returns a path that is not taken for the name of a bot or a package. */
const fromHere = (path: string): string => (isAbsolute(path) ? path : `./${join(path)}`);

/** Only a bot that the player imports can tell its games. */
const exportsGames = (lang: Language): boolean => lang === "ts" || lang === "js";

/** Returns the texts with which a bot joins a league of its game on this machine: one of the default config, or one of a config to write. */
async function leagueToTry(game: Game, gameFile: string | null) {
  const loaded = await loadConfig(DEFAULT_CONFIG, {});
  const known = loaded.ok ? loaded.value.config.leagues.find((league) => league.game === game.id) : undefined;
  const next = "enter these commands in three terminals:";
  if (known) return { leagueId: known.league_id, config: "", toTry: `To try it on this machine, ${next}` };
  const leagueId = withoutVersion(game.id);
  const config = { leagues: [{ league_id: leagueId, game: gameFile ?? game.id }] };
  const saved = `save this config as \`${leagueId}.json\` in the folder in which you enter the commands:\n\n\`\`\`json\n${JSON.stringify(config)}\n\`\`\``;
  return {
    leagueId,
    config: ` ${leagueId}.json`,
    toTry: `To try it on this machine, ${saved}\n\nThen ${next}`,
  };
}

/** Returns the folder's name as the display name of a player, without characters that a shell would interpret. */
function playerName(folder: string): string {
  const name = folder.replaceAll(/[^\p{L}\p{N}._-]/gu, "-");
  return DisplayName.safeParse(name).success ? name : "my-bot";
}

/** Returns the type of the game of a file, as a bot in the folder writes it. */
const typeOf = (gameFile: string, folder: string): string => {
  const path = relative(folder, resolve(gameFile)).replaceAll("\\", "/");
  return `typeof import(${JSON.stringify(path.startsWith(".") ? path : `./${path}`)}).default`;
};

/** Returns the files of the folder with their names. `type` is the argument of `Bot<…>` in TypeScript and JavaScript. */
function* filesOf(
  game: Game,
  type: string,
  lang: Language,
  texts: Texts,
): Iterable<readonly [name: string, text: string]> {
  const read = (name: string): string => readFileSync(join(STARTERS, name), "utf8");
  // Python adds the folder __pycache__ when the starter runs where it is.
  const files = readdirSync(join(STARTERS, lang), { withFileTypes: true }).filter((entry) => entry.isFile());
  for (const { name } of files.filter((file) => file.name !== "part.md"))
    yield [
      name,
      read(join(lang, name))
        .replace(`Bot<"${STARTER_GAME}">`, () => `Bot<${type}>`)
        .replaceAll(STARTER_GAME, game.id),
    ];
  // The nearest package.json decides whether Node reads a file as an ES module.
  if (isInstalled && exportsGames(lang)) yield ["package.json", '{ "type": "module" }\n'];
  if (lang === "py" || lang === "go") yield ["turn.jsonl", firstTurn(game)];
  const part = read(join(lang, "part.md")).trim();
  const readme = read("readme.md").replace("{{part}}", () => part);
  yield ["README.md", readme.replaceAll(/\{\{(\w+)\}\}/g, (_, name: keyof Texts) => texts[name])];
}

/** Returns the lines that a program receives until the first turn of a match (docs/bots.md). */
function firstTurn(game: Game): string {
  const parsed = game.options.parse({});
  const state = game.initialState({ options: game.optionsOfNew?.(parsed) ?? parsed, seed: "new-bot" });
  const role = game.toAct(state)[0] ?? "";
  const roles = Object.fromEntries(game.roles.map((name, index) => [name, `P0${index + 1}`]));
  const match = { league_id: "play", match_id: "R1M1", epoch: 1, game: game.id, options: parsed, role, roles };
  const legal = game.legalActions(state, role);
  const time = { deadline: "2030-01-01T00:00:30.000Z", remaining_ms: 30_000, seed: 7 };
  const turn = { type: "turn", tick: 0, view: game.viewState(state, role), legal, ...time };
  return [{ type: "start", ...match }, turn].map((line) => `${JSON.stringify(line)}\n`).join("");
}
