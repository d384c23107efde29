// Texts that say one thing in a sentence and another one in their labels.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkMessage, clearText } from './messages.ts';

type Purpose = Parameters<typeof checkMessage>[1]['purpose'];
const expected = { productName: 'Parley', sites: ['market.example'], addresses: [] };
const key = 'create an API key';
const check = (message: string, purpose: Purpose = key) => {
  checkMessage(clearText(message), { ...expected, purpose });
};
const minting = (lines: string) => check(`Parley - ${key}\n${lines}\nNonce: abc`);
const of = (lines: string) => lines.split(' | ');

const readers = [
  ...of('This is a read-only key. | A READ ONLY key | readonly | Can: read only | view-only key'),
  ...of('It can only read. | It is only for reading | just to view my trades | watch only'),
  ...of('Key name: read-only bot | No trading! | It cannot trade | It will not trade for me'),
  ...of(
    'Trading is disabled | rеad оnly (Cyrillic letters) | ｒｅａｄ－ｏｎｌｙ | read‑only | read–only',
  ),
  ...of('Berechtigungen: nur lesen | lecture seule | solo lectura | somente leitura | 权限: 只读'),
  ...of('только для чтения | 読み取り専用 | 읽기 전용'),
  ...of('A key limited to reading. | restricted to reading the book | reading exclusively'),
  ...of('It has no write access. | It may not be used to trade. | It cannot place orders.'),
  ...of('Non-trading key | Trading: no | Trade = off | Trading is none'),
];
for (const line of readers) {
  test(`a key of all scopes is not made by "${line}", and one of read alone is`, () => {
    assert.throws(() => minting(line), /only reads, and has no line "Scopes: read"/);
    assert.throws(() => minting(`${line}\nScopes: read, taker`), /only reads/);
    minting(`Scopes: read\n${line.replace('Can: read only', 'read only')}`);
  });
}

test('a list of scopes is read behind "Scopes:" alone, whatever else its label is', () => {
  for (const line of of(
    'Allowed: read | Can = read, taker | Darf: read | 权限: read | It may → maker',
  )) {
    assert.throws(() => minting(line), /a line reads like scopes/, line);
    assert.throws(() => minting(`Scopes: read\n${line}`), /reads like scopes/, line);
  }
  minting('Key name: read\nAllowed: reading the book of makers');
});

test('a caller that names one scope as the only one has no other', () => {
  assert.throws(() => minting('A maker-only key'), /"maker-only", and "Scopes:" does not/);
  assert.throws(() => minting('For only taker use\nScopes: maker'), /"only taker"/);
  for (const scopes of ['maker', 'read, maker']) minting(`A maker-only key\nScopes: ${scopes}`);
});

const denials = [
  ...of(`Parley: I do NOT want to ${key} | Parley, do not ${key} | Parley: never ${key}`),
  ...of(`Parley: I don't want to ${key} | Parley: I don’t ${key} | Parley: I refuse to ${key}`),
  ...of(`Parley cannot ${key} for me | Parley - ${key}? No | Parley - ${key}: rejected`),
  ...of(`Parley - ${key}. No! | Parley - ${key}. Just kidding. | Parley - ${key}. Нет!`),
  ...of(`This forbids Parley to ${key} | I prohibit that you, Parley, ${key}`),
  ...of(`Parley is unable to ${key} | Parley denies that it may ${key}`),
  ...of(`Sign this instead of letting Parley ${key} | I am opposed: Parley wants to ${key}`),
  ...['I do not agree to:', 'Under no circumstances'].map((line) => `${line}\n\nParley ${key}`),
  `It is not meant to\nParley ${key}`,
  ...of('I really do not mean this | I hereby decline | I am not asking for it').map(
    (line) => `Parley - ${key}\n${line}`,
  ),
  ...of('Nobody may request a key here | This does not request a key').map(
    (line) => `Parley - ${key}\n${line}.`,
  ),
  ...of('This does nothing. | Signing it has no effect | Ich lehne das ab').map(
    (line) => `Parley - ${key}\n${line}`,
  ),
  ...of('Ich will das nicht | Je ne veux pas | я не хочу').map(
    (line) => `Parley - ${key}\n${line}`,
  ),
];
for (const text of denials) {
  test(`a text that denies what it is for is refused: ${text.replaceAll('\n', ' / ')}`, () => {
    assert.throws(() => check(`${text}\nNonce: abc`), /which denies what it is for/);
    const linking = text.replaceAll(key, 'link this wallet').replaceAll('a key', 'a wallet');
    assert.throws(() => check(linking, 'link this wallet'), /which denies/);
  });
}

test('common texts of wallets and sites beside it are no contradiction', () => {
  for (const line of [
    'This request will not trigger a blockchain transaction or cost any gas fees.',
    ...of('We never ask for your seed phrase. | Never share your API key with anybody.'),
    ...of('This costs nothing. | No coins are moved. | I accept the terms. | Not a transaction.'),
    ...of('You may revoke it at any time. | Key name: no limits | Key name: North desk, no. 7'),
    ...of(
      'Key name: trade no 5 | Trading: no fees! | It does nothing on chain. | Keys are secret.',
    ),
    ...of('We never write to you first. | It has no effect on your coins.'),
    ...of('Scopes: read, taker, maker | Makers read the book only here. | I know it costs nothing'),
  ]) {
    minting(line);
    check(`${line}\n\nParley asks you to sign to ${key}.\n\nNonce: abc`);
    if (line.startsWith('Key') || line.startsWith('Scopes')) continue;
    for (const purpose of ['link this wallet', 'authorise this wallet'] as const) {
      check(`Parley - ${purpose}\n${line}`, purpose);
    }
  }
});

test('the product is named as a word of its own', () => {
  for (const name of ['NotParleyAtAll', 'Parleyx', 'xParley', '1Parley']) {
    assert.throws(() => check(`${name}: ${key}`), /does not contain "Parley"/);
  }
  for (const name of ['"Parley"', 'NotParley, Parley', 'Parley.']) check(`${name} ${key}`);
});
