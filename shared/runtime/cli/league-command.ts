/** Whether this code is installed as a package of another project. */
export const isInstalled: boolean = /[/\\]node_modules[/\\]/.test(import.meta.url);

/** The command line of `league`, as a user enters it. */
export const LEAGUE_COMMAND = isInstalled ? "npx league" : "npm run league --";
