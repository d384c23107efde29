// Bugs to plant in modules that the others (mutations.ts) pass by: one that nothing is planted in
// says nothing of whether the simulation would notice it.

import { type Edit, edit } from '../support/planted.ts';

const rfqs = edit('server/market/rfqs.ts');
const escrows = edit('server/settle/escrows.ts');
const gaps = edit('server/keeper/gaps.ts');
const agreed = edit('server/keeper/agreed.ts');
const jobs = edit('server/db/keeper-jobs.ts');

export const mutationsOfRooms: Readonly<Record<string, readonly Edit[]>> = {
  'preview: the two amounts are mixed up': [
    edit('server/settle/preview.ts')(
      'const base = { asset: terms.base, amount: terms.baseAmount };',
      'const base = { asset: terms.base, amount: terms.quoteAmount };',
    ),
    edit('server/settle/preview.ts')(
      'const quote = { asset: terms.quote, amount: terms.quoteAmount };',
      'const quote = { asset: terms.quote, amount: terms.baseAmount };',
    ),
  ],
  // That a great amount is as deep as a small one is not seen here: the oracle has its depths from
  // here too. It is planted where the depth is asked for (preview).
  'policy: to become deep takes no time': [
    edit('core/policy.ts')(
      'return highValueFrom !== null && amount >= highValueFrom ? policy.high : policy.normal;',
      `const isHigh = highValueFrom !== null && amount >= highValueFrom;
  return { ...(isHigh ? policy.high : policy.normal), settleSeconds: 0, outageSeconds: 0 };`,
    ),
  ],
  'hashlock: every secret opens': [
    edit('core/hashlock.ts')(
      'return hashlockOf(secret) === hashlock;',
      'return secret.length === hashlock.length;',
    ),
  ],
  'destinations: the login wallet of whoever is first': [
    edit('server/settle/destinations.ts')('each.account_id === about.accountId &&', ''),
  ],
  'escrows: one block is deep': [
    escrows(
      'address: escrow, terms, requiredConfirmations,',
      'address: escrow, terms, requiredConfirmations: 1,',
    ),
    escrows(
      'terms: termsOf(row.terms), requiredConfirmations,',
      'terms: termsOf(row.terms), requiredConfirmations: 1,',
    ),
  ],
  'access: a leg is the other one': [
    edit('server/settle/access.ts')(
      'return swap.state.legs[text];',
      "return swap.state.legs[text === 'a' ? 'b' : 'a'];",
    ),
  ],
  'keeper: nothing is tended but relays': [
    edit('server/keeper/passes.ts')(
      '  const again = new Date(now + bounds.inHandSeconds * 1_000);',
      '  if (!relays) return 0;\n  const again = new Date(now + bounds.inHandSeconds * 1_000);',
    ),
  ],
  'keeper: what it keeps is not opened': [
    edit('server/keeper/sealing.ts')(
      'if (sealed === null || sealedVersion === null) return null;',
      'if (sealed === null || sealedVersion !== null) return null;',
    ),
  ],
  'halts: a halted asset is quoted': [
    edit('server/market/quotes.ts')(
      '  assertLive(rfq, nowMs);\n  assertOpen(rfq.base, rfq.quote);\n',
      '  assertLive(rfq, nowMs);\n',
    ),
  ],
  'rfqs: what has ended lives on': [
    edit('server/market/rfq-life.ts')(
      "return status === 'open' || status === 'negotiating';",
      "return status === 'open' || status === 'negotiating' || status === 'expired';",
    ),
  ],
  'rfqs: what is halted is asked for': [
    rfqs('  assertOpen(pair.base, pair.quote);\n', ''),
    rfqs('= await holdOpen(tx, ', '= await assetPair(tx, '),
  ],
  'halts: a halted chain holds no asset': [
    edit('server/market/halts.ts')(
      '= await setChainClosing(tx, chain, closing);',
      '= { assets: 0, turned: [] as string[] };',
    ),
  ],
  'listing: a halted asset stays open': [
    edit('server/market/listing.ts')(
      'return { ...closings, [by]: { reasons, at: since, ...ending } };',
      'return closings;',
    ),
  ],
  'idempotency: no reply is found again': [
    edit('server/edge/idempotency/replies.ts')(
      'if (row === null) return null;',
      'if (row === null || row.status > 0) return null;',
    ),
  ],
  'webhooks: a place is not given back': [
    edit('server/webhooks/places.ts')('more(webhooks, webhookId, -1);', ''),
  ],
  'db: only the first of several is told': [
    edit('server/db/outbox.ts')(
      '$3::jsonb[], $4::timestamptz[]))',
      '$3::jsonb[], $4::timestamptz[]) limit 1)',
    ),
  ],
  'db: the clock of a chain stands still': [
    edit('server/db/heads.ts')('hash = $3, clock = $4, seen_at', 'hash = $3, seen_at'),
  ],
  'db: a ladder is due as before': [
    edit('server/db/scheduled-refunds.ts')(
      'case when version = $3 then $4 else due_at end',
      'case when version = $3 then coalesce(due_at, $4) else due_at end',
    ),
  ],
  'db: an RFQ ends an hour later': [
    edit('server/db/rfqs.ts')(
      'expiresAt: row.expires_at,',
      'expiresAt: new Date(row.expires_at.getTime() + 3_600_000),',
    ),
  ],
  'db: where one leg pays goes for both': [
    edit('server/db/legs.ts')(
      'where swap_id = $1 and leg = $2`',
      "where swap_id = $1 and $2 <> ''`",
    ),
  ],
  'db: no relay is due': [
    jobs(
      "and (purpose = 'close') = $6 and due_at <= $3",
      "and (purpose = 'close') = $6 and purpose <> 'relay' and due_at <= $3",
    ),
  ],
  'keeper: what no node knows is in a block': [
    edit('server/keeper/fates.ts')(
      'const fate = await within(signal, chain, account.fate({ ...each, isPast }, signal));',
      `const told = await within(signal, chain, account.fate({ ...each, isPast }, signal));
  const fate = told === 'unknown' ? 'mined' : told;`,
    ),
  ],
  'keeper: what a job waits for is taken for a gap': [
    gaps('const own = live.filter(({ jobId }) => jobId === null);', 'const own = live;'),
    gaps(
      'const isDue = ageMs > bumpSeconds.least * 1_000 && each.sentAt !== null;',
      'const isDue = each.sentAt !== null;',
    ),
    gaps(
      'if (isDue && (await isOutbid({ deps, gas, signal }, each, { versions, refused: false }))) {',
      'if (isDue) {',
    ),
  ],
  'keeper: a claim is never given up': [
    agreed('if (!(await claimWasShown(deps.db, job.id))) return next;', ''),
    agreed('look.wall >= mayLandUntil || !givesUp(next, look)', '!givesUp(next, look)'),
    agreed(
      'if (asking !== undefined) await within(signal, job.chain, asking);',
      "throw new ParleyError('sources_disagree', 'as ever', {});",
    ),
  ],
};
