// Sign-in by a code sent to an e-mail address.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseEmail } from '../../people/email.ts';
import { browserOn, type TestBrowser } from '../testing/browser.ts';
import { type Answer, codeOf, refused } from '../testing/edge.ts';
import { freshAddress, testPeople } from '../testing/people.ts';

const edge = await testPeople();
const hour = 3_600_000;
const gone = '409 ceremony_gone';
const from = (ip: string) => browserOn(edge, { ip });
const ask = (browser: TestBrowser, address: string, purpose = 'sign-in') =>
  browser.post('/account/email', { address, purpose });
/** The code that came last, unless named. */
const give = (browser: TestBrowser, address: string, code = edge.codeOf(address)) =>
  browser.post('/account/email/code', { address, code });
const wrong = (right: string) => (right === '000000' ? '000001' : '000000');
const sorted = async (answers: readonly Promise<Answer>[]) =>
  (await Promise.all(answers)).map(codeOf).sort();
const times = <T>(count: number, make: () => T) => Array.from({ length: count }, make);

test('a code makes an account of ten keys on first use, and signs in to it afterwards', async () => {
  const address = freshAddress();
  const browser = browserOn(edge);
  const { accountId, isNew } = (await edge.byEmail(browser, address)).body;
  assert.equal(isNew, true);
  const { kind, logins, recovery } = (await browser.get('/account/me')).body;
  const [{ way, label }, ...others] = logins;
  assert.deepEqual([kind, way, label, others], ['browser', 'email', address, []]);
  assert.match(recovery, /Only one login is left/);
  const again = await edge.byEmail(browserOn(edge), address);
  assert.deepEqual(again.body, { accountId, isNew: false, outcome: 'signed_in' });
});

test('the fifth wrong code is the last try, in turn or at once, and the right one is none then', async () => {
  const address = freshAddress();
  const browser = browserOn(edge);
  await ask(browser, address);
  const right = edge.codeOf(address);
  for (const words of [...[4, 3, 2, 1].map((left) => `tries left: ${left} of 5`), 'no try is']) {
    refused(await give(browser, address, wrong(right)), '400 bad_code', new RegExp(words));
  }
  refused(await give(browser, address, right), gone);
  assert.equal(browser.session(), null);
  await ask(browser, address);
  const tries = times(12, () => give(browser, address, wrong(edge.codeOf(address))));
  assert.deepEqual(await sorted(tries), [
    ...times(5, () => '400 bad_code'),
    ...times(7, () => gone),
  ]);
});

test('a code stays good whoever asks for the next one, and in its own browser is replaced', async () => {
  const address = freshAddress();
  await edge.person(address);
  const owner = from('192.0.2.1');
  const thief = from('192.0.2.2');
  await ask(owner, address);
  const first = edge.codeOf(address);
  await ask(owner, address);
  const own = edge.codeOf(address);
  for (let at = 0; at < 4; at += 1) await ask(thief, address);
  for (let at = 0; at < 6; at += 1) await give(thief, address, wrong(edge.codeOf(address)));
  if (first !== own) refused(await give(owner, address, first), '400 bad_code', /left: 4/);
  assert.equal((await give(owner, address, own)).status, 200);
});

const lengthOf = (address: string) => edge.codeOf(address).length;
/** How long the codes are that come of asking so often; asking for none is refused. */
async function lengths(browser: TestBrowser, address: string, count: number): Promise<number[]> {
  const all: number[] = [];
  for (let at = 0; at < count; at += 1) {
    assert.equal((await ask(browser, address)).status, 200);
    all.push(lengthOf(address));
  }
  return all;
}
const short = (count: number) => times(count, () => 6);

