// The questions of a broadcast to an adapter, whatever the chain. The gates:
// apps/market/edge/routes/legs.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atAStretch } from '@parley/chains/interface/turns.ts';
import { stubAdapter } from '@parley/verify/test/support/adapter.ts';
import type { Deps } from '../ports/deps.ts';
import { broadcast } from './broadcast.ts';

const chain = 'bitcoin-regtest';
const txid = 'ab'.repeat(32);

test('a transaction to send is read once, in turns, by an adapter that knows every escrow', async () => {
  const done: string[] = [];
  const adapter = stubAdapter(chain, 'bitcoin', {
    readSigned: async (_signed, _signal, care) => {
      done.push(care === undefined ? 'read at a stretch' : 'read in turns');
      return { txid, raw: '00', touches: [] };
    },
    broadcast: async (transaction) => {
      done.push('sent');
      return transaction.txid;
    },
  });
  const fresh = async () => {
    done.push('brought up to date');
  };
  const input = { chain, signed: '00', inTurns: atAStretch, signal: AbortSignal.timeout(5_000) };
  const deps = { adapters: new Map([[chain, adapter]]) } as unknown as Deps;
  assert.deepEqual(await broadcast(deps, fresh, input), { txid });
  assert.deepEqual(done, ['brought up to date', 'read in turns', 'sent']);
});
