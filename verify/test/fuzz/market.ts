// The market that the fuzz asks: the real application on a socket, PostgreSQL, bitcoind and anvil,
// with swaps at every stage, and callers with every kind of key that there is.

import { randomBytes } from 'node:crypto';
import { Agent } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { bitcoinAdapter } from '@parley/chains/bitcoin/adapter.ts';
import { evmAdapter } from '@parley/chains/evm/adapter.ts';
import { evmChains } from '@parley/chains/evm/policy.ts';
import type { Scope } from '@parley/core/scopes.ts';
import { buildApp } from '@parley/market/edge/app.ts';
import { strictly } from '@parley/market/edge/testing/edge.ts';
import { pageHeaders } from '@parley/market/edge/testing/session.ts';
import * as signers from '@parley/market/edge/testing/signers.ts';
import { openSession } from '@parley/market/people/sessions.ts';
import {
  agree,
  bitcoin,
  claimShort,
  type Deal,
  deepen,
  evm,
  fundBoth,
  fundLong,
  give,
  moveTo,
  newParty,
  type Party,
  signedPayment,
  startWorld,
  swapOf,
  type World,
} from '@parley/market/settle/testing/world.ts';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { ask } from './ask.ts';
import type { Answer, Json, Operation } from './description.ts';
import { createMemory, type Memory } from './memory.ts';
import type { Request } from './requests.ts';

// The discard port has no listener.
const nowhere = 'http://127.0.0.1:9';

export type Caller = {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  /** null = its key must not be taken. */
  readonly scopes: readonly Scope[] | null;
};

export type FuzzMarket = {
  readonly callers: readonly Caller[];
  readonly memory: Memory;
  /** The faults of ours that were logged. */
  readonly faults: readonly string[];
  ask(request: Request): Promise<Answer>;
  /** The same market in a process whose nodes do not answer. */
  askWithoutNodes(request: Request): Promise<Answer>;
  /** Whether `prepare` can make a body that this operation takes. */
  prepares(operation: Operation): boolean;
  prepare(operation: Operation, caller: Caller): Promise<Json>;
  close(): Promise<void>;
};

export async function startFuzzMarket(): Promise<FuzzMarket> {
  const world = await startWorld();
  const memory = createMemory();
  const parties = await trade(world, memory);
  const callers = await callersOf(world, parties);
  const faults: string[] = [];
  const log = pino({ level: 'error' }, { write: (line: string) => void faults.push(line) });
  const settings = { ...world.deps.settings, mintLimit: 1_000_000 };
  const deps = { ...world.deps, settings, log };
  const app = await buildApp(deps, { checkReply: strictly() });
  const deaf = await buildApp({ ...deps, adapters: adaptersWithoutNodes() });
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const port = await listen(app);
  const deafPort = await listen(deaf);
  const bodies = bodiesOf(world, parties, (request) => ask(port, agent, request));
  const bodyOf = ({ method, path }: Operation) => bodies[`${method} ${path}`];
  return {
    callers,
    memory,
    faults,
    ask: (request) => ask(port, agent, request),
    askWithoutNodes: (request) => ask(deafPort, agent, request),
    prepares: (operation) => bodyOf(operation) !== undefined,
    prepare: (operation, caller) => (bodyOf(operation) as Prepare)(caller),
    close: async () => {
      agent.destroy();
      await deaf.close();
      await app.close();
      await world.close();
    },
  };
}

async function listen(app: FastifyInstance): Promise<number> {
  await app.listen({ host: '127.0.0.1', port: 0 });
  return (app.server.address() as AddressInfo).port;
}

function adaptersWithoutNodes(): Map<string, ChainAdapter> {
  const adapters: ChainAdapter[] = [
    bitcoinAdapter({
      chain: bitcoin,
      network: 'regtest',
      source: { coreUrl: nowhere, timeMs: 200 },
      now: () => Math.floor(Date.now() / 1_000),
      log: () => {},
    }),
    evmAdapter({
      chain: evm,
      chainId: evmChains[evm].chainId,
      rpcUrls: [nowhere],
      policy: evmChains[evm].policy,
      rpc: { attemptTimeoutMs: 200, rounds: 1 },
      log: () => {},
    }),
  ];
  return new Map(adapters.map((each) => [each.chain, each]));
}

type Prepare = (caller: Caller) => Promise<Json>;

type Parties = {
  readonly initiator: Party;
  readonly counterparty: Party;
  /** The secret of the swap with a claim: it is public. */
  readonly secret: string;
};

/** Swaps of two parties, one at every stage that a builder asks for. */
async function trade(world: World, memory: Memory): Promise<Parties> {
  const parties = { initiator: await newParty(world), counterparty: await newParty(world) };
  const late = await agree(world, parties);
  await fundBoth(world, late);
  const { refundAt } = (await swapOf(late)).deadlines;
  await moveTo(world, Math.max(refundAt.a, refundAt.b));
  const deals = [late];
  for (const turn of [0, 1, 2, 3, 4]) {
    const taker = turn % 2 === 0 ? 'initiator' : 'counterparty';
    deals.push(await agree(world, { ...parties, taker }));
  }
  const [, , , started, funded, claimed] = deals;
  for (const deal of [started, funded, claimed]) await give(world, deal!);
  await fundLong(world, started!);
  await fundBoth(world, funded!);
  await fundBoth(world, claimed!);
  await claimShort(world, claimed!);
  await deepen(world);
  for (const { id, secret, hashlock, amount } of deals) {
    memory.keep('swap', id);
    memory.keep('secret', secret);
    memory.keep('hashlock', hashlock);
    memory.keep('amount', `${amount}`);
  }
  const { initiator, counterparty } = parties;
  for (const { pubkey, btcAddress, evmAccount } of [initiator, counterparty]) {
    for (const each of [pubkey, btcAddress, evmAccount.address]) memory.keep('address', each);
  }
  for (const each of ['bitcoin-regtest', 'evm-dev', 'bitcoin', 'evm']) memory.keep('chain', each);
  for (const each of ['a', 'b']) memory.keep('leg', each);
  for (const each of Object.values(world.assets)) {
    if (each !== null && 'id' in each) memory.keep('assets', each.id);
  }
  for (const list of ['/v1/assets', '/v1/swaps', '/v1/rfqs?limit=3']) {
    memory.learn(list, (await initiator.get(list)).body);
  }
  return { ...parties, secret: (claimed as Deal).secret };
}