test('half of an hour’s short codes go to one network, and a known browser has its own', async () => {
  const address = freshAddress();
  const known = await edge.person(address, { ip: '198.51.100.1' });
  edge.deps.advance(24 * hour);
  assert.deepEqual(await lengths(from('192.0.2.1'), address, 6), [...short(5), 20]);
  assert.deepEqual(await lengths(from('192.0.2.2'), address, 5), short(5));
  const others = await Promise.all(times(4, () => ask(from('192.0.2.3'), address)));
  assert.ok(others.every(({ status }) => status === 200));
  assert.deepEqual(await lengths(known, address, 5), short(5));
  assert.equal((await give(known, address)).status, 200);
  edge.deps.advance(hour + 1);
  assert.deepEqual(await lengths(known, address, 5), short(5));
  edge.deps.advance(hour + 1);
  assert.deepEqual(await lengths(known, address, 1), [20], 'ten a day');
});

test('beyond the limits strangers share one long code, which keeps the owner out of nothing', async () => {
  edge.deps.freeze();
  const address = freshAddress();
  await edge.person(address);
  for (const ip of ['192.0.2.1', '192.0.2.2']) await lengths(from(ip), address, 5);
  const thief = from('192.0.2.3');
  const owner = from('192.0.2.1');
  const first = await ask(thief, address);
  const long = edge.codeOf(address);
  assert.match(long, /^\d{20}$/);
  assert.equal(Date.parse(first.body.expiresAt), edge.deps.now() + hour);
  // The same code, no further mail, and guesses of one browser cost another one nothing.
  for (let at = 0; at < 5; at += 1) {
    refused(await give(thief, address, '1'.repeat(20)), '400 bad_code');
    await ask(thief, address);
  }
  edge.deps.advance(hour / 2 - 1);
  assert.deepEqual((await ask(owner, address)).body, first.body);
  assert.equal(edge.codeOf(address), long);
  const late = from('192.0.2.4');
  edge.deps.advance(1);
  await ask(late, address);
  assert.notEqual(edge.codeOf(address), long, 'half of its time is left to the former one');
  assert.equal((await give(owner, address, long)).body.isNew, false);
  // Used once, it is good in no other browser, and the next one is sent at once.
  refused(await give(thief, address, long), gone);
  refused(await give(late, address), gone);
  const next = from('192.0.2.5');
  await ask(next, address);
  assert.equal((await give(next, address)).status, 200);
});

test('every answer is the same for an address with an account and for one without', async () => {
  const known = freshAddress();
  await edge.person(known);
  const all = async (address: string) => {
    const browser = from('192.0.2.20');
    const tried = () => give(browser, address, wrong(edge.codeOf(address)));
    const answers = [await ask(browser, address), await tried(), await tried()];
    for (let at = 0; at < 6; at += 1) answers.push(await ask(browser, address));
    return answers.map(({ status, headers, body }) => {
      const { date: _, 'set-cookie': cookie, ...rest } = headers;
      const fixed = Object.entries(rest).filter(
        ([name]) => !/^(x-)?(ratelimit|request-id)/.test(name),
      );
      const shape = String(cookie ?? '').replace(/[0-9A-Za-z]{43}/g, 'token');
      const said = JSON.stringify(body).replaceAll(address, 'address');
      return [status, fixed, shape, said.replace(/\d{4}-[^"]*Z/g, 'instant')];
    });
  };
  edge.deps.freeze();
  const unknown = 'x'.repeat(known.indexOf('@')) + known.slice(known.indexOf('@'));
  assert.deepEqual(await all(known), await all(unknown));
});

test('an address has one form, and what only looks like one has none', () => {
  assert.equal(parseEmail(' Ann.O+x@Example.TEST '), 'ann.o+x@example.test');
  assert.equal(parseEmail('ann@bücher.test'), 'ann@xn--bcher-kva.test');
  const hosts = ['', 'localhost', '127.0.0.1', '[::1]', 'exa mple.test', 'example.test/path'];
  const names = ['', 'аnn', '"ann bob"', 'a'.repeat(65), 'ann..bob', 'ann@user'];
  for (const text of [
    '',
    'ann',
    'ann@example.test\r\nBcc: all@example.test',
    'a@example.test, b@example.test',
    ...[...hosts, '-example.test', `${'a.'.repeat(130)}test`].map((host) => `ann@${host}`),
    ...names.map((name) => `${name}@example.test`),
  ]) {
    assert.throws(() => parseEmail(text), { code: 'bad_email' }, text);
  }
});
