// The parts that the dev network lends a market that was configured without it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from '../settings/config.ts';
import { peopleWith } from './dev-network.ts';

const provider = { issuer: 'http://127.0.0.1:1', clientId: 'x', clientSecret: 'y', label: 'z' };
const people = { smtpUrl: 'smtp://127.0.0.1:2525', inbox: 'http://127.0.0.1:8025', provider };

test('mail and a provider are lent by the dev network, unless others were configured', () => {
  const none = readSettings({});
  assert.equal(peopleWith(none, null), none.people);
  assert.equal(peopleWith(none, { people: null }), none.people);
  const lent = peopleWith(none, { people });
  assert.equal(lent.mail?.url, people.smtpUrl);
  assert.deepEqual(
    lent.providers.map(({ issuer, label }) => ({ issuer, label })),
    [{ issuer: provider.issuer, label: 'z' }],
  );
  const own = readSettings({
    PARLEY_SMTP_URL: 'smtp://127.0.0.1',
    PARLEY_MAIL_FROM: 'a@b.example',
  });
  assert.equal(peopleWith(own, { people }).mail, own.people.mail);
});
