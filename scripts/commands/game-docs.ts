import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Game, Role } from "#shared/games/game.ts";
import { type GameId, games } from "#shared/games/registry.ts";

/** The turn of a game that docs/games.md shows: the turn of `role` after these actions. */
interface Example {
  readonly options: object;
  readonly actions: readonly (readonly [Role, unknown])[];
  readonly role: Role;
}

const EXAMPLES: Readonly<Record<GameId, Example>> = {
  "even_odd.v1": {
    options: {},
    actions: [
      ["ODD", 3],
      ["EVEN", 1],
    ],
    role: "ODD",
  },
  "rps.v1": {
    options: { best_of: 3 },
    actions: [
      ["player_1", "paper"],
      ["player_2", "rock"],
    ],
    role: "player_1",
  },
  "chess.v1": {
    options: {},
    actions: [
      ["white", "d2d4"],
      ["black", "b7b6"],
    ],
    role: "white",
  },
  "tic_tac_toe.v1": {
    options: {},
    actions: [
      ["x", "b2"],
      ["o", "b3"],
      ["x", "c2"],
    ],
    role: "o",
  },
  "connect_four.v1": {
    options: {},
    actions: [
      ["red", 4],
      ["yellow", 2],
      ["red", 4],
    ],
    role: "yellow",
  },
  "kuhn_poker.v1": {
    options: {},
    actions: [
      ["player_1", "check"],
      ["player_2", "check"],
    ],
    role: "player_2",
  },
  "codenames.v1": {
    options: { starting_team: "red" },
    actions: [["red_spymaster", { type: "clue", word: "TRAVEL", number: 2 }]],
    role: "red_team",
  },
};

/** The number of legal actions, and of cards of Codenames, that the page shows. */
const MAX_SHOWN = 7;
const MAX_CARDS = 2;
const LINE_LENGTH = 130;

/** Returns a value as JSON. An object or list that does not fit into one line has a line for each member. */
function json(value: unknown, indent = ""): string {
  const line = spaced(value);
  if (indent.length + line.length <= LINE_LENGTH || typeof value !== "object" || value === null) return line;
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${inner}${isList ? "" : `"${name}": `}${json(member, inner)}`,
  );
  const [open, close] = isList ? "[]" : "{}";
  return `${open}\n${members.join(",\n")}\n${indent}${close}`;
}

/** Returns a value as JSON in one line, with spaces after commas and colons. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `"${name}": ${spaced(member)}`);
  return `{${members.join(", ")}}`;
}

/** Returns the roles, options, view and actions of a game as Markdown. A game of a file has its first turn as the example. */
export function gameDocs(game: Game): string {
  const example = new Map<string, Example>(Object.entries(EXAMPLES)).get(game.id);
  const { options, actions } = example ?? { options: {}, actions: [] };
  const parsed = game.options.parse(options);
  let state = game.initialState({ options: game.optionsOfNew?.(parsed) ?? parsed, seed: "docs" });
  for (const [actor, action] of actions) {
    const next = game.applyAction(state, actor, action);
    if (!next.ok) throw new Error(`the example of ${game.id}: ${next.error.message}`);
    state = next.value;
  }
  const role = example?.role ?? game.toAct(state)[0] ?? "";
  const legal = game.legalActions(state, role);
  const view = game.viewState(state, role);
  return [
    `Roles: ${game.roles.map(code).join(", ")}.`,
    ...optionTable(game),
    `The view of ${code(role)} ${afterActions(actions)}${withOptions(options)}:`,
    `\`\`\`json\n${json(shortened(view))}\n\`\`\``,
    `Its legal actions${legal.length > MAX_SHOWN ? `, the first ${MAX_SHOWN} of ${legal.length}` : ""}: ${code(spaced(legal.slice(0, MAX_SHOWN)))}`,
  ].join("\n\n");
}

const afterActions = (actions: Example["actions"]): string =>
  actions.length === 0
    ? "at the start"
    : `after ${actions.map(([actor, action]) => `${code(actor)}: ${code(spaced(action))}`).join(", ")}`;

const code = (text: string): string => `\`${text}\``;

const withOptions = (options: object): string =>
  Object.keys(options).length === 0 ? "" : `, with the options ${code(spaced(options))}`;

function optionTable({ info }: Game): readonly string[] {
  const rows = Object.entries(info.options ?? {}).map(([name, meaning]) => `| ${code(name)} | ${meaning} |`);
  return rows.length === 0 ? [] : [["| option | meaning |", "|---|---|", ...rows].join("\n")];
}

/** Returns a view with the first cards of Codenames only. */
const shortened = (view: unknown): unknown =>
  typeof view === "object" && view !== null && "cards" in view && Array.isArray(view.cards)
    ? { ...view, cards: view.cards.slice(0, MAX_CARDS) }
    : view;

const GAME_DOCS_FILE = fileURLToPath(new URL("../../docs/games.md", import.meta.url));

const BLOCK = /(<!-- begin: ([a-z0-9_.]+), written by npm run docs:games -->\n).*?(\n<!-- end -->)/gs;

/** Returns the text of docs/games.md with the current facts of every game. */
export const withGameDocs = (page: string): string =>
  page.replace(BLOCK, (_block, begin: string, id: GameId, end: string) => `${begin}\n${gameDocs(games[id])}\n${end}`);

if (import.meta.main) writeFileSync(GAME_DOCS_FILE, withGameDocs(readFileSync(GAME_DOCS_FILE, "utf8")));
