import packageJson from "../../../package.json" with { type: "json" };

/** The package's version, as agents give it. */
export const VERSION: string = packageJson.version;
