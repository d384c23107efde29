// The mint message, rule by rule, over HTTP: specification part 4, table "Mint message".

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startEdge, type TestEdge } from '../testing/edge.ts';
import { codeOf, mintOf, type Write } from '../testing/hands.ts';
import { bitcoinWallet, evmWallet } from '../testing/signers.ts';

let edge: TestEdge;
before(async () => {
  edge = await startEdge();
});
after(() => edge.close());

const wallet = evmWallet();
const { address } = wallet;
const layout = (lines: readonly string[]) => (nonce: string) =>
  ['Parley - create an API key', '', `Address: ${address}`, ...lines, `Nonce: ${nonce}`].join('\n');

async function taken(write: Write, signer = wallet) {
  const answer = await mintOf(edge, signer, write);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body;
}

async function refused(write: Write, sentence: RegExp, signer = wallet) {
  const answer = await mintOf(edge, signer, write);
  assert.equal(codeOf(answer), '400 bad_message');
  assert.match(answer.body.error, sentence);
}

test('Product marker: the text contains the product name, as it is written', async () => {
  await taken((n) => `Welcome to Parley, please create an API key ${address}\nNonce: ${n}`);
  for (const name of ['', 'parley', 'PARLEY', 'Par ley', 'Pаrley']) {
    await refused((n) => `${name} create an API key ${address}\nNonce: ${n}`, /"Parley"/);
  }
});

test('Product marker: of a deployment that bears another name, that name', async () => {
  const own = await startEdge({ settings: { productName: 'Ünïon Desk', shortName: 'ud' } });
  try {
    const minting = (name: string) =>
      mintOf(own, wallet, (n) => `${name} - create an API key\n${address}\nNonce: ${n}`);
    const minted = await minting('Ünïon Desk');
    assert.match(minted.body.key, /^ud_test_/);
    const other = await minting('Parley');
    assert.deepEqual([other.status, other.headers['x-ud-error']], [400, 'bad_message']);
  } finally {
    await own.close();
  }
});

test('Purpose: the text contains "create an API key" in any case', async () => {
  for (const words of [
    'create an API key',
    'CREATE AN API KEY',
    'cReAtE aN aPi KeY',
    'recreate an API keyring',
  ]) {
    await taken((n) => `Parley ${words}\n${address}\nNonce: ${n}`);
  }
  for (const words of [
    '',
    'create an  API key',
    'create a API key',
    'create an\nAPI key',
    'link this wallet',
    'authorise this wallet',
  ]) {
    await refused((n) => `Parley ${words}\n${address}\nNonce: ${n}`, /create an API key/);
  }
});

test('Address: the text contains the signing address in any case', async () => {
  for (const spelt of [address, address.toLowerCase(), address.toUpperCase(), `x${address}y`]) {
    await taken((n) => `Parley create an API key\n${spelt}\nNonce: ${n}`);
  }
  const other = evmWallet().address;
  for (const spelt of [
    '',
    other,
    address.slice(0, -1),
    address.slice(2),
    address.replace('0x', '0x '),
  ]) {
    const write = (n: string) => `Parley create an API key\n${spelt}\nNonce: ${n}`;
    await refused(write, new RegExp(`does not contain the address ${address}`));
  }
});

test('Address: it is not required for Bitcoin, and may be there', async () => {
  for (const kind of ['p2wpkh', 'p2tr'] as const) {
    const bitcoin = bitcoinWallet(kind);
    await taken((n) => `Parley create an API key\nNonce: ${n}`, bitcoin);
    await taken(
      (n) => `Parley create an API key\nAddress: ${bitcoin.address}\nNonce: ${n}`,
      bitcoin,
    );
  }
});

