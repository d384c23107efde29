// What the text of a wallet proof and of an authorization must say, on all four families, over
// HTTP: specification part 4, "Wallets".

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { families } from '../../../core/families.ts';
import { startEdge, type TestEdge } from '../testing/edge.ts';
import { account, codeOf, prove, signed, walletNonce } from '../testing/hands.ts';
import { bitcoinWallet, evmWallet, type TestWallet, walletOf } from '../testing/signers.ts';

let edge: TestEdge;
before(async () => {
  edge = await startEdge();
});
after(() => edge.close());

type Caller = Awaited<ReturnType<typeof account>>;

/** A proof of the text that `write` makes of a fresh link nonce. */
async function proof(caller: Caller, wallet: TestWallet, write: (nonce: string) => string) {
  const message = write(await walletNonce(edge, caller.key, 'link'));
  return prove(edge, caller.key, wallet, await signed(wallet, message));
}

/** A good proof with the authorization that `write` makes of a fresh authorize nonce. */
async function vouched(
  caller: Caller,
  wallet: TestWallet,
  write: (nonce: string) => string,
  signer = caller.wallet,
) {
  const nonce = await walletNonce(edge, caller.key, 'link');
  const words = `Parley link this wallet\n${wallet.address}\nNonce: ${nonce}`;
  const message = write(await walletNonce(edge, caller.key, 'authorize'));
  return prove(edge, caller.key, wallet, {
    ...(await signed(wallet, words)),
    authorization: await signed(signer, message),
  });
}

const upper = (wallet: TestWallet) => wallet.address.toUpperCase();

