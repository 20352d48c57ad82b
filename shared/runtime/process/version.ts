import packageJson from "../../../package.json" with { type: "json" };

/** The version of the package, which agents report. */
export const VERSION: string = packageJson.version;
