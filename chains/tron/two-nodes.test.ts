// Two nodes that pose as one chain, and what an adapter over both lets through.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ParleyError } from '../../core/errors.ts';
import type { SignedTron, TronMaterial } from '../interface/material.ts';
import { type TronAdapter, tronAdapter } from './adapter.ts';
import { httpClient } from './http.ts';
import { tronDevPolicy } from './policy.ts';
import {
  claim,
  fund,
  type Leg,
  newLeg,
  receiver,
  signAll,
  startTron,
  type TestChain,
} from './testing/chain.ts';
import { hangingNode, type Lie, lyingNode, type Said } from './testing/nodes.ts';
import { tokenBalance } from './views.ts';

const signal = () => AbortSignal.timeout(60_000);
let chain: TestChain;
before(async () => {
  chain = await startTron();
});
after(() => chain.stop());

function adapterOf(...urls: string[]): TronAdapter {
  return tronAdapter({
    chain: 'tron-dev',
    deployment: chain.deployment,
    sources: urls.map((url) => ({ url })),
    policy: tronDevPolicy,
    http: { attemptTimeoutMs: 1_000, rounds: 1 },
  });
}

const disagree = (words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ParleyError, String(error));
  assert.equal(error.code, 'sources_disagree', error.message);
  assert.match(error.message, words);
  return true;
};

async function fundedLeg(): Promise<Leg> {
  const leg = newLeg(chain);
  await fund(chain, leg);
  await chain.solidify();
  return leg;
}

const inputOf = ({ escrow }: Leg) => ({ escrow, feeRateSatPerVbyte: null, isPublic: false });

/** In either order. */
async function withLiar(lie: Lie, work: (adapter: TronAdapter) => Promise<void>): Promise<void> {
  const node = await lyingNode(chain.url, lie);
  try {
    await work(adapterOf(chain.url, node.url));
    await work(adapterOf(node.url, chain.url));
  } finally {
    await node.stop();
  }
}

test('nodes on two chains of one id pause funding and revealing, not refunds', async () => {
  const leg = await fundedLeg();
  const fork: Lie = async ({ path }, forward) => {
    const said = await forward();
    const body = said.body as {
      blockID?: string;
      block_header?: { raw_data: { number?: number } };
    };
    const at = body.block_header?.raw_data.number ?? 0;
    if (path !== 'wallet/getblockbynum' || at === 0) return said;
    return { body: { ...body, blockID: `${body.blockID?.slice(0, 16)}${'ab'.repeat(24)}` } };
  };
  await withLiar(fork, async (adapter) => {
    const differ = disagree(/its nodes differ about block \d+/);
    await assert.rejects(adapter.mustAgree(leg.escrow, signal()), differ);
    await assert.rejects(adapter.buildFund(inputOf(newLeg(chain)), signal()), differ);
    await assert.rejects(adapter.buildClaim(inputOf(leg), leg.secret, signal()), differ);
    await adapter.buildRefund(inputOf(leg), signal());
  });
});

/** Says that an escrow was never funded, at the solid block. */
function hides({ escrow }: Leg): Lie {
  return async ({ path, body }, forward): Promise<Said> => {
    const said = await forward();
    const about = String(body.data).includes(escrow.terms.hashlock);
    if (path !== 'walletsolidity/triggerconstantcontract' || !about) return said;
    return { body: { ...(said.body as object), constant_result: ['0'.repeat(128)] } };
  };
}

test('nodes that show an escrow funded otherwise pause it alone', async () => {
  const [leg, quiet] = [await fundedLeg(), newLeg(chain)];
  await withLiar(hides(leg), async (adapter) => {
    const differs = disagree(/funded at \d+, another no funding|no funding, another funded/);
    await assert.rejects(adapter.mustAgree(leg.escrow, signal()), differs);
    await assert.rejects(adapter.buildClaim(inputOf(leg), leg.secret, signal()), differs);
    await adapter.mustAgree(quiet.escrow, signal());
  });
});

test('a claim whose secret is public is built although they disagree', async () => {
  const leg = await fundedLeg();
  const other = newLeg(chain, { hashlock: leg.terms.hashlock, amount: 5n });
  await withLiar(hides(leg), async (adapter) => {
    adapter.watch([leg.escrow, other.escrow]);
    await adapter.changes(signal());
    // Its funding is missing, so it fails, in public.
    await claim(chain, { ...other, secret: leg.secret });
    await adapter.changes(signal());
    await adapter.buildClaim(inputOf(leg), leg.secret, signal());
  });
});

