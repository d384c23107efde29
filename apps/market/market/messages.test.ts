// The content of a signed message: specification part 4.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ParleyError } from '@parley/core/errors.ts';
import * as messages from './messages.ts';

const { clearText, longestMessage, mustName } = messages;
const nonceOf = (message: string) => messages.nonceOf(clearText(message));
const keyTermsOf = (message: string) => messages.keyTermsOf(clearText(message));
const checkMessage = (message: string, expected: Parameters<typeof messages.checkMessage>[1]) =>
  messages.checkMessage(clearText(message), expected);

const refused = (error: unknown) => error instanceof ParleyError && error.code === 'bad_message';

describe('the nonce', () => {
  test('is read from its one whole line, wherever that stands', () => {
    assert.equal(nonceOf('Parley\nNonce: abcDEF123'), 'abcDEF123');
    assert.equal(nonceOf('Nonce: abc\r\nParley'), 'abc');
    assert.equal(nonceOf('a\n\nNonce:abc\n'), 'abc');
  });

  const bad: [string, string][] = [
    ['absent', 'Parley'],
    ['not a line of its own', 'Parley Nonce: abc'],
    ['indented', 'Parley\n Nonce: abc'],
    ['in small letters', 'Parley\nnonce: abc'],
    ['empty', 'Nonce: '],
    ['followed by more', 'Nonce: abc def'],
    ['with a trailing space', 'Nonce: abc '],
    ['named inside a word, where a wallet may break the line', 'Nonce: abc\nKey name: xNonce: b'],
    ['not letters and digits', 'Nonce: abc-def'],
    ['not ASCII', 'Nonce: abcé'],
    ['very long', `Nonce: ${'a'.repeat(129)}`],
  ];
  for (const [name, message] of bad) {
    test(`is refused when ${name}`, () => assert.throws(() => nonceOf(message), refused));
  }

  const separators = ['\n', '\r', '\r\n', '\v', '\f', '\u0085', '\u2028', '\u2029', ' ', ''];
  for (const separator of separators) {
    test(`is refused when there is a second after ${JSON.stringify(separator)}`, () => {
      assert.throws(() => nonceOf(`Nonce: abc${separator}Nonce: def`), refused);
      assert.throws(() => nonceOf(`Nonce: abc\nx${separator}nonce: def`), refused);
    });
  }
});

describe('name and scopes of a key', () => {
  test('default to no name and all scopes', () => {
    assert.deepEqual(keyTermsOf('Parley'), { name: null, scopes: ['read', 'taker', 'maker'] });
  });

  test('are read from whole lines, scopes in their own order, each once', () => {
    const terms = keyTermsOf('x\nKey name: my desk \r\nScopes: maker, read taker,maker\ny');
    assert.deepEqual(terms, { name: 'my desk', scopes: ['read', 'taker', 'maker'] });
    assert.deepEqual(keyTermsOf('Scopes: read').scopes, ['read']);
  });

  test('a name has at most 80 characters', () => {
    assert.equal(keyTermsOf(`Key name: ${'é'.repeat(80)}`).name?.length, 80);
    assert.throws(() => keyTermsOf(`Key name: ${'é'.repeat(81)}`), refused);
  });

  const bad: [string, string][] = [
    ['scopes that are empty', 'Scopes:'],
    ['scopes that are commas', 'Scopes: , ,'],
    ['an unknown scope', 'Scopes: read, admin'],
    ['a scope in capitals', 'Scopes: READ'],
    ['scopes twice', 'Scopes: read\nScopes: read'],
    ['scopes hidden in a line', 'Scopes: read\nand Scopes: taker'],
    ['scopes in another case', 'scopes: read'],
    ['scopes separated by tabs', 'Scopes: read\ttaker'],
    ['scopes separated by a space of no break', 'Scopes: read\u00a0taker'],
    ['scopes separated by semicolons', 'Scopes: read;taker'],
    ['scopes behind a Unicode line separator', 'Scopes: read\u2028Scopes: taker'],
    ['a name twice', 'Key name: a\nKey name: b'],
    ['an empty name', 'Key name:'],
    ['a name that hides a line', 'Key name: a\u2029Scopes: maker\nScopes: read'],
    ['a name that hides a line behind CR', 'Key name: a\rKey name: b'],
  ];
  for (const [name, message] of bad) {
    test(`refuse ${name}`, () => assert.throws(() => keyTermsOf(message), refused));
  }

  test('a name may be of any script, with the joiners that its script needs', () => {
    for (const name of ['שולחן 1', '東京', 'می‌خواهم', '👩‍💻 ❤️', 'Ωmega', 'x'.repeat(80)]) {
      assert.deepEqual(keyTermsOf(`Key name: ${name}`).name, name);
    }
  });
});

