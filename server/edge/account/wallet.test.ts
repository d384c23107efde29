// Sign-in by wallets of all four families over HTTP: POST /account/wallet and its proof. What the
// text must be, line by line: server/people/sign-in-text.test.ts.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { parseSiweMessage } from 'viem/siwe';
import { startAnvil } from '../../../chains/evm/testing/anvil.ts';
import { rpcClient } from '../../../chains/nodes/rpc.ts';
import { lyingNode } from '../../../chains/testing/nodes.ts';
import { families } from '../../../core/families.ts';
import { walletsOf } from '../../db/wallets.ts';
import { siteOf } from '../../people/site.ts';
import { beginText, checkText } from '../../people/wallet.ts';
import { browserOn, type TestBrowser } from '../testing/browser.ts';
import { codeOf, refused, testEdge } from '../testing/edge.ts';
import { account, mintNonce, prove, signed, vouch, walletNonce } from '../testing/hands.ts';
import { giveText, signInBy, textFor } from '../testing/sign-in.ts';
import {
  bitcoinWallet,
  evmWallet,
  solanaWallet,
  type TestWallet,
  tronWallet,
  walletOf,
} from '../testing/signers.ts';

const edge = await testEdge();
const gone = '409 ceremony_gone';

for (const family of families) {
  test(`a ${family} wallet signs in: first to an account of its own, then to the same`, async () => {
    const wallet = walletOf[family]();
    const browser = browserOn(edge);
    const first = await signInBy(browser, wallet);
    assert.deepEqual([first.status, first.body.isNew], [200, true], JSON.stringify(first.body));
    assert.match(browser.session() ?? '', /^parley_session_[0-9A-Za-z]{43}$/);
    const again = await signInBy(browserOn(edge), wallet);
    const { accountId } = first.body;
    assert.deepEqual(again.body, { accountId, isNew: false, outcome: 'signed_in' });
    const stored = await edge.sql(
      `select signed_in_by as by, wallet_family as family, wallet_address as address
        from sessions where account_id = $1 and revoked_at is null`,
      accountId,
    );
    const { address } = wallet;
    assert.deepEqual(stored, Array(2).fill({ by: 'wallet', family, address }));
  });
}

test('the Bitcoin key is kept where the signature shows it, and P2TR wallets sign in too', async () => {
  for (const kind of ['p2wpkh', 'p2tr'] as const) {
    const wallet = bitcoinWallet(kind);
    const { accountId } = (await signInBy(browserOn(edge), wallet)).body;
    const [row] = await edge.sql('select pubkey from wallets where account_id = $1', accountId);
    assert.equal(row.pubkey, kind === 'p2wpkh' ? wallet.pubkey : null);
  }
});

test('a wallet that has an account by a minted key signs in to that account', async () => {
  const { wallet, userId: accountId } = await account(edge, evmWallet());
  const answer = await signInBy(browserOn(edge), wallet);
  assert.deepEqual(answer.body, { accountId, isNew: false, outcome: 'signed_in' });
});

test('the text names site, purpose, chain, a nonce of 128 bits and ten minutes', async () => {
  const { family, address } = evmWallet();
  const browser = browserOn(edge);
  edge.deps.freeze();
  const issuedAt = new Date(edge.deps.now());
  const body = { family, address: address.toLowerCase(), purpose: 'sign-in' };
  const asked = (await browser.post('/account/wallet', body)).body;
  const { nonce, ...fields } = parseSiweMessage(asked.message);
  assert.match(nonce ?? '', /^[0-9a-f]{32}$/);
  const expirationTime = new Date(issuedAt.getTime() + 600_000);
  assert.deepEqual(fields, {
    address,
    chainId: 31_337,
    domain: 'localhost:8080',
    expirationTime,
    issuedAt,
    statement: 'Sign in to Parley.',
    uri: 'http://localhost:8080',
    version: '1',
  });
  assert.deepEqual([asked.address, asked.expiresAt], [address, expirationTime.toISOString()]);
  const other = (await browser.post('/account/wallet', body)).body;
  assert.notEqual(parseSiweMessage(other.message).nonce, nonce);
});

