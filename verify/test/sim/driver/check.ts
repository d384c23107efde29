// In the place of the check of unsigned bytes: a simulated one is about the escrow that was meant,
// or refused. Tests of each family try its real bytes.

import type { ReleaseMaterial } from '@parley/chains/interface/consent.ts';
import type { Material } from '@parley/chains/interface/material.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { mustEqual } from '@parley/sdk/verify.ts';
import * as real from '@parley/sdk/verify-material.ts';
import { escrowOf } from './plans.ts';

export const { paidWhere } = real;

export function verifyMaterial(material: Material, _: real.Asked, terms: EscrowTerms): void {
  mustEqual('escrow', escrowOf(terms).address, material.escrow);
}

export const outputsOf = () => [];

export function verifyRelease({ escrow }: ReleaseMaterial, terms: EscrowTerms): void {
  mustEqual('escrow', escrowOf(terms).address, escrow);
}
