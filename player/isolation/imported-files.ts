import { dirname, resolve } from "node:path";
import { withEsbuild } from "#shared/web/esbuild.ts";

/**
 * Returns the absolute paths of a .ts or .js file and the files that it imports, directly or indirectly. An import whose name is computed is
 * not found. Rejects with the BuildFailure of esbuild if a file has a syntax error or an import does not exist.
 */
export async function importedFiles(file: string): Promise<readonly string[]> {
  const folder = dirname(file);
  const { metafile } = await withEsbuild(({ build }) =>
    build({
      entryPoints: [file],
      absWorkingDir: folder,
      bundle: true,
      write: false,
      metafile: true,
      platform: "node",
      format: "esm",
      // Node.js also loads imports that are not used.
      tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
      loader: { ".node": "empty", ".wasm": "empty" },
      logLevel: "silent",
    }),
  );
  return Object.keys(metafile.inputs).map((path) => resolve(folder, path));
}
