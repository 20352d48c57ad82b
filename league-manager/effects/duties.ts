/**
 * The leagues that this manager has to run: it starts them, pairs and opens their rounds, announces them, and settles their withdrawals. Each league
 * has one such manager. Two for a moment do no harm, because commands are decided by the log and messages have derived ids.
 */
export interface Duties {
  ownsLeague(leagueId: string): boolean;
  /** Adds a listener that is called after the leagues have changed. Returns the function that removes it. */
  onChange(listener: () => void): () => void;
}

/** The duties of the only manager of a run. */
export const ALL_DUTIES: Duties = { ownsLeague: () => true, onChange: () => () => {} };
