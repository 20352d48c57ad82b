import type { Game } from "../game.ts";
import type { Evidence } from "./obligation.ts";

/** A call of a game's function that has thrown. */
export class GameThrew extends Error {
  readonly call: string;
  readonly evidence: Evidence;
  readonly thrown: unknown;
  constructor(call: string, args: readonly unknown[], thrown: unknown) {
    super(`${call} throws ${thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown)}`);
    this.call = call;
    this.evidence = evidenceOf(call, args);
    this.thrown = thrown;
  }

  /** Whether the function has written to an argument, which the check has frozen. */
  get isMutation(): boolean {
    return (
      this.thrown instanceof TypeError && /read only|not extensible|Cannot delete property/.test(this.thrown.message)
    );
  }
}

function evidenceOf(call: string, [first, second, third]: readonly unknown[]): Evidence {
  if (call === "initialState") return first as Evidence;
  const viewer = call === "viewState" || call === "toText";
  return {
    state: first,
    ...(typeof second === "string" && (viewer ? { viewer: second } : { role: second })),
    ...(third !== undefined && { action: third }),
  };
}

/** Returns a game whose functions report exceptions as GameThrew. Functions of the game that call each other are not observed. */
export const observed = (game: Game): Game =>
  new Proxy(game, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => {
        try {
          return member.apply(target, args);
        } catch (thrown) {
          throw new GameThrew(String(name), args, thrown);
        }
      };
    },
  });
