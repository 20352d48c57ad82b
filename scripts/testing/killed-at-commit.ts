/** Preloaded into an agent by `--import`: kills the process with SIGKILL right after the first COMMIT of its store, before the process acts on it. */
import { DatabaseSync } from "node:sqlite";

const { prepare } = DatabaseSync.prototype;

DatabaseSync.prototype.prepare = function (sql, options) {
  const statement = prepare.call(this, sql, options);
  if (sql !== "COMMIT") return statement;
  const run = statement.run.bind(statement);
  statement.run = () => {
    const changes = run();
    process.kill(process.pid, "SIGKILL");
    return changes;
  };
  return statement;
};
