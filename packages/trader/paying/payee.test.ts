import assert from 'node:assert/strict';
import { test } from 'node:test';
import { payeeOf } from './payee.ts';

const at = (digit: string) => `0x${digit.repeat(40)}`;

test('a payment goes to no contract that keeps it, to nobody, and not to its own wallet', () => {
  const instances = { shards: [{ contract: at('2') }], formerContracts: [{ contract: at('3') }] };
  const source = {
    adapter: { parseAddress: (text: string) => text.toLowerCase(), contract: { address: at('1') } },
    view: { family: 'evm', chain: 'evm', deployment: { contract: at('1'), ...instances } },
  } as never;
  const on = { source, wallet: { family: 'evm', address: at('b') } as const };
  const pay = (to: string) => payeeOf(on, [at('A')], to);
  assert.equal(pay(at('C')), at('c'));
  for (const contract of ['1', '2', '3', 'a']) {
    assert.throws(() => pay(at(contract)), /is a contract of evm: it keeps what it gets/, contract);
  }
  assert.throws(() => pay(at('0')), /is nobody's address/);
  assert.throws(() => pay(at('B')), /is the wallet that pays/);
});
