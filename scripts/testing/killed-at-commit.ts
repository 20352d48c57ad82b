/** Preloaded into an agent by `--import`: kills the process with SIGKILL as soon as a group of its store is committed, before anything follows. */
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
