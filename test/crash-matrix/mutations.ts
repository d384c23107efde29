// Bugs for the crash matrix to find (planted.ts), and the rows that find them.

import { type Edit, edit } from '../support/planted.ts';

/** The rows that are run, by a part of their names, and what is wrong. */
export type Mutation = { readonly row: string; readonly edits: readonly Edit[] };

export const mutations: Readonly<Record<string, Mutation>> = {
  'once: the reply in another transaction than its effect': {
    row: 'POST /v1/rfqs: public',
    edits: [
      edit('server/edge/idempotency/once.ts')(
        'const kept = await storeReply(deps, tx, slot, result, keepingOf(steps));',
        'const kept = storeReply(deps, deps.db, slot, result, keepingOf(steps));',
      ),
    ],
  },
  'agreement: events outside of the transaction': {
    row: 'accept: the counterparty, last',
    edits: [
      edit('server/market/agreement.ts')(
        'await insertOutbox(\n    tx,',
        'void insertOutbox(\n    deps.db,',
      ),
    ],
  },
  'reconcile: events outside of the transaction': {
    row: 'settlement.pass: a funding',
    edits: [
      edit('server/settle/reconcile.ts')(
        'await insertOutbox(\n    tx,',
        'void insertOutbox(\n    deps.db,',
      ),
    ],
  },
  'nonces: used up for good before the proof is stored': {
    row: 'POST /v1/wallets/evm',
    edits: [edit('server/db/nonces.ts')('(used_at is null or used_by = $5)', 'used_at is null')],
  },
  'webhooks: delivered before it is sent': {
    row: 'delivering.pass: events',
    edits: [
      edit('server/webhooks/deliver.ts')(
        '  const ended = await attempt(deps, due, due, send, visit).catch((error: unknown) => {',
        `  const at = new Date(deps.now());
  const early = { startedAt: at, endedAt: at, status: 200, error: null, delivered: true };
  const about = { id: due.id, webhookId: due.webhookId, attempt: due.attempts + 1, nextAt: null };
  await storeOutcome(deps.db, { ...early, ...about });
  const ended = await attempt(deps, due, due, send, visit).catch((error: unknown) => {`,
      ),
    ],
  },
  'webhooks: the outbox is emptied before': {
    row: 'delivering.pass: events',
    edits: [
      edit('server/webhooks/hand-out.ts')(
        'await insertDeliveries(tx, deliveries, new Date(now));',
        'void insertDeliveries(deps.db, deliveries, new Date(now));',
      ),
    ],
  },
  'messages: the outbox is emptied before': {
    row: 'messaging.pass: new keys',
    edits: [
      edit('server/messages/hand-out.ts')(
        'await insertMessages(tx, messages, now);',
        'void insertMessages(deps.db, messages, now);',
      ),
    ],
  },
  'messages: sent before it is sent': {
    row: 'messaging.pass: new keys',
    edits: [
      edit('server/messages/deliver.ts')(
        '  const outcome = await courier.send(',
        `  await give(deps, due, { kind: 'sent' }, until, to);
  const outcome = await courier.send(`,
      ),
    ],
  },
  'messages: that a chat is over is told outside of the transaction': {
    row: 'messaging.pass: a chat that is over',
    edits: [
      edit('server/messages/deliver.ts')(
        'await tellEnd(tx, loginId, to, at);',
        'await tellEnd(deps, tx, loginId, to, at);',
      ),
      edit('server/messages/deliver.ts')(
        'async function tellEnd(tx: Tx,',
        'async function tellEnd(deps: DeliverDeps, tx: Tx,',
      ),
      edit('server/messages/deliver.ts')('await insertOutbox(tx,', 'void insertOutbox(deps.db,'),
    ],
  },
  'reminders: the event outside of the transaction': {
    row: 'reminding.deadlines',
    edits: [
      edit('server/messages/reminders.ts')(
        '...due }, at };\n    });\n    await insertOutbox(tx, entries);',
        '...due }, at };\n    });\n    void insertOutbox(db, entries);',
      ),
    ],
  },
  'reminders: the end of a key outside of the transaction': {
    row: 'reminding.keys',
    edits: [
      edit('server/messages/reminders.ts')(
        'await insertOutbox(tx, entries);\n      return taken.length;',
        'void insertOutbox(db, entries);\n      return taken.length;',
      ),
    ],
  },
  'start: what waits to be told stays under the old key': {
    row: 'start: what waits to be told',
    edits: [edit('server/messages/sealed.ts')('store: resealMessage,', 'store: async () => {},')],
  },
  'webhooks: a ping has another id at each try': {
    row: 'POST /v1/webhooks/{id}/ping',
    edits: [
      edit('server/webhooks/ping.ts')(
        'tried === null ? uuidv7(at.getTime(), deps.randomBytes) : uuidOf(tried)',
        'uuidv7(at.getTime(), deps.randomBytes); void uuidOf; void tried',
      ),
    ],
  },
  'webhooks: a stored reply shows the secret': {
    row: 'POST /v1/webhooks',
    edits: [
      edit('server/edge/routes/webhooks.ts')(
        '    secret: true,\n    run: async (tx',
        '    run: async (tx',
      ),
    ],
  },
  'broadcast: a secret is stored before it is sent': {
    row: 'broadcast: claim, revealing',
    edits: [
      edit('server/settle/broadcast.ts')(
        '  const fundings = touched.filter(',
        `  for (const { touch, swap } of touched) {
    if (touch.secret === null) continue;
    const text = 'update swaps set secret = $2 where id = $1';
    await deps.db.rows({ name: 'early', text, values: [swap.id, touch.secret] });
  }
  const fundings = touched.filter(`,
      ),
    ],
  },
  'keeper: the secret of a relay is not sealed': {
    row: 'claim: relayed',
    edits: [
      edit('server/keeper/sealing.ts')(
        'return keyringOf(settings).encrypt(Buffer.from(secret));',
        'const { version } = keyringOf(settings).encrypt(Buffer.from(secret));\n' +
          '  return { version, sealed: Buffer.from(secret) };',
      ),
    ],
  },
  'presence: a gap is opened without a transaction': {
    row: 'presence.beatNow',
    edits: [
      edit('server/restore/presence.ts')(
        'await deps.db.transaction((tx) =>\n      beatOnce(tx, remembered,',
        'await Promise.resolve(deps.db).then((tx) =>\n      beatOnce(tx, remembered,',
      ),
    ],
  },
  'reading: how far it came is stored by itself': {
    row: 'presence.readNow',
    edits: [
      edit('server/restore/reading.ts')(
        'return (await storeProgress(tx, reading, { ...next, found }, now)) ? found : null;',
        'void storeProgress(deps.db, reading, { ...next, found }, now);\n      return found;',
      ),
    ],
  },
  'sealing: the name of the new key is stored before what it seals': {
    row: 'start: a promised claim',
    edits: [
      edit('server/ports/sealed-anew.ts')(
        'const rows = await deps.db.transaction(async (tx) => {',
        'const rows = await Promise.resolve(deps.db).then(async (tx) => {',
      ),
      edit('server/ports/sealed-anew.ts')(
        'if (plain === null) unread += 1;',
        `if (plain !== null) await store(tx, { id, sealed }, version);
        if (plain === null) unread += 1;`,
      ),
    ],
  },
  'sealing: a start leaves what is kept under the old key': {
    row: 'start: a promised claim',
    edits: [
      edit('server/keeper/sealing.ts')(
        "for (const kind of ['attempts', 'jobs'] as const) {",
        "for (const kind of ['jobs'] as const) {",
      ),
    ],
  },
  'sealing: the new key is named before a secret of a webhook is under it': {
    row: 'start: secrets of webhooks',
    edits: [
      edit('server/ports/sealed-anew.ts')(
        'const rows = await deps.db.transaction(async (tx) => {',
        'const rows = await Promise.resolve(deps.db).then(async (tx) => {',
      ),
      edit('server/ports/sealed-anew.ts')(
        'if (plain === null) unread += 1;',
        `if (plain !== null) await store(tx, { id, sealed }, version);
        if (plain === null) unread += 1;`,
      ),
    ],
  },
  'sealing: a start leaves secrets of webhooks under the old key': {
    row: 'start: secrets of webhooks',
    edits: [
      edit('server/webhooks/register.ts')(
        'const unread = await sealAnew<string>(deps, rows);',
        'const unread = rows.atOnce * 0;',
      ),
    ],
  },
  'keeper: a job ends before what landed is charged': {
    row: 'keeper.pass: a claim that is deep',
    edits: [
      edit('server/keeper/fates.ts')(
        "import { inParallel } from '../../host/in-parallel.ts';",
        `import { endJob } from '../db/keeper-jobs.ts';
import { inParallel } from '../../host/in-parallel.ts';`,
      ),
      edit('server/keeper/fates.ts')(
        '  await storeFate(deps.db, each.id, fate, { paid,',
        `  if (fate === 'deep' && each.jobId !== null) await endJob(deps.db, each.jobId, 'done');
  await storeFate(deps.db, each.id, fate, { paid,`,
      ),
    ],
  },
  'keeper: what landed is charged after its fate is stored': {
    row: 'keeper.pass: a claim that is deep',
    edits: [
      edit('server/keeper/fates.ts')(
        '  await storeFate(deps.db, each.id, fate, { paid,',
        `  await storeFate(deps.db, each.id, fate, { paid: null, at: new Date(deps.now()) });
  await storeFate(deps.db, each.id, fate, { paid,`,
      ),
    ],
  },
  'keeper: what landed is added to the charge before its fate is stored': {
    row: 'keeper.pass: a claim that is deep',
    edits: [
      edit('server/keeper/fates.ts')(
        '  await storeFate(deps.db, each.id, fate, { paid,',
        `  const more = paid === null ? null : paid - each.mostCost;
  await storeFate(deps.db, each.id, each.fate, { paid: more, at: new Date(deps.now()) });
  await storeFate(deps.db, each.id, fate, { paid: null,`,
      ),
      edit('server/db/keeper-attempts.ts')(
        'charged = coalesce($3, charged)',
        'charged = charged + coalesce($3, 0)',
      ),
    ],
  },
  'keeper: what is replaced is given up before the other is kept': {
    row: 'keeper.pass: a claim that blocks pass over',
    edits: [
      edit('server/keeper/sign-job.ts')(
        'attemptsOf, blocksRelay,',
        'attemptsOf, storeFate, blocksRelay,',
      ),
      edit('server/keeper/sign-job.ts')(
        '    if (!isPromised) mustBeWorth(on, riders, signed.mostCost);',
        `    if (!isPromised) mustBeWorth(on, riders, signed.mostCost);
    const at = new Date(deps.now());
    if (instead !== null) await storeFate(deps.db, instead.id, 'gone', { paid: 0n, at });`,
      ),
    ],
  },
  'keeper: a job ends once a nonce of no use is taken by nothing': {
    row: 'keeper.pass: a claim that the party',
    edits: [
      edit('server/keeper/tend.ts')(
        `      await send(on, await orAgain(on, kept, signVoid(on, attempt)));
      return putOff(on, lookAgainSeconds);`,
        `      await send(on, await orAgain(on, kept, signVoid(on, attempt)));
      return endJob(deps.db, job.id, 'done');`,
      ),
    ],
  },
  'keeper: what is to take a nonce is given up before it has left': {
    row: 'keeper.pass: a claim that the party',
    edits: [
      edit('server/keeper/decide.ts')(
        'if (newest.sentAt === null && !isNeeded)',
        'if (newest.sentAt === null)',
      ),
    ],
  },
  'keeper: what a replaced gas key signed is kept': {
    row: 'keeper.begin',
    edits: [
      edit('server/keeper/passes.ts')(
        '  for (const [chain, { gas }] of posts) await retireKeys(deps.db, chain, gas.account.address);',
        '  void [posts, retireKeys];',
      ),
    ],
  },
  'migrations: each statement by itself': {
    row: 'start: migrations',
    edits: [
      edit('server/db/migrate.ts')("await client.query('begin');", ''),
      edit('server/db/migrate.ts')("await client.query('commit');", ''),
    ],
  },
};
