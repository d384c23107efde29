// Wallet programs of this browser that sign texts.

import { useSyncExternalStore } from 'react';
import type { Family } from '../../../core/families.ts';
import type { MessageSigner } from '../../../sdk/keys.ts';

export type Program = {
  readonly id: string;
  readonly name: string;
  /** A data: URL. */
  readonly icon: string | null;
  readonly family: Family;
  connect(): Promise<MessageSigner>;
};

const none: readonly Program[] = [];

export function usePrograms(families: readonly Family[]): readonly Program[] {
  const found = useSyncExternalStore(
    () => () => {},
    () => none,
  );
  return found.filter(({ family }) => families.includes(family));
}
