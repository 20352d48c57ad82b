/** The families of forms in which each message is a call of a tool with a name for this message. */
export type ToolFamily = "tool" | "tools_call" | "receive";

type Names = Readonly<Record<ToolFamily, readonly string[]>>;

const names = (tool: readonly string[], toolsCall: readonly string[], receive: readonly string[]): Names => ({
  tool,
  tools_call: toolsCall,
  receive,
});

/** The tools of each message that players of other programs have. The most common one is first. */
export const MESSAGE_TOOLS: Readonly<Record<string, Names>> = {
  GAME_INVITATION: names(
    ["handle_game_invitation", "game_invitation"],
    ["receive_game_invitation", "handle_game_invitation", "GAME_INVITE", "game_invite"],
    ["receive_game_invitation"],
  ),
  CHOOSE_PARITY_CALL: names(
    ["choose_parity", "parity_choose", "handle_choose_parity"],
    ["choose_parity", "parity_choose", "MOVE_REQUEST", "move_request"],
    ["receive_parity_call", "receive_choose_parity_call"],
  ),
  GAME_MOVE_CALL: names(
    ["game_move", "make_move", "choose_move", "handle_game_move"],
    ["make_move", "choose_move", "game_move", "MOVE_REQUEST", "move_request"],
    ["receive_game_move_call", "receive_move_call"],
  ),
  GAME_OVER: names(
    ["notify_match_result", "notify_game_over", "handle_game_over"],
    ["receive_game_over", "notify_match_result", "GAME_RESULT", "game_result"],
    ["receive_game_over"],
  ),
  GAME_ERROR: names(["notify_game_error"], ["notify_game_error"], ["receive_game_error"]),
  ROUND_ANNOUNCEMENT: names(["notify_round"], ["notify_round"], ["receive_round_announcement"]),
  LEAGUE_STANDINGS_UPDATE: names(
    ["update_standings", "notify_standings"],
    ["notify_standings", "update_standings"],
    ["receive_standings_update"],
  ),
  ROUND_COMPLETED: names(["notify_round_completed"], ["notify_round_completed"], ["receive_round_completed"]),
  LEAGUE_COMPLETED: names(["notify_league_completed"], ["notify_league_completed"], ["receive_league_completed"]),
  // Messages of league.v1.
  GAME_START: names(["game_start", "handle_game_start"], ["game_start", "start_game"], ["receive_game_start"]),
  MOVE_REQUEST: names(
    ["move_request", "make_move", "handle_move_request", "request_move"],
    ["make_move", "move_request"],
    ["receive_move_request"],
  ),
  ROUND_RESULT: names(["round_result", "handle_round_result"], ["round_result"], ["receive_round_result"]),
  GAME_END: names(["game_end", "handle_game_end"], ["game_end"], ["receive_game_end"]),
};
