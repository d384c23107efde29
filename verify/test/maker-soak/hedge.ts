// The soak's hedges, which fail often: a command that appends to a file, and a server that answers
// with an error, late, or not at all.

import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Notice } from '@parley/maker/hedge/notices.ts';
import type { Chance } from '../sim/chance.ts';
import type { Hook } from './settings.ts';

export type Hedge = {
  readonly hook: Hook;
  /** Every notice that was taken, in order. */
  heard(): Promise<Notice[]>;
  close(): Promise<void>;
};

const linesOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Notice);

/** By the process id: a seventh fails, and a seventh takes the notice and hangs. */
const flaky = (file: string) =>
  `read -r line; n=$(($$ % 7)); [ $n = 0 ] && exit 1; echo "$line" >> '${file}'; ` +
  '[ $n = 1 ] && sleep 5; exit 0';

export async function startHedge(
  chance: Chance,
  kind: 'command' | 'url',
  folder: string,
): Promise<Hedge> {
  if (kind === 'command') {
    const file = join(folder, 'notices');
    return {
      hook: { command: ['sh', '-c', flaky(file)] },
      heard: async () => linesOf(await readFile(file, 'utf8')),
      close: async () => {},
    };
  }
  const heard: Notice[] = [];
  const server = createServer(async (request, response) => {
    const text = (await request.toArray()).join('');
    if (chance.hits(0.1)) return void response.writeHead(500).end();
    heard.push(JSON.parse(text) as Notice);
    // It has the notice, and its maker does not know.
    if (chance.hits(0.1)) return;
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    hook: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
    heard: async () => heard,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
