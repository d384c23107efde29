// Which script holds an escrow, as a swap's rules name it: a digest of the template with fixed
// values.

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { type Contract, digestHead } from '@parley/core/rules.ts';
import { escrowScript } from './escrow-script.ts';

const sample = escrowScript({
  hashlock: '11'.repeat(32),
  claimer: `02${'22'.repeat(32)}`,
  funder: `03${'33'.repeat(32)}`,
  timelock: 1_800_000_000,
});

export const bitcoinContract: Contract = {
  address: null,
  version: digestHead(bytesToHex(sha256(sample))),
};
