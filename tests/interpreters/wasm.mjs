// Rule of this file: run a Python file in Pyodide with directories of this machine, and print what it prints.
//
//   node wasm.mjs PYODIDE SCRIPT MOUNT=DIRECTORY ...     exits 0, or 1 with the traceback
import { pathToFileURL } from "node:url";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const [place, script, ...mounts] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(join(place, "pyodide.mjs")));
const python = await loadPyodide();
for (const mount of mounts) {
  const [name, directory] = mount.split("=", 2);
  python.mountNodeFS(name, directory);
}
try {
  python.runPython(readFileSync(script, "utf8"));
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
