// The dev network's inbox and identity provider. They keep their ports: logins are of an issuer.

import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '@parley/host/log.ts';
import { startIdentityProvider } from './identity-provider.ts';
import { startInbox } from './inbox.ts';

export type People = {
  readonly smtpUrl: string;
  readonly inbox: string;
  readonly provider: {
    readonly issuer: string;
    readonly clientId: string;
    readonly clientSecret: string;
    readonly label: string;
  };
};

type Kept = {
  readonly smtpPort?: number;
  readonly inboxPort?: number;
  readonly providerPort?: number;
  readonly clientSecret: string;
};

export async function startPeople(
  dir: string,
  log: Log,
): Promise<{ readonly facts: People; stop(): Promise<void> }> {
  const file = join(dir, 'people.json');
  const kept = await readKept(file);
  const inbox = await startInbox({
    log,
    smtpPort: kept.smtpPort,
    port: kept.inboxPort,
  });
  const stops = [inbox.stop];
  const stop = async () => {
    await Promise.all(stops.map((each) => each()));
  };
  try {
    const provider = await startIdentityProvider({
      log,
      port: kept.providerPort,
      client: { id: 'parley', secret: kept.clientSecret },
    });
    stops.push(provider.stop);
    const { smtpPort, port: inboxPort } = inbox;
    const next: Kept = { ...kept, smtpPort, inboxPort, providerPort: provider.port };
    await writeFile(file, JSON.stringify(next), { mode: 0o600 });
    const { issuer, client, label } = provider;
    const { smtpUrl, url } = inbox;
    const found = { issuer, clientId: client.id, clientSecret: client.secret, label };
    return { facts: { smtpUrl, inbox: url, provider: found }, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function readKept(file: string): Promise<Kept> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Kept;
  } catch {
    // Not there yet, or cut short by a crash: its contents are not worth a start that fails.
    return { clientSecret: randomBytes(24).toString('base64url') };
  }
}
