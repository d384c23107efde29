import assert from 'node:assert/strict';
import test from 'node:test';
import { maxAmount } from '@parley/core/amounts.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { runs } from '@parley/verify/test/support/runs.ts';
import fc from 'fast-check';
import {
  deadlineText,
  formatAmount,
  formatDuration,
  formatPrice,
  fromNow,
  isoTime,
  localTime,
  parseAmount,
  parseIsoTime,
} from './people.ts';

const locales =
  'en-US en-ZA en-IN de-DE de-CH de-AT fr-FR fr-CH es-ES es-MX it-IT pt-BR pt-PT pl-PL ru-RU ' +
  'sv-SE nb-NO tr-TR hi-IN bn-BD ar-EG ar-AE fa-IR he-IL ja-JP zh-CN ko-KR th-TH vi-VN';
const locale = fc.constantFrom(...locales.split(' '));
const decimals = fc.oneof(fc.nat(18), fc.nat(255));
const units = fc.oneof(fc.bigInt({ min: 0n, max: maxAmount }), fc.bigInt(0n, 10n ** 12n));
const narrow = '\u202f';

test('an amount that is shown reads back as itself, in every locale', () => {
  fc.assert(
    fc.property(units, decimals, locale, (amount, places, tag) => {
      const text = formatAmount(amount, places, { locale: tag });
      assert.equal(parseAmount(text, places, { locale: tag }), amount, text);
    }),
    { numRuns: runs(1_000) },
  );
});

const shown: readonly (readonly [bigint, number, string, number | undefined, string])[] = [
  [150_000_000n, 8, 'en-US', undefined, '1.5'],
  [123_456_789_000n, 8, 'en-US', undefined, `1${narrow}234.56789`],
  [123_456_789_000n, 8, 'hi-IN', 2, `1${narrow}234.56…`],
  [1n, 8, 'en-US', 2, '<0.01'],
  [-1n, 8, 'en-US', 2, '>-0.01'],
  [-1_234n, 0, 'en-US', undefined, `-1${narrow}234`],
  [999_999n, 6, 'en-US', 5, '0.99999…'],
];

test('amounts are shown with their locale mark and narrow spaces', () => {
  for (const [amount, places, tag, most, wanted] of shown) {
    const how = { locale: tag, ...(most === undefined ? {} : { most }) };
    assert.equal(formatAmount(amount, places, how), wanted);
  }
});

const typed: readonly (readonly [string, string, number, bigint])[] = [
  ['1.5', 'en-US', 8, 150_000_000n],
  [' 0,5 ', 'fr-FR', 1, 5n],
  ['.5', 'en-US', 1, 5n],
  ['5.', 'en-US', 0, 5n],
  ['1\u00a0500\u2009000', 'en-US', 0, 1_500_000n],
  ['1’500.5', 'de-CH', 1, 15_005n],
  // Zeros at the end are no decimals too many.
  ['1.5000000000', 'en-US', 1, 15n],
];

test("typed numbers are read by the person's locale", () => {
  for (const [text, tag, places, wanted] of typed) {
    assert.equal(parseAmount(text, places, { locale: tag }), wanted, text);
  }
});

test('an amount in full width, or with marks that are not drawn, is read as it is seen', () => {
  for (const [text, tag, wanted] of [
    ['０．０１', 'ja-JP', 1_000_000n],
    ['1\u3000000', 'ja-JP', 100_000_000_000n],
    ['\u200f\u202a\u200e0.01\u202c', 'en-US', 1_000_000n],
    ['\ufeff\u00a00.01\u00a0\n', 'en-US', 1_000_000n],
  ] as const) {
    assert.equal(parseAmount(text, 8, { locale: tag }), wanted, text);
  }
  const faultOf = (text: string) => {
    try {
      return parseAmount(text, 8, { locale: 'en-US' });
    } catch (error) {
      return (error as ParleyError).facts.why;
    }
  };
  // Where a mark turns around what is behind it, another number is seen.
  assert.equal(faultOf('\u202e123'), 'not_a_number');
  assert.equal(faultOf('\u200f1 234'), 'groups');
  assert.equal(faultOf('\u200b\u200f'), 'empty');
});

