// Signed texts that sign nobody in: used, old, of another browser, site or purpose, or not the text
// that was asked for. And texts of one purpose where those of another are taken.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { siteOf } from '../../people/site.ts';
import { beginText, checkText } from '../../people/wallet.ts';
import { browserOn, type TestBrowser } from '../testing/browser.ts';
import { type Answer, codeOf, startEdge, type TestEdge } from '../testing/edge.ts';
import { account, mintNonce, prove, signed, vouch, walletNonce } from '../testing/hands.ts';
import { giveText, textFor } from '../testing/sign-in.ts';
import { bitcoinWallet, evmWallet, solanaWallet, type TestWallet } from '../testing/signers.ts';

let edge: TestEdge;
before(async () => {
  edge = await startEdge();
});
after(() => edge.close());

const wallet = evmWallet();

/** The wallet signs what `change` makes of its text: its own signature, over another text. */
async function signChanged(
  change: (text: string) => string,
  browser = browserOn(edge),
  signer: TestWallet = wallet,
): Promise<Answer> {
  const text = await textFor(browser, signer);
  const changed = change(text);
  assert.notEqual(changed, text);
  return giveText(browser, signer, changed);
}

async function refused(change: (text: string) => string, sentence: RegExp): Promise<void> {
  const browser = browserOn(edge);
  const answer = await signChanged(change, browser);
  assert.equal(codeOf(answer), '400 bad_message', JSON.stringify(answer.body));
  assert.match(answer.body.error, sentence);
  assert.equal(browser.session(), null);
}

describe('a text that the wallet itself signed is refused', () => {
  const domain = (name: string) => (text: string) => text.replace('localhost:8080', name);

  test('for another domain, also one that looks alike', async () => {
    const other = /line 1 must be "localhost:8080 wants .*", and is "/;
    for (const name of [
      ...['evil.example', 'localhost', 'localhost:80\u0438\u0456', 'l\u043ecalhost:8080'],
      ...['xn--lcalhost-kfi:8080', 'LOCALHOST:8080', 'localhost:8080@evil.example'],
      ...['localhost:8080\u200b', 'http://localhost:8080'],
    ]) {
      await refused(domain(name), other);
    }
  });

  test('in which any line is another, or there is one more', async () => {
    const time = (label: string, ms: number) => (text: string) =>
      text.replace(new RegExp(`(?<=${label}: ).*`), (at) =>
        new Date(Date.parse(at) + ms).toISOString(),
      );
    const lower = (text: string) => text.replace(wallet.address, wallet.address.toLowerCase());
    for (const [change, line] of [
      [(text) => text.replace('Ethereum', 'Solana'), 1],
      [(text) => ` ${text}`, 1],
      [(text) => text.replaceAll('\n', '\r\n'), 9],
      [(text) => text.replace(wallet.address, evmWallet().address), 2],
      [lower, 2],
      [(text) => text.replace('\nURI', '\nI agree.\nURI'), 9],
      [(text) => text.replace('URI: http:', 'URI: https:'), 6],
      [(text) => text.replace('Version: 1', 'Version: 2'), 7],
      [(text) => text.replace('ID: 31337', 'ID: 1'), 8],
      [time('Issued At', 1), 10],
      [time('Expiration Time', 60_000), 11],
      [(text) => `${text}\nResources:\n- https://evil.example`, 12],
      [(text) => `${text}\n`, 12],
    ] as readonly [(text: string) => string, number][]) {
      await refused(change, new RegExp(`line ${line} `));
    }
    const huge = await signChanged((text) => text + ' '.repeat(4_096));
    assert.equal(codeOf(huge), '400 bad_field');
  });

  test('in which any one character is another', async () => {
    const browser = browserOn(edge);
    const text = await textFor(browser, wallet);
    const places = Array.from({ length: 24 }, (_, at) => Math.floor((at * text.length) / 24));
    for (const at of places) {
      const change = (given: string) =>
        given.slice(0, at) + (given[at] === '1' ? '2' : '1') + given.slice(at + 1);
      const answer = await signChanged(change, browser);
      assert.ok(['400 bad_message', '409 ceremony_gone'].includes(codeOf(answer)), `at ${at}`);
    }
    assert.equal(browser.session(), null);
  });
});

