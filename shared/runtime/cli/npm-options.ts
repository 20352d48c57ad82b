import type { Command } from "commander";

/**
 * Returns the line about options of a command that a user has entered before `--`, so that npm has taken them for itself. npm stores them in
 * variables of the environment. Null if there are none.
 */
export function takenByNpm(command: Command, environment: NodeJS.ProcessEnv): string | null {
  const script = environment.npm_lifecycle_event;
  if (script === undefined) return null;
  const options = command.options.flatMap(({ long }) => long ?? []);
  const taken = options.filter((option) => environment[`npm_config_${option.slice(2).replaceAll("-", "_")}`]);
  if (taken.length === 0) return null;
  const run = script === "start" ? "npm start --" : `npm run ${script} --`;
  const example = script === "league" ? `${run} ${command.name()}` : run;
  return `npm has taken ${taken.join(" and ")} for itself. It passes options only after --: ${example} …`;
}