for (const family of families) {
  const named = family !== 'bitcoin';
  describe(`a proof of the ${family} family`, () => {
    let caller: Caller;
    let wallet: TestWallet;
    before(async () => {
      caller = await account(edge, evmWallet());
      wallet = walletOf[family]();
    });
    const taken = async (write: (nonce: string) => string) => {
      const answer = await proof(caller, wallet, write);
      assert.equal(codeOf(answer), '200 ok', JSON.stringify(answer.body));
      const { address } = wallet;
      assert.deepEqual(answer.body, { address, family, proven: true, authorised: false });
    };
    const refused = async (write: (nonce: string) => string, sentence: RegExp) => {
      const answer = await proof(caller, wallet, write);
      assert.equal(codeOf(answer), '400 bad_message');
      assert.match(answer.body.error, sentence);
    };

    test('contains the product name', async () => {
      await taken((n) => `To Parley: link this wallet ${wallet.address}\nNonce: ${n}`);
      for (const name of ['', 'parley', 'Par\u00adley']) {
        await refused(
          (n) => `${name} link this wallet ${wallet.address}\nNonce: ${n}`,
          /Parley|U\+/,
        );
      }
    });

    test('contains the words "link this wallet" in any case', async () => {
      await taken((n) => `Parley LINK This wallet ${wallet.address}\nNonce: ${n}`);
      for (const words of [
        '',
        'link wallet',
        'link  this wallet',
        'create an API key',
        'authorise this wallet',
      ]) {
        const write = (n: string) => `Parley ${words} ${wallet.address}\nNonce: ${n}`;
        await refused(write, /link this wallet/);
      }
    });

    test(`contains the address in any case${named ? '' : ', or leaves it out'}`, async () => {
      await taken((n) => `Parley link this wallet ${upper(wallet)}\nNonce: ${n}`);
      const without = (n: string) => `Parley link this wallet\nNonce: ${n}`;
      if (!named) return taken(without);
      await refused(without, new RegExp(`address ${wallet.address}`));
      const other = walletOf[family]().address;
      await refused((n) => `Parley link this wallet ${other}\nNonce: ${n}`, /does not contain/);
    });

    test('has exactly one line "Nonce: <letters and digits>"', async () => {
      const head = `Parley link this wallet ${wallet.address}\n`;
      await taken((n) => `${head}Nonce: ${n}\r\nthank you`);
      const bad: ((nonce: string) => string)[] = [
        () => '',
        (n) => `Nonce: ${n} `,
        (n) => ` Nonce: ${n}`,
        (n) => `nonce: ${n}`,
        (n) => `Nonce: ${n}\nNonce: ${n}`,
        (n) => `Nonce: ${n}\r\nNonce: ${n}`,
        (n) => `Nonce: ${n}\rNonce: ${n}`,
        (n) => `Nonce: ${n}\u2028Nonce: ${n}`,
        (n) => `Nonce: ${n}\u0085Nonce: ${n}`,
        (n) => `Nonce: ${n}\nand Nonce: ${n}`,
        (n) => `Nonce: ${n}\nNоnce: ${n}`,
        (n) => `Nonce: ${n}\n\u202e${n} :ecnoN`,
      ];
      for (const write of bad) await refused((n) => head + write(n), /Nonce|U\+/);
    });

    test('is signed by the wallet that it is of', async () => {
      const nonce = await walletNonce(edge, caller.key, 'link');
      const words = `Parley link this wallet ${wallet.address}\nNonce: ${nonce}`;
      const other = walletOf[family]();
      const forged = { ...(await signed(other, words)), address: wallet.address };
      const answer = await prove(edge, caller.key, wallet, forged);
      assert.equal(codeOf(answer), '400 bad_signature');
    });

    test('is of the text that was sent and no other', async () => {
      const nonce = await walletNonce(edge, caller.key, 'link');
      const words = `Parley link this wallet ${wallet.address}\nNonce: ${nonce}`;
      const body = { ...(await signed(wallet, words)), message: `${words}\n` };
      assert.equal(codeOf(await prove(edge, caller.key, wallet, body)), '400 bad_signature');
    });

    test('again is 200, and makes nothing of it', async () => {
      for (let again = 0; again < 2; again += 1) {
        await taken((n) => `Parley link this wallet ${wallet.address}\nNonce: ${n}`);
      }
      const me = await edge.call('GET', '/v1/me', { key: caller.key });
      assert.deepEqual(me.body.wallets[family].proven, [wallet.address]);
    });
  });

  describe(`an authorization by a login wallet of the ${family} family`, () => {
    let caller: Caller;
    let linked: TestWallet;
    before(async () => {
      caller = await account(edge, walletOf[family]());
      linked = bitcoinWallet();
    });
    const login = () => caller.wallet.address;
    const taken = async (write: (nonce: string) => string, wallet = linked) => {
      const answer = await vouched(caller, wallet, write);
      assert.equal(codeOf(answer), '200 ok', JSON.stringify(answer.body));
      assert.equal(answer.body.authorised, true);
    };
    const refused = async (write: (nonce: string) => string, sentence: RegExp, by?: TestWallet) => {
      const wallet = bitcoinWallet();
      const spelt = (n: string) => write(n).replaceAll(linked.address, wallet.address);
      const answer = await vouched(caller, wallet, spelt, by);
      assert.equal(codeOf(answer), '400 bad_authorization', JSON.stringify(answer.body));
      assert.match(answer.body.error, sentence);
      const me = await edge.call('GET', '/v1/me', { key: caller.key });
      assert.ok(!me.body.wallets.bitcoin.proven.includes(wallet.address));
    };

    test('makes the wallet count beyond giving, whatever its family', async () => {
      for (const other of families) {
        const wallet = walletOf[other]();
        const names = `${wallet.address}\n${login()}`;
        await taken((n) => `Parley authorise this wallet\n${names}\nNonce: ${n}`, wallet);
      }
    });

    test('contains the product name', () =>
      refused((n) => `authorise this wallet ${linked.address} ${login()}\nNonce: ${n}`, /Parley/));

    test('contains the words "authorise this wallet" in any case', async () => {
      const names = () => `${linked.address} ${login()}`;
      await taken((n) => `Parley AUTHORISE THIS WALLET ${names()}\nNonce: ${n}`);
      for (const words of ['', 'authorize this wallet', 'link this wallet', 'create an API key']) {
        const write = (n: string) => `Parley ${words} ${names()}\nNonce: ${n}`;
        await refused(write, /authorise this wallet/);
      }
    });

    test('names the wallet that it vouches for, also one of Bitcoin', async () => {
      await taken((n) => `Parley authorise this wallet ${upper(linked)} ${login()}\nNonce: ${n}`);
      const other = bitcoinWallet().address;
      for (const name of ['', other, evmWallet().address]) {
        const write = (n: string) => `Parley authorise this wallet ${name} ${login()}\nNonce: ${n}`;
        await refused(write, /does not contain the address/);
      }
    });

    test(`names the login wallet${named ? '' : ', or not'}`, async () => {
      const write = (n: string) => `Parley authorise this wallet ${linked.address}\nNonce: ${n}`;
      if (named) await refused(write, new RegExp(`address ${login()}`));
      else await taken(write);
    });

    test('has exactly one line "Nonce:"', async () => {
      const head = () => `Parley authorise this wallet ${linked.address} ${login()}\n`;
      for (const more of ['\nNonce: 1', '\u2028Nonce: 1', '\rNonce: 1', '\nNоnce: 1']) {
        await refused((n) => `${head()}Nonce: ${n}${more}`, /Nonce|U\+/);
      }
      await refused(head, /Nonce/);
    });

    test('is not by a stranger, nor by a wallet that is only proven or authorised', async () => {
      const words = (by: TestWallet) => (n: string) =>
        `Parley authorise this wallet ${linked.address} ${by.address}\nNonce: ${n}`;
      const stranger = walletOf[family]();
      await refused(words(stranger), /not by this account's login wallet/, stranger);
      const proven = walletOf[family]();
      const plain = await proof(
        caller,
        proven,
        (n) => `Parley link this wallet ${proven.address}\nNonce: ${n}`,
      );
      assert.equal(plain.status, 200);
      await refused(words(proven), /not by this account's login wallet/, proven);
      await taken(
        (n) => `Parley authorise this wallet ${proven.address} ${login()}\nNonce: ${n}`,
        proven,
      );
      await refused(words(proven), /not by this account's login wallet/, proven);
    });

    test('is signed by the login wallet', async () => {
      const forger = { ...walletOf[family](), address: login() };
      const write = (n: string) =>
        `Parley authorise this wallet ${linked.address} ${login()}\nNonce: ${n}`;
      await refused(write, /signature/, forger);
    });
  });
}
