// Faults of what is told: events that nobody hands out, receivers that refuse, mail that hangs.

import { setTimeout as sleep } from 'node:timers/promises';
import { agreed, until } from '../support/deals.ts';
import type { Stage } from '../support/stage.ts';
import { type Fault, newPair, type Scene } from './scene.ts';

export const tellingFaults: readonly Fault[] = [
  {
    name: 'nobody hands out events for webhooks',
    alerts: [{ alertname: 'ParleyEventsWaiting', audience: 'webhooks' }],
    breaks: async ({ stage, pair, admin }) => {
      const lock = `hashtext('webhook deliveries')`;
      await admin.query(`select pg_advisory_lock(${lock})`);
      await agreed(stage, pair, 'SOL', 'ETH');
      return () => admin.query(`select pg_advisory_unlock(${lock})`);
    },
  },
  {
    name: 'receivers of six accounts refuse, and then nobody may deliver',
    alerts: [{ alertname: 'ParleyWebhooksFailing' }, { alertname: 'ParleyWebhooksBehind' }],
    breaks: async ({ stage, pair, admin }) => {
      const pairs = [pair, await newPair(stage), await newPair(stage)];
      stage.receiver.answer(500);
      for (const each of pairs) await agreed(stage, each, 'SOL', 'ETH');
      const failing = 'select 1 from webhooks where failing_since is not null';
      while (((await admin.query(failing)).rowCount ?? 0) < 2 * pairs.length) await sleep(100);
      await admin.query('begin');
      await admin.query(`select 1 from deliveries where state = 'waiting' for update`);
      return async () => {
        stage.receiver.answer(200);
        await admin.query('rollback');
      };
    },
  },
  {
    name: 'the mail server takes connections and says nothing, and sixty want to sign in',
    alerts: [
      { alertname: 'ParleyMessagesFailing', channel: 'email' },
      { alertname: 'ParleyMessagesBehind', channel: 'email' },
    ],
    breaks: silentMail,
  },
];

/** Four are tried at once, for five seconds each: the last have waited for longer than they may. */
const codes = 60;

async function silentMail({ stage, mail, inbox }: Scene): Promise<() => Promise<unknown>> {
  mail.fail({ kind: 'mute' });
  for (let at = 0; at < codes; at += 1) await askForCode(stage, `guest-${at}@example.test`);
  return async () => {
    mail.heal();
    // The runbook's own test of whether it works.
    const address = 'operator@example.test';
    const cookie = await askForCode(stage, address);
    const code = await until('a code arrives', async () => {
      const [newest] = inbox.mails(address);
      return /\b\d{6}\b/.exec(newest?.text ?? '')?.[0];
    });
    await post(stage, '/account/email/code', { address, code }, cookie);
  };
}

/** As the page of the sign-in does; the cookies of the browser. */
async function askForCode(stage: Stage, address: string): Promise<string> {
  const reply = await post(stage, '/account/email', { address, purpose: 'sign-in' });
  return reply.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ');
}

async function post(stage: Stage, path: string, body: object, cookie = ''): Promise<Response> {
  const url = `${stage.url}${path}`;
  const headers = {
    'content-type': 'application/json',
    origin: stage.url,
    'x-parley-request': '1',
    ...(cookie === '' ? {} : { cookie }),
  };
  const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!reply.ok) throw new Error(`${path} ${reply.status}: ${await reply.text()}`);
  return reply;
}
