/** The sessions of the model of the session host, and what each viewer may see of them. */
import type { Game, Viewer } from "#shared/games/game.ts";

/** A request as it is sent. */
export interface Asked {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly token: string;
  readonly body?: string;
  /** Idempotency-Key. */
  readonly key?: string;
}

/** The answer to a request. */
export interface Got {
  readonly status: number;
  readonly text: string;
}

export interface Exchange {
  readonly asked: Asked;
  readonly got: Got;
}

/** A session as the model knows it. */
export interface Table {
  readonly id: string;
  readonly game: Game;
  /** Role to agent id. */
  readonly participants: Readonly<Record<string, string>>;
  readonly isPublic: boolean;
  readonly state: unknown;
  readonly tick: number;
  /** Where the open turn began. */
  readonly turnTick: number;
  readonly log: readonly {
    readonly tick: number;
    readonly role: string;
    readonly action: unknown;
    readonly agent_id: string;
  }[];
}

export interface World {
  /** Token to agent id. */
  readonly agents: ReadonlyMap<string, string>;
  readonly tables: ReadonlyMap<string, Table>;
  /** First replies, by agent and key. */
  readonly replies: ReadonlyMap<string, { readonly request: string; readonly got: Got }>;
  /** The seed that the host chose for a session. */
  readonly seedOf: (sessionId: string) => string;
}

/** The answer that the model expects: the code of a rejection, or a body without `created_at`. A body of `undefined` is not compared. */
export interface Expected {
  readonly status: number;
  readonly code?: string;
  readonly body?: unknown;
}

export interface Step {
  readonly expected: Expected;
  readonly world: World;
}

const STATUS = {
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  INVALID_ACTION: 400,
  CONFLICT: 409,
  INVALID_REQUEST: 400,
  ALREADY_ACTED: 400,
} as const;
export type Code = keyof typeof STATUS;

export const rejection = (world: World, code: Code): Step => ({ expected: { status: STATUS[code], code }, world });

export const viewerOf = ({ participants, isPublic }: Table, agent: string): Viewer | null =>
  Object.keys(participants).find((role) => participants[role] === agent) ?? (isPublic ? "spectator" : null);

export const isOver = ({ game, state }: Table): boolean => game.isTerminal(state);

export const statusOf = (table: Table): string => (isOver(table) ? "completed" : "active");

export const stateFor = (table: Table, viewer: Viewer) => ({
  session_id: table.id,
  template: table.game.id,
  status: statusOf(table),
  tick: viewer === "spectator" ? table.turnTick : table.tick,
  state: table.game.viewState(table.state, viewer),
  your_role: viewer,
  legal_actions: viewer === "spectator" ? [] : table.game.legalActions(table.state, viewer),
});

/** In an open turn a viewer sees only its own choice. */
export const logFor = ({ log, turnTick }: Table, viewer: Viewer) =>
  log.filter(({ tick, role }) => tick < turnTick || role === viewer);

export const listOf = ({ tables }: World, me: string) =>
  [...tables.values()]
    .filter(({ participants }) => Object.values(participants).includes(me))
    .map((table) => {
      const { session_id, template, status, tick, your_role } = stateFor(table, viewerOf(table, me) as Viewer);
      return { session_id, template, status, tick, your_role };
    });