async function callersOf(world: World, parties: Parties): Promise<Caller[]> {
  const all: readonly Scope[] = ['read', 'taker', 'maker'];
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
  const change = (column: string, accountId: string, value: unknown) => {
    const text = `update api_keys set ${column} = $2 where account_id = $1`;
    return world.deps.db.rows({ name: '', text, values: [accountId, value] });
  };
  const callers: Caller[] = [
    { name: 'initiator', headers: bearer(parties.initiator.key), scopes: all },
    { name: 'counterparty', headers: { 'x-api-key': parties.counterparty.key }, scopes: all },
    { name: 'a page', headers: await pageOf(world, parties.initiator), scopes: all },
  ];
  for (const scopes of [['read'], ['taker'], ['maker'], ['taker', 'maker']] as Scope[][]) {
    const { accountId, key } = await newParty(world);
    await change('scopes', accountId, scopes);
    callers.push({ name: scopes.join(' '), headers: bearer(key), scopes });
  }
  for (const [name, column] of [
    ['revoked', 'revoked_at'],
    ['expired', 'expires_at'],
  ] as const) {
    const { accountId, key } = await newParty(world);
    await change(column, accountId, new Date(world.deps.now() - 1_000));
    callers.push({ name, headers: bearer(key), scopes: null });
  }
  const unknown = `parley_test_${'a'.repeat(43)}`;
  callers.push(
    { name: 'nobody', headers: {}, scopes: null },
    { name: 'unknown', headers: { 'x-api-key': unknown }, scopes: null },
    { name: 'garbage', headers: { authorization: 'Bearer é\u00ff x' }, scopes: null },
    { name: 'another scheme', headers: { authorization: 'Basic eDp5' }, scopes: null },
  );
  return callers;
}

/** The headers of a page of the market's own site for the party, who is signed in there. */
async function pageOf({ deps }: World, { accountId }: Party): Promise<Record<string, string>> {
  const { token } = await deps.db.transaction((tx) =>
    openSession(tx, deps, {
      accountId,
      means: { by: 'email', wallet: null },
      browser: { hash: randomBytes(32), device: 'Firefox on Linux', place: '127.0.0.1' },
      isNew: true,
    }),
  );
  return pageHeaders(token, accountId);
}

/** By operation, how to make a body that is taken. */
function bodiesOf(
  world: World,
  { initiator, counterparty, secret }: Parties,
  send: FuzzMarket['ask'],
): Readonly<Record<string, Prepare>> {
  const { btc, usd } = world.assets;
  const { evmWallet, tronWallet, solanaWallet, bitcoinWallet } = signers;
  const makers = [evmWallet, tronWallet, solanaWallet, bitcoinWallet];
  const proof = async (
    wallet: signers.TestWallet,
    purpose: string,
    url: string,
    { headers }: Pick<Caller, 'headers'>,
  ) => {
    const { address } = wallet;
    const { text } = await send({ method: 'GET', url, headers, body: null });
    const nonce = JSON.parse(text).nonce ?? 'none';
    const message = `Parley - ${purpose}\n\nAddress: ${address}\nNonce: ${nonce}`;
    return { address, message, signature: await wallet.sign(message) };
  };
  const link = (make: () => signers.TestWallet): [string, Prepare] => [
    `POST /v1/wallets/${make().family}`,
    (caller) => proof(make(), 'link this wallet', '/v1/wallets/nonce', caller),
  ];
  return {
    'POST /v1/keys': async () => {
      const wallet = (makers[randomBytes(1)[0]! % makers.length] as () => signers.TestWallet)();
      const nobody = { headers: {} };
      const proven = await proof(wallet, 'create an API key', '/v1/keys/nonce', nobody);
      return { rail: wallet.family, ...proven };
    },
    ...Object.fromEntries(makers.map(link)),
    'POST /v1/rfqs': async () => ({
      direction: 'sell_base',
      baseAssetId: btc.id,
      baseAmount: '1000000',
      quoteAssetId: usd.id,
      ttlSeconds: 600,
    }),
    'POST /v1/rfqs/{id}/quotes': async () => ({ quoteAmount: '650000000' }),
    'POST /v1/swaps/{id}/address': async ({ name }) => ({
      chain: bitcoin,
      address: name === 'initiator' ? initiator.pubkey : counterparty.pubkey,
    }),
    'POST /v1/swaps/{id}/legs/{leg}/claim': async () => ({ secret }),
    'POST /v1/tx/broadcast': async () => {
      const { hex } = await signedPayment(world, initiator.btcAddress, 10_000n);
      return { chain: 'bitcoin', signed: hex };
    },
  };
}
