import { join } from "node:path";
import { OPERATOR_TOKEN_LENGTH } from "#shared/runtime/config/config.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { readOrCreateSecret, type Secrets } from "#shared/runtime/secret-file.ts";

/**
 * Returns the operator token, and the file that stores it with mode 0600. The token is that of the config, else a random one, which is created at
 * the first start. Throws a StartError if it is too short.
 */
export function operatorToken(
  configured: string | undefined,
  dataFolder: string,
  secrets: Secrets,
): { token: string; file: string } {
  const file = join(dataFolder, "operator-token");
  if (configured !== undefined) secrets.disk.writeSecret(file, configured);
  const token = configured ?? readOrCreateSecret(secrets, file);
  if (token.length < OPERATOR_TOKEN_LENGTH) {
    throw new StartError(
      `${file}: an operator token has at least ${OPERATOR_TOKEN_LENGTH} characters; delete the file to create a new token`,
      EXIT.config,
    );
  }
  secrets.disk.restrictToOwner(file);
  return { token, file };
}