describe('a text that people and programs read differently is refused', () => {
  const characters = [
    '\0',
    '\t',
    '\v',
    '\f',
    '\r',
    '\x1c',
    '\x1e',
    '\x1f',
    '\x7f',
    '\u0085',
    '\u2028',
    '\u2029',
    '\u00ad',
    '\u200b',
    '\u200e',
    '\u202a',
    '\u202e',
    '\u2060',
    '\u2067',
    '\u061c',
    '\u180e',
    '\ufeff',
    '\u3164',
    '\ud800',
    '\u{e0041}',
    '\ufdfa',
    '\ufdfb',
  ];
  for (const character of characters) {
    const code = character.codePointAt(0)?.toString(16);
    test(`the character ${code}, anywhere`, () => {
      for (const message of [`Nonce: a\nx${character}y`, `Nonce: a${character}`]) {
        assert.throws(() => nonceOf(message), refused);
        assert.throws(() => keyTermsOf(message), refused);
        const rest = { sites: [], purpose: 'link this wallet', addresses: [] } as const;
        const expected = { productName: 'a', ...rest };
        assert.throws(() => checkMessage(`${message} link this wallet`, expected), refused);
      }
    });
  }

  test('a joiner or variation selector after a Latin letter, and not after another', () => {
    for (const mark of ['\u200c', '\u200d', '\ufe0e', '\ufe0f']) {
      assert.throws(() => keyTermsOf(`Key name: de${mark}sk`), refused);
      assert.throws(() => keyTermsOf(`${mark}Key name: desk`), refused);
      assert.equal(keyTermsOf(`Key name: 👩${mark}`).name, `👩${mark}`);
    }
  });

  const drawn: [string, string][] = [
    ['Cyrillic letters', 'Ѕсореѕ: read'],
    ['Greek capitals', 'SCΟΡΕS: read'],
    ['wide letters', 'Ｓｃｏｐｅｓ： read'],
    ['mathematical letters', '𝐒𝐜𝐨𝐩𝐞𝐬: read'],
    ['small capitals', 'ꜱᴄᴏᴘᴇꜱ: read'],
    ['letters in circles', 'Ⓢⓒⓞⓟⓔⓢ: read'],
    ['letters in black squares', '🆂🅲🅾🅿🅴🆂: read'],
    ['letters of flags', '🇸🇨🇴🇵🇪🇸: read'],
    ['an accent', 'Scópes: read'],
    ['a combining accent', 'Sco\u0301pes: read'],
    ['a colon of another script', 'Scopes׃ read'],
    ['a ratio for a colon', 'Scopes∶ read'],
    ['a space before the colon', 'Scopes : read'],
    ['a sign before the colon that is drawn like a letter', 'Scopes ○: read'],
    ['a thin space in the label', 'Sco\u200apes: read'],
    ['zero for o', 'Sc0pes: read'],
    ['r and n for m', 'Key narne: desk'],
    ['a wide space in the label', 'Key\u3000name: desk'],
  ];
  for (const [name, line] of drawn) {
    test(`a label drawn with ${name}`, () => {
      assert.throws(() => keyTermsOf(`Parley\n${line}`), refused);
      const label = line.startsWith('K') ? 'Key name: desk' : 'Scopes: maker';
      assert.throws(() => keyTermsOf(`${label}\n${line}`), refused);
    });
  }
});

describe('the text', () => {
  const expected = {
    productName: 'Parley',
    sites: ['market.example', 'localhost:8080'],
    purpose: 'create an API key',
    addresses: ['0xAbC'],
  } as const;

  test('names product, purpose and address, the last two in any case', () => {
    checkMessage('Parley: CREATE an api KEY for 0xaBC', expected);
  });

  for (const message of [
    'create an API key 0xAbC',
    'parley create an API key 0xAbC',
    'Parley 0xAbC',
    'Parley create an API key',
    `Parley create an API key 0xAbC ${'x'.repeat(4_096)}`,
  ]) {
    test(`is refused: ${message.slice(0, 40)}`, () => {
      assert.throws(() => checkMessage(message, expected), refused);
    });
  }

  test('need not name a Bitcoin address', () => {
    assert.deepEqual(mustName('bitcoin', 'bc1q'), []);
    assert.deepEqual(mustName('evm', '0x1'), ['0x1']);
  });
});