test('what is asked for is bounded; the chain is one that is served, or the word of the family', async () => {
  const browser = browserOn(edge);
  const good = { family: 'evm', address: evmWallet().address, purpose: 'sign-in' };
  const ask = (more: object) => browser.post('/account/wallet', { ...good, ...more });
  for (const [more, line] of [
    [{ chainId: 31_337 }, '31337'],
    [{ family: 'tron', address: tronWallet().address }, 'dev'],
    [{ family: 'solana', address: solanaWallet().address }, 'localnet'],
    [{ family: 'bitcoin', address: bitcoinWallet().address }, 'regtest'],
  ] as const) {
    const { body } = await ask(more);
    assert.equal(/^Chain ID: (.*)$/m.exec(body.message)?.[1], line);
  }
  refused(await ask({ chainId: 1 }), '400 bad_field', /"chainId" is 1; wallets sign in on 31337/);
  const solana = { family: 'solana', address: solanaWallet().address };
  for (const [more, code] of [
    [{ ...solana, chainId: 31_337 }, 'bad_field'],
    [{ family: 'cosmos' }, 'bad_field'],
    [{ address: 'x'.repeat(129) }, 'bad_field'],
    [{ address: '0x\u0430'.padEnd(42, '0') }, 'bad_address'],
    [{ address: 'https://evil.example' }, 'bad_address'],
    [{ purpose: 'payout' }, 'bad_field'],
    [{ chainId: 0 }, 'bad_field'],
    [{ chainId: 1.5 }, 'bad_field'],
  ] as const) {
    refused(await ask(more), `400 ${code}`);
  }
  const wallet = evmWallet();
  const text = await textFor(browser, wallet);
  const long = { signature: `0x${'00'.repeat(9_000)}` };
  refused(await giveText(browser, wallet, text, long), '400 bad_field');
});

test('a market of another name and site has these in its text, or the site for a name not shown', async () => {
  const publicUrl = 'https://desk.example';
  const people = { ...edge.deps.settings.people, publicUrl };
  for (const [productName, statement] of [
    ['Desk & Co', 'Sign in to Desk & Co.'],
    ['Ünïon Desk', 'Sign in to desk.example.'],
  ] as const) {
    const own = await testEdge({ settings: { people, shortName: 'ud', productName } });
    const browser = browserOn(own, { origin: publicUrl, shortName: 'ud' });
    const wallet = evmWallet();
    const text = await textFor(browser, wallet);
    const lines = text.split('\n');
    assert.match(lines[0] ?? '', /^desk.example wants you to sign in/);
    assert.deepEqual([lines[3], lines[5]], [statement, `URI: ${publicUrl}`]);
    assert.equal((await giveText(browser, wallet, text)).status, 200);
    assert.match(browser.cookies.get('__Host-ud_session') ?? '', /^ud_session_/);
  }
});