describe('Nonce: exactly one line "Nonce: <letters and digits>"', () => {
  test('wherever it stands', async () => {
    await taken((n) => `Nonce: ${n}\nParley create an API key\n${address}`);
    await taken((n) => `Parley create an API key\nNonce: ${n}\n${address}`);
    await taken((n) => `Parley create an API key\n${address}\nNonce: ${n}\n`);
  });

  const bad: [string, Write][] = [
    ['no line', () => ''],
    ['no value', () => 'Nonce: '],
    ['a line that goes on', (n) => `Nonce: ${n} and more`],
    ['a sign that is no letter or digit', (n) => `Nonce: ${n}-`],
    ['a letter that is not ASCII', (n) => `Nonce: ${n}é`],
    ['a digit of another script', (n) => `Nonce: ${n}١`],
    ['a space before it', (n) => ` Nonce: ${n}`],
    ['a space after it', (n) => `Nonce: ${n} `],
    ['a tab for the space', (n) => `Nonce:\t${n}`],
    ['words before it on its line', (n) => `the Nonce: ${n}`],
    ['small letters', (n) => `nonce: ${n}`],
    ['capitals', (n) => `NONCE: ${n}`],
    ['another name', (n) => `Nonces: ${n}`],
    ['a wide colon', (n) => `Nonce： ${n}`],
  ];
  for (const [name, line] of bad) {
    test(`${name} is refused`, () =>
      refused((n) => `Parley create an API key\n${address}\n${line(n)}`, /./));
  }

  const second: [string, string][] = [
    ['a line of its own', '\nNonce: 1'],
    ['the same line twice', '\nNonce: '],
    ['the same line', ' Nonce: 1'],
    ['small letters', '\nnonce: 1'],
    ['the middle of a line', '\nnote that Nonce: 1'],
    ['no space', '\nNonce:1'],
    ['a space before its colon', '\nNonce : 1'],
    ['CRLF', '\r\nNonce: 1'],
    ['CR', '\rNonce: 1'],
    ['VT', '\vNonce: 1'],
    ['FF', '\fNonce: 1'],
    ['NEL', '\u0085Nonce: 1'],
    ['LINE SEPARATOR', '\u2028Nonce: 1'],
    ['PARAGRAPH SEPARATOR', '\u2029Nonce: 1'],
    ['FILE SEPARATOR', '\x1cNonce: 1'],
    ['a tab', '\n\tNonce: 1'],
    ['a zero-width space', '\nNon\u200bce: 1'],
    ['a zero-width joiner', '\nNon\u200dce: 1'],
    ['a word joiner', '\n\u2060Nonce: 1'],
    ['a byte order mark', '\n\ufeffNonce: 1'],
    ['a soft hyphen', '\nNon\u00adce: 1'],
    ['a combining accent', '\nNo\u0301nce: 1'],
    ['an override from right to left', '\n\u202e1 :ecnoN\u202c'],
    ['an isolate from right to left', '\n\u20671 :ecnoN\u2069'],
    ['wide letters and colon', '\nＮｏｎｃｅ： 1'],
    ['Cyrillic letters', '\nNоnсе: 1'],
    ['Greek letters', '\nΝonce: 1'],
    ['mathematical letters', '\n𝙽𝚘𝚗𝚌𝚎: 1'],
    ['a ratio for its colon', '\nNonce∶ 1'],
    ['a thin space', '\nNon\u2009ce: 1'],
  ];
  for (const [name, more] of second) {
    test(`a second one is refused: ${name}`, async () => {
      const head = `Parley create an API key\n${address}\n`;
      const tail = (n: string) => (more.endsWith(' ') ? `${more}${n}` : more);
      await refused((n) => `${head}Nonce: ${n}${tail(n)}`, /Nonce|U\+/);
      const before = more.replace(/^[\r\n ]+/, '');
      await refused(
        (n) => `${head}${before}${tail(n) === more ? '' : n}\nNonce: ${n}`,
        /Nonce|U\+/,
      );
    });
  }

  test('lines may end in CRLF', async () => {
    const minted = await taken((n) =>
      layout(['Key name: desk', 'Scopes: read'])(n).replaceAll('\n', '\r\n'),
    );
    assert.deepEqual([minted.name, minted.scopes], ['desk', ['read']]);
  });
});

describe('Key name:', () => {
  test('is optional: absent is null', async () => {
    assert.equal((await taken(layout([]))).name, null);
  });

  test('has at most 80 characters, whatever their script', async () => {
    for (const letter of ['n', 'é', '東', '🔑']) {
      assert.equal(
        (await taken(layout([`Key name: ${letter.repeat(80)}`]))).name,
        letter.repeat(80),
      );
      await refused(layout([`Key name: ${letter.repeat(81)}`]), /80 characters/);
    }
    assert.equal((await taken(layout(['Key name: n']))).name, 'n');
  });

  test('is a whole line: nothing stands before it', async () => {
    for (const line of [
      ' Key name: a',
      'My Key name: a',
      '- Key name: a',
      'key name: a',
      'KEY NAME: a',
      'Key  name: a',
      'Key name : a',
    ]) {
      await refused(layout([line]), /Key name:/);
    }
  });

  test('is there at most once', async () => {
    for (const more of [
      'Key name: a',
      'Key name: b',
      'and Key name: b',
      'key name: b',
      'Key nаme: b',
      'Key narne: b',
    ]) {
      await refused(layout(['Key name: a', more]), /Key name:/);
    }
  });

  test('hides no line: what follows a separator is never read', async () => {
    for (const separator of ['\r', '\v', '\f', '\u0085', '\u2028', '\u2029', '\x1e']) {
      await refused(layout([`Key name: a${separator}Scopes: read`]), /U\+/);
    }
    await refused(layout(['Key name: a Scopes: read']), /Scopes:/);
  });

  test('present but empty is refused', async () => {
    for (const line of ['Key name:', 'Key name: ', 'Key name:    ']) {
      await refused(layout([line]), /empty/);
    }
  });

  test('is read from the signed text alone', async () => {
    const answer = await mintOf(edge, wallet, layout(['Key name: a']), { name: 'b' });
    assert.equal(codeOf(answer), '400 bad_field');
  });
});

