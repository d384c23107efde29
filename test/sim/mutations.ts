// Bugs to plant, by the rule that each breaks: the simulation must find every one of them
// (planted.ts). Where two lines keep one rule, both are taken out.

import { type Edit, edit } from '../support/planted.ts';
import { mutationsOfRooms } from './mutations-rooms.ts';

const gates = edit('core/gates.ts');
const facts = edit('core/facts.ts');
const status = edit('core/status.ts');
const deadlines = edit('core/deadlines.ts');
const next = edit('core/next.ts');
const swap = edit('core/swap.ts');
const create = edit('server/settle/create.ts');
const preview = edit('server/settle/preview.ts');
const outcome = edit('server/settle/outcome.ts');
const reconcile = edit('server/settle/reconcile.ts');
const follow = edit('server/settle/follow.ts');
const live = edit('server/settle/live.ts');
const swaps = edit('server/db/swaps.ts');
const deliveries = edit('server/db/deliveries.ts');
const once = edit('server/edge/idempotency/once.ts');
const decide = edit('server/keeper/decide.ts');
const tend = edit('server/keeper/tend.ts');
const keeperRelay = edit('server/keeper/relay.ts');
const signedRefunds = edit('chains/bitcoin/signed-refunds.ts');
const scheduled = edit('server/settle/scheduled-refunds.ts');

