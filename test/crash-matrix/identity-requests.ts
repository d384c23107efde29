// Rows of the matrix: keys, wallets, webhooks, and tokens that somebody asks for.

import { found, type Inspection, passed } from '../../chains/tokens/inspection.ts';
import type { Family } from '../../core/families.ts';
import {
  bitcoinWallet,
  evmWallet,
  solanaWallet,
  type TestWallet,
  tronWallet,
} from '../../server/edge/testing/signers.ts';
import type { Party } from '../sim/state.ts';
import type { Play, Row } from './matrix.ts';
import { tokenChain } from './parts.ts';
import { leaseMs, request } from './request.ts';
import { type Answer, type Asked, ask, deliverAll, must, openRfq, openTraders } from './trade.ts';
import type { World } from './world.ts';

type Words = { readonly address: string; readonly message: string; readonly signature: string };

async function sayTo(
  wallet: TestWallet,
  what: string,
  { nonce, also }: { nonce: string; also?: string },
): Promise<Words> {
  const { address } = wallet;
  const named = also === undefined ? [] : [`Wallet: ${also}`];
  const message = [`Parley - ${what}`, '', ...named, `Address: ${address}`, `Nonce: ${nonce}`];
  const text = message.join('\n');
  return { address, message: text, signature: await wallet.sign(text) };
}

async function mintWith(world: World, wallet: TestWallet): Promise<Asked> {
  const { nonce } = await must(world, { method: 'GET', url: '/v1/keys/nonce' });
  const words = await sayTo(wallet, 'create an API key', { nonce });
  return { url: '/v1/keys', body: { rail: wallet.family, ...words } };
}

/** The server keeps no key: a client without an answer takes a new nonce and mints another. */
function minting(detail: string, before: boolean): Row {
  return {
    name: `POST /v1/keys: ${detail}`,
    of: 'POST /v1/keys',
    prepare: async (world) => {
      const wallet = evmWallet();
      if (before) await must(world, await mintWith(world, wallet));
      const first = await mintWith(world, wallet);
      return {
        act: async (copy, tries) => ask(copy, tries === 0 ? first : await mintWith(copy, wallet)),
        after: async () => {},
        answer: ({ status, body }) => [status, body.name, body.scopes],
        reading: { only: { api_keys: live, outbox: () => null, nonces: () => null } },
        right: oneKey,
      };
    },
  };
}

const live = (row: Record<string, unknown>) => (row.revoked_at === null ? row : null);

async function oneKey(world: World, answer: Answer | null): Promise<string[]> {
  const { key } = answer?.body ?? {};
  world.secrets.set(key, 'never');
  const by = { key } as Party;
  const { status } = await ask(world, { method: 'GET', url: '/v1/me', by });
  const [row] = await world.real.rows<{ keys: number; told: number; unused: number }>({
    name: '',
    text: `select (select count(*) from api_keys) as keys,
      (select count(*) from outbox where topic = 'key.created') as told,
      (select count(*) from nonces where used_at is null) as unused`,
    values: [],
  });
  return [
    ...(status === 200 ? [] : [`the key that was given out is answered ${status}`]),
    ...(row?.keys === row?.told ? [] : [`${row?.told} told of ${row?.keys} keys`]),
    // One that was cut off before it was shown to anybody may be left to its five minutes.
    ...((row?.unused ?? 0) <= 1 ? [] : [`${row?.unused} nonces are not used`]),
  ];
}

async function proofOf(world: World, by: Party, wallet: TestWallet): Promise<Words> {
  const { nonce } = await must(world, { method: 'GET', url: '/v1/wallets/nonce', by });
  return sayTo(wallet, 'link this wallet', { nonce });
}

function proving(family: Family, make: () => TestWallet, detail = ''): Row {
  return request(detail, `POST /v1/wallets/${family}`, async (world) => {
    const { taker } = await openTraders(world);
    const body = await proofOf(world, taker, make());
    return { url: `/v1/wallets/${family}`, by: taker, body };
  });
}

/** A contract: nobody has its key, and its chain is asked. */
function contractWallet(): TestWallet {
  const wallet = evmWallet();
  return { ...wallet, address: '0x00000000000000000000000000000000000000c0' };
}

