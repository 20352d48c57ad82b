import { join } from "node:path";
import { OPERATOR_TOKEN_LENGTH } from "#shared/runtime/config/config.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { readOrCreateSecret, type Secrets } from "#shared/runtime/secret-file.ts";

/** The operator token: that of the config, else a random one. It is kept in a file of mode 0600. */
export function operatorToken(
  given: string | undefined,
  dataFolder: string,
  self: Secrets,
): { token: string; file: string } {
  const file = join(dataFolder, "operator-token");
  if (given !== undefined) self.disk.writeSecret(file, given);
  const token = given ?? readOrCreateSecret(self, file);
  if (token.length < OPERATOR_TOKEN_LENGTH) {
    throw new StartError(
      `${file}: an operator token has at least ${OPERATOR_TOKEN_LENGTH} characters; delete the file, and a new one is created`,
      EXIT.config,
    );
  }
  self.disk.restrictToOwner(file);
  return { token, file };
}
