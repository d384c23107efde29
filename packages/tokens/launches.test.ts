// How an event names its token, and the topics of launchpads as they are known.

import assert from 'node:assert/strict';
import { test } from 'node:test';
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

const token = '0xabcdefabcdefabcdefabcdefabcdefabcdefabcd';

test('a word that is zero, cut off, or of another event names no token', () => {
  const word = (text: string) => text.padStart(64, '0');
  const inTopic = launchEvent({ event: 'T(address indexed token, address by)', token: 'token' });
  const by = word('01');
  const said = (token: string) => inTopic.tokenIn([inTopic.topic, token], by);
  assert.equal(said(word(token.slice(2))), token.slice(2));
  assert.equal(said(word('0')), null);
  assert.equal(inTopic.tokenIn([inTopic.topic], by), null);
  assert.equal(inTopic.tokenIn([by, word(token.slice(2))], by), null);
  const inList = launchEvent({ event: 'T(uint256, address token)', token: 'token' });
  assert.equal(inList.tokenIn([inList.topic], by + word(token.slice(2))), token.slice(2));
  const late = { event: 'T(string name, address indexed by, address token)', token: 'token' };
  const inTail = launchEvent(late);
  const tail = word('40') + word(token.slice(2)) + word('01') + '61'.padEnd(64, '0');
  assert.equal(inTail.tokenIn([inTail.topic, by], tail), token.slice(2));
  const inData = launchEvent({ event: 'T(uint256 id, address token)', token: 'token' });
  assert.equal(inData.tokenIn([inData.topic], by + word(token.slice(2))), token.slice(2));
  assert.equal(inData.tokenIn([inData.topic], by + word(token.slice(2)).slice(0, 62)), null);
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
