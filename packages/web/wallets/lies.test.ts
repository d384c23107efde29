// Lies of a hostile or broken wallet, all of which are stopped: announcements, accounts, networks,
// signatures and transactions.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { ed25519 } from '@noble/curves/ed25519.js';
import { hexToBytes } from '@noble/hashes/utils.js';
import { unsignedTransaction } from '@parley/chains/solana/message.ts';
import { signTronMessage, tronAddressOfKey } from '@parley/chains/tron/proof.ts';
import { WalletError } from '@parley/sdk/errors.ts';
import { asking } from '@parley/sdk/wallets/asking.ts';
import { bitcoinWallet } from '@parley/sdk/wallets/bitcoin.ts';
import { base58, base64 } from '@scure/base';
import { privateKeyToAccount } from 'viem/accounts';
import { asked, iconOf, nameOf } from './asked.ts';
import { linkBitcoin } from './bitcoin.ts';
import { linkEvm } from './evm.ts';
import { linkSolana } from './solana.ts';
import { linkTron } from './tron.ts';
import type { FoundWallet, Link, Place } from './types.ts';

const key = '42'.repeat(32);
const seed = hexToBytes(key);
const otherSeed = hexToBytes('43'.repeat(32));
const owner = privateKeyToAccount(`0x${key}`);
const other = privateKeyToAccount(`0x${'43'.repeat(32)}`);
const proof = { bitcoin: 'regtest' } as const;
const named = (family: FoundWallet['family']): FoundWallet => {
  return { id: family, family, name: 'Imp', icon: null };
};
const text = 'Sign in here.\n\nNonce: 1';

test('names are plain text of a line, and icons are one image', () => {
  for (const [said, wanted] of [
    ['MetaMask', 'MetaMask'],
    ['<script>alert(1)</script>', '<script>alert(1)</script>'],
    ['Meta\u202eksaM', 'MetaksaM'],
    ['A\u0000\u200b  B\nC', 'A BC'],
    ['x'.repeat(10_000), `${'x'.repeat(39)}…`],
    ['', 'Unnamed wallet'],
    [{ toString: () => 'Meta' }, 'Unnamed wallet'],
    [undefined, 'Unnamed wallet'],
  ] as const) {
    assert.equal(nameOf(said), wanted);
  }
  const png = 'data:image/png;base64,iVBORw0KGgo=';
  const svg = 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"/>';
  for (const good of [png, svg, 'data:image/svg+xml;base64,PHN2Zy8+']) {
    assert.equal(iconOf(good), good);
  }
  for (const bad of [
    'https://tracker.example/icon.png',
    'javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'data:image/png;base64,<script>',
    `data:image/png;base64,${'A'.repeat(131_072)}`,
    `data:image/svg+xml,<svg/>\u202e`,
    { toString: () => png },
    null,
  ]) {
    assert.equal(iconOf(bad), null, String(bad).slice(0, 60));
  }
});

/** An honest provider of EVM, but for what is given. */
function evm(lies: Readonly<Record<string, unknown>> = {}) {
  const honest: Readonly<Record<string, unknown>> = {
    eth_requestAccounts: [owner.address],
    eth_accounts: [owner.address],
    eth_chainId: '0x7a69',
    personal_sign: () => owner.signMessage({ message: text }),
  };
  const request = async ({ method, params }: { method: string; params?: unknown }) => {
    const said = method in lies ? lies[method] : honest[method];
    return typeof said === 'function' ? (said as (given: unknown) => unknown)(params) : said;
  };
  return { request };
}

const throwing = (thrown: unknown) => () => {
  throw thrown;
};
const evil = new Proxy(
  {},
  {
    get: () => {
      throw new Error('a trap');
    },
  },
);

/** Solana. */
const bytes58 = (of: Uint8Array) => base58.encode(ed25519.getPublicKey(of));
const account = { address: bytes58(seed), chains: ['solana:localnet'] };
type Lies = {
  readonly accounts?: unknown;
  readonly signed?: unknown;
  readonly transaction?: (bytes: Uint8Array) => unknown;
};
function solana({ accounts = [account], signed, transaction }: Lies = {}) {
  const sign = ({ message }: { message: Uint8Array }) => [
    { signedMessage: message, signature: ed25519.sign(message, seed) },
  ];
  const whole = ({ transaction: bytes }: { transaction: Uint8Array }) => [
    { signedTransaction: transaction?.(bytes) },
  ];
  return {
    name: 'Imp',
    chains: ['solana:localnet'],
    accounts,
    features: {
      'standard:connect': { connect: async () => ({ accounts }) },
      'solana:signMessage': { signMessage: signed === undefined ? sign : () => signed },
      'solana:signTransaction': { signTransaction: whole },
    },
  } as never;
}

