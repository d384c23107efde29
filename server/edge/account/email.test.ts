// Sign-in by a code sent to an e-mail address.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { parseEmail } from '../../people/email.ts';
import { browserOn, type TestBrowser } from '../testing/browser.ts';
import { refused } from '../testing/edge.ts';
import { byEmail, startPeople } from '../testing/people.ts';
import { signInBy } from '../testing/sign-in.ts';
import { evmWallet } from '../testing/signers.ts';

const edge = await startPeople();
after(() => edge.close());

const code = (answer: { headers: Readonly<Record<string, string>> }) =>
  answer.headers['x-parley-error'];
let count = 0;
const fresh = () => `person${++count}@example.test`;
const wrong = (right: string) => (right === '000000' ? '000001' : '000000');

test('a code makes an account of ten keys on first use, and signs in to it afterwards', async () => {
  const address = fresh();
  const browser = browserOn(edge);
  const first = await byEmail(browser, address, () => edge.codeOf(address));
  assert.deepEqual([first.status, first.body.isNew], [200, true]);
  const me = await browser.get('/account/me');
  assert.equal(me.body.kind, 'browser');
  assert.deepEqual(
    me.body.logins.map((each: { way: string; label: string }) => [each.way, each.label]),
    [['email', address]],
  );
  assert.match(me.body.recovery, /Only one login is left/);
  const again = await byEmail(browserOn(edge), address, () => edge.codeOf(address));
  assert.deepEqual(again.body, {
    accountId: first.body.accountId,
    isNew: false,
    outcome: 'signed_in',
  });
});

test('the fifth wrong code is the last try, and the right one is none any more', async () => {
  const address = fresh();
  const browser = browserOn(edge);
  await browser.post('/account/email', { address, purpose: 'sign-in' });
  const right = edge.codeOf(address);
  for (let left = 4; left >= 0; left -= 1) {
    const tried = await browser.post('/account/email/code', { address, code: wrong(right) });
    refused(
      tried,
      '400 bad_code',
      left === 0 ? /no try is left/ : new RegExp(`tries left: ${left} of 5`),
    );
  }
  const late = await browser.post('/account/email/code', { address, code: right });
  refused(late, '409 ceremony_gone');
  assert.equal(browser.session(), null);
});

test('tries at once count like tries in turn', async () => {
  const address = fresh();
  const browser = browserOn(edge);
  await browser.post('/account/email', { address, purpose: 'sign-in' });
  const given = { address, code: wrong(edge.codeOf(address)) };
  const tries = Array.from({ length: 12 }, () => browser.post('/account/email/code', given));
  const codes = (await Promise.all(tries)).map(code).sort();
  assert.deepEqual(codes, [...Array(5).fill('bad_code'), ...Array(7).fill('ceremony_gone')]);
});

test('a code is good once, in the browser that asked, for 10 minutes, until a newer one', async () => {
  const address = fresh();
  const browser = browserOn(edge);
  const ask = () => browser.post('/account/email', { address, purpose: 'sign-in' });
  const give = (from = browser, given = edge.codeOf(address)) =>
    from.post('/account/email/code', { address, code: given });
  await ask();
  const older = edge.codeOf(address);
  assert.equal(code(await give(browserOn(edge))), 'ceremony_gone');
  await ask();
  if (older !== edge.codeOf(address)) assert.equal(code(await give(browser, older)), 'bad_code');
  const both = await Promise.all([give(), give()]);
  assert.deepEqual(both.map((each) => each.status).sort(), [200, 409]);
  assert.equal(code(await give()), 'ceremony_gone');
  await ask();
  edge.deps.advance(10 * 60_000 + 1);
  assert.equal(code(await give()), 'ceremony_gone');
});

const ask = (from: TestBrowser, address: string) =>
  from.post('/account/email', { address, purpose: 'sign-in' });
const statuses = async (answers: readonly ReturnType<typeof ask>[]) =>
  (await Promise.all(answers)).map(({ status }) => status).sort();
const from = (ip: string) => browserOn(edge, { ip });

test('a code that a stranger asks for ends none of a browser that was signed in from', async () => {
  const address = fresh();
  const known = await edge.person(address);
  const stranger = from('192.0.2.1');
  const give = (by: TestBrowser, given: string) =>
    by.post('/account/email/code', { address, code: given });
  await ask(known, address);
  const first = edge.codeOf(address);
  await ask(known, address);
  const second = edge.codeOf(address);
  if (first !== second) assert.equal(code(await give(known, first)), 'bad_code');
  await ask(stranger, address);
  const ofStranger = edge.codeOf(address);
  assert.equal((await give(known, second)).status, 200);
  assert.equal((await give(stranger, ofStranger)).status, 200);
});

test('a browser that became known has one code: the newest, with tries of its own', async () => {
  const address = fresh();
  const owner = await edge.person(address);
  const wallet = evmWallet();
  assert.equal((await signInBy(owner, wallet, 'add')).status, 200);
  const browser = browserOn(edge);
  await ask(browser, address);
  const former = edge.codeOf(address);
  assert.equal((await signInBy(browser, wallet)).status, 200);
  const renewed = await browser.post('/account/email', { address, purpose: 'renew' });
  assert.equal(renewed.status, 200);
  const give = (given: string) => browser.post('/account/email/code', { address, code: given });
  if (former !== edge.codeOf(address)) assert.match((await give(former)).body.error, /left: 4/);
  assert.equal((await give(edge.codeOf(address))).status, 200);
});