const wallets: readonly Row[] = [
  proving('evm', evmWallet),
  proving('evm', contractWallet, 'a contract'),
  proving('tron', tronWallet),
  proving('bitcoin', bitcoinWallet),
  proving('solana', solanaWallet),
  request('authorised', 'POST /v1/wallets/tron', async (world) => {
    const login = evmWallet();
    const minted = await must(world, await mintWith(world, login));
    const by = { key: minted.key } as Party;
    const linked = tronWallet();
    const words = await proofOf(world, by, linked);
    const url = '/v1/wallets/nonce?purpose=authorize';
    const { nonce } = await must(world, { method: 'GET', url, by });
    const about = { nonce, also: linked.address };
    const authorization = await sayTo(login, 'authorise this wallet', about);
    return { url: '/v1/wallets/tron', by, body: { ...words, authorization } };
  }),
  request('', 'DELETE /v1/wallets/{address}', async (world) => {
    const { taker } = await openTraders(world);
    const wallet = solanaWallet();
    const body = await proofOf(world, taker, wallet);
    await must(world, { url: '/v1/wallets/solana', by: taker, body });
    return { method: 'DELETE', url: `/v1/wallets/${wallet.address}`, by: taker };
  }),
];

/** The secret that was given out is the one that signs. */
const signs: Play['after'] = async (world, answer) => {
  const { webhook, secret } = answer?.body ?? {};
  const { pathname } = new URL(webhook.url);
  world.secrets.set(secret, 'never');
  world.receiver.expect(pathname, secret);
  world.hooks.set(pathname, secret);
  const [row] = await world.real.rows<{ id: string }>({
    name: '',
    text: 'select account_id as id from webhooks where id = $1',
    values: [webhook.id],
  });
  await world.real.rows({
    name: '',
    text: `insert into outbox (topic, account_id, payload, created_at)
      values ('swap.agreed', $1, '{}', $2)`,
    values: [row?.id, new Date(world.nowMs)],
  });
  await deliverAll(world);
};

const webhooks: readonly Row[] = [
  request(
    '',
    'POST /v1/webhooks',
    async (world) => {
      const { taker } = await openTraders(world);
      const url = 'https://hooks.example.org/another';
      return { url: '/v1/webhooks', by: taker, body: { url, events: ['swap.agreed'] } };
    },
    { after: signs },
  ),
  request('', 'DELETE /v1/webhooks/{id}', async (world) => {
    const { taker } = await openRfq(world);
    const { webhooks: own } = await must(world, { method: 'GET', url: '/v1/webhooks', by: taker });
    return { method: 'DELETE', url: `/v1/webhooks/${own[0].id}`, by: taker };
  }),
  request('', 'POST /v1/webhooks/{id}/ping', async (world) => {
    const { taker } = await openTraders(world);
    const { webhooks: own } = await must(world, { method: 'GET', url: '/v1/webhooks', by: taker });
    return { url: `/v1/webhooks/${own[0].id}/ping`, by: taker };
  }),
];

export const tokenAddress = `0x${'7e'.repeat(20)}`;

export function inspectionOf(address: string, ...findings: Inspection['findings']): Inspection {
  const all = [passed('contract'), ...findings];
  return { address, symbol: 'TKN', name: 'A token', decimals: 18, findings: all };
}

export const waits = found('pausable', 'wait', 'its owner can pause it');
export const refused = found('transfer', 'reject', '3 of 100 did not arrive');

const wish = (by: Party): Asked => ({
  url: '/v1/assets',
  by,
  body: { chain: tokenChain, address: tokenAddress },
});

const assets: readonly Row[] = [
  ...([[], [waits], [refused]] as const).map((findings) =>
    request(`${findings[0]?.outcome ?? 'listed'}`, 'POST /v1/assets', async (world) => {
      const { taker } = await openTraders(world);
      world.tokens.set(tokenAddress, inspectionOf(tokenAddress, ...findings));
      return wish(taker);
    }),
  ),
  request('reopened', 'POST /v1/assets', async (world) => {
    const { taker } = await openTraders(world);
    world.tokens.set(tokenAddress, inspectionOf(tokenAddress));
    const { asset } = await must(world, wish(taker));
    const closings = { checks: { reasons: ['paused'], at: '2031-01-01T00:00:00.000Z' } };
    await world.real.rows({
      name: '',
      text: 'update assets set closings = $2 where id = $1',
      values: [asset.id, JSON.stringify(closings)],
    });
    world.nowMs += leaseMs;
    return wish(taker);
  }),
];

export const identityRequests: readonly Row[] = [
  minting('first', false),
  minting('replaced', true),
  ...wallets,
  ...webhooks,
  ...assets,
];
