/** The formats of reports. */
export const REPORT_FORMATS = ["csv", "pgn", "jsonl", "html"] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

/** The default folders of `league export`. */
export const EXPORT_FOLDER = "league-export";
export const REPORT_FOLDER = "league-report";