describe('a text that the wallet itself signed', () => {
  const wallet = evmWallet();
  const time = (label: string, ms: number) => (text: string) =>
    text.replace(new RegExp(`(?<=${label}: ).*`), (at) =>
      new Date(Date.parse(at) + ms).toISOString(),
    );
  const changes: [(text: string) => string, RegExp][] = [
    [
      (text) => text.replace('localhost:8080', 'evil.example'),
      /line 1 must be "localhost:8080 wants/,
    ],
    [(text) => text.replace('localhost:8080', 'l\u043ecalhost:8080'), /line 1 must be/],
    [(text) => text.replace(/URI: .*/, 'URI: http://evil.example'), /line 6 must be/],
    [(text) => text.replace('ID: 31337', 'ID: 1'), /line 8 must be "Chain ID: 31337"/],
    [(text) => text.replace(wallet.address, evmWallet().address), /line 2 must be/],
    [(text) => text.replace('Ethereum', 'Solana'), /line 1 must be/],
    [time('Expiration Time', 60_000), /line 11 must be/],
    [time('Expiration Time', -601_000), /line 11 must be/],
    [time('Issued At', 1), /line 10 must be/],
    [(text) => `${text}\nRequest ID: 7`, /12 lines instead of 11/],
    [(text) => text.replaceAll('\n', '\r\n'), /without CR/],
  ];

  test('is refused where it is not the text that was asked for, and is used up', async () => {
    for (const [change, sentence] of changes) {
      const browser = browserOn(edge);
      const text = await textFor(browser, wallet);
      refused(await giveText(browser, wallet, change(text)), '400 bad_message', sentence);
      assert.equal(browser.session(), null);
    }
    const browser = browserOn(edge);
    const text = await textFor(browser, wallet);
    // Another layout is read as no text of ours, and costs the person nothing.
    refused(await giveText(browser, wallet, `${text}\n`), '400 bad_message');
    const other = text.replace('URI: http:', 'URI: https:');
    refused(await giveText(browser, wallet, other), '400 bad_message');
    refused(await giveText(browser, wallet, text), gone);
    const forged = await textFor(browser, wallet);
    const signature = await evmWallet().sign(forged);
    refused(await giveText(browser, wallet, forged, { signature }), '400 bad_signature');
    refused(await giveText(browser, wallet, forged), gone);
  });

  test('is refused with any one character changed', async () => {
    const browser = browserOn(edge);
    const text = await textFor(browser, wallet);
    for (let place = 0; place < 24; place += 1) {
      const at = Math.floor((place * text.length) / 24);
      const changed = text.slice(0, at) + (text[at] === '1' ? '2' : '1') + text.slice(at + 1);
      const code = codeOf(await giveText(browser, wallet, changed));
      assert.ok(['400 bad_message', gone].includes(code), `at ${at}`);
    }
    assert.equal(browser.session(), null);
  });

  test('is good once, in the browser that asked, of two at once for one', async () => {
    const [browser, victim] = [browserOn(edge), browserOn(edge)];
    const text = await textFor(browser, wallet);
    refused(await giveText(victim, wallet, text), gone);
    assert.equal(victim.session(), null);
    // Who is not asked does not use it up.
    const answers = await Promise.all([1, 2, 3].map(() => giveText(browser, wallet, text)));
    assert.deepEqual(answers.map(codeOf).sort(), ['200 ok', gone, gone]);
    const again = await giveText(browser, wallet, text);
    refused(again, gone, /it was used, is older than 10 minutes, or/);
  });

  test('is good for ten minutes', async () => {
    edge.deps.freeze();
    const browser = browserOn(edge);
    const [early, late] = [await textFor(browser, wallet), await textFor(browser, wallet)];
    edge.deps.advance(599_999);
    assert.equal((await giveText(browser, wallet, early)).status, 200);
    edge.deps.advance(1);
    refused(await giveText(browser, wallet, late), gone, /older than 10 minutes/);
  });

  test('is of no other wallet, and begun for one purpose whatever sentence is signed', async () => {
    const browser = browserOn(edge);
    for (const other of [evmWallet(), bitcoinWallet(), solanaWallet()]) {
      const answer = await giveText(browser, other, await textFor(browser, wallet));
      refused(answer, '400 bad_message', /the request names/);
    }
    await signInBy(browser, wallet);
    const adding = 'Add this wallet as a login of your Parley account.';
    for (const [purpose, statement] of [
      ['sign-in', adding],
      ['add', 'Sign in to Parley.'],
      ['renew', 'Sign in to Parley.'],
    ] as const) {
      const asked = await textFor(browser, wallet, purpose);
      const text = asked.replace(asked.split('\n')[3] ?? '', statement);
      refused(await giveText(browser, wallet, text), '400 bad_message', /line 4 must be/);
    }
  });
});

