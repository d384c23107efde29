// Sign-in by a code sent to an e-mail address.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { parseEmail } from '../../people/email.ts';
import { browserOn } from '../testing/browser.ts';
import { byEmail, type PeopleEdge, startPeople } from '../testing/people.ts';

let edge: PeopleEdge;
before(async () => {
  edge = await startPeople();
});
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
  assert.deepEqual(again.body, { accountId: first.body.accountId, isNew: false });
});

test('the fifth wrong code is the last try, and the right one is none any more', async () => {
  const address = fresh();
  const browser = browserOn(edge);
  await browser.post('/account/email', { address, purpose: 'sign-in' });
  const right = edge.codeOf(address);
  for (let left = 4; left >= 0; left -= 1) {
    const refused = await browser.post('/account/email/code', { address, code: wrong(right) });
    assert.deepEqual([refused.status, code(refused)], [400, 'bad_code']);
    assert.match(refused.body.error, left === 0 ? /no try is left/ : new RegExp(`${left} of 5`));
  }
  const late = await browser.post('/account/email/code', { address, code: right });
  assert.deepEqual([late.status, code(late)], [409, 'ceremony_gone']);
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

test('a code that a stranger asks for takes the place of one, but keeps nobody out', async () => {
  const address = fresh();
  const known = await edge.person(address);
  const stranger = browserOn(edge);
  const ask = (from = stranger) => from.post('/account/email', { address, purpose: 'sign-in' });
  for (let sent = 1; sent < 5; sent += 1) assert.equal((await ask()).status, 200);
  assert.deepEqual([(await ask()).status, code(await ask())], [409, 'too_many_codes']);
  assert.equal((await byEmail(known, address, () => edge.codeOf(address))).status, 200);
});

test('the answer is the same for an address with an account and for one without', async () => {
  const known = fresh();
  await edge.person(known);
  const [one, other] = await Promise.all(
    [known, fresh()].map((address) =>
      browserOn(edge).post('/account/email', { address, purpose: 'sign-in' }),
    ),
  );
  const shape = (answer: typeof one) => [answer?.status, Object.keys(answer?.body ?? {})];
  assert.deepEqual(shape(one), shape(other));
});

test('where no mail is sent, no sign-in by mail is offered', async (t) => {
  const silent = await startPeople({ messaging: undefined as never });
  t.after(() => silent.close());
  const asked = { address: fresh(), purpose: 'sign-in' };
  const refused = await browserOn(silent).post('/account/email', asked);
  assert.deepEqual([refused.status, code(refused)], [404, 'way_off']);
});

test('an address has one form, and what only looks like one has none', () => {
  assert.equal(parseEmail(' Ann.O+x@Example.TEST '), 'ann.o+x@example.test');
  assert.equal(parseEmail('ann@bücher.test'), 'ann@xn--bcher-kva.test');
  const refused = [
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
  for (const text of refused) assert.throws(() => parseEmail(text), { code: 'bad_email' }, text);
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
