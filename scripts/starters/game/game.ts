import { err, type Game, ok, z } from "agent-league/game";

const ROLES = ["first_player", "second_player"] as const;
type Role = (typeof ROLES)[number];

/** The state. It is also the view of every role, because Nim has no hidden information. */
interface State {
  /** The number of sticks in the heap. */
  readonly left: number;
  readonly turn: Role;
}

const otherThan = (role: Role): Role => (role === "first_player" ? "second_player" : "first_player");

/** Nim with one heap: the players take one or two sticks in turn, and the player that takes the last one wins. */
const game: Game<{ heap: number }, State, number, State, Role> = {
  id: "nim.v1",
  roles: ROLES,
  info: {
    name: "Nim",
    rules:
      "Take 1 or 2 sticks from the heap. The player that takes the last stick wins. An action is the number of sticks.",
    options: { heap: "1 to 20: the sticks at the start; default: 5" },
    simultaneous: false,
    hiddenInformation: false,
    maxActions: 20,
  },
  options: z.strictObject({ heap: z.int().min(1).max(20).default(5) }),
  action: z.int("an action is a number"),
  initialState: ({ options }) => ({ left: options.heap, turn: "first_player" }),
  toAct: ({ left, turn }) => (left === 0 ? [] : [turn]),
  legalActions: ({ left, turn }, role) => (role === turn ? [1, 2].filter((count) => count <= left) : []),
  applyAction(state, role, action) {
    if (!game.legalActions(state, role).includes(action)) return err({ message: "take 1 or 2 sticks in your turn" });
    return ok({ left: state.left - action, turn: otherThan(state.turn) });
  },
  isTerminal: ({ left }) => left === 0,
  outcome({ left, turn }) {
    if (left > 0) return null;
    const winner = otherThan(turn);
    return { scores: { first_player: 0, second_player: 0, [winner]: 1 }, reason: "last_taken" };
  },
  viewState: (state) => state,
  toText: ({ left, turn }) => (left === 0 ? "The game is over." : `${left} sticks left, ${turn} to move.`),
};

export default game;
