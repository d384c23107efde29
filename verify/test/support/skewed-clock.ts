// Loaded into a server before its own code: its wall clock is the machine's plus what a file says,
// looked up at the start and at each SIGUSR2. Monotonic time and timers go on as they do when a
// clock is set.

import { readFileSync, writeFileSync } from 'node:fs';

const file = process.env.PARLEY_TEST_CLOCK ?? '';
const machine = Date.now;
let skewMs = 0;

function look(): void {
  const text = readFileSync(file, 'utf8');
  skewMs = Number(text) * 1_000;
  writeFileSync(`${file}.seen`, text);
}

if (file !== '') {
  look();
  process.on('SIGUSR2', look);
  Date.now = () => machine() + skewMs;
}