test('nodes that show the same agree, one alone, and one that hangs or is gone left out', async () => {
  const [leg, quiet] = [await fundedLeg(), newLeg(chain)];
  const [same, hanging] = [await lyingNode(chain.url, (_, go) => go()), await hangingNode()];
  try {
    for (const urls of [[chain.url, same.url], [chain.url], [hanging.url, chain.url]]) {
      const adapter = adapterOf(...urls);
      await adapter.mustAgree(leg.escrow, signal());
      await adapter.mustAgree(quiet.escrow, signal());
      await adapter.buildClaim(inputOf(leg), leg.secret, signal());
    }
    const none = adapterOf(hanging.url, hanging.url);
    await assert.rejects(none.mustAgree(leg.escrow, signal()), { code: 'chain_timeout' });
  } finally {
    await Promise.all([same.stop(), hanging.stop()]);
  }
});

test('a token that was taken out of the contract makes an escrow seen, never deep', async () => {
  const token = chain.token('DevDollar');
  const leg = newLeg(chain, { token });
  await fund(chain, leg);
  await chain.solidify();
  assert.equal((await adapterOf(chain.url).readEscrow(leg.escrow, signal())).funded?.deep, true);
  const http = httpClient({ chain: 'tron-dev', sources: [chain] });
  const had = await tokenBalance(http, 'solid', token, chain.deployment.contract, signal());
  const word = (value: bigint) => value.toString(16).padStart(64, '0');
  let together = 0;
  // Wherever its views say what the contract has of the token, asked together or alone.
  const seized: Lie = async ({ body }, forward) => {
    const said = await forward();
    const { constant_result: [output = ''] = [] } = said.body as { constant_result?: string[] };
    if (!output.includes(word(had))) return said;
    if (body.contract_address === undefined) together += 1;
    const constant_result = [output.replaceAll(word(had), word(leg.terms.amount - 1n))];
    return { body: { ...(said.body as object), constant_result } };
  };
  const node = await lyingNode(chain.url, seized);
  try {
    const { funded } = await adapterOf(node.url).readEscrow(leg.escrow, signal());
    assert.equal(funded?.deep, false);
    assert.equal(together, 2, 'the solid views and the newest ones');
    await assert.rejects(
      adapterOf(chain.url, node.url).mustAgree(leg.escrow, signal()),
      disagree(/without its tokens/),
    );
  } finally {
    await node.stop();
  }
});

test('a node that comes back as another chain is refused, with both ids, until it is right', async () => {
  let stage: 'right' | 'gone' | 'wrong' = 'right';
  const node = await lyingNode(chain.url, async ({ path, body }, forward) => {
    if (stage === 'gone') return { status: 429, body: {} };
    const said = await forward();
    if (stage === 'right' || path !== 'wallet/getblockbynum' || body.num !== 0) return said;
    return { body: { ...(said.body as object), blockID: `${'0'.repeat(63)}7` } };
  });
  try {
    const adapter = adapterOf(node.url);
    await adapter.heads(signal());
    stage = 'gone';
    await assert.rejects(adapter.heads(signal()));
    stage = 'wrong';
    for (let poll = 0; poll < 2; poll += 1) {
      await assert.rejects(adapter.heads(signal()), {
        code: 'chain_unavailable',
        message: `tron-dev: a node is of chain id 7, not ${chain.deployment.chainId} as configured`,
      });
    }
    stage = 'right';
    await adapter.heads(signal());
  } finally {
    await node.stop();
  }
});

/** An honest node but for what it is sent. */
const sentTo =
  (said: Said | undefined): Lie =>
  ({ path }, forward) =>
    path === 'wallet/broadcasthex' ? said : forward();

async function signedClaim() {
  const leg = await fundedLeg();
  const adapter = adapterOf(chain.url);
  const material = await adapter.buildClaim(inputOf(leg), leg.secret, signal());
  const [signed] = signAll(receiver, material as TronMaterial);
  return { leg, read: await adapter.readSigned(signed as SignedTron, signal()) };
}

const sigError = { body: { result: false, code: 'SIGERROR', message: 'no such permission' } };

