// The compiler as forge calls it: `--version`, or `--standard-json` from stdin to stdout.
// Forge puts every source into the JSON itself, so no import is ever read from disk here.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const solc = createRequire(import.meta.url)('solc') as {
  version(): string;
  compile(input: string): string;
};

const args = process.argv.slice(2);
if (args.includes('--version')) {
  const version = solc.version().replace('.Emscripten.clang', '.Linux.g++');
  process.stdout.write(`solc, the solidity compiler\nVersion: ${version}\n`);
} else if (args.includes('--standard-json')) {
  process.stdout.write(solc.compile(readFileSync(0, 'utf8')));
} else {
  process.stderr.write(`solc: only --version and --standard-json are offered, not ${args}\n`);
  process.exitCode = 1;
}
