import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Game } from "#shared/games/game.ts";
import { type GameId, gameIds, games } from "#shared/games/registry.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { createRandom } from "#shared/lib/rng.ts";
import { Envelope } from "#shared/protocol/envelope.ts";
import { MoveRequest, MoveResponse, PlayerRegisterRequest, PlayerRegisterResponse } from "#shared/protocol/messages.ts";
import { envelopeIn } from "#shared/rpc/peer/peer.ts";
import type { Turn } from "../player/sdk.ts";
import { gameDocs, withGameDocs } from "./commands/game-docs.ts";
import { namesOf, starterCode } from "./commands/own-game.ts";
import { root } from "./testing/processes.ts";

const SKIPPED = new Set(["node_modules", ".git", "data", "league-export"]);

/** Returns the paths of all files of the project whose name matches the pattern. */
const filesWith = (extension: RegExp, folder = root): readonly string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : filesWith(extension, path);
    return extension.test(entry.name) ? [path] : [];
  });
const read = (file: string): string => readFileSync(file, "utf8");
/** Returns whether a document names the file of a reader's bot. */
const isExample = (path: string): boolean => ["my-bot.ts", "my-bot/bot.ts"].includes(path);
const withoutCode = (markdown: string): string => markdown.replace(/^```.*?^```$/gms, "").replace(/`[^`\n]*`/g, "");

/** Returns the anchor that GitHub generates for a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(" ", "-");
const anchorsOf = (file: string): readonly string[] =>
  [...read(file).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => anchorOf(heading));

const documents = filesWith(/\.md$/);
const sources = filesWith(/\.(ts|cjs)$/);

describe("documents", () => {
  it.each(documents.map((file) => [relative(root, file), file]))(
    "%s links to files and headings that exist",
    (_, file) => {
      const links = [...withoutCode(read(file)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
      const broken = links
        .filter((link) => !/^https?:/.test(link))
        .filter((link) => {
          const [path = "", anchor] = link.split("#");
          const target = path === "" ? file : join(dirname(file), path);
          return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).includes(anchor));
        });
      expect(broken).toEqual([]);
    },
  );

  it.each(documents.map((file) => [relative(root, file), file]))("%s names source files that exist", (_, file) => {
    const named = [
      ...read(file).matchAll(/`((?!\.)[\w./-]+\.(?:ts|cjs))`|\b((?:scripts|shared)\/[\w./-]+\.(?:ts|cjs))\b/g),
    ];
    const paths = named.map(([, quoted, plain]) => quoted ?? plain ?? "").filter((path) => !isExample(path));
    expect(paths.filter((path) => !sources.some((source) => source.endsWith(`/${path}`)))).toEqual([]);
  });

  it("every document that a file names exists", () => {
    const known = new Set(documents.map((file) => basename(file)));
    const missing = filesWith(/\.(md|ts|js|cjs|json|css|html|yml)$/).flatMap((file) =>
      [...read(file).matchAll(/\b[\w-]+\.md\b/g)].flatMap(([name]) =>
        known.has(name) ? [] : [`${relative(root, file)}: ${name}`],
      ),
    );
    expect(missing).toEqual([]);
  });

  it("entries of the changelog have one line of at most 120 characters", () => {
    const entries = read(join(root, "CHANGELOG.md")).split(/^## /m).slice(1).join("");
    const lines = entries.split("\n").slice(1);
    const form =
      /^(- .{1,118}|### (Added|Changed|Deprecated|Removed|Fixed|Security)|\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d|)$/;
    expect(lines.filter((line) => !form.test(line))).toEqual([]);
  });
});

const gamesPage = read(join(root, "docs/games.md"));
/** Returns the bot and the options that docs/games.md shows for a game. */
function exampleOf(game: GameId) {
  const [, text = ""] = gamesPage.split(new RegExp(`^## ${game.replace(".", "\\.")}$`, "m"));
  const section = text.split(/^## /m)[0] ?? "";
  const block = (language: string): string =>
    new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "s").exec(section)?.[1] ?? "";
  const options = JSON.parse(/with the options `(\{.*?\})`/.exec(section)?.[1] ?? "{}");
  return { bot: block("ts"), options };
}