test('a claim that one node refuses, swallows or is silent about is sent by the other', async () => {
  for (const said of [
    sigError,
    { body: { result: false, code: 'SERVER_BUSY' } },
    { body: {} },
    { status: 401, body: { Error: 'ApiKey not exists' } },
    undefined,
  ]) {
    await withLiar(sentTo(said), async (adapter) => {
      const { leg, read } = await signedClaim();
      adapter.watch([leg.escrow]);
      assert.equal(await adapter.broadcast(read, signal()), read.txid);
      await chain.dev.mine(1);
      const { claimed, secret } = await adapterOf(chain.url).readEscrow(leg.escrow, signal());
      assert.deepEqual([claimed?.txid, secret], [read.txid, leg.secret]);
      await adapter.close();
    });
  }
});

test('what one node refuses and another may have is not refused; what both refuse is', async () => {
  const { read } = await signedClaim();
  const refusing = await lyingNode(chain.url, sentTo(sigError));
  const silent = await lyingNode(chain.url, sentTo(undefined));
  const shut = { status: 401, body: { Error: 'ApiKey not exists' } };
  let isShut = false;
  const closing = await lyingNode(refusing.url, ({ path }, forward) => {
    if (path === 'wallet/gettransactionbyid' && isShut) return shut;
    isShut ||= path === 'wallet/broadcasthex';
    return forward();
  });
  try {
    for (const urls of [
      [refusing.url, silent.url],
      [silent.url, refusing.url],
    ]) {
      const late = { code: 'chain_timeout', message: /one may have it; .*SIGERROR/ };
      await assert.rejects(adapterOf(...urls).broadcast(read, signal()), late);
    }
    const both = { code: 'refused_by_node', message: /SIGERROR, no such permission$/ };
    const adapter = adapterOf(refusing.url, refusing.url);
    await assert.rejects(adapter.broadcast(read, signal()), both);
    // It has heard it, and nobody is let through to ask it what became of it.
    const late = { code: 'chain_timeout', message: /one may have it$/ };
    await assert.rejects(adapterOf(closing.url).broadcast(read, signal()), late);
    // Shut from the start it is not known to be of this chain, and hears nothing.
    const gone = { code: 'chain_unavailable', message: /gettransactionbyid now: HTTP 401/ };
    await assert.rejects(adapterOf(closing.url).broadcast(read, signal()), gone);
    assert.equal(await adapterOf(closing.url, chain.url).broadcast(read, signal()), read.txid);
  } finally {
    await Promise.all([refusing, silent, closing].map((each) => each.stop()));
  }
});

test('a node without a solid view is refused by the first call, alone and beside another', async () => {
  const half = await lyingNode(chain.url, ({ path }, forward) =>
    path.startsWith('walletsolidity/') ? { status: 405, body: '<html>' } : forward(),
  );
  try {
    for (const urls of [[half.url], [chain.url, half.url]]) {
      const refused = { code: 'chain_unavailable', message: /no \/walletsolidity .*"solidityUrl"/ };
      await assert.rejects(adapterOf(...urls).heads(signal()), refused);
    }
  } finally {
    await half.stop();
  }
});

test('a node that keeps no old transactions is refused alone, and holds up nothing beside another', async () => {
  const lite = await lyingNode(chain.url, ({ path }, forward) =>
    path === 'wallet/gettransactionbyid' ? { body: {} } : forward(),
  );
  try {
    const refused = { code: 'chain_unavailable', message: /does not know/ };
    await assert.rejects(adapterOf(lite.url).heads(signal()), refused);
    for (const urls of [
      [chain.url, lite.url],
      [lite.url, chain.url],
    ]) {
      await adapterOf(...urls).heads(signal());
    }
  } finally {
    await lite.stop();
  }
});

test('a node that takes nothing, whatever it is, refuses nothing: it may have it', async () => {
  for (const code of ['NO_CONNECTION', 'SERVER_BUSY']) {
    const { read } = await signedClaim();
    const node = await lyingNode(chain.url, sentTo({ body: { code, message: 'No connection.' } }));
    const late = { code: 'chain_timeout', message: new RegExp(`now .${code}.*one may have it$`) };
    try {
      await assert.rejects(adapterOf(node.url).broadcast(read, signal()), late);
      await adapterOf(node.url, chain.url).broadcast(read, signal());
    } finally {
      await node.stop();
    }
  }
});
