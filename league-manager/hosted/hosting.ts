import { knownGameIds } from "#shared/games/registry.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { type ErrorCode, errorNames, type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import type { PlayerRegisterRequest, PlayerRegisterResponse } from "#shared/protocol/messages.ts";
import type { Answer, Caller } from "#shared/rpc/mcp/operations.ts";
import type { AgentProcess } from "#shared/runtime/agent.ts";
import { replayTexts } from "#shared/session/replay.ts";
import { viewOf } from "#shared/session/view.ts";
import { isHosted } from "../agents/registered-agent.ts";
import type { Homes } from "../cluster/other-managers.ts";
import type { Inboxes } from "../inbox/inboxes.ts";
import { matchOf } from "../league/evolve.ts";
import type { Ledger } from "../ledger.ts";
import type { Projections } from "../projections/projections.ts";
import { HostedPlayers } from "./hosted-players.ts";
import type { StateContext } from "./hosted-state.ts";

export interface HostingOptions {
  readonly ledger: Ledger;
  readonly inboxes: Inboxes;
  readonly homes: Homes;
  readonly views: {
    readonly projections: Projections;
    /** Returns the session log of a completed match. */
    readonly logOf: (leagueId: string, matchId: string) => Promise<readonly string[]>;
    readonly seedOf: (leagueId: string, matchId: string, epoch: number) => string;
  };
  readonly register: SeatsOptions["register"];
}

/** The players that the manager hosts, for people and models without a program. */
interface Hosting {
  readonly seats: Seats;
  start(): void;
  stop(): void;
}

export function createHosting(
  { ledger, inboxes, homes, views, register }: HostingOptions,
  { clock, ids, log }: Pick<AgentProcess, "clock" | "ids" | "log">,
): Hosting {
  const finalView = async (leagueId: string, matchId: string, role: string): Promise<unknown> => {
    const league = ledger.state.leagues.get(leagueId);
    const match = league && matchOf(league, matchId);
    if (!match) return null;
    const log = await views.logOf(leagueId, matchId);
    const replayed = replayTexts(log, views.seedOf(leagueId, matchId, match.epoch));
    if (!replayed.ok) return null;
    return viewOf(replayed.value.session, role);
  };
  const onError = (thrown: unknown): void =>
    log.error({ err: thrown }, "a message or the final position of a match could not be shown to a hosted player");
  const hosted = new HostedPlayers({ ledger, inboxes, homes, clock, ids, finalView, onError });
  const seats = createSeats({
    context: { hosted, projections: views.projections, clock },
    homes,
    execute: (decide) => ledger.execute(decide),
    register,
  });
  return { seats, start: () => hosted.start(), stop: () => hosted.stop() };
}

/** The request of a person or a model to play in a league. */
interface JoinRequest {
  readonly name: string;
  /** undefined: every open league. */
  readonly leagueId: string | undefined;
  readonly joinCode: string | undefined;
}

type Who = Pick<Caller, "authToken" | "remoteAddress" | "sessionId">;

interface SeatsOptions {
  readonly context: StateContext;
  readonly homes: Homes;
  readonly execute: Ledger["execute"];
  /** Registers a player that the manager hosts. */
  readonly register: (
    request: PlayerRegisterRequest,
    caller: Pick<Who, "authToken" | "remoteAddress">,
  ) => Promise<Answer>;
}

/** The registration of hosted players, and the player on whose behalf a request acts. */
export interface Seats {
  readonly context: StateContext;
  readonly homes: Homes;
  readonly execute: Ledger["execute"];
  /** Registers a player, or continues as the player of a token. */
  join(entry: JoinRequest, token: string | undefined, who: Who): Promise<Result<Seat, ProtocolError>>;
  /** Returns the hosted player of a token, of the bearer token, or of the MCP session that has joined. */
  playerOf(token: string | undefined, who: Who): Result<Seat, ProtocolError>;
}

interface Seat {
  readonly playerId: string;
  readonly token: string;
}

/** The number of MCP sessions whose player is remembered. An endpoint has at most this many sessions. */
const MAX_SESSIONS = 5_000;

function createSeats({ context, homes, execute, register }: SeatsOptions): Seats {
  /** The tokens of the players that MCP sessions have joined as. */
  const tokensBySession = new Map<string, string>();
  const tokenOf = (token: string | undefined, { authToken, sessionId }: Who): string | null =>
    token ?? authToken ?? tokensBySession.get(sessionId ?? "") ?? null;
  return {
    context,
    homes,
    execute,
    async join({ name, leagueId, joinCode }, token, who) {
      const request = {
        display_name: name,
        version: "1.0.0",
        game_types: [...knownGameIds()],
        contact_endpoint: null,
        legal_actions: false,
        round_results: false,
        announcements: false,
        ...(leagueId !== undefined && { league_ids: [leagueId] }),
        ...(joinCode !== undefined && { join_code: joinCode }),
      };
      const { remoteAddress, sessionId } = who;
      const answer = await register(request, { authToken: tokenOf(token, who), remoteAddress });
      if (!answer.ok) return answer;
      const response = answer.value as PlayerRegisterResponse;
      const { player_id, auth_token } = response;
      if (!player_id || !auth_token) return err(rejection(response));
      if (sessionId !== undefined) remember(tokensBySession, sessionId, auth_token);
      return ok({ playerId: player_id, token: auth_token });
    },
    playerOf(given, who) {
      const token = tokenOf(given, who);
      const player = context.projections.authenticate(token);
      if (token !== null && player && isHosted(player.endpoint)) return ok({ playerId: player.id, token });
      return err(
        protocolError("L004", "You are not a player of this server. Call join_league, or pass your player_token"),
      );
    },
  };
}

function remember(tokens: Map<string, string>, sessionId: string, token: string): void {
  if (tokens.size >= MAX_SESSIONS) tokens.delete(tokens.keys().next().value ?? "");
  tokens.set(sessionId, token);
}

/** The rejection in the answer to a registration. */
function rejection({ error_code, reason, retryable, cause }: PlayerRegisterResponse): ProtocolError {
  const code = error_code != null && Object.hasOwn(errorNames, error_code) ? (error_code as ErrorCode) : "L001";
  return protocolError(
    code,
    reason ?? "the registration was rejected",
    cause == null ? {} : { cause },
    retryable ?? false,
  );
}
