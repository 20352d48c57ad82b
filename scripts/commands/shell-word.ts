/** Returns a text, e.g. a path, as a word of a shell command. */
export const inShell = (text: string): string =>
  /^[\p{L}\p{N}._/\\:-]+$/u.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