/** TRON. */
function tron({ address = tronAddressOfKey(seed) as unknown, signed = undefined as unknown } = {}) {
  const sign = async (message: string) => signed ?? signTronMessage(seed, message);
  return {
    request: async () => ({ code: 200 }),
    tronWeb: { defaultAddress: { base58: address }, trx: { signMessageV2: sign } },
  };
}

/** Bitcoin. */
const [bitcoin, otherBitcoin] = [key, '43'.repeat(32)].map((privateKey) =>
  bitcoinWallet({ privateKey, network: 'regtest' }),
) as [ReturnType<typeof bitcoinWallet>, ReturnType<typeof bitcoinWallet>];
function btc(lies: Readonly<Record<string, unknown>> = {}) {
  const honest: Readonly<Record<string, unknown>> = {
    getAddresses: { addresses: [{ address: bitcoin.address, purpose: 'payment' }] },
    signMessage: async () => ({ signature: await bitcoin.signMessage(text) }),
  };
  const request = async (method: string) => {
    const said = method in lies ? lies[method] : honest[method];
    const result = typeof said === 'function' ? await (said as () => unknown)() : said;
    return { result };
  };
  return { request };
}

const links = {
  evm: (lies: Parameters<typeof evm>[0] = {}) => linkEvm(evm(lies), named('evm'), proof),
  solana: (lies: Lies = {}) => linkSolana(solana(lies), named('solana'), proof),
  tron: (lies: Parameters<typeof tron>[0] = {}) => linkTron(tron(lies), named('tron'), proof),
  bitcoin: (lies: Parameters<typeof btc>[0] = {}) =>
    linkBitcoin(btc(lies), named('bitcoin'), proof),
};
const signing = async (link: Promise<Link>) => (await link).signer.signMessage(text);
const code =
  (wanted: string, words = /./) =>
  (error: unknown) => {
    assert.ok(error instanceof WalletError, String(error));
    assert.match(error.message, words);
    assert.equal(error.code, wanted, error.message);
    return true;
  };

test('honest wallets of each family link and sign', async () => {
  for (const link of Object.values(links)) assert.ok(await signing(link()));
});

