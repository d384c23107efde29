// The Chromium of a run of tests: a client of a socket is told its address, and has profiles of its
// own in it. It is started when the first one asks, and anew where it has ended.

import { createServer } from 'node:net';
import type { BrowserServer } from 'playwright-core';
import { launchServer } from '../support/chromium.ts';

export type Chromium = { readonly path: string; stop(): Promise<void> };

export async function serveChromium(path: string, launch = launchServer): Promise<Chromium> {
  let launched: Promise<BrowserServer> | null = null;
  const start = async () => {
    const chromium = await launch();
    chromium.once('close', () => {
      launched = null;
    });
    return chromium;
  };
  const server = createServer((socket) => {
    socket.on('error', () => {});
    launched ??= start();
    launched.then(
      (chromium) => socket.end(`${chromium.wsEndpoint()}\n`),
      (error: Error) => {
        launched = null;
        console.error(error.message);
        socket.destroy();
      },
    );
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return {
    path,
    stop: async () => {
      server.close();
      await (await launched?.catch(() => null))?.close();
    },
  };
}
