// `parley webhooks …`: registers them, and receives them on this machine.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyWebhook, WebhookError } from '@parley/sdk/webhooks.ts';
import { Failure, needsYou } from '@parley/trader/failures.ts';
import { answer, type Cli, mustConfirm, note, tell } from '@parley/trader/io.ts';
import { inSession, type Session, signedIn } from '@parley/trader/session.ts';
import { tableOf } from '@parley/trader/show.ts';
import { untilAborted } from './feed.ts';

/** The events of a webhook that names none: the market sends events of threads to who names
 * them. */
const allOfThem = 'all but thread. events';
/** A delivery has a few KB. */
const mostBodyBytes = 262_144;
const requestMs = 10_000;
const pageSize = 100;
/** Deliveries whose ids are remembered: a delivery that comes again is marked as such. */
const mostSeen = 10_000;

type Add = { readonly event?: readonly string[] | undefined };

export const add = (cli: Cli, url: string, { event: events = [] }: Add) =>
  inSession(cli, async (session) => {
    const { client } = await signedIn(session);
    const which = events.length === 0 ? allOfThem : events.join(', ');
    await mustConfirm(cli, [`${which} of this account are sent to ${url}`], 'Register it?');
    const made = await client.registerWebhook({
      url,
      ...(events.length > 0 ? { events: [...events] } : {}),
    });
    const { webhook, secret } = made;
    const said = `${webhook.id}\nits secret, which is shown this once:\n${secret}`;
    answer(cli, { webhook, secret }, said);
  });

export const list = (cli: Cli) =>
  inSession(cli, async (session) => {
    const { client } = await signedIn(session);
    const { webhooks } = await client.webhooks({ limit: pageSize });
    const rows = webhooks.map(({ id, url, events, enabled, lastStatus, lastError }) => [
      id,
      url,
      events.length === 0 ? allOfThem : events.join(', '),
      enabled ? 'on' : 'off',
      lastStatus === null ? 'not sent yet' : (lastError ?? String(lastStatus)),
    ]);
    answer(cli, { webhooks }, tableOf(['webhook', 'url', 'events', '', 'last delivery'], rows));
  });

export const ping = (cli: Cli, id: string) =>
  inSession(cli, async (session) => {
    const { client } = await signedIn(session);
    const pinged = await client.pingWebhook(id);
    if (!pinged.ok) {
      const sentence = `no 2xx came for delivery ${pinged.deliveryId}: "parley webhooks list"`;
      throw new Failure('refused', 'not_delivered', sentence);
    }
    answer(cli, pinged, `delivered: ${pinged.deliveryId}`);
  });

export const remove = (cli: Cli, id: string) =>
  inSession(cli, async (session) => {
    const { client } = await signedIn(session);
    await mustConfirm(cli, [`${id} is sent nothing any more`], 'Remove it?');
    await client.removeWebhook(id);
    answer(cli, { removed: id }, `removed ${id}`);
  });

type Listen = { readonly port: number; readonly secretFd?: number | undefined };

export const listen = (cli: Cli, { port, secretFd }: Listen) =>
  inSession(cli, (session) => listenAt(cli, session, port, secretFd ?? null));

async function listenAt(cli: Cli, session: Session, port: number, secretFd: number | null) {
  const { shortName } = session.profile;
  const secret = await secretOf(cli, secretFd);
  const seen = new Set<string>();
  const server = createServer((request, response) => {
    receive(cli, { request, response }, { secret, shortName, now: session.now, seen }).catch(
      (error: Error) => {
        note(cli, `a delivery failed: ${error.message}`);
        response.destroy();
      },
    );
  });
  server.requestTimeout = requestMs;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const { port: taken } = server.address() as AddressInfo;
  note(cli, `listens on http://127.0.0.1:${taken}, until interrupted`);
  await untilAborted(cli.signal);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

async function secretOf(cli: Cli, fd: number | null): Promise<string> {
  if (fd === null && !cli.isAsked) {
    throw needsYou('not_asked', 'the secret has to be given: --secret-fd N, or a terminal');
  }
  const text =
    fd === null ? await cli.askHidden('Secret (whsec_…): ') : await cli.readDescriptor(fd);
  const secret = text.trim();
  if (/^whsec_./.test(secret)) return secret;
  throw needsYou('bad_secret', 'a secret is whsec_ and more, as "parley webhooks add" showed it');
}

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse };
type Checking = {
  readonly secret: string;
  readonly shortName: string;
  readonly now: () => number;
  readonly seen: Set<string>;
};

async function receive(cli: Cli, { request, response }: Exchange, checking: Checking) {
  const { secret, shortName, now, seen } = checking;
  const answers = (status: number) => response.writeHead(status).end();
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > mostBodyBytes) return answers(413);
    parts.push(part);
  }
  try {
    const body = Buffer.concat(parts);
    // The market signs by its own clock, which a dev network may move at any time.
    const delivery = verifyWebhook({
      secret,
      shortName,
      headers: request.headers,
      body,
      now: now(),
    });
    const { type, deliveryId, createdAt } = delivery;
    answers(204);
    if (seen.has(deliveryId)) return note(cli, `again: ${deliveryId}`);
    if (seen.size >= mostSeen) seen.clear();
    seen.add(deliveryId);
    const { type: _, deliveryId: __, createdAt: ___, ...rest } = delivery;
    tell(cli, delivery, `${createdAt}  ${type}  ${deliveryId}\n  ${JSON.stringify(rest)}`);
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    answers(400);
    note(cli, `not verified (${error.code}): ${error.message}`);
  }
}
