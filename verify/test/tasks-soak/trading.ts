// Customers of the market in the root: outside of it, through nginx, with its certificate.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import tls from 'node:tls';
import { firstTradeOn } from '../package-soak/first-trade.ts';
import { waitUntil } from '../support/waiting.ts';

const url = 'https://market.example';
const cli = join(import.meta.dirname, '../../../packages/cli/main.ts');
/** After a restart. Missing time is waited for until the page's command goes on. */
const agreesWithinMs = 300_000;

export type Outside = {
  /** Control address of the dev network. */
  readonly dev: string;
  readonly folder: string;
  /** A path. The market's certificate is its own authority. */
  readonly certificate: string;
};

/** Two new people trade, from nothing to both sides' `received`. Seconds; `name` is a folder. */
export async function trade({ dev, folder, certificate }: Outside, name: string): Promise<number> {
  const ca = readFileSync(certificate, 'utf8');
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), ca]);
  process.env.NODE_EXTRA_CA_CERTS = certificate;
  await waitUntil(
    async () => {
      const reply = await fetch(`${url}/status`);
      const { agrees } = (await reply.json()) as { readonly agrees?: boolean };
      return agrees === true;
    },
    { everyMs: 1_000, mostMs: agreesWithinMs },
  );
  return firstTradeOn({ url, dev }, join(folder, name), cli);
}