test('the unit of the asset may stand behind an amount, and no other unit', () => {
  for (const [text, symbol, wanted] of [
    ['0.5 BTC', 'BTC', 50_000_000n],
    ['0.5btc', 'BTC', 50_000_000n],
    ['０．５ＢＴＣ', 'BTC', 50_000_000n],
    ['1 500\u00a0BTC', 'BTC', 150_000_000_000n],
    ['2 1INCH', '1INCH', 200_000_000n],
    // A symbol without a letter could be an amount.
    ['1 500', '500', 150_000_000_000n],
  ] as const) {
    assert.equal(parseAmount(text, 8, { locale: 'en-US', symbol }), wanted, text);
  }
  for (const [text, symbol, why, got] of [
    ['0.5 ETH', 'BTC', 'other_unit', 'ETH'],
    ['0.5 mBTC', 'BTC', 'other_unit', 'mBTC'],
    ['0.5 ВТС', 'BTC', 'other_unit', 'ВТС'],
    ['1k', 'BTC', 'other_unit', 'k'],
    ['1e3', 'E3', 'not_a_number', undefined],
    ['21INCH', '1INCH', 'other_unit', 'INCH'],
    ['BTC', 'BTC', 'not_a_number', undefined],
  ] as const) {
    assert.throws(
      () => parseAmount(text, 8, { locale: 'en-US', symbol }),
      (error) => {
        assert.ok(error instanceof ParleyError);
        assert.deepEqual([error.facts.why, error.facts.got], [why, got], text);
        return true;
      },
    );
  }
});

const refused: readonly (readonly [string, string, number, string, RegExp])[] = [
  ['', 'en-US', 8, 'empty', /no amount/],
  ['1,500', 'en-US', 8, 'other_mark', /"1,500" has ",", and "\." separates decimals: write 1\.5/],
  ['1,234.5', 'en-US', 8, 'other_mark', /or 1500 without a mark/],
  ['1.500', 'de-DE', 8, 'other_mark', /has "\.", and "," separates/],
  ['1.234567', 'en-US', 6 - 1, 'decimals', /has 6 decimals, and the asset has 5/],
  ['0.1', 'en-US', 0, 'decimals', /has 1 decimal, and the asset has 0 at most/],
  ['1 5', 'en-US', 8, 'groups', /does not group thousands/],
  ['1500 000', 'en-US', 8, 'groups', /./],
  ['1.5.0', 'en-US', 8, 'not_a_number', /at most one "\."/],
  ['-1', 'en-US', 8, 'not_a_number', /without sign, exponent or unit/],
  ['1e3', 'en-US', 8, 'not_a_number', /./],
  ['١', 'en-US', 8, 'not_a_number', /./],
  [(maxAmount + 1n).toString(), 'en-US', 0, 'too_much', /115\u202f792\u202f089.* at most/],
  ['9'.repeat(401), 'en-US', 0, 'too_long', /^"9{40}…" has 401 characters: 400 at most$/],
];

test('anything else is refused by its reason, with the numbers', () => {
  for (const [text, tag, places, why, words] of refused) {
    assert.throws(
      () => parseAmount(text, places, { locale: tag }),
      (error) => {
        assert.ok(error instanceof ParleyError);
        assert.deepEqual([error.code, error.facts.why], ['bad_amount', why], `${text}: ${error}`);
        assert.match(error.message, words);
        return true;
      },
    );
  }
  assert.equal(parseAmount(maxAmount.toString(), 0), maxAmount);
  for (const places of [-1, 0.5, 256, Number.NaN]) {
    assert.throws(() => parseAmount('1', places), RangeError);
    assert.throws(() => formatAmount(1n, places), RangeError);
  }
});

const btc = (sats: bigint) => ({ units: sats, decimals: 8 });
const usd = (cents: bigint) => ({ units: cents, decimals: 6 });

