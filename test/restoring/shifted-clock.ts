// Preloaded into a server process: the machine's clock as a test has moved it, as the dev network's
// is, of which such a process knows nothing when its chains are configured.

import { readFileSync } from 'node:fs';

const lookMs = 100;
const real = Date.now;
const file = process.env.PARLEY_TEST_CLOCK ?? '';
let offsetMs = 0;
let readAtMs = 0;

Date.now = () => {
  const now = real();
  if (file !== '' && now - readAtMs > lookMs) {
    readAtMs = now;
    offsetMs = Number(readFileSync(file, 'utf8')) * 1_000;
  }
  return now + offsetMs;
};
