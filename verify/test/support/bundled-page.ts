// A page of one module, bundled for a browser as an app would, and served from loopback: a browser
// keeps data for an origin.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sourceConditions } from '@parley/web/vite.config.ts';
import { build, type Rolldown } from 'vite';

export type BundledPage = { readonly url: string; stop(): void };

/** `entry`: a path of the module. */
export async function serveBundled(entry: string): Promise<BundledPage> {
  const built = await build({
    configFile: false,
    resolve: { conditions: sourceConditions },
    logLevel: 'error',
    build: {
      write: false,
      minify: false,
      lib: { entry, formats: ['es'], fileName: 'page' },
    },
  });
  const { output } = (built as Rolldown.RolldownOutput[])[0] as Rolldown.RolldownOutput;
  const chunks = output.filter((each) => each.type === 'chunk');
  const scripts = new Map(chunks.map(({ fileName, code }) => [`/${fileName}`, code]));
  const server = createServer(({ url }, reply) => {
    const script = scripts.get(url ?? '');
    reply.setHeader('content-type', script === undefined ? 'text/html' : 'text/javascript');
    reply.end(script ?? '<!doctype html><script type=module src=/page.js></script>');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
