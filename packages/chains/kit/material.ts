// Material held against what it should be: one sentence a difference. Pure.

import type { Material } from '../interface/material.ts';

type Head = Pick<Material, 'chain' | 'family' | 'sign' | 'escrow'>;

/** `must` notes another field that differs from what it should be. */
export function comparing(material: Head, expected: Head) {
  const problems: string[] = [];
  const must = (field: string, got: unknown, wanted: unknown): void => {
    if (got !== wanted) problems.push(`${field} is ${String(got)}, not ${String(wanted)}`);
  };
  for (const field of ['chain', 'family', 'sign', 'escrow'] as const) {
    must(field, material[field], expected[field]);
  }
  return { problems, must };
}
