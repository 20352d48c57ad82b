/** A deliberate change of what others see. Each change replaces `from`, which occurs once in the file, by `to`. */
export interface PlantedChange {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** The part of the record that must find it. */
  readonly part: string;
  /** What the comparison must print besides the name of the file. */
  readonly shows: string;
}

/** The planted changes, at least one for each kind of part. */
export const PLANTED_CHANGES: readonly PlantedChange[] = [
  {
    name: "a pairing: the roles of a round of the Berger tables are swapped",
    file: "shared/formats/round-robin.ts",
    from: "index % 2 === 0 ? [seat(top), last] : [last, seat(top)]",
    to: "index % 2 === 1 ? [seat(top), last] : [last, seat(top)]",
    part: "leagues/rps.v1",
    shows: "schedule in",
  },
  {
    name: "a point value: a draw gives no point in the standings",
    file: "shared/standings/standings.ts",
    from: "draws * POINTS.draw",
    to: "draws * POINTS.loss",
    part: "leagues/tic_tac_toe.v1",
    shows: "standings in",
  },
  {
    name: "a tie-break: the Sonneborn-Berger score comes before Buchholz in a Swiss system",
    file: "shared/formats/swiss.ts",
    from: '["points", "buchholz", "sonneborn-berger", "wins"]',
    to: '["points", "sonneborn-berger", "buchholz", "wins"]',
    part: "leagues/kuhn_poker.v1",
    shows: "standings in",
  },
  {
    name: "a rating: the prior of the ratings is narrower",
    file: "shared/statistics/bradley-terry.ts",
    from: "const PRIOR_DEVIATION = 500;",
    to: "const PRIOR_DEVIATION = 499;",
    part: "leagues/even_odd.v1",
    shows: "ratings in",
  },
  {
    name: "a seed: the seed of a league is derived from another text",
    file: "league-manager/league/league.ts",
    from: "hmacBase64Url(runSeed, leagueId)",
    to: "hmacBase64Url(runSeed, leagueId.toUpperCase())",
    part: "leagues/codenames.v1",
    shows: "matches in",
  },
  {
    name: "a field of a message: the time limit of MOVE_REQUEST has another unit",
    file: "referee/match/ask-move.ts",
    from: "time_limit_seconds: Math.round(leftMs) / 1000,",
    to: "time_limit_seconds: Math.round(leftMs),",
    part: "messages",
    shows: "messages/chess.v1-native.txt",
  },
  {
    name: "a field of a message of a dialect is missing",
    file: "shared/protocol/dialects/league-v1.ts",
    from: "    your_role,\n  };",
    to: "  };",
    part: "messages",
    shows: "messages/even_odd.v1-league.v1.txt",
  },
  {
    name: "a help text",
    file: "scripts/cli/operator.ts",
    from: "Remove a player from its leagues.",
    to: "Removes a player from its leagues.",
    part: "help",
    shows: "+Removes a player from its leagues.",
  },
  {
    name: "a tool description",
    file: "league-manager/api/read-operations.ts",
    from: "Returns the standings of a league: rank, points, wins, draws and losses of each player.",
    to: "Returns the standings of a league.",
    part: "servers",
    shows: "servers/manager.txt",
  },
  {
    name: "a description in the OpenAPI document",
    file: "referee/rest/openapi.ts",
    from: "Metrics in the Prometheus text format.",
    to: "Metrics.",
    part: "servers",
    shows: "servers/host.txt",
  },
  {
    name: "a default of the config",
    file: "shared/runtime/config/config.ts",
    from: ".max(100)\n          .default([])",
    to: ".max(101)\n          .default([])",
    part: "config-schema",
    shows: '+          "maxItems": 101',
  },
  {
    name: "a field of a page document is missing",
    file: "league-manager/pages/documents/standings-document.ts",
    from: "points, played, wins, draws, losses };",
    to: "points, played, wins, draws };",
    part: "documents/served",
    shows: "losses",
  },
  {
    name: "verify does not check the result of a match",
    file: "scripts/archive/verify/match.ts",
    from: "for (const message of faults) findings.blame(file, message);",
    to: "",
    part: "verify",
    shows: "verify.txt",
  },
  {
    name: "the log of an annulled match is not exported",
    file: "scripts/archive/export/stored-run.ts",
    from: "    ...(isAnnulled && { annulled_log: [...log] }),\n",
    to: "",
    part: "exports",
    shows: "matches/parity/R1M1.json",
  },
  {
    name: "a column of a CSV file has another name",
    file: "scripts/archive/reports/tables.ts",
    from: '"player_id", "display_name", "points", ...numbers',
    to: '"player", "display_name", "points", ...numbers',
    part: "exports",
    shows: "league,number,player,",
  },
  {
    name: "a figure of a JSON document has fewer digits",
    file: "scripts/match/document.ts",
    from: "rating: rounded(rating)",
    to: "rating: rounded(rating, 1)",
    part: "commands",
    shows: '"rating"',
  },
];
