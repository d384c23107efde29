// The one interface every chain keeps. An adapter reads its chain and builds unsigned bytes; it
// knows no database, no HTTP status and no key. Every call that touches a node takes an
// AbortSignal and throws `chain_timeout` when it runs out (nothing changed then) or
// `chain_unavailable` when the node refuses or is gone.

import type { ChainKey, Family } from '../core/families.ts';
import type { ChainPolicy } from '../core/policy.ts';
import type { Contract } from '../core/rules.ts';
import type { Building } from './interface/building.ts';
import type { Gas } from './interface/gas.ts';
import type { History } from './interface/history.ts';
import type { Reading } from './interface/reading.ts';
import type { Sending } from './interface/sending.ts';
import type { Tokens } from './interface/tokens.ts';

export type ChainAdapter = Reading &
  Building &
  Sending &
  Tokens &
  Gas &
  History & {
    readonly chain: ChainKey;
    readonly family: Family;
    readonly policy: ChainPolicy;
    /** What holds the escrows that it plans. */
    readonly contract: Contract;
    close(): Promise<void>;
  };
