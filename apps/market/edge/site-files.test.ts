// security.txt as RFC 9116 has it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from '../settings/config.ts';
import { refused, testEdge } from './testing/edge.ts';

const publicUrl = 'https://swaps.example';
const contacts = readSettings({
  PARLEY_CONTACT: 'security@swaps.example, https://swaps.example/report, mailto:b@swaps.example',
}).contacts;
const { people } = readSettings({ PARLEY_PUBLIC_URL: publicUrl });
const names = { productName: 'Swaps', shortName: 'swaps' };
const edge = await testEdge({ settings: { ...names, contacts, people } });
const plain = await testEdge();
const path = '/.well-known/security.txt';

test('security.txt has the contacts of the operator, and ends within a year of the request', async () => {
  const { headers, body } = await edge.app.inject(path);
  assert.equal(headers['content-type'], 'text/plain; charset=utf-8');
  const [expires = ''] = /(?<=^Expires: ).*$/m.exec(body) ?? [];
  const days = (Date.parse(expires) - edge.deps.now()) / 86_400_000;
  assert.ok(days > 179 && days <= 180, `${days} days`);
  assert.deepEqual(body.split('\n'), [
    'Contact: mailto:security@swaps.example',
    'Contact: https://swaps.example/report',
    'Contact: mailto:b@swaps.example',
    `Expires: ${expires}`,
    'Preferred-Languages: en',
    `Canonical: ${publicUrl}${path}`,
    '',
  ]);
  const { contact } = (await edge.call('GET', '/v1/openapi.json')).body.info;
  assert.deepEqual(contact, {
    name: 'the operator of Swaps',
    url: 'https://swaps.example/report',
    email: 'security@swaps.example',
  });
  refused(await plain.call('GET', path), '404 not_found', /PARLEY_CONTACT/);
});

test('a contact is an https URL or an e-mail address', () => {
  for (const given of ['http://swaps.example', 'swaps.example', 'a@b c', 'https://', 'tel:1']) {
    const read = () => readSettings({ PARLEY_CONTACT: given });
    assert.throws(
      read,
      /PARLEY_CONTACT holds ".+", which is no https URL nor e-mail address/,
      given,
    );
  }
});