describe('a text for another site, or with what only reads like scopes', () => {
  const check = (line: string) => () =>
    checkMessage(`Parley - link this wallet\n${line}\nNonce: abc`, {
      productName: 'Parley',
      sites: ['market.example', 'localhost:8080'],
      purpose: 'link this wallet',
      addresses: [],
    });
  const of = (lines: string) => lines.split(' | ');
  const others = [
    ...of('URI: https://evil.example/login | URI: evil.example | Domain: evil.example'),
    ...of('see HTTPS://evil.example/market.example | dApp: Evil Desk | at www.evil.example'),
    ...of('Origin: market.example.evil.example | wss://market.example:444/v1/ws'),
    ...of('https://market.example@evil.example/ | https://market.example:443@evil.example/'),
    ...of('https://evil.example:443/ |   evil.example/login  | httpѕ://evil.example/'),
    'evil.example wants you to sign in with your Ethereum account:',
    ...of('https://evil.example wants you to sign in | localhost:3000 wants you to sign in'),
    'mаrket.example wants you to sign in',
    'market.example wants you to sign in; evil.example wants you to sign in',
  ];
  const written = [
    ...of('evil.example | EVIL.example | evil.example:8443 | market.example:444'),
    ...of('a.market.example | market.example.evil.example | mаrket.example | evil。example'),
    ...of('evil．example | ⓔⓥⓘⓛ.example | мой.рф | evil.xn--p1ai | 192.0.2.7:3000'),
    ...of('app.eth | readme.txt'),
  ];
  /** Where a host may stand: at each `%`. */
  const around = [
    ...of('Domain % | Website = % | Site - % | //%/x | visit % now | Requested by %'),
    ...of('Requested by %. | (%), "%", <%> | ...%.. | or/%/and | mail me@%'),
    ...of('%,https://market.example/ | market.example, %'),
  ].map((line) => (host: string) => line.replaceAll('%', host));
  others.push(...written.flatMap((host) => around.map((line) => line(host))));
  for (const line of others) {
    test(`is refused: ${line}`, () => assert.throws(check(line), /is not a site of this market/));
  }

  test('a host of ours passes wherever it stands, and with the port that goes without saying', () => {
    const ours = ['market.example', 'MARKET.example:443', 'market.example/terms.html?to=a.b.html'];
    for (const host of ours) for (const line of around) check(line(host))();
  });

  const scopeLike = [
    ...of('Scope: read | - Permissions: none | Permission: view only | With access: read'),
    ...of('Roles: viewer | Resources: | scоpe: read | scope - read | Scopes – read, taker'),
    ...of('- Scope = read and nothing else | Access → view only, no trades | Permissions'),
    ...of('PERMISSIOΝS: none |   * Requested permissions | Scopes read'),
  ];
  for (const line of scopeLike) {
    test(`is refused: ${line}`, () => assert.throws(check(line), /a line reads like scopes \("/));
  }

  test('is no text that names our sites, the product, or neither', () => {
    for (const line of [
      ...of('URI: https://market.example/keys?x=1 | https://market.example:443/x'),
      ...of('http://market.example:80 | http://localhost:8080 | Domain: market.example:443'),
      ...of('Our site is https://market.example | Domain: market.example | Site: Parley'),
      'I accept the terms (https://market.example/tos.html).',
      'See https://market.example, or https://market.example.',
      'market.example wants you to sign in with your Ethereum account:',
      ...of('Key name: bot 2.0 (eu-1.desk) | Key name: access desk | Key name: evil.example'),
      ...of('Key name: access - all of it | Scopes: read | Nonce:123456 | Chain ID: 1'),
      'Version: 1.2.3, or v1.2.3-rc1, e.g. 0.5btc of 1,000.00 at 7 a.m.',
      'Wait...then sign. This grants nobody access to your coins.',
      'Do not sign where you gave access = lost coins',
      'Expiration Time: 2030-01-01T00:00:00.000Z',
      'Issued At: 2030-01-01T00:00:00Z',
    ]) {
      check(line)();
    }
  });

  test('a product may be named like a host, or with a word for scopes', () => {
    for (const productName of ['Acme.Market', 'Open Access', 'Role Inc.']) {
      for (const first of ['asks you to sign to', '-', ':', '\n']) {
        const message = `${productName} ${first} link this wallet\nSite: ${productName}`;
        checkMessage(message, {
          productName,
          sites: [],
          purpose: 'link this wallet',
          addresses: [],
        });
      }
    }
  });
});

// Each request of 300 a minute may take 40 ms of a core; anybody sends texts, signed or not.
// `bench/requests-asked.ts` measures the time of such texts.
describe('a text of the longest size is read, and refused where a letter stands for many', () => {
  const start = 'Parley create an API key\nNonce: abc\n';
  const room = longestMessage - start.length;
  const each = (first: number) =>
    Array.from({ length: room }, (_, at) => String.fromCodePoint(first + at)).join('');
  const texts: [string, string][] = [
    ['of a letter that stands for a sentence', '\ufdfa'.repeat(room)],
    ['with such a letter on each line', '\ufdfa\n'.repeat(room / 2)],
    ['of a sign that stands for seven letters', '\u321d'.repeat(room)],
    ['with such a sign on each line', '\u321d\n'.repeat(room / 2)],
    ['of different syllables', each(0xac00)],
  ];
  const read = (message: string) => {
    const text = clearText(message);
    messages.nonceOf(text);
    const expected = { productName: 'Parley', sites: [], addresses: [] };
    messages.checkMessage(text, { ...expected, purpose: 'create an API key' });
    messages.keyTermsOf(text);
  };
  for (const [name, text] of texts) {
    test(name, () => {
      if (text.includes('\ufdfa')) assert.throws(() => read(start + text), refused);
      else assert.doesNotThrow(() => read(start + text));
    });
  }
});
