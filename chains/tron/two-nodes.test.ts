import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { SignedTron, TronMaterial } from '../interface/material.ts';
import { untilTested } from '../testing/nodes.ts';
import { refuses } from '../testing/refusals.ts';
import { httpClient } from './http.ts';
import {
  adapterOn,
  fund,
  inputOf,
  type Leg,
  newLeg,
  receiver,
  signAll,
  signal,
  startTron,
} from './testing/chain.ts';
import { type Lie, lyingNode, type Said } from './testing/nodes.ts';
import { tokenBalance } from './views.ts';

const chain = await startTron();
after(() => chain.stop());
const lying = untilTested((lie: Lie) => lyingNode(chain.url, lie));

const adapterOf = (...urls: string[]) =>
  adapterOn(chain, urls, { http: { attemptTimeoutMs: 1_000, rounds: 1 } });

const disagree = (words: RegExp) => refuses('sources_disagree', words);

async function fundedLeg(): Promise<Leg> {
  const leg = newLeg(chain);
  await fund(chain, leg);
  await chain.solidify();
  return leg;
}

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
  const node = await lying(seized);
  const { funded } = await adapterOf(node.url).readEscrow(leg.escrow, signal());
  assert.equal(funded?.deep, false);
  assert.equal(together, 2, 'the solid views and the newest ones');
  await assert.rejects(
    adapterOf(chain.url, node.url).mustAgree(leg.escrow, signal()),
    disagree(/without its tokens/),
  );
});

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

test('a node that has heard it and lets nobody ask what became of it may have it', async () => {
  const { read } = await signedClaim();
  const shut = { status: 401, body: { Error: 'ApiKey not exists' } };
  let isShut = false;
  const closing = await lying(({ path }, forward) => {
    if (path === 'wallet/gettransactionbyid' && isShut) return shut;
    if (path !== 'wallet/broadcasthex') return forward();
    isShut = true;
    return { body: { result: false, code: 'SIGERROR', message: 'no such permission' } };
  });
  const late = { code: 'chain_timeout', message: /one may have it$/ };
  await assert.rejects(adapterOf(closing.url).broadcast(read, signal()), late);
  // Shut from the start it is not known to be of this chain, and hears nothing.
  const gone = { code: 'chain_unavailable', message: /gettransactionbyid now: HTTP 401/ };
  await assert.rejects(adapterOf(closing.url).broadcast(read, signal()), gone);
  assert.equal(await adapterOf(closing.url, chain.url).broadcast(read, signal()), read.txid);
});

test('a node without a solid view is refused by the first call, alone and beside another', async () => {
  const half = await lying(({ path }, forward) =>
    path.startsWith('walletsolidity/') ? { status: 405, body: '<html>' } : forward(),
  );
  for (const urls of [[half.url], [chain.url, half.url]]) {
    const refused = { code: 'chain_unavailable', message: /no \/walletsolidity .*"solidityUrl"/ };
    await assert.rejects(adapterOf(...urls).heads(signal()), refused);
  }
});

test('a node that keeps no old transactions is refused alone, and holds up nothing beside another', async () => {
  const lite = await lying(({ path }, forward) =>
    path === 'wallet/gettransactionbyid' ? { body: {} } : forward(),
  );
  const refused = { code: 'chain_unavailable', message: /does not know/ };
  await assert.rejects(adapterOf(lite.url).heads(signal()), refused);
  for (const urls of [
    [chain.url, lite.url],
    [lite.url, chain.url],
  ]) {
    await adapterOf(...urls).heads(signal());
  }
});

test('a node that takes nothing, whatever it is, refuses nothing: it may have it', async () => {
  for (const code of ['NO_CONNECTION', 'SERVER_BUSY']) {
    const { read } = await signedClaim();
    const node = await lying(sentTo({ body: { code, message: 'No connection.' } }));
    const late = { code: 'chain_timeout', message: new RegExp(`now .${code}.*one may have it$`) };
    await assert.rejects(adapterOf(node.url).broadcast(read, signal()), late);
    await adapterOf(node.url, chain.url).broadcast(read, signal());
  }
});
