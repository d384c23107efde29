#!/usr/bin/env node
// The command of the package. An older Node is told so before it loads what it does not have.

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 12)) {
  const own = process.versions.node;
  process.stderr.write(`parley-maker needs Node 22.12 or later, and this is Node ${own}\n`);
  process.exitCode = 1;
} else {
  const { main } = await import('./main.ts');
  process.exitCode = await main(process.argv.slice(2));
}