const lies: readonly (readonly [string, string, () => Promise<unknown>, RegExp?])[] = [
  ['evm: no account', 'lied', () => links.evm({ eth_requestAccounts: [] })],
  ['evm: an object that throws', 'failed', () => links.evm({ eth_requestAccounts: evil })],
  ['evm: no', 'declined', () => links.evm({ eth_requestAccounts: throwing({ code: 4001 }) })],
  [
    'evm: no, in words',
    'declined',
    () => links.evm({ eth_requestAccounts: throwing('User rejected') }),
  ],
  [
    'evm: a request is open',
    'failed',
    () => links.evm({ eth_requestAccounts: throwing({ code: -32_002 }) }),
    /open already/,
  ],
  ['evm: it throws a trap', 'failed', () => links.evm({ eth_requestAccounts: throwing(evil) })],
  [
    'evm: another account now',
    'wrong_account',
    () => signing(links.evm({ eth_accounts: [other.address] })),
    /another account/,
  ],
  [
    'evm: signed by another key',
    'lied',
    () => signing(links.evm({ personal_sign: () => other.signMessage({ message: text }) })),
  ],
  [
    'evm: another text',
    'lied',
    () => signing(links.evm({ personal_sign: () => owner.signMessage({ message: 'give all' }) })),
  ],
  ['evm: no signature', 'lied', () => signing(links.evm({ personal_sign: { length: 132 } }))],
  ['solana: no account', 'declined', () => links.solana({ accounts: [] })],
  [
    'solana: an account of no key',
    'lied',
    () => links.solana({ accounts: [{ ...account, address: 'x' }] }),
  ],
  [
    'solana: another text',
    'lied',
    () => signing(links.solana({ signed: [{ signature: ed25519.sign(seed, seed) }] })),
  ],
  ['tron: not shared', 'lied', () => links.tron({ address: false })],
  ['tron: an address of EVM', 'lied', () => links.tron({ address: owner.address })],
  [
    'tron: another key',
    'lied',
    () => signing(links.tron({ signed: signTronMessage(otherSeed, text) })),
  ],
  [
    'bitcoin: of another network',
    'wrong_network',
    () =>
      links.bitcoin({
        getAddresses: { addresses: [{ address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4' }] },
      }),
    /mainnet.*regtest/,
  ],
  [
    'bitcoin: another key',
    'lied',
    () =>
      signing(
        links.bitcoin({
          signMessage: async () => ({ signature: await otherBitcoin.signMessage(text) }),
        }),
      ),
  ],
  ['bitcoin: no id', 'lied', () => pay({ sendTransfer: { txid: 'paid' } }), /chain will show/],
  [
    'bitcoin: no',
    'declined',
    () => pay({ sendTransfer: throwing({ error: { code: -32_000, message: 'no' } }) }),
  ],
];

const pay = async (said: Parameters<typeof btc>[0]) =>
  (await links.bitcoin(said)).pay({
    payTo: bitcoin.address,
    amountSats: 1_000n,
    withinMs: 1_000,
  });

test('a wallet that lies is refused with the reason', async () => {
  for (const [name, wanted, does, words] of lies) {
    await assert.rejects(does, code(wanted, words), name);
  }
});

test('a wallet that never answers ends', async () => {
  const never = () => new Promise(() => {});
  await assert.rejects(asked('Imp', never, 30), code('silent', /Imp has not answered within 0 s/));
  const stop = AbortSignal.abort(new Error('over'));
  await assert.rejects(asked('Imp', never, 1_000, stop), /over/);
});

const asks = asking(200);
const soon = () => AbortSignal.timeout(60_000);

test('the one of several accounts that a swap was agreed with is taken', async () => {
  const both = [other.address, owner.address];
  for (const [wanted, taken] of [
    [owner.address.toLowerCase(), owner.address],
    [undefined, other.address],
    [`0x${'5a'.repeat(20)}`, other.address],
  ] as const) {
    const provider = evm({ eth_requestAccounts: both, eth_accounts: both });
    const { signer } = await linkEvm(provider, named('evm'), proof, wanted);
    assert.equal(signer.address, taken);
  }
  const two = { accounts: [{ ...account, address: bytes58(otherSeed) }, account] };
  const { signer } = await linkSolana(solana(two), named('solana'), proof, account.address);
  assert.equal(signer.address, account.address);
});
const onChain = {
  family: 'evm',
  chain: 'evm-dev',
  chainId: 31_337,
  rpcUrls: [''],
  name: 'Dev',
  coin: 'ETH',
} as const;
const sending = async (given: Parameters<typeof evm>[0], by = asks) => {
  const wallet = (await links.evm(given)).on({ ...onChain, rpcUrls: [node] } satisfies Place, by);
  return wallet.sign(31_337, { to: other.address, data: '0x', value: '0x1', gas: 21_000n }, soon());
};

let node = '';
let stop: () => unknown = () => {};
before(async () => {
  const { startAnvil } = await import('@parley/chains/evm/testing/anvil.ts');
  const anvil = await startAnvil();
  node = anvil.rpcUrl;
  stop = () => anvil.stop();
});
after(() => stop());

test('a wallet on another network is not asked to sign there, and both ids are said', async () => {
  const methods: string[] = [];
  const noted = (method: string, said: unknown) => () => {
    methods.push(method);
    return said;
  };
  const stays = { eth_chainId: '0x1', wallet_switchEthereumChain: null };
  const sent = { eth_sendTransaction: noted('eth_sendTransaction', `0x${'ab'.repeat(32)}`) };
  const both = /chain 1, and this swap is on chain 31337 \(Dev\)/;
  await assert.rejects(sending({ ...stays, ...sent }), code('wrong_network', both));
  for (const chainId of ['0x7a69ff', 31_338, null, '0x7a69 ', '7a69', '1']) {
    await assert.rejects(
      sending({ ...stays, ...sent, eth_chainId: chainId }),
      code('wrong_network'),
    );
  }
  const no = { wallet_switchEthereumChain: throwing({ code: 4001 }) };
  await assert.rejects(sending({ ...stays, ...sent, ...no }), code('declined'));
  assert.deepEqual(methods, []);
});

/** A wallet on chain 1 that knows no other; `how` it says so, and what it does as it adds one. */
function onAnother(how: unknown, { addSwitches = false, afterMs = 0, decimal = false } = {}) {
  const asked: string[] = [];
  let chainId = 1;
  let isKnown = how === null;
  const switched = () => void setTimeout(() => (chainId = 31_337), afterMs);
  return {
    asked,
    eth_chainId: () => (decimal ? `${chainId}` : `0x${chainId.toString(16)}`),
    wallet_switchEthereumChain: () => {
      asked.push('switch');
      if (!isKnown) throw how;
      switched();
      return null;
    },
    wallet_addEthereumChain: () => {
      asked.push('add');
      isKnown = true;
      if (addSwitches) switched();
      return null;
    },
    eth_sendTransaction: () => {
      asked.push('send');
      return '42';
    },
  };
}

test('a chain that a wallet does not know is added, however it says so, and it is switched to', async () => {
  const inside = { code: 4902, message: 'Unrecognized chain ID "0x7a69"' };
  const words =
    'Unrecognized chain ID "0x7a69". Try adding the chain using wallet_addEthereumChain';
  const ways = ['switch', 'add', 'switch', 'send'];
  for (const [how, given, wanted] of [
    [{ code: 4902 }, {}, ways],
    [{ code: '4902' }, {}, ways],
    [{ code: -32_603, data: { originalError: inside } }, {}, ways],
    [{ code: -32_603, message: 'Internal', cause: { info: { error: inside } } }, {}, ways],
    [{ code: -32_603, message: words }, {}, ways],
    [{ code: -32_000, message: 'Die Chain wird nicht unterstützt' }, {}, ways],
    [new Error('não suportada'), {}, ways],
    [inside, { addSwitches: true }, ['switch', 'add', 'send']],
    [inside, { addSwitches: true, afterMs: 120, decimal: true }, ['switch', 'add', 'send']],
    [null, { afterMs: 120 }, ['switch', 'send']],
    [null, { decimal: true }, ['switch', 'send']],
  ] as const) {
    const wallet = onAnother(how, given);
    // It is asked to send, and what it answers is no id.
    await assert.rejects(sending(wallet, asking(2_000)), code('unseen'));
    assert.deepEqual(wallet.asked, wanted, JSON.stringify([how, given]));
  }
  // One that adds none either is told by what it said first.
  const other = { code: -32_603, data: { originalError: { code: -32_000 } } };
  const addsNone = (said: object) => ({
    ...onAnother(other),
    wallet_addEthereumChain: throwing(said),
  });
  await assert.rejects(sending(addsNone({ code: 4_200 })), code('failed', /-32603/));
  await assert.rejects(sending(addsNone({ code: 4_001 })), code('declined'));
  const isOpen = onAnother({ code: -32_002 });
  await assert.rejects(sending(isOpen), code('failed', /open already/));
  assert.deepEqual(isOpen.asked, ['switch']);
  const no = { code: -32_603, data: { originalError: { code: 4001 } } };
  await assert.rejects(sending(onAnother(no)), code('declined'));
});

test("a wallet's answer in hex may lack 0x", async () => {
  const signed = async () => (await owner.signMessage({ message: text })).slice(2);
  assert.equal(await signing(links.evm({ personal_sign: signed })), `0x${await signed()}`);
});

test("a wallet's word that it has sent is held against one’s own node", async () => {
  for (const txid of ['0x12', 42, null, `0x${'zz'.repeat(32)}`]) {
    await assert.rejects(
      sending({ eth_sendTransaction: txid }),
      code('unseen', /names no transaction/),
    );
  }
  const silent = { eth_sendTransaction: () => new Promise(() => {}) };
  await assert.rejects(sending(silent), code('silent'));
});

test('a wallet of TRON or Solana on another network signs nothing, and both are named', async () => {
  const genesis = (id: string) => async () => ({ blockID: `${'00'.repeat(28)}${id}` });
  for (const [block, words] of [
    [genesis('2b6653dc'), /network 0x2b6653dc, and this swap is on tron-dev \(0xcd8690dc\)/],
    [genesis('not an id'), /a network that it does not name/],
    [throwing('no node'), /a network that it does not name/],
  ] as const) {
    const provider = tron();
    Object.assign(provider.tronWeb.trx, { getBlockByNumber: block, sign: () => assert.fail() });
    const link = await linkTron(provider, named('tron'), proof);
    const place = {
      family: 'tron',
      chain: 'tron-dev',
      chainId: 0xcd8690dc,
      sources: [{ url: 'http://127.0.0.1:1' }],
    } as const;
    const unsigned = { raw_data_hex: '00' } as never;
    await assert.rejects(link.on(place, asks).sign(unsigned, soon()), code('wrong_network', words));
  }
  const server = createServer(async (request, reply) => {
    const { method } = JSON.parse((await request.toArray()).join('')) as { method: string };
    const newest = { blockhash: bytes58(seed), lastValidBlockHeight: 151 };
    const value = method === 'getLatestBlockhash' ? newest : true;
    const result = method === 'getBlockHeight' ? 1 : { context: { slot: 1 }, value };
    reply.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    const link = await links.solana();
    const wallet = link.on(
      {
        family: 'solana',
        chain: 'solana',
        rpcUrls: [`http://127.0.0.1:${port}`],
        genesisHash: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
      },
      asks,
    );
    const instruction = { program: bytes58(otherSeed), accounts: [], data: new Uint8Array(1) };
    const whole = unsignedTransaction(account.address, [instruction], bytes58(seed));
    const material = { transaction: base64.encode(whole) } as never;
    const words = /Imp is on solana:localnet, and this swap is on solana:mainnet/;
    await assert.rejects(wallet.sign(material, soon()), code('wrong_network', words));
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
