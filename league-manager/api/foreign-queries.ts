import { withoutVersion } from "#shared/games/game.ts";
import { isDialectToken } from "#shared/protocol/dialects/dialect.ts";
import { first, firstText, idOfSender, isFields } from "#shared/protocol/dialects/fields.ts";
import type { ForeignMessage } from "#shared/protocol/dialects/forms.ts";
import { errorReply, type ForeignRequest, type ReplyHead, replyTo } from "#shared/protocol/dialects/requests.ts";
import type { Agent } from "../agents/agent.ts";
import type { League, Match } from "../league/league.ts";
import type { Projections } from "../projections/projections.ts";
import { scheduleRow } from "../projections/schedule.ts";

/** Answers LEAGUE_QUERY of a registered player. */
export function answerQuery(projections: Projections, request: ForeignRequest, head: ReplyHead): ForeignMessage {
  const { message } = request;
  const senders = sendersOf(request);
  const player = playerAmong(projections, senders);
  const type = String(first([message], ["query_type", "query"]) ?? "GET_STANDINGS").toUpperCase();
  const context = { action: "LEAGUE_QUERY", query_type: type };
  if (!player) {
    return errorReply(request, head, "E005", `${senders[0] ?? "the sender"} is not a registered player`, context);
  }
  const token = firstText([message], ["auth_token", "token"]);
  if (token === null) return errorReply(request, head, "E011", "auth_token is missing", context);
  const isOwn = isDialectToken(token, player.id, player.tokenHash) || projections.authenticate(token) === player;
  if (!isOwn) return errorReply(request, head, "E012", `auth_token is not the token of ${player.id}`, context);
  const league = leagueOf(projections, player, firstText([message], ["league_id"]));
  if (!league) return errorReply(request, head, "E005", `${player.id} is in no league`, context);
  const params = isFields(message.query_params) ? message.query_params : {};
  const subject = firstText([params, message], ["player_id"]) ?? player.id;
  const data = dataOf(projections, league, type, subject);
  const fields = { query_type: type, success: data !== null, league_id: league.leagueId, data: data ?? {}, ...data };
  const error = data === null ? { error: `query_type: ${type} is not one of ${QUERIES.join(", ")}` } : {};
  return replyTo(request, head, "LEAGUE_QUERY_RESPONSE", { ...fields, ...error });
}

/**
 * Acknowledges a message that the manager does not need, such as AGENT_READY_REQUEST or a heartbeat: a program that gets an error may give up before its
 * first match. Returns null, so that the message is rejected, if no registered player has sent it and it does not only say that a program is there.
 */
export function acknowledge(
  projections: Pick<Projections, "agent">,
  request: ForeignRequest,
  head: ReplyHead,
): ForeignMessage | null {
  const type = firstText([request.message], ["message_type", "type"]);
  if (type === null || type.length > MAX_TYPE_CHARACTERS) return null;
  const player = playerAmong(projections, sendersOf(request));
  if (!player && !/READY|HEARTBEAT|PING|HELLO/i.test(type)) return null;
  const answer = /_REQUEST$/.test(type) ? type.replace(/_REQUEST$/, "_RESPONSE") : "ACK";
  const fields = { status: "ACCEPTED", success: true, ...(player && { player_id: player.id }) };
  return replyTo(request, head, answer, { ...fields, original_message_type: type });
}

/** The answer has the type in several places, so a long one would make it large. */
const MAX_TYPE_CHARACTERS = 100;

const sendersOf = ({ message }: ForeignRequest): readonly string[] =>
  ["sender", "player_id"].flatMap((field) => firstText([message], [field]) ?? []);

const playerAmong = (projections: Pick<Projections, "agent">, senders: readonly string[]): Agent | undefined =>
  senders.map((sender) => projections.agent(idOfSender(sender))).find((agent) => agent?.kind === "player") ?? undefined;

const QUERIES = ["GET_STANDINGS", "GET_SCHEDULE", "GET_NEXT_MATCH", "GET_PLAYER_STATS"] as const;

function leagueOf(projections: Projections, player: Agent, leagueId: string | null): League | null {
  const named = leagueId === null ? null : projections.league(leagueId);
  if (named) return named;
  const own = projections.leagues().filter(({ entrants }) => entrants.has(player.id));
  return own.find(({ status }) => status === "running") ?? own[0] ?? null;
}

function dataOf(projections: Projections, league: League, type: string, playerId: string): object | null {
  const standings = projections.standings(league);
  const matches = league.rounds.flatMap((round) => round.matches);
  switch (type) {
    case "GET_STANDINGS":
      return { standings };
    case "GET_SCHEDULE":
      return { schedule: matches.map((match) => shownMatch(league, match, projections)) };
    case "GET_NEXT_MATCH": {
      const next = matches.find(({ status, players }) => status !== "completed" && players.includes(playerId));
      if (!next) return { next_match: null };
      const opponent_id = next.players.find((id) => id !== playerId) ?? null;
      return { next_match: { ...shownMatch(league, next, projections), opponent_id } };
    }
    case "GET_PLAYER_STATS":
      return { stats: standings.find(({ player_id }) => player_id === playerId) ?? null };
    default:
      return null;
  }
}

function shownMatch(league: League, match: Match, projections: Projections): object {
  const { league_id: _, ...row } = scheduleRow(league, match);
  const [player_A_id = null, player_B_id = null] = match.players;
  const referee_endpoint = projections.agent(match.refereeId ?? "")?.endpoint ?? null;
  return { ...row, game_type: withoutVersion(league.game), player_A_id, player_B_id, referee_endpoint };
}
