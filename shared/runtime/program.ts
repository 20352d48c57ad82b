import packageJson from "../../package.json" with { type: "json" };

/** Whether this code is installed as a package of another project. */
export const isInstalled: boolean = /[/\\]node_modules[/\\]/.test(import.meta.url);

/** The command line of `league`, as a user enters it. */
export const LEAGUE_COMMAND = isInstalled ? "npx league" : "npm run league --";

/** The command line of `league run`, as a user enters it. */
export const RUN_COMMAND = isInstalled ? "npx league run" : "npm start --";

/** Returns an example of this project as a user of the package enters it. */
export const asEntered = (example: string): string =>
  isInstalled
    ? example.replace(/npm run (?:--silent )?league --/g, LEAGUE_COMMAND).replace(/npm start(?: --)?/g, RUN_COMMAND)
    : example;

/** The version of the package, which agents report. */
export const VERSION: string = packageJson.version;
