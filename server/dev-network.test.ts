// What the dev network lends a market that was configured without it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from './config.ts';
import { withDevPeople } from './dev-network.ts';

const provider = { issuer: 'http://127.0.0.1:1', clientId: 'x', clientSecret: 'y', label: 'z' };
const people = { smtpUrl: 'smtp://127.0.0.1:2525', inbox: 'http://127.0.0.1:8025', provider };

test('mail goes to the inbox of the dev network, unless a mail server was configured', () => {
  const none = readSettings({});
  assert.equal(withDevPeople(none, null), none);
  assert.equal(withDevPeople(none, { people: null }), none);
  const lent = withDevPeople(none, { people });
  assert.equal(lent.people.mail?.url, people.smtpUrl);
  const own = readSettings({
    PARLEY_SMTP_URL: 'smtp://127.0.0.1',
    PARLEY_MAIL_FROM: 'a@b.example',
  });
  assert.equal(withDevPeople(own, { people }), own);
});