describe('a text is good once', () => {
  const gone = '409 ceremony_gone';

  test('and not a second time, in whatever browser', async () => {
    const browser = browserOn(edge);
    const text = await textFor(browser, wallet);
    assert.equal((await giveText(browser, wallet, text)).status, 200);
    const again = await giveText(browser, wallet, text);
    assert.equal(codeOf(again), gone);
    assert.match(again.body.error, /it was used, is older than 10 minutes, or/);
    assert.equal(codeOf(await giveText(browserOn(edge), wallet, text)), gone);
  });

  test('also where its signature was bad, or its text another', async () => {
    const browser = browserOn(edge);
    const text = await textFor(browser, wallet);
    const signature = await evmWallet().sign(text);
    const bad = await giveText(browser, wallet, text, { signature });
    assert.equal(codeOf(bad), '400 bad_signature');
    assert.equal(codeOf(await giveText(browser, wallet, text)), gone);
    const second = await textFor(browser, wallet);
    const other = second.replace('URI: http:', 'URI: https:');
    assert.equal(codeOf(await giveText(browser, wallet, other)), '400 bad_message');
    assert.equal(codeOf(await giveText(browser, wallet, second)), gone);
  });

  test('of two at once one signs in', async () => {
    const browser = browserOn(edge);
    const text = await textFor(browser, wallet);
    const answers = await Promise.all([1, 2, 3].map(() => giveText(browser, wallet, text)));
    assert.deepEqual(answers.map(codeOf).sort(), ['200 ok', gone, gone]);
  });

  test('in the browser that asked for it: one read off another screen signs nobody in', async () => {
    const [victim, thief] = [browserOn(edge), browserOn(edge)];
    const text = await textFor(thief, wallet);
    assert.equal(codeOf(await giveText(victim, wallet, text)), gone);
    assert.equal(victim.session(), null);
    // Who is not asked does not use it up.
    assert.equal((await giveText(thief, wallet, text)).status, 200);
  });

  test('for ten minutes', async () => {
    edge.deps.freeze();
    const browser = browserOn(edge);
    const [early, late] = [await textFor(browser, wallet), await textFor(browser, wallet)];
    edge.deps.advance(599_999);
    assert.equal((await giveText(browser, wallet, early)).status, 200);
    edge.deps.advance(1);
    assert.equal(codeOf(await giveText(browser, wallet, late)), gone);
  });
});

test('a text of one wallet is signed by no other, of whatever family', async () => {
  const browser = browserOn(edge);
  for (const other of [evmWallet(), bitcoinWallet(), solanaWallet()]) {
    const text = await textFor(browser, wallet);
    const answer = await giveText(browser, other, text);
    assert.equal(codeOf(answer), '400 bad_message');
    assert.match(answer.body.error, /the request names/);
  }
});

test('what a text was begun for is not changed by signing another sentence', async () => {
  const browser = browserOn(edge);
  const text = await textFor(browser, wallet);
  await giveText(browser, wallet, text);
  const adding = 'Add this wallet as a login of your Parley account.';
  for (const [purpose, other] of [
    ['sign-in', adding],
    ['add', 'Sign in to Parley.'],
    ['renew', 'Sign in to Parley.'],
  ] as const) {
    const asked = await textFor(browser, wallet, purpose);
    const lines = asked.split('\n');
    const answer = await giveText(browser, wallet, asked.replace(lines[3] ?? '', other));
    assert.equal(codeOf(answer), '400 bad_message');
    assert.match(answer.body.error, /line 4 must be/);
  }
});

