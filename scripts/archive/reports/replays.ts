import { deflateRawSync } from "node:zlib";
import { replayTexts } from "#shared/session/replay.ts";
import type { Session } from "#shared/session/session.ts";
import { verdictOf } from "#shared/session/verdict.ts";
import type { GameResult } from "#shared/web/game-view.ts";
import type { Frame, PackedReplay, Replay } from "#shared/web/replay-view.ts";
import { publicReason } from "../../../league-manager/league/outcome.ts";
import type { ExportedMatch } from "../format.ts";

/**
 * Returns a match as a spectator has seen it, step by step. Returns null for a match without actions, or of a game that this process does not know.
 * `nameOf` returns the name of a player.
 */
export function replayOf(match: ExportedMatch, nameOf: (playerId: string) => string): Replay | null {
  const frames: Frame[] = [];
  let last: Session | null = null;
  let lastAction: Frame["last_action"] = null;
  const replayed = replayTexts(match.log, match.seed, (session, entry) => {
    last = session;
    if (entry.type === "acted") lastAction = { role: entry.role, action: entry.action, tick: entry.tick };
    // Spectators do not see a choice before the turn is closed.
    const isTurnOpen = session.status === "active" && session.turnTick !== session.tick;
    if (isTurnOpen) return;
    const frame = frameOf(session, lastAction);
    if (entry.type === "acted" || entry.type === "created") frames.push(frame);
    else frames.splice(-1, 1, frame);
  });
  if (!replayed.ok || last === null || lastAction === null) return null;
  const { game } = last as Session;
  const end = frames.at(-1);
  if (end?.result) frames.splice(-1, 1, { ...end, result: { ...end.result, reason: publicReason(match) } });
  const players = Object.entries(match.roles).map(
    ([role, id]) => [role, { kind: "agent", name: nameOf(id), joined: true }] as const,
  );
  return {
    game: {
      ...{ game_id: match.match_id, template: game.id, name: game.info.name, your_role: "spectator" },
      ...{ roles: game.roles, players: Object.fromEntries(players), legal_actions: [] },
    },
    frames,
  };
}

function frameOf(session: Session, last_action: Frame["last_action"]): Frame {
  const { game, state, status, tick, turnClocks } = session;
  const view = game.viewState(state, "spectator");
  return {
    ...{ status, tick, last_action },
    to_act: status === "active" ? game.toAct(state) : [],
    state: game.info.board === undefined ? null : view,
    // A graphical board needs no text.
    board: game.info.board === undefined ? game.toText(view, "spectator") : "",
    result: status === "completed" ? resultOf(session) : null,
    ...(turnClocks && { clock: turnClocks }),
  };
}

function resultOf(session: Session): GameResult {
  const { winners, winner, reason, termination } = verdictOf(session);
  return { winners, winner, reason, termination };
}

/** Compresses a replay for a page. */
export const packed = (anchor: string, label: string, replay: Replay): PackedReplay => ({
  ...{ anchor, label },
  data: deflateRawSync(JSON.stringify(replay)).toString("base64"),
});
