// Runs a program for WASI, which can read the working directory: node .ci/wasi.mjs FILE ARGUMENT..
import { readFileSync } from "node:fs";
import process from "node:process";
import { WASI } from "node:wasi";

const [file, ...given] = process.argv.slice(2);
const wasi = new WASI({ version: "preview1", args: [file, ...given], env: {}, preopens: { [process.cwd()]: process.cwd() }, returnOnExit: true });
const program = await WebAssembly.compile(readFileSync(file));
process.exit(wasi.start(await WebAssembly.instantiate(program, wasi.getImportObject())));