test('a stranger’s code ends another stranger’s: one is live', async () => {
  const address = fresh();
  const [one, other] = [from('192.0.2.1'), from('192.0.2.2')];
  await ask(one, address);
  const ended = edge.codeOf(address);
  await ask(other, address);
  const late = await one.post('/account/email/code', { address, code: ended });
  assert.equal(code(late), 'ceremony_gone');
});

test('half of an hour’s codes go to one network, however many it asks for at once', async () => {
  const address = fresh();
  const known = await edge.person(address, { ip: '198.51.100.1' });
  edge.deps.advance(86_400_000);
  const asks = (ip: string) => Array.from({ length: 7 }, () => ask(from(ip), address));
  assert.deepEqual(await statuses(asks('192.0.2.1')), [...Array(5).fill(200), 429, 429]);
  const over = await ask(from('192.0.2.1'), address);
  refused(over, '429 too_many_codes', /^5 codes .* an hour from this network; try again in 60 min/);
  assert.equal(Number(over.headers['retry-after']), 3_600);
  assert.deepEqual(await statuses(asks('192.0.2.2')), [...Array(5).fill(200), 429, 429]);
  assert.match((await ask(from('192.0.2.3'), address)).body.error, /^10 codes .* an hour;/);
  // The owner's own browser is kept out by none of them, from wherever it asks.
  assert.equal((await byEmail(known, address, () => edge.codeOf(address))).status, 200);
});

test('a known browser has as many codes as a network, and a day has twice an hour’s', async () => {
  const address = fresh();
  const known = await edge.person(address);
  edge.deps.advance(86_400_000);
  const five = () => Array.from({ length: 6 }, () => ask(known, address));
  assert.deepEqual(await statuses(five()), [...Array(5).fill(200), 429]);
  edge.deps.advance(3_600_001);
  assert.deepEqual(await statuses(five()), [...Array(5).fill(200), 429]);
  edge.deps.advance(3_600_001);
  assert.match((await ask(known, address)).body.error, /^10 codes .* a day/);
  edge.deps.advance(86_400_000);
  assert.equal((await ask(known, address)).status, 200);
});

test('what follows a + counts for the same mailbox, and its code is good for itself alone', async () => {
  const name = `many${fresh()}`;
  const tagged = (at: number) => name.replace('@', `+${at}@`);
  const asks = Array.from({ length: 7 }, (_, at) => ask(from('192.0.2.1'), tagged(at)));
  assert.deepEqual(await statuses(asks), [...Array(5).fill(200), 429, 429]);
  const browser = from('192.0.2.9');
  await ask(browser, tagged(1));
  const given = { address: name, code: edge.codeOf(tagged(1)) };
  assert.equal(code(await browser.post('/account/email/code', given)), 'bad_code');
  const own = { ...given, address: tagged(1) };
  assert.equal((await browser.post('/account/email/code', own)).status, 200);
});

test('every answer is the same for an address with an account and for one without', async () => {
  const known = fresh();
  await edge.person(known);
  const all = async (address: string) => {
    const browser = from('192.0.2.20');
    const asked = await ask(browser, address);
    const given = () =>
      browser.post('/account/email/code', { address, code: wrong(edge.codeOf(address)) });
    const answers = [asked, await given(), await given()];
    while ((await ask(browser, address)).status === 200);
    answers.push(await ask(browser, address));
    return answers.map(({ status, headers, body }) => {
      const { date: _, 'set-cookie': cookie, ...rest } = headers;
      const told = Object.entries(rest).filter(([name]) => !/^(x-)?ratelimit/.test(name));
      const shape = String(cookie ?? '').replace(/[0-9A-Za-z]{43}/g, 'token');
      const said = JSON.stringify(body).replaceAll(address, 'address');
      return [status, told, shape, said.replace(/\d{4}-[^"]*Z/g, 'instant')];
    });
  };
  edge.deps.freeze();
  const name = 'x'.repeat(known.indexOf('@'));
  assert.deepEqual(await all(known), await all(`${name}${known.slice(name.length)}`));
});

test('where no mail is sent, no sign-in by mail is offered', async (t) => {
  const silent = await startPeople({ messaging: undefined as never });
  t.after(() => silent.close());
  const asked = { address: fresh(), purpose: 'sign-in' };
  refused(await browserOn(silent).post('/account/email', asked), '404 way_off');
});

test('an address has one form, and what only looks like one has none', () => {
  assert.equal(parseEmail(' Ann.O+x@Example.TEST '), 'ann.o+x@example.test');
  assert.equal(parseEmail('ann@bücher.test'), 'ann@xn--bcher-kva.test');
  const none = [
    '',
    'ann',
    '@example.test',
    'ann@',
    'ann@localhost',
    'ann@127.0.0.1',
    'ann@[::1]',
    'аnn@example.test',
    'ann@example.test\r\nBcc: all@example.test',
    'ann@example.test, bob@example.test',
    '"ann bob"@example.test',
    'ann@exa mple.test',
    'ann@example.test/path',
    'ann@user@example.test',
    `${'a'.repeat(65)}@example.test`,
    `ann@${'a.'.repeat(130)}test`,
    'ann..bob@example.test',
    'ann@-example.test',
  ];
  for (const text of none) assert.throws(() => parseEmail(text), { code: 'bad_email' }, text);
});

test('whatever is written as an address comes back as it is, or is refused', () => {
  fc.assert(
    fc.property(fc.oneof(fc.emailAddress(), fc.string({ unit: 'grapheme' })), (text) => {
      let parsed: string;
      try {
        parsed = parseEmail(text);
      } catch (error) {
        assert.equal((error as { code?: string }).code, 'bad_email');
        return;
      }
      assert.equal(parseEmail(parsed), parsed);
      assert.match(parsed, /^[\x21-\x7e]+$/);
    }),
  );
});