test('a price is of one whole coin, cut towards zero and marked', () => {
  const en = { locale: 'en-US' };
  assert.equal(formatPrice(usd(640_000_000n), btc(1_000_000n), en), `64${narrow}000`);
  assert.equal(formatPrice(btc(1_000_000n), usd(640_000_000n), en), '0.000015625');
  assert.equal(formatPrice(usd(1_000_000n), btc(300_000_000n), en), '0.333333…');
  assert.equal(formatPrice(usd(2_000_000n), btc(300_000_000n), { ...en, most: 2 }), '0.66…');
  assert.equal(
    formatPrice(usd(123_456_789_999_999n), btc(100_000_000n), { locale: 'de-DE' }),
    `123${narrow}456${narrow}789…`,
  );
  assert.equal(formatPrice(usd(0n), btc(1n), en), '0');
  assert.equal(formatPrice(btc(1n), { units: maxAmount, decimals: 0 }, en).length > 80, true);
  assert.throws(() => formatPrice(usd(1n), btc(0n)), /no price of 1 for 0/);
});

test('times are ISO 8601 both ways, and nothing else is a time', () => {
  assert.equal(isoTime(1_795_788_300), '2026-11-27T14:05:00Z');
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), (at) => {
      assert.equal(parseIsoTime(isoTime(at)), at);
    }),
  );
  assert.equal(parseIsoTime('2026-11-27T15:05:00.999+01:00'), 1_795_788_300);
  for (const text of ['2026-11-27', '2026-11-27T14:05:00', '2026-02-30T00:00:00Z', '', 'now']) {
    assert.throws(() => parseIsoTime(text), { code: 'bad_field' }, text);
  }
  assert.throws(() => isoTime(Number.NaN), RangeError);
});

const at = 1_795_788_300;

test('a local time has its zone, and its date unless that is today', () => {
  const zurich = { locale: 'en-GB', zone: 'Europe/Zurich' };
  assert.equal(localTime(at, at - 60, zurich), '15:05 CET');
  assert.equal(localTime(at, at - 86_400, zurich), '27 Nov 2026, 15:05 CET');
  // Today here, tomorrow there.
  const late = at + 9 * 3_600 + 1_800;
  assert.equal(localTime(late, at, { locale: 'en-GB', zone: 'UTC' }), '23:35 UTC');
  assert.match(localTime(late, at, zurich), /^28 Nov 2026, 00:35 CET$/);
  // The hour that comes twice.
  const twice = parseIsoTime('2026-10-25T00:30:00Z');
  assert.equal(localTime(twice, twice, zurich), '02:30 CEST');
  assert.equal(localTime(twice + 3_600, twice, zurich), '02:30 CET');
  assert.equal(deadlineText(at, at - 22 * 60 - 59, zurich), '15:05 CET, in 22 minutes');
  assert.throws(() => localTime(at, at, { zone: 'Nowhere' }), RangeError);
});

const waits: readonly (readonly [number, string, string])[] = [
  [0, 'now', '0 seconds'],
  [1, 'in 1 second', '1 second'],
  [59.5, 'in 59 seconds', '1 minute'],
  [60, 'in 60 seconds', '1 minute'],
  [61, 'in 61 seconds', '2 minutes'],
  [119, 'in 119 seconds', '2 minutes'],
  [120, 'in 2 minutes', '2 minutes'],
  [3_541, 'in 59 minutes', '1 hour'],
  [7_199, 'in 119 minutes', '2 hours'],
  [7_200, 'in 2 hours', '2 hours'],
  [9_000, 'in 2 hours', '2 hours, 30 minutes'],
  [172_799, 'in 47 hours', '2 days'],
  [172_801, 'in 2 days', '2 days, 1 hour'],
  [273_600, 'in 3 days', '3 days, 4 hours'],
];

test('how long it is until then is rounded down, how long something takes is rounded up', () => {
  for (const [seconds, left, takes] of waits) {
    assert.equal(fromNow(at + seconds, at, { locale: 'en' }), left);
    assert.equal(formatDuration(seconds, { locale: 'en' }), takes);
  }
  assert.equal(fromNow(at - 180, at, { locale: 'en' }), '3 minutes ago');
  assert.equal(fromNow(at + 1_320, at, { locale: 'de' }), 'in 22 Minuten');
  assert.equal(formatDuration(5_400, { locale: 'de' }), '1 Stunde, 30 Minuten');
  for (const bad of [-1, Number.NaN, Infinity]) {
    assert.throws(() => formatDuration(bad), RangeError);
  }
});
