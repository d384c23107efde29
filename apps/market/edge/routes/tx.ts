// Sending signed transactions.

import type { Signed, SignedPsbt } from '@parley/chains/interface/material.ts';
import { parseSecret } from '@parley/core/hashlock.ts';
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../../ports/deps.ts';
import { broadcast } from '../../settle/broadcast.ts';
import { createFreshness } from '../../settle/take-up.ts';
import { command } from '../command.ts';
import { broadcasts } from '../reserve.ts';
import { broadcastBody, broadcastReply } from '../schemas/material.ts';

export function registerTx(app: FastifyInstance, deps: Deps): void {
  const fresh = createFreshness(deps);
  command({ app, deps, tag: 'transactions' }, 'POST /v1/tx/broadcast', 'broadcast', {
    about:
      'Send a signed transaction. It passes the same gates as its building; on 504 the header ' +
      'names the txid to look up.',
    body: broadcastBody,
    replies: { 200: broadcastReply },
    // A claim carries the swap's secret, and a node's refusal may quote what it was sent.
    secret: true,
    // Sent outside the transaction: the same bytes give the same txid however often.
    anew: true,
    before: ({ body, caller: { accountId }, client, signal }) => {
      const { processorTime, reserve } = app.edge;
      const isParty = () => reserve(accountId, broadcasts, client);
      const inTurns = processorTime.meter({ accountId, client, isParty });
      const { chain, signed } = body;
      return broadcast(deps, fresh, { chain, signed: signedOf(signed), inTurns, signal });
    },
    run: async (_tx, { prepared }) => ({ status: 200, body: prepared }),
  });
}

type Given =
  | string
  | { psbtBase64: string; signaturesHex: string[]; preimageHex?: string }
  | { psbtBase64: string; signatureHex: string; preimageHex?: string }
  | { raw_data_hex: string; signature: string[]; txID?: string };

function signedOf(signed: Given): Signed {
  if (typeof signed === 'string' || 'raw_data_hex' in signed) return signed;
  const { psbtBase64, preimageHex } = signed;
  const signaturesHex = 'signatureHex' in signed ? [signed.signatureHex] : signed.signaturesHex;
  const psbt: SignedPsbt = { psbtBase64, signaturesHex };
  if (preimageHex === undefined) return psbt;
  return { ...psbt, preimageHex: parseSecret(preimageHex, 'preimageHex') };
}
