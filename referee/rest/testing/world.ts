/** The sessions of the model of the session host, and what each viewer may see of them. */
import type { Game, Viewer } from "#shared/games/game.ts";

/** A request to the API. */
export interface ApiRequest {
  readonly method: string;
  /** The path with the query. */
  readonly path: string;
  readonly token: string;
  readonly body?: string;
  /** The header Idempotency-Key. */
  readonly key?: string;
}

/** The answer to a request. */
export interface ApiAnswer {
  readonly status: number;
  readonly text: string;
}

export interface Exchange {
  readonly request: ApiRequest;
  readonly answer: ApiAnswer;
}

/** A session of the model. */
export interface ModelSession {
  readonly id: string;
  readonly game: Game;
  /** Agent ids by role. */
  readonly participants: Readonly<Record<string, string>>;
  readonly isPublic: boolean;
  readonly state: unknown;
  readonly tick: number;
  /** The tick at which the open turn began. */
  readonly turnTick: number;
  readonly log: readonly {
    readonly tick: number;
    readonly role: string;
    readonly action: unknown;
    readonly agent_id: string;
  }[];
}

/** The state of the model. */
export interface World {
  /** Agent ids by token. */
  readonly agents: ReadonlyMap<string, string>;
  readonly sessions: ReadonlyMap<string, ModelSession>;
  /** First replies by agent and key. */
  readonly replies: ReadonlyMap<string, { readonly request: string; readonly answer: ApiAnswer }>;
  /** The seed that the host chose for a session. */
  readonly seedOf: (sessionId: string) => string;
}

/** The answer that the model expects: the code of a rejection, or a body without `created_at`. A body of `undefined` is not compared. */
export interface Expected {
  readonly status: number;
  readonly code?: string;
  readonly body?: unknown;
}

/** The expected answer to a request and the world after it. */
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

export const viewerOf = ({ participants, isPublic }: ModelSession, agent: string): Viewer | null =>
  Object.keys(participants).find((role) => participants[role] === agent) ?? (isPublic ? "spectator" : null);

export const isOver = ({ game, state }: ModelSession): boolean => game.isTerminal(state);

export const statusOf = (session: ModelSession): string => (isOver(session) ? "completed" : "active");

export const stateFor = (session: ModelSession, viewer: Viewer) => ({
  session_id: session.id,
  template: session.game.id,
  status: statusOf(session),
  tick: viewer === "spectator" ? session.turnTick : session.tick,
  state: session.game.viewState(session.state, viewer),
  your_role: viewer,
  legal_actions: viewer === "spectator" ? [] : session.game.legalActions(session.state, viewer),
});

/** In an open turn a viewer sees only its own choice. */
export const logFor = ({ log, turnTick }: ModelSession, viewer: Viewer) =>
  log.filter(({ tick, role }) => tick < turnTick || role === viewer);

export const listOf = ({ sessions }: World, me: string) =>
  [...sessions.values()]
    .filter(({ participants }) => Object.values(participants).includes(me))
    .map((session) => {
      const { session_id, template, status, tick, your_role } = stateFor(session, viewerOf(session, me) as Viewer);
      return { session_id, template, status, tick, your_role };
    });
