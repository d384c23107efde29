// Formats are kept by all that they depend on.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dateFormat, madeOnce } from './formats.ts';

test('a format is made once a locale, a wish and a time zone of the machine', () => {
  let zone = -60;
  const format = madeOnce(
    (locale, wish: object) => ({ locale, wish }),
    () => zone,
  );
  const first = format('de', { day: 'numeric' });
  assert.deepEqual(first, { locale: 'de', wish: { day: 'numeric' } });
  assert.equal(format('de', { day: 'numeric' }), first);
  assert.equal(format(undefined, {}).locale, undefined, 'of the machine');
  assert.notEqual(format('en', { day: 'numeric' }), first);
  assert.notEqual(format('de', { day: '2-digit' }), first);
  // A laptop that has travelled.
  zone = -540;
  assert.notEqual(format('de', { day: 'numeric' }), first);
});

test('a traveller from Paris to London reads times of London', (t) => {
  const { TZ } = process.env;
  t.after(() => {
    if (TZ === undefined) delete process.env.TZ;
    else process.env.TZ = TZ;
  });
  const hourIn = (zone: string) => {
    process.env.TZ = zone;
    return dateFormat('en-GB', { hour: '2-digit' }).format(1_795_910_481_000);
  };
  assert.deepEqual(['Europe/Paris', 'Europe/London'].map(hourIn), ['01', '00']);
});
