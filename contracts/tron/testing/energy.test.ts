// Energy against what java-tron's own tests expect of a real TVM. Source of bytecode and figures:
// tronprotocol/java-tron, framework/src/test/java/org/tron/common/runtime/vm/
// EnergyWhenSendAndTransferTest.java (callValueTest, sendTest, transferTest).

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAddress, createTvm, type TvmCall, type TvmResult } from './engine.ts';
import { TvmState } from './state.ts';

const OWNER = Buffer.from('abd4b9367799eaa3197fecb144eb71de1e049abc', 'hex');
const CONTRACT = Buffer.from('c0'.repeat(20), 'hex');
const TXID = Buffer.alloc(32, 7);
/** The memory operations cost nothing by themselves when those tests were written. */
const OF_THE_TIME = { memoryEnergy: 0 } as const;

const CALL_VALUE =
  '608060405261000c61004e565b604051809103906000f080158015610028573d6000803e3d6000f' +
  'd5b5060008054600160a060020a031916600160a060020a039290921691909117905561005d565b60405160' +
  'd68061020b83390190565b61019f8061006c6000396000f3006080604052600436106100325763ffffffff6' +
  '0e060020a60003504166306ce93af811461003757806340de221c1461004e575b600080fd5b348015610043' +
  '57600080fd5b5061004c610063565b005b34801561005a57600080fd5b5061004c610103565b60008090549' +
  '06101000a900473ffffffffffffffffffffffffffffffffffffffff1673ffffffffffffffffffffffffffff' +
  'ffffffffffff1663cd95478c600a6003906040518363ffffffff1660e060020a02815260040160206040518' +
  '08303818589803b1580156100d357600080fd5b5088f11580156100e7573d6000803e3d6000fd5b50505050' +
  '50506040513d60208110156100ff57600080fd5b5050565b6000809054906101000a900473fffffffffffff' +
  'fffffffffffffffffffffffffff1673ffffffffffffffffffffffffffffffffffffffff1663b993e5e2600a' +
  '6003906040518363ffffffff1660e060020a0281526004016020604051808303818589803b1580156100d35' +
  '7600080fd00a165627a7a72305820cb5f172ca9f81235a8b33ee1ddef9dd1b398644cf61228569356ff051b' +
  'faf3d10029608060405260c4806100126000396000f30060806040526004361060485763ffffffff7c01000' +
  '00000000000000000000000000000000000000000000000000000600035041663b993e5e28114604d578063' +
  'cd95478c146065575b600080fd5b6053606b565b60408051918252519081900360200190f35b60536070565' +
  'b602a90565b6000805b600a81101560945760008181526020819052604090208190556001016074565b5090' +
  '5600a165627a7a723058205ded543feb546472be4e116e713a2d46b8dafc823ca31256e67a1be92a6752730' +
  '029';
const SEND =
  '608060405261000c61004e565b604051809103906000f080158015610028573d6000803e3d6000f' +
  'd5b5060008054600160a060020a031916600160a060020a039290921691909117905561005d565b60405160' +
  '6f806101c583390190565b6101598061006c6000396000f3006080604052600436106100565763ffffffff7' +
  'c010000000000000000000000000000000000000000000000000000000060003504166312065fe081146100' +
  '5b57806333182e8f14610082578063e3d237f914610099575b600080fd5b34801561006757600080fd5b506' +
  '100706100ae565b60408051918252519081900360200190f35b34801561008e57600080fd5b506100976100' +
  'b3565b005b3480156100a557600080fd5b506100976100f9565b303190565b6000805460405173fffffffff' +
  'fffffffffffffffffffffffffffffff90911691906127109082818181858883f193505050501580156100f6' +
  '573d6000803e3d6000fd5b50565b6000805460405173ffffffffffffffffffffffffffffffffffffffff909' +
  '11691906127109082818181858883f150505050505600a165627a7a72305820677efa58ed7b277b589fe662' +
  '6cb77f930caeb0f75c3ab638bfe07292db961a8200296080604052605e8060116000396000f300608060405' +
  '2600160008181526020527fada5013122d395ba3c54772283fb069b10426056ef8ca54750cb9bb552a59e7d' +
  '550000a165627a7a7230582029b27c10c1568d590fa66bc0b7d42537a314c78d028f59a188fa411f7fc15c4' +
  'f0029';

async function deployed(code: string, value: bigint) {
  const state = new TvmState();
  state.set(`account/${OWNER.toString('hex')}`, '30000000000000');
  const tvm = await createTvm(state, 1, OF_THE_TIME);
  const run = (part: Partial<TvmCall>): Promise<TvmResult> =>
    tvm.run({
      caller: OWNER,
      to: CONTRACT,
      value: 0n,
      data: Buffer.alloc(0),
      energyLimit: 10_000_000n, // a fee limit of 1,000 TRX at 100 sun
      txid: TXID,
      block: { number: 1n, timestamp: 1_600_000_000n },
      ...part,
    });
  const creation = await run({
    to: null,
    creates: CONTRACT,
    value,
    data: Buffer.from(code, 'hex'),
  });
  assert.equal(creation.failure, 'none', creation.message);
  const call = (selector: string) => run({ data: Buffer.from(selector, 'hex') });
  return { state, creation, call };
}

test('a call with value costs what java-tron says, done or reverted', async () => {
  const { creation, call } = await deployed(CALL_VALUE, 10_000_000n);
  assert.equal(creation.energyUsed, 174_639n);
  const simple = await call('40de221c');
  assert.deepEqual([simple.failure, simple.energyUsed], ['none', 7_370n]);
  const complex = await call('06ce93af');
  assert.deepEqual([complex.failure, complex.energyUsed], ['revert', 9_459n]);
});

test('send and transfer cost what java-tron says', async () => {
  const { creation, call } = await deployed(SEND, 1_000n);
  assert.equal(creation.energyUsed, 140_194n);
  const send = await call('e3d237f9');
  assert.deepEqual([send.failure, send.energyUsed], ['none', 7_025n]);
  const transfer = await call('33182e8f');
  assert.deepEqual([transfer.failure, transfer.energyUsed], ['revert', 7_030n]);
});

test('the contract that a contract creates is where its transaction and counter say', async () => {
  const { state } = await deployed(SEND, 1_000n);
  const inner = Buffer.from(createAddress(TXID, 0n)).toString('hex');
  assert.notEqual(state.get(`code/${inner}`), undefined);
});
