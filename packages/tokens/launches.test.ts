// How an event names its token: against the topics of launchpads as they are known, and against
// viem's own encoding of events made up.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type AbiEvent, encodeAbiParameters, encodeEventTopics, parseAbiItem } from 'viem';
import { launchEvent } from './launches.ts';

// SunPump, four.meme and Clanker v4.0.0, with the topics that indexers of their chains look for.
const known = [
  {
    event: 'TokenCreate(address tokenAddress, uint256 tokenIndex, address creator)',
    token: 'tokenAddress',
    topic: '1ff0a01c8968e3551472812164f233abb579247de887db8cbb18281c149bee7a',
  },
  {
    event:
      'TokenCreate(address creator, address token, uint256 requestId, string name, string symbol,' +
      ' uint256 totalSupply, uint256 launchTime, uint256 launchFee)',
    token: 'token',
    topic: '396d5e902b675b032348d3d2e9517ee8f0c4a926603fbc075d3d282ff00cad20',
  },
  {
    event:
      'TokenCreated(address msgSender, address indexed tokenAddress, address indexed tokenAdmin,' +
      ' string tokenImage, string tokenName, string tokenSymbol, string tokenMetadata,' +
      ' string tokenContext, int24 startingTick, address poolHook, bytes32 poolId,' +
      ' address pairedToken, address locker, address mevModule, uint256 extensionsSupply,' +
      ' address[] extensions)',
    token: 'tokenAddress',
    topic: '9299d1d1a88d8e1abdc591ae7a167a6bc63a8f17d695804e9091ee33aa89fb67',
  },
];

test('an event that is declared as known launchpads do has the topic on their chains', () => {
  for (const { topic, ...each } of known) assert.equal(launchEvent(each).topic, topic);
});

const types = {
  address: `0x${'11'.repeat(20)}`,
  uint256: 7n,
  string: 'a text that is longer than one word of thirty-two bytes',
  bytes: `0x${'ab'.repeat(40)}`,
  bytes32: `0x${'cd'.repeat(32)}`,
  'uint8[3]': [1, 2, 3],
  'string[2]': ['one', 'two'],
  'address[]': [`0x${'22'.repeat(20)}`],
  'uint256[2][3]': [
    [1n, 2n],
    [3n, 4n],
    [5n, 6n],
  ],
  '(uint256 x, address y)': { x: 1n, y: `0x${'33'.repeat(20)}` },
  '(uint256 x, string y)': { x: 1n, y: 'dynamic' },
  '(uint256 x, address y)[2]': [
    { x: 1n, y: `0x${'33'.repeat(20)}` },
    { x: 2n, y: `0x${'44'.repeat(20)}` },
  ],
} as const;
const names = Object.keys(types) as (keyof typeof types)[];
const token = '0xabcdefabcdefabcdefabcdefabcdefabcdefabcd';

test('the token is found wherever the event has it, in a topic or anywhere in its data', () => {
  const others = fc.array(fc.constantFrom(...names), { maxLength: 5 });
  const property = fc.property(others, others, fc.boolean(), (before, after, indexed) => {
    const list = [
      ...before.map((type, at) => [`${type} b${at}`, types[type]] as const),
      [`address ${indexed ? 'indexed ' : ''}token`, token] as const,
      ...after.map((type, at) => [`${type} a${at}`, types[type]] as const),
    ];
    const event = `Made(${list.map(([text]) => text).join(', ')})`;
    const item = parseAbiItem(`event ${event}`) as AbiEvent;
    const inData = item.inputs.filter((each) => !each.indexed);
    const values = list.filter((_, at) => !item.inputs[at]?.indexed).map(([, value]) => value);
    const data = encodeAbiParameters(inData, values as never).slice(2);
    const args = indexed ? { token } : {};
    const topics = encodeEventTopics({ abi: [item], args } as never) as readonly (string | null)[];
    const plain = topics.filter((each) => each !== null).map((each) => each.slice(2));
    assert.equal(launchEvent({ event, token: 'token' }).tokenIn(plain, data), token.slice(2));
  });
  fc.assert(property, { numRuns: 300 });
});

test('a word that is no address, zero, cut off, or of another event names no token', () => {
  const word = (text: string) => text.padStart(64, '0');
  const inTopic = launchEvent({ event: 'T(address indexed token, address by)', token: 'token' });
  const by = word('01');
  const said = (token: string) => inTopic.tokenIn([inTopic.topic, token], by);
  assert.equal(said(word(token.slice(2))), token.slice(2));
  assert.equal(said(word('0')), null);
  assert.equal(said(`1${word(token.slice(2)).slice(1)}`), null);
  assert.equal(said(`${'0'.repeat(23)}1${token.slice(2)}`), null);
  assert.equal(inTopic.tokenIn([inTopic.topic], by), null);
  assert.equal(inTopic.tokenIn([by, word(token.slice(2))], by), null);
  assert.equal(inTopic.tokenIn([inTopic.topic, word(token.slice(2)), by], by), null);
  const inData = launchEvent({ event: 'T(uint256 id, address token)', token: 'token' });
  assert.equal(inData.tokenIn([inData.topic], by + word(token.slice(2))), token.slice(2));
  assert.equal(inData.tokenIn([inData.topic], by + word(token.slice(2)).slice(0, 63)), null);
  assert.equal(inData.tokenIn([inData.topic], ''), null);
});

test('an event that cannot be one is refused in a sentence', () => {
  const wrong = (event: string, token = 'token') => {
    assert.throws(
      () => launchEvent({ event, token }),
      /no event such as|no argument|not an addr|at most/,
    );
  };
  for (const event of ['', 'T', 'T(', 'T(adress token)', 'function T(address token)']) wrong(event);
  wrong('T(address other)');
  wrong('T(uint256 token)');
  wrong('T(address[] token)');
  wrong('T(address indexed token, bool indexed a, bool indexed b, bool indexed c)');
});
