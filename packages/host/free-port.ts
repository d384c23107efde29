// A port for a program that takes none by itself. No other program may get it before the start.

import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { DevnetError } from './failure.ts';

const loopback = '127.0.0.1';
/**
 * Below those that systems give to whoever asks for any, and to each outgoing connection: one of
 * those was taken again before the program began. Browsers refuse none of these.
 */
const least = 20_000;
const end = 32_000;
const mostTries = 20;

/** On loopback: `wanted`, where it is free. Throws `DevnetError` after 20 that are not. */
export async function freePort(wanted = 0): Promise<number> {
  if (wanted !== 0 && (await isFree(wanted))) return wanted;
  for (let tries = 0; tries < mostTries; tries += 1) {
    const port = randomInt(least, end);
    if (await isFree(port)) return port;
  }
  throw new DevnetError(`no free port: ${mostTries} from ${least} to ${end - 1} are taken`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, loopback, () => server.close(() => resolve(true)));
  });
}