const folder = mkdtempSync(join(tmpdir(), "documents-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("docs/games.md", () => {
  it("begins with a table of every game, its name and its number of roles", () => {
    const rows = [...gamesPage.matchAll(/^\| (.+?) \| \[`(.+?)`\]\(.+?\) \| (\d) \|/gm)].map((row) => row.slice(1));
    expect(rows).toEqual(Object.values(games).map(({ id, info, roles }) => [info.name, id, String(roles.length)]));
  });

  it("has the facts of every game as `npm run docs:games` writes them", () => {
    expect(gameIds.filter((id) => !gamesPage.includes(gameDocs(games[id])))).toEqual([]);
    expect(withGameDocs(gamesPage)).toBe(gamesPage);
  });

  it.each(gameIds)("contains a bot for %s that plays legal actions until the game ends", async (id) => {
    const { bot, options } = exampleOf(id);
    const game: Game = games[id];
    const file = join(folder, `${id}.ts`);
    writeFileSync(file, bot);
    const choose: (turn: Partial<Turn>) => unknown = (await import(file)).default;
    const random = createRandom("bots");
    let state = game.initialState({ options: game.options.parse(options), seed: "s" });
    for (let [role] = game.toAct(state); role !== undefined; [role] = game.toAct(state)) {
      const view = game.viewState(state, role) as Turn["view"];
      const legal = game.legalActions(state, role) as Turn["legal"];
      const action = choose({ game: id, role, view, legal, random });
      expect(legal).toContainEqual(action);
      const next = game.applyAction(state, role, action);
      if (!next.ok) throw new Error(next.error.message);
      state = next.value;
    }
    expect(game.isTerminal(state)).toBe(true);
  });
});

describe("the calls and the replies in docs/network-players.md", () => {
  const networkPlayers = read(join(root, "docs/network-players.md"));
  const [registration, accepted, request, reply] = [
    ...networkPlayers.matchAll(/```json\n(\{\n {2}"jsonrpc".*?)```/gs),
  ].map(([, json = ""]) => json);

  it("are the call and the answer of a registration", () => {
    const { id, params } = JSON.parse(registration ?? "");
    const envelope = Envelope.parse(params.arguments);
    expect(envelope.type).toBe("PLAYER_REGISTER_REQUEST");
    PlayerRegisterRequest.parse(envelope.payload);
    const answer = envelopeIn({ status: 200, text: accepted ?? "" }, id, envelope.message_id);
    if (!answer.ok) throw new Error(answer.error.detail);
    const response = PlayerRegisterResponse.parse(answer.value.payload);
    expect(response).toMatchObject({ status: "ACCEPTED", auth_token: envelope.auth_token });
  });

  it("are the call and the answer of one turn", () => {
    const { id, params } = JSON.parse(request ?? "");
    const envelope = Envelope.parse(params.arguments);
    const { tick, legal_actions } = MoveRequest.parse(envelope.payload);
    const answer = envelopeIn({ status: 200, text: reply ?? "" }, id, envelope.message_id);
    if (!answer.ok) throw new Error(answer.error.detail);
    const response = MoveResponse.parse(answer.value.payload);
    expect(response).toMatchObject({ match_id: envelope.payload.match_id, tick });
    expect(legal_actions).toContain(response.move);
  });
});

describe("docs/adding-a-game.md", () => {
  it("shows the code of the bot and of the game that its first command writes", () => {
    const text = read(join(root, "docs/adding-a-game.md"));
    const names = namesOf(/new-game (\S+)/.exec(text)?.[1] ?? "");
    const shown = [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code);
    expect(shown).toEqual([starterCode("bot.ts", names), starterCode("game.ts", names)]);
  });
});

describe("docs/network-players.md", () => {
  it("tries the player in the folder that its command writes", () => {
    const [, steps = ""] = /^To try a player(.*?)```json/ms.exec(read(join(root, "docs/network-players.md"))) ?? [];
    const [, written] = /new-bot (\S+) --lang py`/.exec(steps) ?? [];
    const [, entered] = /`cd (\S+)`, then `python3 join\.py /.exec(steps) ?? [];
    expect(written).toBeDefined();
    expect(entered).toBe(written);
  });
});

describe("PROTOCOL.md", () => {
  it("shows a log whose last hash is the log_head of the result before it", () => {
    const text = read(join(root, "PROTOCOL.md"));
    const entries = text.split("\n").filter((line) => /^\{"type":"(created|acted)"/.test(line));
    const [, head] = /"log_head": "([0-9a-f]{64})"/.exec(text) ?? [];
    expect(entries.reduce((hash, entry) => sha256Hex(`${hash}\n${entry}`), "0".repeat(64))).toBe(head);
  });
});