export const mutations: Readonly<Record<string, readonly Edit[]>> = {
  'gates: no last moment to fund': [
    gates('if (now > deadline) {', 'if (false) {'),
    next('now <= fundBy(swap, leg) &&', ''),
  ],
  'gates: no last moment to reveal': [
    gates('if (now > revealBy) {', 'if (false) {'),
    next('if (now > before) return [];', ''),
  ],
  'gates: the short leg before the long one is deep': [
    gates(
      "if (!leg.long && legStatus(long.facts) !== 'funded') {",
      'if (!leg.long && long.facts.funded === null) {',
    ),
    next(
      "if (!own.long && legStatus(long.facts) !== 'funded') return [];",
      'if (!own.long && long.facts.funded === null) return [];',
    ),
  ],
  'gates: former escrows forgotten': [
    gates('if (strayed === undefined) return;', 'if (strayed !== null) return;'),
    next(
      "if (role === 'counterparty' || swap.legs.a.strayed || swap.legs.b.strayed) return [];",
      "if (role === 'counterparty') return [];",
    ),
    next('    !swap.legs.a.strayed &&\n    !swap.legs.b.strayed &&\n', ''),
  ],
  'gates: any secret': [gates('if (!opens(secret, swap.hashlock)) {', 'if (false) {')],
  'gates: refund before the timelock': [
    gates('if (hasPassed(leg, timelock, clocks)) return;', 'if (leg !== null) return;'),
  ],
  'facts: funded at depth 0': [
    facts("if (facts.funded?.deep) return 'funded';", "if (facts.funded) return 'funded';"),
  ],
  'facts: claimed at depth 0': [
    facts("if (facts.claimed?.deep) return 'claimed';", "if (facts.claimed) return 'claimed';"),
  ],
  'facts: what strays is nothing': [
    facts(
      'return (funded !== null && !left) || balance * 100n >= amount || isUnknown(facts);',
      'return false && left;',
    ),
  ],
  'status: a secret that was seen does not count': [
    status(
      "swap.secret !== null || legStatus(short) === 'claimed'",
      "legStatus(short) === 'claimed'",
    ),
  ],
  'status: a refund hides a claim': [status("if (claimed && refunded) return 'half_settled';", '')],
  'deadlines: no time to claim the long leg': [
    deadlines(
      'const claimLong = detect + react + ld.settleSeconds + ld.outageSeconds + lp.driftSeconds;',
      'const claimLong = detect;',
    ),
    deadlines('Math.max(lp.floorSeconds, shortTimelock +', 'Math.max(0, shortTimelock +'),
  ],
  'deadlines: no room for a clock that trails': [
    deadlines('lateClaim(short) + claimLong', 'sp.lateClaimSeconds + claimLong'),
  ],
  'deadlines: reveal until the timelock': [
    deadlines('const revealBy = shortTimelock - afterReveal;', 'const revealBy = shortTimelock;'),
  ],
  'next: no refund is offered': [
    next('if (facts.balance === 0n) return [];', 'if (facts) return [];'),
  ],
  'next: no claim with a public secret': [
    next('  if (swap.secret !== null) {\n    const why =\n', '  if (!swap) {\n    const why =\n'),
  ],
  "swap: the chain's own clock alone tells the time": [
    swap('return Math.max(clocks.wall, clocks[leg.leg]);', 'return clocks[leg.leg];'),
  ],
  'create: a leg is paid back to the other': [
    create(
      'const refund = destination(accounts[leg.leg]);',
      'const refund = destination(accounts[otherLeg(leg.leg)]);',
    ),
  ],
  'preview: a great amount needs no more depth': [
    preview('depthFor(adapter.policy, amount, asset.highValueFrom)', 'adapter.policy.normal'),
  ],
  'outcome: a secret is forgotten with its block': [
    outcome('before.secret ?? shown.find(', 'shown.find('),
    swaps('secret = coalesce(secret, $3)', 'secret = $3'),
  ],
  'outcome: over when empty': [
    outcome('const over = empty && (ended || wall >= quietAt);', 'const over = empty;'),
  ],
  'outcome: over before it is empty': [
    outcome(
      'const over = empty && (ended || wall >= quietAt);',
      'const over = ended || wall >= quietAt;',
    ),
  ],
  'reconcile: events outside of the transaction': [
    reconcile('await insertOutbox(\n    tx,', 'void insertOutbox(\n    deps.db,'),
  ],
  'reconcile: facts of the other chain are nothing': [
    reconcile('?? factsOf(row.facts)', '?? { ...factsOf(row.facts), funded: null, balance: 0n }'),
  ],
  'bitcoin: the secret is the second push of a claim': [
    edit('chains/bitcoin/escrow-script.ts')(
      'for (const item of items) {\n    for (const candidate of [item, ...scriptPushes(item)]) {',
      'for (const item of [...items].slice(1, 2)) {\n    for (const candidate of [item]) {',
    ),
  ],
  'events: what was told and is hidden is forgotten': [
    edit('server/settle/events.ts')(
      'const hidden = (each: keyof Told) => !reorged && known[each] && !is[each];',
      'const hidden = (each: keyof Told) => reorged && !reorged && known[each];',
    ),
  ],
  'follow: a failure forgets the swap': [
    follow('backlog.add(id);\n      throw error;', 'throw error;'),
    follow('await makeDue(deps.db, swapId, Math.floor(deps.now() / 1000) + retrySeconds);', ''),
  ],
  'follow: a change is told and lost': [
    follow(
      'for (const id of await swapsOfEscrows(deps.db, chain, addresses)) urgent.add(id);\n    follower.touched.clear();',
      'follower.touched.clear();\n    for (const id of await swapsOfEscrows(deps.db, chain, addresses)) urgent.add(id);',
    ),
  ],
  'follow: restarted in the middle': [
    edit('server/settle/take-up.ts')("xact: '0', address", "xact: '99999999', address"),
  ],
  'take-up: what commits late is followed never': [
    edit('server/settle/take-up.ts')(
      "position.from = { xact: horizon, address: '' };",
      'position.from = { ...from };',
    ),
  ],
  'live: former escrows are not read': [
    live(
      'if (swap.done || !swap.former.some(({ leg }) => leg === name)) return [];',
      'if (swap) return [];',
    ),
  ],
  'builders: a public secret waits until sources agree': [
    edit('server/settle/builders.ts')('isPublic: !reveals', 'isPublic: false'),
  ],
  'builders: a public secret waits for an estimate': [
    edit('server/settle/builders.ts')(
      'if (state.secret === null) {',
      `await adapterOf(deps, state.legs[name].chain).preflight(escrow.terms, 'claim', signal);
  if (state.secret === null) {`,
    ),
  ],
  'broadcast: what has ended is paid again': [
    edit('server/settle/broadcast.ts')(
      'for (const touch of await allTouches(deps, chain, transaction))',
      'void allTouches;\n    for (const touch of transaction.touches)',
    ),
  ],
  'broadcast: no gates': [
    edit('server/settle/broadcast.ts')(
      'for (const each of touched) await passGates(deps, each, payer, signal);',
      'void passGates;',
    ),
  ],
  'live: one source is enough': [
    live(
      'const agreeing = escrow && adapterOf(deps, chain).mustAgree?.(escrow, signal);',
      'const agreeing = null as Promise<void> | null | undefined; void escrow;',
    ),
  ],
  'addresses: moved after the funding': [
    edit('server/settle/addresses.ts')("if (status === 'unfunded') return;", 'if (status) return;'),
    edit('server/settle/addresses.ts')(
      'if (sentAt === null || nowMs',
      'if (sentAt === null || true || nowMs',
    ),
  ],
  'agreement: a hashlock serves twice': [
    edit('server/market/agreement.ts')(
      'if (await offerHashlock(tx, wanted)) return;',
      'await offerHashlock(tx, wanted);\n  if (wanted) return;',
    ),
  ],
  'webhooks: what failed was delivered': [
    edit('server/webhooks/attempt.ts')(
      'const delivered = status >= 200 && status < 300;',
      'const delivered = true;',
    ),
  ],
  'webhooks: the outbox is emptied before': [
    edit('server/webhooks/hand-out.ts')(
      'await insertDeliveries(tx, deliveries, new Date(now));',
      'void insertDeliveries(deps.db, deliveries, new Date(now));',
    ),
  ],
  'webhooks: delivered before it is sent': [
    edit('server/webhooks/deliver.ts')(
      '  const ended = await attempt(deps, due, due, send, visit).catch((error: unknown) => {',
      `  const at = new Date(deps.now());
  const early = { startedAt: at, endedAt: at, status: 200, error: null, delivered: true };
  const about = { id: due.id, webhookId: due.webhookId, attempt: due.attempts + 1, nextAt: null };
  await storeOutcome(deps.db, { ...early, ...about });
  const ended = await attempt(deps, due, due, send, visit).catch((error: unknown) => {`,
    ),
  ],
  'webhooks: the newest first': [
    deliveries('subject is not null and (', 'subject is null and ('),
    deliveries('a.position - b.position', 'b.position - a.position'),
  ],
  'reconcile: told before it is stored': [
    reconcile(
      '    const stored = await deps.db.transaction(async (tx) => {',
      `    await deps.db.transaction(async (tx) => {
      const early = await lockSwap(tx, swapId);
      if (early === null || early.revision !== swap.revision) return;
      await store({ tell: tx } as never, deps, early, await escrowsOfSwap(tx, swapId), read);
    });
    const stored = await deps.db.transaction(async (tx) => {`,
    ),
    reconcile('    await updateEscrow(tx, {', "    if (!('tell' in tx)) await updateEscrow(tx, {"),
    reconcile('  await updateSwap(tx, {', "  if (!('tell' in tx)) await updateSwap(tx, {"),
    reconcile(
      '  await insertOutbox(\n    tx,',
      "  if ('tell' in tx) await insertOutbox(\n    tx.tell as Tx,",
    ),
  ],
  'reconcile: older facts over newer ones': [
    reconcile(
      'if (locked === null || locked.revision !== swap.revision) return null;',
      'if (locked === null) return null;',
    ),
  ],
  'db: a swap is not locked': [
    swaps('select 1 from swaps where id = $1 for update', 'select 1 from swaps where id = $1'),
  ],
  'db: the horizon is where transactions begin': [
    edit('server/db/escrows.ts')('pg_snapshot_xmin(', 'pg_snapshot_xmax('),
  ],
  'negotiation: an acceptance never lapses': [
    edit('server/market/negotiation.ts')(
      'if (acceptedAt === null || nowMs >= acceptedAt + ttlMs) return null;',
      'if (acceptedAt === null) return null;',
    ),
  ],
  'threads: an RFQ that has ended is agreed on': [
    edit('server/market/threads.ts')('  assertLive(thread.rfq, nowMs);', '  void nowMs;'),
  ],
  'once: a request that came twice runs twice': [
    once('if (early !== null) return early;', 'void early;'),
    once('    if (earlier !== null) return earlier;', '    void earlier;'),
  ],
  'once: the reply outside of the transaction': [
    once(
      'const kept = await storeReply(deps, tx, slot, result, keepingOf(steps));',
      'const kept = storeReply(deps, deps.db, slot, result, keepingOf(steps));',
    ),
  ],
  'status: a swap expires with money in it': [
    status(
      'return lapses && isUntouched(long) && isUntouched(short) ?',
      'return lapses || !isUntouched(long) || !isUntouched(short) ?',
    ),
  ],
  'bitcoin: any payment funds': [
    edit('chains/bitcoin/escrow-facts.ts')(
      'history.payments.filter((each) => each.amount >= amount)',
      'history.payments.filter((each) => each.amount >= 0n * amount)',
    ),
  ],
  'view: no refund of a former escrow is offered': [
    edit('server/settle/view.ts')('if (passed && balance > 0n) {', 'if (passed && balance < 0n) {'),
  ],
  'gates: anybody refunds and funds': [
    gates('if (leg.funder !== by) {', 'if (leg.funder !== by && by === null) {'),
  ],
  'brought: the long leg waits for the short chain': [
    edit('server/settle/brought.ts')('!swap.state.legs[name].long', 'swap.id.length > 0'),
  ],
  'keeper: a relay is sent before it is stored': [
    keeperRelay(
      'const signed = await signWith(deps, turn, work, slot);',
      `const signed = await signWith(deps, turn, work, slot);
  await adapterOf(deps, wish.chain).broadcast(signed, turn.signal).catch(() => {});`,
    ),
  ],
  'keeper: a relay passes no gates': [
    keeperRelay('mustHaveTime(verb, claimable, timeOf(deps, claimable));', 'void timeOf;'),
    edit('server/settle/builders.ts')(
      'claimGate(state, name, clocks);',
      'if (payer === null) claimGate(state, name, clocks);',
    ),
    tend(
      '  const { state, clocks } = await readForClaim(deps, swap, job.leg, signal);\n  claimGate',
      '  if (job !== null) return;\n  const { state, clocks } = await readForClaim(deps, swap, job.leg, signal);\n  claimGate',
    ),
    decide('const late = look.wall > look.revealBy;', 'const late = false;'),
  ],
  'keeper: what was dropped is not sent again': [
    decide(
      "return { do: 'send', attempt: newest, reveals: false };",
      "return newest.sentAt === null ? { do: 'send', attempt: newest, reveals: false } : again();",
    ),
    decide('const isDue = newest.sentAt !== null && age', 'const isDue = age < 0 && age'),
  ],
  'keeper: a nonce is used again': [
    edit('server/keeper/spending.ts')('while (all.has(nonce)) nonce += 1;', 'void all;'),
    edit('server/keeper/sign.ts')(
      'const asked = account.pendingNonce?.(signal);',
      'const asked = undefined;',
    ),
  ],
  "keeper: no day's cap": [
    edit('server/keeper/spending.ts')("if (cap <= 0n) return { short: 'cap' };", ''),
    edit('server/keeper/spending.ts')("if (share <= 0n) return { short: 'share' };", ''),
    edit('server/keeper/spending.ts')('{ most: least(cap, share, free) }', '{ most: free }'),
  ],
  'keeper: a relay that left is withdrawn': [
    decide(
      'if (!look.isPublic) return decideReveal(look, newest);',
      `const isHidden = look.verb === 'claim' && look.facts.claimed === null;
  if (!look.isPublic || isHidden) return decideReveal(look, newest);`,
    ),
  ],
  'keeper: what was in hand when it died is forgotten': [
    edit('server/keeper/bounds.ts')('inHandSeconds = 30;', 'inHandSeconds = 30_000_000;'),
  ],
  'keeper: it never leaves a swap alone': [
    tend("decision.do === 'wait' && swap.done && isIdle", 'swap.done && !swap.done && isIdle'),
    decide("if (claimed?.deep || refunded?.deep) return { what: 'over' };", ''),
  ],
  'scheduled: a refund is sent before it is due': [
    signedRefunds('if (clock <= terms.timelock) {', 'if (clock < 0) {'),
    scheduled('if (clock <= timelock && tried === null) {', 'if (clock < 0) {'),
    scheduled('const dueAt = terms.timelock;', 'const dueAt = 0 * terms.timelock;'),
  ],
  'scheduled: what sticks is not replaced': [
    signedRefunds(
      'if (now - tried.at < refundStepSeconds || height <= tried.height) {',
      'if (now > 0 || height > 0) {',
    ),
  ],
  'scheduled: a ladder pays whom it likes': [
    signedRefunds(
      'output !== undefined && bytesToHex(output.script) === shape.outputScript,',
      'output !== undefined,',
    ),
    signedRefunds('if (made.raw === raw) return made.txid;', 'if (made.txid) return made.txid;'),
  ],
  'scheduled: what was in hand when it died is forgotten': [
    scheduled('leasedUntil: wall + leaseSeconds', 'leasedUntil: wall + leaseSeconds * 1_000_000'),
  ],
  'scheduled: what was sent is not told': [
    scheduled('{ sentTxid: txid, tried })', '{ sentTxid: before?.txid ?? null, tried })'),
  ],
  'scheduled: a right ladder is refused': [
    signedRefunds('if (feeSats >= least) return;', 'if (feeSats < least) return;'),
  ],
  'scheduled: what is no transaction is a fault of ours': [
    signedRefunds(
      'return RawTx.decode(hexToBytes(raw));\n  } catch (cause) {',
      'return RawTx.decode(hexToBytes(raw));\n  } catch (cause) {\n    if (at >= 0) throw cause;',
    ),
  ],
  'halts: a price moves on what is halted': [
    edit('server/market/threads.ts')(
      "if (status === 'open') assertOpen(rfq.base, rfq.quote);",
      'void status;',
    ),
    edit('server/market/threads.ts')('  assertOpen(thread.rfq.base, thread.rfq.quote);\n', ''),
  ],
  'halts: a halted asset is agreed on': [
    edit('server/market/assets.ts')(
      'if (closed === undefined) return;',
      'if (closed !== null) return;',
    ),
  ],
  'halts: settlement stops too': [
    edit('server/settle/broadcast.ts')(
      'for (const each of touched) await passGates(deps, each, payer, signal);',
      `for (const each of touched) await passGates(deps, each, payer, signal);
    const text = 'select 1 from halts where chain = $1';
    const halted = await deps.db.rows({ name: 'halted', text, values: [chain] });
    if (halted.length > 0) throw new ParleyError("overloaded", "it is halted", {});`,
    ),
  ],
  'halts: settlement waits as if for a node': [
    edit('server/settle/broadcast.ts')(
      'for (const each of touched) await passGates(deps, each, payer, signal);',
      `for (const each of touched) await passGates(deps, each, payer, signal);
    const text = 'select 1 from halts where chain = $1';
    const halted = await deps.db.rows({ name: 'halted', text, values: [chain] });
    if (halted.length > 0) throw new ParleyError("chain_unavailable", "it is halted", {});`,
    ),
  ],
  ...mutationsOfRooms,
};
