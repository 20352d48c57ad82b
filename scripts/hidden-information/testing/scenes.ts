/** Games of a session host at a moment when something is hidden, once for each value that the hidden information may have. */
import { cardsIn, leaksIn } from "../../../referee/codenames/testing/key-secrecy.ts";
import {
  allSeats,
  createGame,
  personTokens,
  play,
  type TestSeat,
  twoSeats,
} from "../../../referee/play/testing/play.ts";
import type { Hidden } from "../../../referee/play/testing/surfaces.ts";
import type { TestHost } from "../../../referee/rest/testing/host.ts";
import type { Observer } from "../../../referee/rest/testing/rest.ts";

export interface World {
  readonly gameId: string;
  /** The token of each seat. */
  readonly tokens: Readonly<Record<string, string>>;
  /** The answers with which the seats were given out. */
  readonly told: Readonly<Record<string, string>>;
  /** Makes the sealed choice; in other games an action in the open. */
  hide(): Promise<void>;
  /** Ends the turn; the tick after it. */
  close(): Promise<number>;
}

export interface Scene {
  readonly hidden: Hidden;
  /** The roles that know what is hidden. */
  readonly holders: readonly string[];
  /** Roles whose earlier views differ from world to world for another reason: their own card. */
  readonly without?: readonly string[];
  /** True if the end of the turn shows to all what was hidden. */
  readonly isRevealed: boolean;
  worlds(host: TestHost, observer: Observer): Promise<World[]>;
  /** True if texts, one for each world, tell what is hidden there. */
  tell(texts: readonly string[], worlds: readonly World[], observer: Observer): boolean;
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/** Ids, tokens and times differ from game to game; nothing else may. */
export const plain = (text: string): string =>
  text
    .replace(UUID, "ID")
    .replace(/(?<![\w-])[\w-]{43}(?![\w-])/g, "TOKEN")
    .replace(TIME, "TIME");

const differ = (texts: readonly string[]): boolean => new Set(texts.map(plain)).size > 1;

const byRole = <T>(seats: readonly TestSeat[], value: (seat: TestSeat) => T): Readonly<Record<string, T>> =>
  Object.fromEntries(seats.map((seat) => [seat.role, value(seat)]));

const worldOf = (seats: readonly TestSeat[], hide: World["hide"], close: World["close"]): World => ({
  ...{ gameId: seats[0]?.gameId ?? "", hide, close },
  tokens: byRole(seats, ({ token }) => token),
  told: byRole(seats, ({ answer }) => answer.raw),
});

const moved = async (seat: TestSeat | undefined, move: unknown): Promise<number> => {
  const told = await seat?.move(move);
  if (!told || told.isError) throw new Error(`${move}: ${told?.text}`);
  return told.value.tick;
};

interface Choices {
  readonly template: string;
  readonly options: object;
  /** The roles of the first and the second seat. */
  readonly roles: readonly [string, string];
  /** Moves of the rounds before, in turns. */
  readonly before: readonly unknown[];
  readonly choices: readonly unknown[];
  readonly reply: unknown;
}

/** A role of two has chosen, and the other one has not. */
function sealedChoice({ template, options, roles, before, choices, reply }: Choices, holder: 0 | 1): Scene {
  const world = async (host: TestHost, choice: unknown): Promise<World> => {
    const seats = await twoSeats(host, template, { options });
    await play(seats, before);
    const hide = async () => void (await moved(seats[holder], choice));
    return worldOf(seats, hide, () => moved(seats[1 - holder], reply));
  };
  return {
    ...{ hidden: "choice", holders: [roles[holder]], isRevealed: true, tell: differ },
    worlds: (host) => Promise.all(choices.map((choice) => world(host, choice))),
  };
}

/** A person has chosen at the page, and the agent that made the game has not. */
function personsChoice({ template, options, roles, choices, reply }: Choices): Scene {
  const world = async (host: TestHost, choice: unknown): Promise<World> => {
    const agent = await createGame(host, { template, options, opponent: "human", play_as: roles[0] });
    const token = personTokens(host, agent.gameId).at(-1) ?? "";
    const hide = async (): Promise<void> => {
      const path = `/api/games/${agent.gameId}/moves`;
      const { status, text } = await host.call("POST", path, { token, body: { move: choice } });
      if (status !== 200) throw new Error(text);
    };
    const one = worldOf([agent], hide, () => moved(agent, reply));
    return { ...one, tokens: { ...one.tokens, [roles[1]]: token } };
  };
  return {
    ...{ hidden: "choice", holders: [roles[1]], isRevealed: true, tell: differ },
    worlds: (host) => Promise.all(choices.map((choice) => world(host, choice))),
  };
}

const KUHN = ["player_1", "player_2"] as const;

const cardOf = async (seat: TestSeat): Promise<string> => {
  const { value } = await seat.wait({ timeout_s: 0 });
  return value.state.cards[seat.role];
};

/** One role holds the jack or the king; the other one always holds the queen. */
function dealtCard(holder: 0 | 1): Scene {
  return {
    ...{ hidden: "card", holders: [KUHN[holder]], isRevealed: true, tell: differ },
    async worlds(host) {
      const found = new Map<string, World>();
      while (found.size < 2) {
        const seats = await twoSeats(host, "kuhn_poker", { options: { hands: 2 } });
        const cards = [await cardOf(seats[0]), await cardOf(seats[1])];
        if (cards[1 - holder] !== "queen") continue;
        const hide = async () => void (await moved(seats[0], "bet"));
        found.set(
          String(cards[holder]),
          worldOf(seats, hide, () => moved(seats[1], "call")),
        );
      }
      return [...found.values()];
    },
  };
}

/** The game is over after a fold: no card is shown, then or later. */
const foldedCard: Scene = {
  ...{ hidden: "card", holders: [], without: KUHN, isRevealed: false, tell: differ },
  async worlds(host) {
    const deals = new Map<string, World>();
    while (deals.size < 4) {
      const seats = await twoSeats(host, "kuhn_poker", { options: { hands: 1 } });
      const deal = [await cardOf(seats[0]), await cardOf(seats[1])].join();
      const close = async () => Number.POSITIVE_INFINITY;
      deals.set(
        deal,
        worldOf(seats, () => play(seats, ["bet", "fold"]), close),
      );
    }
    return [...deals.values()];
  },
};

const cardsOf = (observer: Observer, gameId: string) => {
  const [{ seed }] = observer.rows("SELECT seed FROM sessions WHERE session_id = ?", gameId);
  const rows = observer.rows("SELECT body FROM entries WHERE session_id = ? ORDER BY seq", gameId);
  return cardsIn(
    seed,
    rows.map(({ body }) => String(body)),
  );
};

const codenamesKey: Scene = {
  ...{ hidden: "key", holders: ["red_spymaster", "blue_spymaster"], isRevealed: false },
  async worlds(host, observer) {
    const seats = await allSeats(host, "codenames", { options: { starting_team: "red" } });
    const at = (role: string) => seats.find((seat) => seat.role === role);
    const { gameId } = seats[0] as TestSeat;
    const hide = async () => void (await moved(at("red_spymaster"), { type: "clue", word: "ZZZZZ", number: 2 }));
    const close = () => {
      const red = cardsOf(observer, gameId).find(({ identity }) => identity === "red");
      return moved(at("red_team"), { type: "guess", word: red?.word });
    };
    return [worldOf(seats, hide, close)];
  },
  // After a guess the uncovered card is not hidden any more.
  tell: (texts, worlds, observer) =>
    texts.some((text, index) => leaksIn(text, cardsOf(observer, worlds[index]?.gameId ?? "")).length > 0),
};

const RPS: Choices = {
  ...{ template: "rps", options: { best_of: 3 }, roles: ["player_1", "player_2"], before: ["rock", "paper"] },
  ...{ choices: ["rock", "paper", "scissors"], reply: "rock" },
};
const EVEN_ODD: Choices = {
  ...{ template: "even_odd", options: {}, roles: ["ODD", "EVEN"], before: [1, 2], choices: [1, 4, 5], reply: 2 },
};
const DRAW: Choices = {
  ...{ template: "even_odd", options: { variant: "draw", rounds_to_win: 2, max_rounds: 3 }, roles: ["ODD", "EVEN"] },
  ...{ before: [], choices: ["even", "odd"], reply: "even" },
};

export const SCENES: Readonly<Record<string, Scene>> = {
  "rps, player_1 has chosen": sealedChoice(RPS, 0),
  "rps, player_2 has chosen": sealedChoice(RPS, 1),
  "rps, the person has chosen": personsChoice(RPS),
  "even_odd, ODD has chosen": sealedChoice(EVEN_ODD, 0),
  "even_odd, EVEN has chosen": sealedChoice(EVEN_ODD, 1),
  "even_odd, the person has chosen": personsChoice(EVEN_ODD),
  "even_odd with drawn numbers, the first role has chosen": sealedChoice(DRAW, 0),
  "kuhn_poker, the card of player_1": dealtCard(0),
  "kuhn_poker, the card of player_2": dealtCard(1),
  "kuhn_poker, after a fold": foldedCard,
  "codenames, the key": codenamesKey,
};