describe('a text of one purpose is taken at its own door and at no other:', () => {
  const wallet = evmWallet();
  const linked = solanaWallet();
  const site = siteOf({ publicUrl: null, network: 'dev' }, 'localhost:8080')!;
  const identity = ({ cookies }: TestBrowser) => ({
    hash: createHash('sha256')
      .update(cookies.get('parley_browser') ?? '')
      .digest(),
    device: 'Firefox on Linux',
    place: '127.0.0.1',
  });
  const { family, address } = wallet;

  /** Each makes a text that is good where it is meant. */
  const purposes: Record<string, (browser: TestBrowser, key: string) => Promise<string>> = {
    'sign-in': (browser) => textFor(browser, wallet),
    add: (browser) => textFor(browser, wallet, 'add'),
    renew: (browser) => textFor(browser, wallet, 'renew'),
    payout: async (browser) => {
      const about = { family, address, statement: 'Pay EVM to this wallet from now on.' };
      const begun = { browser: identity(browser), purpose: 'add', session: null } as const;
      const request = { ...about, ...begun, way: 'payout', site, chainId: null } as const;
      return (await beginText(edge.deps.db, edge.deps, request)).message;
    },
    mint: async () =>
      `Parley - create an API key\n\nAddress: ${address}\nNonce: ${await mintNonce(edge)}`,
    link: async (_, key) => {
      const nonce = await walletNonce(edge, key, 'link');
      return `Parley - link this wallet\n\nAddress: ${address}\nNonce: ${nonce}`;
    },
    authorise: async (_, key) => (await vouch(edge, key, wallet, linked)).message,
  };

  type Door = (text: string, browser: TestBrowser, key: string) => Promise<string>;
  const doors: Record<string, Door> = {
    session: async (text, browser) => codeOf(await giveText(browser, wallet, text)),
    payout: async (message, browser) => {
      const signature = await wallet.sign(message);
      const given = { family, address, message, signature, site, browser: identity(browser) };
      const checked = checkText(edge.deps, { ...given, way: 'payout' }, AbortSignal.timeout(5_000));
      return checked.then(
        () => '200',
        (error) => `400 ${error.code}`,
      );
    },
    link: async (text, _, key) =>
      codeOf(await prove(edge, key, wallet, await signed(wallet, text))),
    authorise: async (text, _, key) => {
      const nonce = await walletNonce(edge, key, 'link');
      const words = `Parley link this wallet ${linked.address}\nNonce: ${nonce}`;
      const authorization = await signed(wallet, text);
      const body = { ...(await signed(linked, words)), authorization };
      return codeOf(await prove(edge, key, linked, body));
    },
    // Last, as it revokes the key.
    mint: async (text) => {
      const body = { rail: family, ...(await signed(wallet, text)) };
      return codeOf(await edge.call('POST', '/v1/keys', { body }));
    },
  };
  const doorOf = (purpose: string) =>
    ['sign-in', 'add', 'renew'].includes(purpose) ? 'session' : purpose;

  for (const [purpose, write] of Object.entries(purposes)) {
    test(purpose, async () => {
      const browser = browserOn(edge);
      await signInBy(browser, wallet);
      const { key } = await account(edge, wallet);
      for (const [door, give] of Object.entries(doors)) {
        const code = await give(await write(browser, key), browser, key);
        assert.equal(code.startsWith('200'), door === doorOf(purpose), `${door}: ${code}`);
      }
    });
  }

  test('not even with the nonce of the other pool in it', async () => {
    const browser = browserOn(edge);
    const nonce = await mintNonce(edge);
    const text = await textFor(browser, wallet);
    const changed = text.replace(/(?<=Nonce: ).*/, nonce);
    refused(await giveText(browser, wallet, changed), gone);
    const own = /Nonce: (.*)/.exec(text)?.[1];
    const minting = `Parley - create an API key\n\nAddress: ${address}\nNonce: ${own}`;
    const body = { rail: 'evm', ...(await signed(wallet, minting)) };
    refused(await edge.call('POST', '/v1/keys', { body }), '400 bad_nonce');
  });
});