describe('Scopes:', () => {
  const all = ['read', 'taker', 'maker'];

  test('absent means all three', async () => {
    assert.deepEqual((await taken(layout([]))).scopes, all);
  });

  test('are separated by commas, spaces or both', async () => {
    const lists: [string, string[]][] = [
      ['read', ['read']],
      ['taker', ['taker']],
      ['maker', ['maker']],
      ['read,taker', ['read', 'taker']],
      ['read taker', ['read', 'taker']],
      ['maker, read', ['read', 'maker']],
      ['maker ,  read ,', ['read', 'maker']],
      ['read, taker maker', all],
      ['maker,taker,read', all],
      ['read read,read', ['read']],
    ];
    for (const [list, scopes] of lists) {
      assert.deepEqual((await taken(layout([`Scopes: ${list}`]))).scopes, scopes, list);
      assert.deepEqual((await taken(layout([`Scopes:${list}`]))).scopes, scopes, list);
    }
  });

  test('present but empty is refused', async () => {
    for (const line of ['Scopes:', 'Scopes: ', 'Scopes:     ', 'Scopes: ,', 'Scopes: , ,,']) {
      await refused(layout([line]), /empty/);
    }
  });

  test('unknown is refused', async () => {
    for (const list of [
      'admin',
      'read, admin',
      'READ',
      'Maker',
      'reads',
      'rеad',
      'read;taker',
      'read/taker',
      'read+taker',
      'read\u00a0taker',
      'read\u3000taker',
      'read、taker',
      'read، taker',
      '*',
      'all',
    ]) {
      await refused(layout([`Scopes: ${list}`]), /read, taker and maker/);
    }
    await refused(layout(['Scopes: read\ttaker']), /U\+0009/);
  });

  test('are a whole line: nothing stands before it', async () => {
    for (const line of [
      ' Scopes: read',
      'My Scopes: read',
      'scopes: read',
      'SCOPES: read',
      'Scopes : read',
      'Scоpes: read',
      'Ｓcopes: read',
    ]) {
      await refused(layout([line]), /Scopes:/);
    }
  });

  test('are not left out by a line that only looks like one', async () => {
    const gaps = '2800 fff9 fffc 13430 1d159 e000 fdd0 0378 3164 2062 115f'.split(' ');
    for (const gap of gaps) {
      const drawn = String.fromCodePoint(Number.parseInt(gap, 16));
      await refused(layout([`Scopes${drawn}: read`]), /Scopes:|holds the character U\+/);
    }
    for (const colon of '1361 1365 0705 1804 2024 0589 a789'.split(' ')) {
      const drawn = String.fromCodePoint(Number.parseInt(colon, 16));
      await refused(layout([`Scopes${drawn} read`]), /Scopes:|holds the character U\+/);
    }
    await refused(layout(['Scopes -- : read']), /Scopes:/);
  });

  test('are there at most once', async () => {
    for (const more of [
      'Scopes: read',
      'Scopes: maker',
      'and Scopes: maker',
      'scopes: maker',
      'Ѕсореѕ: maker',
    ]) {
      await refused(layout(['Scopes: read', more]), /Scopes:/);
      await refused(layout([more, 'Scopes: read']), /Scopes:/);
    }
  });

  test('are read from the signed text alone', async () => {
    const answer = await mintOf(edge, wallet, layout(['Scopes: read']), { scopes: ['maker'] });
    assert.equal(codeOf(answer), '400 bad_field');
  });
});

test('the layout of the specification is taken as it is', async () => {
  const minted = await taken(layout(['Key name: my bot', 'Scopes: read, taker']));
  assert.deepEqual([minted.name, minted.scopes], ['my bot', ['read', 'taker']]);
});

test('a message has at most 4 096 characters', async () => {
  const filled = (length: number) => (n: string) => {
    const text = `${layout([])(n)}\n`;
    return text + 'x'.repeat(length - text.length);
  };
  await taken(filled(4_096));
  const answer = await mintOf(edge, wallet, filled(4_097));
  assert.equal(answer.status, 400);
});
