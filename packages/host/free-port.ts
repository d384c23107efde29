// A port for a program that takes none by itself. No other caller of any process is given it before
// the program has begun: a process that is given a TCP port holds the UDP port of the same number.

import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
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
/** On a busy machine programs have taken half of it to begin. */
const heldMs = 60_000;
/** By this process, whose programs may begin again on the ports that they had. */
const held = new Set<number>();

/** On loopback: `wanted`, where it is free. Throws `DevnetError` after 20 that are not. */
export async function freePort(wanted = 0): Promise<number> {
  if (wanted !== 0 && (await isFree(wanted)) && (held.has(wanted) || (await holds(wanted)))) {
    return wanted;
  }
  for (let tries = 0; tries < mostTries; tries += 1) {
    const port = randomInt(least, end);
    if ((await holds(port)) && (await isFree(port))) return port;
  }
  throw new DevnetError(`no free port: ${mostTries} from ${least} to ${end - 1} are taken`);
}

/** The system lets go of it when the process ends, at the latest. */
function holds(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4').unref();
    socket.once('error', () => socket.close(() => resolve(false)));
    socket.bind({ port, address: loopback, exclusive: true }, () => {
      held.add(port);
      setTimeout(() => {
        held.delete(port);
        socket.close();
      }, heldMs).unref();
      resolve(true);
    });
  });
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, loopback, () => server.close(() => resolve(true)));
  });
}
