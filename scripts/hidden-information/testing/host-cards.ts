/** Games of a session host with cards that only some roles may see. */
import { cardsIn, leaksIn } from "../../../referee/codenames/testing/key-secrecy.ts";
import { allSeats, play, type TestSeat, twoSeats } from "../../../referee/play/testing/play.ts";
import type { Observer } from "../../../referee/rest/testing/observer.ts";
import { type Game, gameOf, type HostScene, type Moved, makeMove, withPerson } from "./host-games.ts";

const KUHN = ["player_1", "player_2"] as const;

const cardOf = async (seat: TestSeat): Promise<string> => {
  const { value } = await seat.wait({ timeout_s: 0 });
  return value.state.cards[seat.role];
};

/** One role has the jack or the king; the other role always has the queen. */
export function dealtCard(holder: 0 | 1): HostScene {
  return {
    hidden: "card",
    holders: [KUHN[holder]],
    seats: KUHN,
    isRevealed: true,
    async games({ host }) {
      const found = new Map<string, Game>();
      while (found.size < 2) {
        const seats = await twoSeats(host, "kuhn_poker", { options: { hands: 2 } });
        const cards = [await cardOf(seats[0]), await cardOf(seats[1])];
        if (cards[1 - holder] !== "queen") continue;
        found.set(
          String(cards[holder]),
          gameOf(
            seats,
            () => makeMove(seats[0], "bet"),
            () => makeMove(seats[1], "call"),
          ),
        );
      }
      return [...found.values()];
    },
  };
}

/** A person has the jack or the king, and the agent that created the game has the queen. */
export const personsCard: HostScene = {
  hidden: "card",
  holders: ["player_1"],
  seats: KUHN,
  isRevealed: true,
  async games({ host }) {
    const found = new Map<string, Game>();
    while (found.size < 2) {
      const options = { template: "kuhn_poker", options: { hands: 2 }, play_as: "player_2" };
      const { agent, token } = await withPerson(host, options);
      const path = `/api/games/${agent.gameId}`;
      const { player_1: card } = (await host.call("GET", path, { token })).json.state.cards;
      if ((await cardOf(agent)) !== "queen") continue;
      const hide = async (): Promise<Moved> => {
        const { json, text } = await host.call("POST", `${path}/moves`, { token, body: { move: "bet" } });
        return { role: "player_1", answer: text, tick: json.tick };
      };
      const game = gameOf([agent], hide, () => makeMove(agent, "call"));
      found.set(card, { ...game, tokens: { ...game.tokens, player_1: token } });
    }
    return [...found.values()];
  },
};

/** The game is over after a fold, and no card is ever shown. */
export const foldedCard: HostScene = {
  hidden: "card",
  holders: [],
  seats: KUHN,
  without: KUHN,
  isRevealed: false,
  async games({ host }) {
    const deals = new Map<string, Game>();
    while (deals.size < 4) {
      const seats = await twoSeats(host, "kuhn_poker", { options: { hands: 1 } });
      const deal = [await cardOf(seats[0]), await cardOf(seats[1])].join();
      const hide = async (): Promise<null> => {
        await play(seats, ["bet", "fold"]);
        return null;
      };
      const close = async () => ({ role: "", answer: "", tick: Number.POSITIVE_INFINITY });
      deals.set(deal, gameOf(seats, hide, close));
    }
    return [...deals.values()];
  },
};

const cardsOf = (observer: Observer, gameId: string) => {
  const seed = String(observer.value("SELECT seed FROM sessions WHERE session_id = ?", gameId));
  const rows = observer.rows("SELECT body FROM entries WHERE session_id = ? ORDER BY seq", gameId);
  return cardsIn(
    seed,
    rows.map(({ body }) => String(body)),
  );
};

const TEAMS = ["red_spymaster", "red_team", "blue_spymaster", "blue_team"];

export const codenamesKey: HostScene = {
  hidden: "key",
  holders: ["red_spymaster", "blue_spymaster"],
  seats: TEAMS,
  isRevealed: false,
  async games({ host, observer }) {
    const seats = await allSeats(host, "codenames", { options: { starting_team: "red" } });
    const at = (role: string) => seats.find((seat) => seat.role === role);
    const { gameId } = seats[0] as TestSeat;
    const close = () => {
      const red = cardsOf(observer, gameId).find(({ identity }) => identity === "red");
      return makeMove(at("red_team"), { type: "guess", word: red?.word });
    };
    return [gameOf(seats, () => makeMove(at("red_spymaster"), { type: "clue", word: "ZZZZZ", number: 2 }), close)];
  },
  // After a guess the uncovered card is no longer hidden.
  discloses: (texts, worlds, observer) =>
    texts.some((text, index) => leaksIn(text, cardsOf(observer, worlds[index]?.gameId ?? "")).length > 0),
};