describe('a text of one purpose is none of another', () => {
  /** Each makes a text that is good where it is meant, and signed by the wallet. */
  const purposes: Record<string, (browser: TestBrowser, key: string) => Promise<string>> = {
    'sign-in': (browser) => textFor(browser, wallet),
    add: (browser) => textFor(browser, wallet, 'add'),
    renew: (browser) => textFor(browser, wallet, 'renew'),
    payout: (browser) => payoutText(browser),
    mint: async () => {
      const lines = `Address: ${wallet.address}\nNonce: ${await mintNonce(edge)}`;
      return `Parley - create an API key\n\n${lines}`;
    },
    link: async (_, key) => {
      const nonce = await walletNonce(edge, key, 'link');
      return `Parley - link this wallet\n\nAddress: ${wallet.address}\nNonce: ${nonce}`;
    },
    authorise: async (_, key) => (await vouch(edge, key, wallet, linked)).message,
  };
  const linked = solanaWallet();

  /** Where texts are handed in. */
  const doors: Record<
    string,
    (text: string, browser: TestBrowser, key: string) => Promise<string>
  > = {
    session: async (text, browser) => codeOf(await giveText(browser, wallet, text)),
    payout: (text, browser) => givePayout(browser, text),
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
      const body = { rail: wallet.family, ...(await signed(wallet, text)) };
      return codeOf(await edge.call('POST', '/v1/keys', { body }));
    },
  };
  const doorOf = (purpose: string) =>
    ['sign-in', 'add', 'renew'].includes(purpose) ? 'session' : purpose;

  const site = siteOf({ publicUrl: null, network: 'dev' }, 'localhost:8080')!;
  const identity = (browser: TestBrowser) => ({
    hash: createHash('sha256')
      .update(browser.cookies.get('parley_browser') ?? '')
      .digest(),
    device: 'Firefox on Linux',
    place: '127.0.0.1',
  });
  const payoutText = async (browser: TestBrowser) => {
    const { family, address } = wallet;
    const about = { family, address, statement: 'Pay EVM to this wallet from now on.' };
    const begun = { browser: identity(browser), purpose: 'add', session: null } as const;
    const request = { ...about, ...begun, way: 'payout', site, chainId: null } as const;
    return (await beginText(edge.deps.db, edge.deps, request)).message;
  };
  const givePayout = async (browser: TestBrowser, message: string) => {
    const { family, address } = wallet;
    const signature = await wallet.sign(message);
    const given = { family, address, message, signature, site, browser: identity(browser) };
    const signal = AbortSignal.timeout(5_000);
    return checkText(edge.deps, { ...given, way: 'payout' }, signal).then(
      ({ statement }) => `200 ${statement}`,
      (error) => `400 ${error.code}`,
    );
  };

  for (const [purpose, write] of Object.entries(purposes)) {
    test(`${purpose}: taken at its own door and at no other`, async () => {
      const browser = browserOn(edge);
      await giveText(browser, wallet, await textFor(browser, wallet));
      const { key } = await account(edge, wallet);
      for (const [door, give] of Object.entries(doors)) {
        const code = await give(await write(browser, key), browser, key);
        const isOwn = door === doorOf(purpose);
        assert.equal(code.startsWith('200'), isOwn, `${purpose} at ${door}: ${code}`);
      }
    });
  }

  test('not even with the nonce of the other pool in it', async () => {
    const browser = browserOn(edge);
    const nonce = await mintNonce(edge);
    const change = (text: string) => text.replace(/(?<=Nonce: ).*/, nonce);
    assert.equal(codeOf(await signChanged(change, browser)), '409 ceremony_gone');
    const own = /Nonce: (.*)/.exec(await textFor(browser, wallet))?.[1];
    const text = `Parley - create an API key\n\nAddress: ${wallet.address}\nNonce: ${own}`;
    const body = { rail: 'evm', ...(await signed(wallet, text)) };
    assert.equal(codeOf(await edge.call('POST', '/v1/keys', { body })), '400 bad_nonce');
  });
});

test('the fields of a request are bounded', async () => {
  const browser = browserOn(edge);
  const ask = (body: unknown) => browser.post('/account/wallet', body);
  const good = { family: 'evm', address: wallet.address, purpose: 'sign-in' };
  assert.equal(codeOf(await ask(good)), '200 ok');
  for (const [other, code] of [
    [{ family: 'cosmos' }, 'bad_field'],
    [{ address: 'x'.repeat(129) }, 'bad_field'],
    [{ address: '0x\u0430'.padEnd(42, '0') }, 'bad_address'],
    [{ address: 'https://evil.example' }, 'bad_address'],
    [{ purpose: 'payout' }, 'bad_field'],
    [{ chainId: 0 }, 'bad_field'],
    [{ chainId: 1.5 }, 'bad_field'],
    [{ resources: [] }, 'bad_field'],
  ] as const) {
    assert.equal(codeOf(await ask({ ...good, ...other })), `400 ${code}`, JSON.stringify(other));
  }
  const text = await textFor(browser, wallet);
  const long = { signature: `0x${'00'.repeat(9_000)}` };
  assert.equal(codeOf(await giveText(browser, wallet, text, long)), '400 bad_field');
});