describe('a wallet of a signed-in account', () => {
  test('is added, one of a family, and then signs in to that account', async () => {
    const [login, other] = [evmWallet(), solanaWallet()];
    const browser = browserOn(edge);
    const { accountId } = (await signInBy(browser, login)).body;
    const token = browser.session();
    const adding = /\nAdd this wallet as a login of your Parley/;
    assert.match(await textFor(browser, other, 'add'), adding);
    // Asked for once more it is a sign-in alone, and says so. Its token stays throughout.
    for (const outcome of ['added', 'renewed']) {
      const added = await signInBy(browser, other, 'add');
      assert.deepEqual(added.body, { accountId, isNew: false, outcome });
      if (outcome === 'added') assert.equal(browser.session(), token);
    }
    const elsewhere = await signInBy(browserOn(edge), other);
    assert.deepEqual(elsewhere.body, { accountId, isNew: false, outcome: 'signed_in' });
    refused(await signInBy(browser, solanaWallet(), 'add'), '409 login_family_taken');
    const stored = await walletsOf(edge.deps.db, accountId);
    assert.deepEqual(
      stored.map(({ family, address, standing, waitsUntil }) => [
        ...[family, address, standing],
        // Who stole the session could have added it: until it receives, it waits.
        waitsUntil !== null,
      ]),
      [
        ['evm', login.address, 'login', false],
        ['solana', other.address, 'login', true],
      ],
    );
  });

  test('that is the login of another account moves nothing of that one', async () => {
    const theirs = solanaWallet();
    const browser = browserOn(edge);
    const { accountId } = (await signInBy(browser, evmWallet())).body;
    const owner = (await signInBy(browserOn(edge), theirs)).body.accountId;
    for (const purpose of ['add', 'renew'] as const) {
      const answer = await signInBy(browser, theirs, purpose);
      refused(answer, '409 login_taken', /belongs to another account; sign in there/);
    }
    assert.equal((await walletsOf(edge.deps.db, accountId)).length, 1);
    assert.equal((await signInBy(browserOn(edge), theirs)).body.accountId, owner);
  });

  test('renews the session under another token; one that is no login does not', async () => {
    const wallet = tronWallet();
    const browser = browserOn(edge);
    const { accountId } = (await signInBy(browser, wallet)).body;
    const token = browser.session();
    edge.deps.advance(11 * 60_000);
    // Before anything is signed in vain.
    const { family, address } = solanaWallet();
    const body = { family, address, purpose: 'add' };
    const path = '/account/wallet';
    refused(await browser.post(path, body), '403 session_stale');
    refused(await signInBy(browser, evmWallet(), 'renew'), '404 unknown_login');
    const words = /\nSign in to your Parley account again.\n/;
    assert.match(await textFor(browser, wallet, 'renew'), words);
    assert.equal((await signInBy(browser, wallet, 'renew')).status, 200);
    assert.notEqual(browser.session(), token);
    assert.equal((await signInBy(browser, solanaWallet(), 'add')).body.accountId, accountId);
    const thief = browserOn(edge, { cookies: new Map([['parley_session', token ?? '']]) });
    refused(await thief.post(path, body), '409 other_account');
    const ofNobody = await thief.call('POST', path, body, { 'x-parley-account': null });
    refused(ofNobody, '409 session_ended');
  });

  test('is neither added nor renewed where nobody, or by now another, is signed in', async () => {
    const { family, address } = evmWallet();
    for (const purpose of ['add', 'renew']) {
      const answer = await browserOn(edge).post('/account/wallet', { family, address, purpose });
      refused(answer, '409 session_ended');
    }
    const browser = browserOn(edge);
    await signInBy(browser, evmWallet());
    const added = solanaWallet();
    const text = await textFor(browser, added, 'add');
    await signInBy(browser, evmWallet());
    refused(await giveText(browser, added, text), '409 session_ended');
  });
});

test('a contract wallet signs in by EIP-1271, and not where its contract refuses or is not heard', async () => {
  const chain = await startAnvil({ deploy: false });
  let hangs = false;
  const node = await lyingNode(chain.rpcUrl, (_, forward) => (hangs ? undefined : forward()));
  after(() => Promise.all([node.stop(), chain.stop()]));
  const own = await testEdge({ evmNodes: [rpcClient({ chain: 'evm-dev', urls: [node.url] })] });
  // Answers every call with the magic word of EIP-1271, or with another word.
  const contract = async (word: string): Promise<TestWallet> => {
    const wallet = evmWallet();
    const bytecode = `0x7f${word}${'0'.repeat(56)}60005260206000f3` as const;
    await chain.client.setCode({ address: wallet.address as '0x', bytecode });
    return { ...wallet, sign: async () => '0x1234' };
  };
  const wallet = await contract('1626ba7e');
  const first = await signInBy(browserOn(own), wallet);
  assert.deepEqual([first.status, first.body.isNew], [200, true], JSON.stringify(first.body));
  refused(await signInBy(browserOn(own), await contract('ffffffff')), '400 bad_signature');
  // 504 leaves the text good.
  const browser = browserOn(own);
  const text = await textFor(browser, wallet);
  const hang = (isHanging: boolean, chainTimeoutMs: number) => {
    hangs = isHanging;
    Object.assign(own.deps.settings, { chainTimeoutMs });
  };
  hang(true, 100);
  refused(await giveText(browser, wallet, text), '504 chain_timeout');
  hang(false, 5_000);
  assert.equal((await giveText(browser, wallet, text)).body.accountId, first.body.accountId);
  refused(await giveText(browser, wallet, text), gone);
});
